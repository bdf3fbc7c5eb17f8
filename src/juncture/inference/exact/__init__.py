"""Engines whose answers are exact."""
