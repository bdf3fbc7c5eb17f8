"""Rows of observations as coded columns, read from any kind of table.

`tables/columns` (one raw column, from cells, data frames or a file) → `tables/table`, `files/` → `tables/coding` →
`dataset`; `files/csv` and `tables/export` write. `bins/` discretizes numbers, `sequences/` holds observations in time.
"""
