"""Standard errors of hidden classes, identified or not, against the Fisher information by enumeration."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import NotIdentifiedWarning
from juncture.learning.networks.standard_errors import standard_errors

NUM_ROWS = 1000.0


def latent_class(rng: np.random.Generator, num_classes: int, sizes: list[int]) -> jt.BayesianNetwork:
    """A hidden class `h`, and features that depend on it."""
    hidden = jt.Variable("h", num_classes)
    parts = [jt.Conditional(hidden, [], interior(rng, (num_classes,)))]
    for place, size in enumerate(sizes):
        table = interior(rng, (num_classes, size))
        parts.append(jt.Conditional(jt.Variable(f"f{place}", size), [hidden], table))
    return jt.BayesianNetwork(parts)


def interior(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Probabilities away from the edges."""
    weights = rng.uniform(0.2, 1.0, shape)
    return weights / weights.sum(axis=-1, keepdims=True)


def exact_rows(model: jt.BayesianNetwork, sizes: list[int]) -> jt.Dataset:
    """Every row of features, weighed by its probability: the model itself is at the maximum of their likelihood."""
    states = np.array(list(product(*map(range, sizes))))
    weights = np.array([row_terms(model, row).sum() for row in states])
    variables = [jt.Variable(f"f{place}", size) for place, size in enumerate(sizes)]
    codes = {variable.name: states[:, place] for place, variable in enumerate(variables)}
    return jt.Dataset.from_codes(variables, codes, weights=NUM_ROWS * weights)


def row_terms(model: jt.BayesianNetwork, row: np.ndarray) -> np.ndarray:
    """(class,): p(class, row)."""
    terms = model["h"].values.copy()
    for place, state in enumerate(row):
        terms = terms * model[f"f{place}"].values[:, state]
    return terms


def by_enumeration(model: jt.BayesianNetwork, sizes: list[int]) -> tuple[dict[str, np.ndarray], float]:
    """(standard errors, the ratio of the last singular value that counts to the first that does not).

    In each row of a table the last entry is one less the others. Entries outside of the span of the probabilities'
    derivatives are infinite.
    """
    names = ["h", *(f"f{place}" for place in range(len(sizes)))]
    tables = {name: model[name].values for name in names}
    slots = [(name, index) for name in names for index in np.ndindex(*tables[name].shape)]
    free = [slot for slot in slots if slot[1][-1] + 1 < tables[slot[0]].shape[-1]]
    change = np.array([[entry_change(tables, slot, other) for other in free] for slot in slots])  # (entry, free)
    rows = np.array(list(product(*map(range, sizes))))
    terms = np.array([row_terms(model, row) for row in rows])  # (row, class)
    partial = np.zeros((len(rows), len(slots)))
    for column, (name, index) in enumerate(slots):
        if name == "h":
            partial[:, column] = terms[:, index[0]] / tables[name][index]
        else:
            is_here = rows[:, int(name[1:])] == index[1]
            partial[:, column] = is_here * terms[:, index[0]] / tables[name][index]
    scores = np.sqrt(NUM_ROWS) * (partial @ change) / np.sqrt(terms.sum(axis=1))[:, None]
    _, widths, directions = np.linalg.svd(scores, full_matrices=True)
    rank = int((widths > 1e-9 * widths[0]).sum())
    gap = widths[rank - 1] / widths[0]
    moves = change @ directions.T
    errors = np.sqrt(((moves[:, :rank] / widths[:rank]) ** 2).sum(axis=1))
    errors[(np.abs(moves[:, rank:]) > 1e-6).any(axis=1)] = np.inf
    found = {name: np.zeros(tables[name].shape) for name in names}
    for slot, error in zip(slots, errors, strict=True):
        found[slot[0]][slot[1]] = error
    return found, float(gap)


def entry_change(tables, slot, other) -> float:
    """How an entry changes with a free one: itself by 1, the last of its row by -1."""
    if slot == other:
        return 1.0
    is_last = slot[1][-1] + 1 == tables[slot[0]].shape[-1]
    return -1.0 if is_last and slot[0] == other[0] and slot[1][:-1] == other[1][:-1] else 0.0


@settings(max_examples=25)
@given(
    num_classes=st.integers(2, 3),
    sizes=st.lists(st.integers(2, 3), min_size=1, max_size=4),
    seed=st.integers(0, 2**31),
)
def test_hidden_classes_have_the_errors_of_the_fisher_information(num_classes, sizes, seed):
    model = latent_class(np.random.default_rng(seed), num_classes, sizes)
    expected, gap = by_enumeration(model, sizes)
    assume(gap > 3e-3)  # what is known, but next to nothing, differs by the rounding of differences
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = standard_errors(model, exact_rows(model, sizes))
    assert {name: np.isinf(errors).tolist() for name, errors in found.items()} == {
        name: np.isinf(errors).tolist() for name, errors in expected.items()
    }
    for name, errors in expected.items():
        is_finite = np.isfinite(errors)
        assert np.allclose(found[name][is_finite], errors[is_finite], rtol=1e-2)
    is_lost = any(np.isinf(errors).any() for errors in expected.values())
    assert [one.category for one in caught] == ([NotIdentifiedWarning] if is_lost else [])


@pytest.mark.parametrize("seed", range(12))
def test_learning_that_ends_early_on_a_ridge_does_not_make_errors_finite(seed):
    """Two features tell three numbers; the class and its features have five."""
    model = latent_class(np.random.default_rng(seed), 2, [2, 2])
    rows = jt.sample(model, 500, rng=seed).only(["f0", "f1"])
    learned = jt.fit(model, rows, latent=["h"])
    with pytest.warns(NotIdentifiedWarning, match="do not identify the tables of 'h', 'f0', 'f1'"):
        errors = learned.standard_errors
    assert all(np.isinf(part).all() for part in errors.values())


def test_a_class_that_is_known_for_some_rows_is_identified():
    """What the class is must be seen in some rows; then its errors are finite, and no warning is given."""
    model = latent_class(np.random.default_rng(0), 2, [2, 2])
    whole = jt.sample(model, 400, rng=0)
    codes = {name: np.array(whole.columns[name]) for name in ("h", "f0", "f1")}
    codes["h"] = np.where(np.arange(400) < 200, codes["h"], -1)
    rows = jt.Dataset.from_codes([model.variable(name) for name in codes], codes)
    learned = jt.fit(model, rows, method=jt.ExpectationMaximization(tolerance=1e-13))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        errors = learned.standard_errors
    assert all(np.isfinite(part).all() for part in errors.values())
