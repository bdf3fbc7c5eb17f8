"""Hypothesis strategies for models that strain file formats: names and labels of any text, any double, all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.factors.gaussian import LinearGaussian
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph, MarkovNetwork
from juncture.variables import Scope, Variable
from support.builders import random_field, random_network

ODD_WORDS = [
    *("<5", "12+", "Asy/Patch", "a b", " ", "  a ", "", "x,y", "a;b", "a//b", "/*", "*/", "%", "'", '"', '""', "\\"),
    *(
        "(",
        ")",
        "{}",
        "[2]",
        "|",
        "=",
        "&",
        "&lt;",
        "<!--",
        "]]>",
        "\t",
        "a\nb",
        "\r",
        "\0",
        "\x85",
        "\u2028",
        "\ufeff",
    ),
    *("table", "default", "property", "node", "net", "potential", "data", "states", "0", "0.5", "1e-3", "nan", "-1"),
    *("true", "None", "x0", "x_0", "X0", "_", "é", "e\u0301", "😀", "\ud800", "a" * 300),
]
words = st.one_of(st.sampled_from(ODD_WORDS), st.text(max_size=6))
labels = st.one_of(words, st.integers(), st.booleans(), st.floats(allow_nan=False))
doubles = st.floats(0, allow_nan=False, allow_infinity=False)
generators = st.integers(0, 2**32).map(np.random.default_rng)


@st.composite
def rows(draw: st.DrawFn, num_rows: int, num_states: int) -> np.ndarray:
    """Rows that sum to 1 within 1e-9, though rarely exactly, with zeros and numbers near them."""
    rng = draw(generators)
    values = rng.gamma(draw(st.sampled_from([0.01, 0.1, 1.0])), size=(num_rows, num_states)) + 5e-324
    values /= values.sum(axis=-1, keepdims=True)
    return values * (1 + draw(st.sampled_from([0.0, 3e-10, -3e-10])))


@st.composite
def table_networks(draw: st.DrawFn, names: st.SearchStrategy[str], states: Any) -> BayesianNetwork:
    """Tables only, in an order that need not be topological; `states` makes the labels of a number of states."""
    variables = [
        Variable(name, draw(states(draw(st.integers(1, 3)))))
        for name in draw(st.lists(names, min_size=1, max_size=4, unique=True))
    ]
    parts = []
    for place, child in enumerate(variables):
        parents = Scope(draw(st.lists(st.sampled_from(variables[:place]), unique=True, max_size=3)) if place else [])
        values = draw(rows(parents.size, child.num_states))
        parts.append(Conditional(child, parents, values.reshape(*parents.shape, child.num_states)))
    return BayesianNetwork(draw(st.permutations(parts)))


def distinct_labels(count: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(labels, min_size=count, max_size=count, unique_by=lambda label: (type(label), label))


@st.composite
def plain_networks(draw: st.DrawFn) -> BayesianNetwork:
    """What every format can express: tables, variables x0, x1, … in order, states 0, 1, …."""
    model = draw(table_networks(words.filter(len), lambda count: st.just(range(count))))
    new = {
        name: Variable(f"x{place}", model.variable(name).num_states) for place, name in enumerate(model.variables.names)
    }
    return BayesianNetwork(
        Conditional(new[part.child.name], [new[name] for name in part.parents.names], part.values)
        for part in model.conditionals
    )


odd_networks = table_networks(words.filter(len), distinct_labels)
compact_networks = generators.map(random_network)


@st.composite
def products(draw: st.DrawFn) -> MarkovNetwork | FactorGraph:
    """Markov networks and factor graphs, with any double in one of the factors."""
    field = draw(generators.map(random_field))
    variable = Variable(draw(words.filter(len).filter(lambda name: name not in field.variables.names)), 2)
    factor = Factor([variable], draw(st.lists(doubles, min_size=2, max_size=2)))
    return draw(st.sampled_from([MarkovNetwork, FactorGraph]))([*field.factors, factor], field.variables)


@st.composite
def boxed_networks(draw: st.DrawFn) -> BayesianNetwork:
    """Ties and plates, with any text as a label."""
    coins = [Variable(f"x{place}", 2) for place in range(3)]
    tied = draw(st.sampled_from([[], [["x0", "x1"]], [["x0", "x1", "x2"]]]))
    plates = draw(st.sampled_from([[], ["x2"], ["x0", "x1"]]))
    boxes = [(draw(words), plates)] if plates else []
    return BayesianNetwork([Conditional(coin, [], [0.25, 0.75]) for coin in coins], tied=tied, plates=boxes)


real_network = BayesianNetwork([LinearGaussian(Variable("height"), [], [], 1.8, 0.04)])
any_models = st.one_of(odd_networks, compact_networks, products(), boxed_networks(), st.just(real_network))
