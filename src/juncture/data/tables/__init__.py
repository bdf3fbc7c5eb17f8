"""Columns of a table, from raw values to codes."""
