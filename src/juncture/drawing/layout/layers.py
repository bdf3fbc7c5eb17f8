"""A layered graph whose edges join neighbouring layers only: long edges bend in every layer they pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from juncture.drawing.layout.nesting import Members, Path, common_path, nest
from juncture.drawing.layout.orientation import Arc

NODE, BEND, BORDER = 0, 1, 2


@dataclass(frozen=True)
class LayeredGraph:
    """Vertices are nodes first, then the bends of long edges, then the borders of groups, layer by layer."""

    kinds: list[int] = field(default_factory=list)
    layer_of: list[int] = field(default_factory=list)
    above: list[list[int]] = field(default_factory=list)
    below: list[list[int]] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    chains: list[list[int]] = field(default_factory=list)
    borders: list[tuple[list[int], list[int]]] = field(default_factory=list)

    @property
    def num_layers(self) -> int:
        return max(self.layer_of, default=-1) + 1

    @property
    def num_vertices(self) -> int:
        return len(self.kinds)

    @property
    def size(self) -> int:
        """Vertices and edges together: the work of one sweep."""
        return len(self.kinds) + sum(map(len, self.below))

    def add(self, kind: int, layer: int, path: Path) -> int:
        self.kinds.append(kind)
        self.layer_of.append(layer)
        self.paths.append(path)
        self.above.append([])
        self.below.append([])
        return len(self.kinds) - 1

    def join(self, chain: Sequence[int]) -> None:
        """Link the vertices of a chain from one layer to the next."""
        for upper, lower in pairwise(chain):
            self.below[upper].append(lower)
            self.above[lower].append(upper)


def build_layers(ranks: Sequence[int], arcs: Sequence[Arc], groups: Sequence[Members]) -> LayeredGraph:
    """The graph with a bend wherever an arc passes a layer and two borders wherever a group does."""
    nesting = nest(len(ranks), groups)
    graph = LayeredGraph()
    for vertex, layer in enumerate(ranks):
        graph.add(NODE, layer, nesting.paths[vertex])
    for upper, lower in arcs:
        path = common_path(graph.paths[upper], graph.paths[lower])
        bends = [graph.add(BEND, layer, path) for layer in range(ranks[upper] + 1, ranks[lower])]
        graph.chains.append([upper, *bends, lower])
        graph.join(graph.chains[-1])
    for number, members in enumerate(groups):
        span = range(min(ranks[vertex] for vertex in members), max(ranks[vertex] for vertex in members) + 1)
        left = [graph.add(BORDER, layer, nesting.left_borders[number]) for layer in span]
        right = [graph.add(BORDER, layer, nesting.right_borders[number]) for layer in span]
        graph.borders.append((left, right))
        graph.join(left)
        graph.join(right)
    return graph
