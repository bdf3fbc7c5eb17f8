"""Searches for a graph: by scores, by tests, or both."""
