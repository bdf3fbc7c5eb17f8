"""Posteriors beyond the table of conjugate pairs."""
