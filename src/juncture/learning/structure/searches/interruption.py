"""`SearchInterrupted`: Ctrl-C during a search that has a graph already."""

from __future__ import annotations

from typing import Any


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search, with the best graph so far, and in words what was interrupted.

    `learn_structure` keeps the graph; what runs many searches, as the bootstrap does, ends.
    """

    def __init__(self, graph: Any, text: str) -> None:
        super().__init__(text)
        self.graph, self.text = graph, text
