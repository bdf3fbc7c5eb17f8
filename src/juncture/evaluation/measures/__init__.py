"""Measures of predictions: confusion matrices, curves, calibration, and scores of whole distributions."""
