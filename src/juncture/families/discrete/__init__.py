"""Families of counts and labels."""
