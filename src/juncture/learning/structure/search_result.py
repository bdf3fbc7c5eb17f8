"""`SearchResult`: a learned graph, and which search found it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from juncture.values import Value


class SearchResult(Value):
    """A learned graph, the name of the search that found it, and the score that each search reached.

    Of a `CombinedSearch`, `method` is "hill-climbing", "ges" (with a climb from the graph of GES), "restarts" or
    "further walks" (the tabu walk and the restarts asked for). Of other searches `scores` is empty.
    """

    _fields = ("graph", "method", "_scores")
    graph: Any
    method: str
    _scores: tuple[tuple[str, float], ...]

    def __init__(self, graph: Any, method: str, scores: Mapping[str, float] | None = None) -> None:
        self._set(graph=graph, method=method, _scores=tuple((scores or {}).items()))

    @property
    def scores(self) -> dict[str, float]:
        return dict(self._scores)

    def __repr__(self) -> str:
        reached = ", ".join(f"{name} {score:.6g}" for name, score in self._scores)
        return f"SearchResult({self.graph!r}, by {self.method}{f'; {reached}' if reached else ''})"
