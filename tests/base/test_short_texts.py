"""What a value says of itself in one line stays short, however large the value is."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import juncture as jt
from juncture.base.values import few

MANY = 2000
WORDS = [f"x{number}" for number in range(MANY)]
PAIRS = list(pairwise(WORDS))


@cache
def chain():
    variables = [jt.Variable(name, 2) for name in WORDS]
    rest = (jt.NoisyOr(child, [parent], [0.5]) for parent, child in pairwise(variables))
    return jt.BayesianNetwork([jt.Conditional(variables[0], [], [0.5, 0.5]), *rest])


LARGE = {
    "a network": chain,
    "beliefs": lambda: jt.infer(chain()),
    "a best assignment": lambda: jt.most_probable(chain()),
    "a plan": lambda: jt.VariableElimination().compile(chain(), targets=["x0"]),
    "a graph": lambda: jt.DirectedGraph(PAIRS),
    "a variable": lambda: jt.Variable("x", 10 * MANY),
    "a mixture": lambda: jt.Mixture(np.full(MANY, 1 / MANY), jt.Poisson(np.arange(1.0, MANY + 1))),
    "independent columns": lambda: jt.Independent([jt.Gaussian()] * MANY),
    "a batch": lambda: jt.Gaussian(np.zeros(100 * MANY), 1.0),
    "a trace": lambda: jt.results.Trace(tuple(map(float, range(MANY))), True, "done"),
    "evidence": lambda: jt.Evidence(dict.fromkeys(WORDS, 0)),
    "soft evidence": lambda: jt.Evidence({"x": [0.1] * 10 * MANY}),
    "likelihoods": lambda: jt.Evidence(None, {name: [0.1, 0.2] for name in WORDS}),
    "cuts": lambda: jt.results.FittedDiscretizer({name: list(range(100)) for name in WORDS}),
    "a dataset": lambda: jt.Dataset({name: [1, 2] for name in WORDS}),
    "a factor": lambda: jt.Factor([jt.Variable("x", 10 * MANY)], np.ones(10 * MANY)),
}


@pytest.mark.parametrize("kind", LARGE)
def test_one_line_is_short(kind):
    value = LARGE[kind]()
    assert len(repr(value)) < 1000
    shown = getattr(value, "_repr_html_", str)
    assert shown is str or len(shown()) < 100 * MANY


def test_few():
    assert few(["a"]) == "a"
    assert few([]) == ""
    assert few("abc", " + ", most=2) == "a + b + … (3)"
