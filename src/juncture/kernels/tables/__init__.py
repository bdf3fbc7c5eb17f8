"""Counts and draws of coded rows."""
