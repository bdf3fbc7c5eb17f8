"""Clusters without a model of their rows: K-means, K-medoids, and hierarchies of clusters."""
