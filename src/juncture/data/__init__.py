"""Rows of observations: coded columns, whatever kind of table they came from.

`columns` (one raw column) → `tables`, `csv_text` (many of them) → `dataset` → `csv`; `export` is the way back.
"""
