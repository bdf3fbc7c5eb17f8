"""Decisions under a loss: loss matrices, optimal points, errors of rules and their bounds, regions."""
