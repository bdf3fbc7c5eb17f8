"""Constraints of any kind at once: every search keeps them all, and refuses only what no graph of its kind keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.learn import SEARCHES, learn_structure
from support.graph_examples import all_directed_graphs
from support.structure_examples import keeps, random_rows

NAMES = ("a", "b", "c", "d")
GRAPHS = all_directed_graphs(4)
PAIRS = [(tail, head) for tail in NAMES for head in NAMES if tail != head]


def random_constraints(rng: np.random.Generator) -> dict[str, Any]:
    """Often ones that contradict each other."""
    picked = [PAIRS[index] for index in rng.permutation(len(PAIRS))]
    num_required, num_forbidden = rng.integers(0, 3, size=2)
    order = [NAMES[index] for index in rng.permutation(4)]
    constraints = {"required": picked[:num_required], "forbidden": picked[-num_forbidden:] if num_forbidden else []}
    if rng.random() < 0.4:
        constraints["tiers"] = [order[:1], order[1:3]]
    if rng.random() < 0.5:
        constraints["max_parents"] = int(rng.integers(0, 3))
    return constraints


def own_options(name: str, rng: np.random.Generator) -> dict[str, Any]:
    one = NAMES[rng.integers(4)]
    if name == "chow-liu":
        return {"root": one} if rng.random() < 0.6 else {}
    return {"target": one} if name == "tree-augmented" else {"directed": True} if name in {"pc", "ges"} else {}


def is_its_kind(graph: DirectedGraph, root: str | None = None, target: str | None = None, **others: Any) -> bool:
    """Whether a tree has this root, or a class is above all and the features have one other parent at most."""
    if target is not None:
        return not graph.parents(target) and all(len({*graph.parents(one)} - {target}) <= 1 for one in NAMES)
    return root is None or not graph.parents(root)


def is_under_the_class(graph: DirectedGraph, constraints: dict[str, Any], target: str) -> bool:
    """Whether the class is a parent of all that may have it."""
    may = [
        one for one in NAMES if one != target and keeps(DirectedGraph([(target, one)]), **without_required(constraints))
    ]
    return {*may} <= {*graph.children(target)}


def without_required(constraints: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in constraints.items() if name != "required"}


def within(name: str, constraints: dict[str, Any], options: dict[str, Any]) -> list[DirectedGraph]:
    """The graphs of the search's kind that keep the constraints."""
    most = 1 if name == "chow-liu" else 4
    found = [graph for graph in GRAPHS if keeps(graph, **constraints) and is_its_kind(graph, **options)]
    if name == "tree-augmented":
        found = [graph for graph in found if is_under_the_class(graph, constraints, options["target"])]
    return [graph for graph in found if all(len(graph.parents(one)) <= most for one in NAMES)]


def rows(rng: np.random.Generator) -> Dataset:
    data = random_rows(rng, 60, [2, 3, 2, 2])
    return Dataset(dict(zip(NAMES, data.arrays, strict=True)))


@pytest.mark.parametrize("name", SEARCHES)
def test_constraints_hold_or_are_refused(name):
    rng = np.random.default_rng(5)
    refused = 0
    for _ in range(60):
        data, constraints, options = rows(rng), random_constraints(rng), own_options(name, rng)
        possible = within(name, constraints, options)
        try:
            found = learn_structure(data, name, **constraints, **options)
        except InvalidData:
            refused += 1
            assert not possible, (constraints, options)
        else:
            assert found in possible, (constraints, options)
    assert 0 < refused < 60


def test_what_is_refused_is_named():
    data = rows(np.random.default_rng(0))
    with pytest.raises(InvalidData, match="the edge 'a' -> 'b' is required, but 'b' is the root, and has no parent"):
        learn_structure(data, "chow-liu", root="b", required=[("a", "b")])
    with pytest.raises(InvalidData, match=r"'a' -> 'b' is required, but beside the class 'd' max_parents=1 leaves no"):
        learn_structure(data, "tree-augmented", target="d", required=[("a", "b")], max_parents=1)


def test_a_required_edge_is_there_even_if_no_row_shows_both_ends():
    holed = Dataset({"a": [0, 1, 0, None, None], "b": [None, None, None, 0, 1], "c": [0, 1, 1, 0, 1]})
    for name, options in (("chow-liu", {}), ("tree-augmented", {"target": "c"})):
        found = learn_structure(holed, name, score="node-average", required=[("a", "b")], **options)
        assert ("a", "b") in found.edges
