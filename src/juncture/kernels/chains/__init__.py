"""Passes along chains of hidden states."""
