"""Combinatorics without probabilities: directed and undirected graphs over names; `jt.graphs` beyond their methods."""

from juncture.names import face

face(__name__)
