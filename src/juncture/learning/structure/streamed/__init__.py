"""Rows past memory: distinct rows in runs on disk, the tables that one pass over them counts, searches in passes."""
