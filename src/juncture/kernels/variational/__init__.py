"""Coordinate ascent of mean field."""
