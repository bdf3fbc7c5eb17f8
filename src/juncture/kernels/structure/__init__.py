"""Scores, tests and graph searches over coded rows."""
