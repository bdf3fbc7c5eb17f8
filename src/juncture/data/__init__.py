"""Rows of observations as coded columns, read from any kind of table.

`tables/columns` (one raw column, from cells, data frames or a file) → `tables/table`, `files/` → `tables/coding` →
`dataset`; `files/writers` and `tables/export` write. `discretization` cuts numbers into bins, `sequences` holds
observations in time, `sources/` reads rows block by block.
"""
