"""Answers to many rows: of sources, block by block, and predictions as columns."""
