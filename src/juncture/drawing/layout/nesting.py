"""Where each vertex belongs among the groups, so that members stay together within a layer.

Groups that cross (share members, neither inside the other) form a cluster whose atoms, the sets of vertices
with the same memberships, stand in a fixed order: only in A, in A and B, only in B.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from juncture.drawing.layout.orientation import components


class PathStep(NamedTuple):
    """One level down into a cluster; a fixed value says where it stands among its siblings."""

    cluster: int
    fixed: float | None = None


Path = tuple[PathStep, ...]
Members = frozenset[int]


class Nesting(NamedTuple):
    """The path of every vertex and, for every group, that of its left and right border."""

    paths: list[Path]
    left_borders: list[Path]
    right_borders: list[Path]


def nest(num_vertices: int, groups: Sequence[Members]) -> Nesting:
    """Paths from the outermost cluster to the innermost."""
    clusters = crossing_clusters(groups)
    paths: list[Path] = [()] * num_vertices
    left: list[Path] = [()] * len(groups)
    right: list[Path] = [()] * len(groups)
    next_cluster = 0
    for cluster in clusters:
        members = frozenset().union(*(groups[number] for number in cluster))
        outside = paths[min(members)]
        values = _atom_values(members, [groups[number] for number in cluster])
        names = {value: next_cluster + 1 + order for order, value in enumerate(sorted(set(values.values())))}
        for vertex, value in values.items():
            paths[vertex] += (PathStep(next_cluster), PathStep(names[value], value))
        for number in cluster:
            own = [values[vertex] for vertex in groups[number]]
            left[number] = (*outside, PathStep(next_cluster), PathStep(-1 - number, min(own) - 0.25))
            right[number] = (*outside, PathStep(next_cluster), PathStep(-1 - number, max(own) + 0.25))
        next_cluster += 1 + len(names)
    return Nesting(paths, left, right)


def common_path(one: Path, other: Path) -> Path:
    """The path of the innermost cluster that holds both."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return one[: shared - shared % 2]  # a path alternates clusters and atoms; never stop between the two


def crossing_clusters(groups: Sequence[Members]) -> list[list[int]]:
    """Groups joined by crossing, the clusters with most members first."""
    crossings = [
        (one, other, False)
        for one in range(len(groups))
        for other in range(one)
        if groups[one] & groups[other] and not (groups[one] <= groups[other] or groups[other] <= groups[one])
    ]
    clusters = components(len(groups), crossings)
    return sorted(clusters, key=lambda cluster: -len(frozenset().union(*(groups[number] for number in cluster))))


def _atom_values(members: Members, groups: Sequence[Members]) -> dict[int, float]:
    """The mean number of the groups that hold each vertex: crossing neighbours meet halfway."""
    values = {}
    for vertex in sorted(members):
        holding = [number for number, group in enumerate(groups) if vertex in group]
        values[vertex] = sum(holding) / len(holding)
    return values
