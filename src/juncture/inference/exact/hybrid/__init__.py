"""Exact inference in networks of variables with states and real-valued variables."""
