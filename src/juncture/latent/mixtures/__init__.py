"""Mixtures: inference and learning."""
