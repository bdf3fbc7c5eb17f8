"""Sequences of observations in time order."""
