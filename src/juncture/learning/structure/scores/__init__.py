"""Scores of graphs: local scores of a child and its parents, added up."""
