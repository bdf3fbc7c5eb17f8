"""Structure of columns with states and real columns together: scores against fitted networks, and searches."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt

SEEDS = st.integers(0, 2**32 - 1)
SCORES = {"log-likelihood": lambda n: 0.0, "aic": lambda n: 1.0, "bic": lambda n: 0.5 * np.log(n)}


def draw_graph(rng, discrete, real):
    """A random graph in which no edge leads from numbers to states."""
    names = [*rng.permutation(discrete).tolist(), *rng.permutation(real).tolist()]
    pairs = itertools.combinations(names, 2)
    return jt.DirectedGraph([pair for pair in pairs if rng.random() < 0.5], rng.permutation(names).tolist())


def draw_rows(rng, num_rows, discrete, real):
    states = {name: rng.integers(0, size, num_rows) for name, size in zip(discrete, [2, 3], strict=False)}
    shift = sum((codes for codes in states.values()), np.zeros(num_rows))
    common = rng.normal(size=num_rows)
    numbers = {name: 1e3 * shift + common * (1 + shift) + rng.normal(size=num_rows) for name in real}
    return {name: (states | numbers)[name] for name in rng.permutation([*discrete, *real]).tolist()}


@given(seed=SEEDS, score=st.sampled_from(sorted(SCORES)), is_weighted=st.booleans())
def test_a_score_is_the_likelihood_of_the_fitted_network_less_its_parameters(seed, score, is_weighted):
    rng = np.random.default_rng(seed)
    discrete, real = ["s", "t"][: rng.integers(1, 3)], ["x", "y", "z"]
    graph, rows = draw_graph(rng, discrete, real), draw_rows(rng, 150, discrete, real)
    if rng.random() < 0.5:  # then nearly every row has states of its own
        graph, rows = jt.DirectedGraph(graph.edges, [*graph.nodes, "many"]), rows | {"many": np.arange(150) // 2}
    weights = rng.uniform(0.5, 2.0, 150) if is_weighted else None
    states = ["many"] if "many" in rows else []
    fitted = jt.fit(graph, rows, weights=weights, states=states)
    num_parameters = sum(part.num_parameters for part in fitted.model.conditionals)
    total = 150.0 if weights is None else float(weights.sum())
    expected = fitted.log_likelihood - SCORES[score](total) * num_parameters
    data = jt.Dataset(rows, weights=weights, states=states)
    assert jt.structure.score(graph, data, score) == pytest.approx(expected, rel=1e-9)


@given(seed=SEEDS)
def test_equivalent_graphs_score_alike_and_no_search_beats_all_graphs(seed):
    rng = np.random.default_rng(seed)
    discrete, real = (["s", "t"], ["x"]) if seed % 2 else (["s"], ["x", "y"])
    rows = draw_rows(rng, 120, discrete, real)
    best = jt.learn_structure(rows, "exact")
    peak = jt.structure.score(best, rows)
    for method in ("hill-climbing", "ges", "combined", "chow-liu"):
        options = {"directed": True} if method == "ges" else {}
        found = jt.learn_structure(rows, method, **options)
        assert jt.structure.score(found, rows) <= peak + 1e-6
    names = [*discrete, *real]
    pairs = [(a, b) for a in names for b in names if a != b and not (a in real and b in discrete)]
    tops = [peak]
    for edges in itertools.chain.from_iterable(itertools.combinations(pairs, size) for size in range(5)):
        try:
            graph = jt.DirectedGraph(edges, names)
        except jt.errors.InvalidModel:
            continue
        tops.append(jt.structure.score(graph, rows))
        if graph.is_equivalent(best):
            assert tops[-1] == pytest.approx(peak, rel=1e-9)
    assert max(tops) <= peak + 1e-6


def test_hill_climbing_finds_a_mixed_graph_and_fit_goes_on_from_it(tmp_path):
    rng = np.random.default_rng(1)
    sex, group = rng.integers(0, 2, 2000), rng.integers(0, 3, 2000)
    height = 165.0 + 12.0 * sex + rng.normal(scale=6.0, size=2000)
    weight = -90.0 + (0.9 + 0.05 * sex) * height + rng.normal(scale=4.0 + 2.0 * sex, size=2000)
    rows = {"weight": weight, "sex": np.array(["f", "m"])[sex], "height": height, "group": np.array(list("abc"))[group]}
    graph = jt.learn_structure(rows, rng=0)
    assert set(graph.edges) in (
        {("sex", "height"), ("sex", "weight"), ("height", "weight")},
        {("sex", "height"), ("sex", "weight"), ("weight", "height")},
    )
    model = jt.fit(graph, rows).model
    jt.write(model, tmp_path / "people.json")
    assert jt.read(tmp_path / "people.json") == model
    strengths = jt.structure.strengths(rows, draws=3, rng=0)
    assert strengths.average().skeleton() == graph.skeleton()


def test_edges_from_numbers_to_states_are_not_possible():
    rows = draw_rows(np.random.default_rng(0), 60, ["s"], ["x", "y"])
    with pytest.raises(jt.errors.InvalidData, match="'x' is a number and 's' has states"):
        jt.learn_structure(rows, "hill-climbing", required=[("x", "s")])
    with pytest.raises(jt.errors.Unsupported, match="'x' -> 's' leads from numbers to states"):
        jt.structure.score(jt.DirectedGraph([("x", "s")], ["x", "s", "y"]), rows)


def test_states_with_too_few_rows_are_no_parents_of_numbers():
    rng = np.random.default_rng(0)
    kind = np.array(["common"] * 48 + ["rare"])
    rows = {"kind": kind, "x": rng.normal(size=49) + 9.0 * (kind == "rare"), "y": rng.normal(size=49)}
    graph = jt.DirectedGraph([("kind", "x")], ["kind", "x", "y"])
    assert jt.structure.score(graph, rows) == -np.inf
    assert not jt.learn_structure(rows, rng=0).edges
    with pytest.raises(jt.errors.InvalidData, match="the edges into 'x' that are required leave"):
        jt.learn_structure(rows, required=[("kind", "x")], rng=0)
    with pytest.raises(jt.errors.InvalidData, match="not determined in the rows with kind=rare"):
        jt.fit(graph, rows)


def test_what_has_no_score_is_refused():
    rows = draw_rows(np.random.default_rng(0), 60, ["s"], ["x", "y"])
    with pytest.raises(jt.errors.Unsupported, match="take 'bic' or 'aic'"):
        jt.learn_structure(rows, score="bdeu", rng=0)
    with pytest.raises(jt.errors.Unsupported, match=r"'s' has states and '.' numbers: take a search that scores"):
        jt.learn_structure(rows, "pc")
    with pytest.raises(jt.errors.InvalidData, match="'y' has the same number in every row"):
        jt.learn_structure(rows | {"y": np.full(60, 0.1)}, rng=0)
    nothing = jt.Dataset({"s": [], "x": []}, variables=[jt.Variable("s", 2), jt.Variable("x")])
    with pytest.raises(jt.errors.InvalidData, match="at least one row"):
        jt.learn_structure(nothing, rng=0)
    with pytest.raises(
        jt.errors.InvalidData, match="the column 'x' has missing values, the first in row 59: drop these rows"
    ):
        jt.learn_structure(rows | {"x": np.append(rows["x"][:-1], np.nan)}, "hill-climbing")


def test_structural_em_completes_columns_of_both_kinds():
    """The units of a column and a tenth of empty cells change nothing."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 200)
    x = 3.0 * kind + rng.normal(size=200)
    y = 1e6 * (2.0 * x + rng.normal(size=200))
    columns = {"kind": kind, "x": x, "y": y, "z": rng.normal(size=200)}
    rows = {
        name: [None if rng.random() < 0.1 else cell for cell in column.tolist()] for name, column in columns.items()
    }
    options = {"completions": 2, "max_steps": 3}
    found = jt.learn_structure(rows, "structural-em", **options)
    assert {frozenset(edge) for edge in found.edges} == {frozenset(pair) for pair in (("kind", "x"), ("x", "y"))}
    assert ("x", "kind") not in found.edges
    real = {name: rows[name] for name in ("x", "y", "z")}
    assert ("z", "y") in jt.learn_structure(real, required=[("z", "y")], **options).edges
