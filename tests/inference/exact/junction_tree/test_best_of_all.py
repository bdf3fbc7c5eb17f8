"""The best states of all variables for many rows at once, against enumeration and row by row."""

import math
import warnings

import numpy as np
import pytest

import juncture as jt
from juncture.inference.exact.junction_tree import best_assignments
from support.builders import random_evidence, random_field, random_network


@pytest.mark.parametrize("build", [random_network, random_field])
def test_many_rows_are_answered_as_each_alone(build):
    rng = np.random.default_rng(7)
    for _ in range(25):
        model = build(rng)
        rows = [random_evidence(model, rng) for _ in range(4)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jt.errors.ImpossibleEvidenceWarning)
            found = jt.most_probable(model, rows, targets=model.variables.names)
        chosen = found.assignments.to_dict()
        for number, row in enumerate(rows):
            if number in found.impossible:
                assert found.log_joint[number] == -math.inf
                continue
            alone = jt.most_probable(model, row, targets=model.variables.names)
            assert {name: states[number] for name, states in chosen.items()} == alone.assignment
            assert found.log_joint[number] == pytest.approx(alone.log_joint, rel=1e-12, abs=1e-12)
            joint = jt.infer(model, row, method="enumeration").joint(*model.variables.names).values
            assert math.exp(found.log_prob[number]) == pytest.approx(joint.max(), rel=1e-9)


def test_likelihoods_far_apart_and_ties_among_the_rows():
    a, b = jt.Variable("a", 2), jt.Variable("b", 3)
    model = jt.BayesianNetwork(
        [jt.Conditional(a, [], [0.5, 0.5]), jt.Conditional(b, [a], [[0.4, 0.4, 0.2], [0.3, 0.1, 0.6]])]
    )
    soft = np.array([[1e-300, 1e300], [1.0, 1.0], [1.0, 1e-20]])
    found = jt.most_probable(model, jt.Evidence([{}, {"b": 0}, {}], likelihoods={"a": soft}))
    assert found.assignments.to_dict() == {"a": [1, 0, 0], "b": [2, 0, 0]}
    assert found.log_joint == pytest.approx([math.log(0.3) + 300 * math.log(10), math.log(0.2), math.log(0.2)])


def test_only_rows_with_ties_are_searched_alone(monkeypatch):
    searched = []
    alone = best_assignments.best_row_by_row

    def search(tree, rows, *rest):
        searched.append(rows.num_rows)
        return alone(tree, rows, *rest)

    monkeypatch.setattr(best_assignments, "best_row_by_row", search)
    a, b = jt.Variable("a", 2), jt.Variable("b", 2)
    model = jt.BayesianNetwork([jt.Conditional(a, [], [0.6, 0.4]), jt.Conditional(b, [a], [[0.9, 0.1], [0.5, 0.5]])])
    soft = np.linspace(0.1, 0.2, 40)
    rows = [*({"a": [1.0, weight]} for weight in soft), {"a": 1}]
    assert jt.most_probable(model, rows).assignments.to_dict()["b"] == [0] * 41
    assert searched == [1]
