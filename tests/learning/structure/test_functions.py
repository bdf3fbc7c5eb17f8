"""Variables that are functions of others: tests given these say nothing, and the searches by tests know it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import juncture as jt
from juncture.errors import DeterministicRelationWarning
from juncture.formats.bundled import example
from juncture.learning.structure.learn import learn_structure
from juncture.verbs import sample

BOTH = pytest.mark.parametrize("method", ["pc", "mmhc"])
quiet = pytest.mark.filterwarnings("ignore::juncture.errors.DeterministicRelationWarning")


def pairs(graph) -> set[frozenset[str]]:
    return {frozenset(edge) for edge in graph.edges}


@BOTH
def test_children_of_a_function_stay_with_it(method):
    """In asia `either` is a function of `tub` and `lung`, and still the parent of two."""
    model = example("asia")
    with pytest.warns(DeterministicRelationWarning, match="'either' of 'tub', 'lung'; tests cannot tell"):
        found = learn_structure(sample(model, 20_000, rng=0), method)
    assert pairs(found) == pairs(model.graph)


@quiet
@BOTH
def test_a_function_does_not_join_what_depends_on_its_parent(method):
    rng = np.random.default_rng(0)
    scenario = rng.integers(4, size=5000)
    child = np.where(rng.random(5000) < 0.7, scenario, rng.integers(4, size=5000))
    found = learn_structure({"scenario": scenario, "half": scenario // 2, "child": child}, method)
    assert pairs(found) == {frozenset(("scenario", "half")), frozenset(("scenario", "child"))}


@quiet
@BOTH
def test_of_two_copies_one_keeps_the_edge(method):
    rng = np.random.default_rng(1)
    a = rng.integers(3, size=3000)
    b = np.where(rng.random(3000) < 0.6, a, rng.integers(3, size=3000))
    found = pairs(learn_structure({"a": a, "copy": 2 - a, "b": b}, method))
    assert frozenset(("a", "copy")) in found
    assert len(found) == 2


@quiet
def test_sums_of_numbers():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 1000))
    rows = {"a": 1e6 * a, "b": b, "sum": a + b, "seen": a + b + rng.normal(size=1000)}
    assert pairs(learn_structure(rows, "pc")) == {
        frozenset(pair) for pair in (("a", "sum"), ("b", "sum"), ("sum", "seen"))
    }


def test_chance_is_no_function():
    """Each combination of states in one row: nothing is found, and nothing said."""
    rng = np.random.default_rng(3)
    rows = {name: rng.integers(6, size=40) for name in "abcde"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn_structure(rows, "pc", level=0.5)


def test_samples_tell_once():
    with pytest.warns(DeterministicRelationWarning) as caught:
        jt.structure.strengths(sample(example("asia"), 2000, rng=0), "pc", draws=5, rng=0)
    assert len(caught) == 1
