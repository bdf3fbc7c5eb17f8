"""Families of real numbers."""
