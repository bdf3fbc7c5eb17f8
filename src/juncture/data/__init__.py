"""Rows of observations: coded columns, whatever kind of table they came from.

`columns` (one raw column, from `cells`, `frames` or a file) → `tables`, `files` (many of them) → `coding` → `dataset`;
`csv` and `export` are the way back. `discretizer` cuts numbers into states. `sources` read rows block by block.
"""
