"""Engines whose tables stay below a size that their user sets: weighted mini-buckets, bounded clique trees."""
