"""Clusters: K-means, K-medoids and hierarchies; how many components; principal components; `jt.clusters`."""

from juncture.names import face

face(__name__)
