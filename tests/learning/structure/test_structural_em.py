"""Structural EM: expected counts, fits and scores by enumeration, the graph of the plain algorithm, interruptions."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

import juncture as jt
from juncture import structure
from juncture.learning.structure import forecast
from juncture.learning.structure.holes import ways
from juncture.learning.structure.holes.completion import complete
from juncture.learning.structure.holes.expected_scores import KeptCounts
from juncture.learning.structure.holes.observed_fit import ObservedFits, count_parameters
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.local_scores import NOTHING
from juncture.learning.structure.scores.scores import EdgePrior, as_local_scores
from juncture.learning.structure.searches import structural_em
from juncture.learning.structure.searches.hill_climbing import HillClimbing
from support.builders import joint_table, rows_with_holes
from support.learning_oracles import completions, expected_by_enumeration, random_tables

SEEDS = range(6)


def open_rows(seed: int, num_rows: int = 60) -> tuple[np.random.Generator, jt.BayesianNetwork, jt.Dataset]:
    """A network, and weighed rows that it drew, with holes in some of its columns of more than one state."""
    rng = np.random.default_rng(seed)
    model = random_tables(rng, int(rng.integers(3, 6)))
    rows = jt.sample(model, num_rows, rng=rng)
    names = [variable.name for variable in rows.variables if variable.num_states > 1]
    holed = rng.choice(names, rng.integers(1, len(names) + 1), replace=False)
    columns = {
        name: np.where((rng.random(num_rows) < 0.3) & (name in holed), -1, column)
        for name, column in rows.columns.items()
    }
    columns[holed[0]][0] = -1
    return rng, model, jt.Dataset.from_codes(rows.variables, columns, rng.integers(1, 4, num_rows).astype(float))


def whole_model(fits: ObservedFits, graph: jt.DirectedGraph, prior: float) -> jt.BayesianNetwork:
    """The network of all families: those of complete columns by counting, the others as they were fitted."""
    fitted, parts = fits.fit(graph).network, []
    for name in graph.nodes:
        if {name, *graph.parents(name)}.isdisjoint(fits.incomplete):
            family = jt.DirectedGraph([(other, name) for other in graph.parents(name)], [name])
            rows = fits.rows.only([*graph.parents(name), name])
            parts.append(jt.fit(family, rows, prior=prior, variables=rows.variables).model[name])
        else:
            parts.append(fitted[name])
    return jt.BayesianNetwork(parts)


@pytest.mark.parametrize("limit", [ways.MOST_WAYS, 1], ids=["all ways", "by an engine"])
def test_fits_by_parts_are_fits_of_the_whole(limit, monkeypatch):
    """The score is the BIC by enumeration; a step of EM over all families gains no more than EM's tolerance."""
    monkeypatch.setattr(ways, "MOST_WAYS", limit)
    for seed in SEEDS:
        _, model, data = open_rows(seed)
        fits, prior = ObservedFits(data, 1.0), 1.0
        found = whole_model(fits, model.graph, prior)
        expected, log_likelihood = expected_by_enumeration(found, data)
        cost = 0.5 * log(data.weights.sum()) * sum(map(count_parameters, found.conditionals))
        assert fits.fit(model.graph).score == pytest.approx(log_likelihood - cost, rel=1e-10)
        gain = 0.0
        for part in found.conditionals:
            counts = expected[part.child.name] + prior
            best = counts / counts.sum(axis=-1, keepdims=True)
            gain += float((counts * (np.log(best) - np.log(part.values))).sum())
        assert gain > -1e-9
        assert gain < 1e-4  # 60 rows; EM ends where a step gains less than 1e-7 of its rise


def joint_counts(model: jt.BayesianNetwork, data: jt.Dataset) -> np.ndarray:
    """The expected counts of all variables together: every completion of every row, weighed one by one."""
    joint, names = joint_table(model), model.variables.names
    counts = np.zeros(joint.shape)
    for place, weight in enumerate(data.weights):
        cells = list(completions(model, {name: int(data.columns[name][place]) for name in names}))
        total = sum(joint[cell] for cell in cells)
        for cell in cells:
            counts[cell] += weight * joint[cell] / total
    return counts


def test_completed_rows_have_the_expected_counts():
    """Of all variables together, and so of every family, whether or not the network has it."""
    for seed in SEEDS:
        rng, model, data = open_rows(seed)
        fits = ObservedFits(data, 1.0)
        rows = complete(fits, fits.fit(model.graph).network, 5, rng)
        assert rows.is_exact
        whole = whole_model(fits, model.graph, 1.0)
        counts = np.zeros(whole.variables.shape)
        together = rows.together
        np.add.at(counts, tuple(together.columns[name] for name in whole.variables.names), together.weights)
        np.testing.assert_allclose(counts, joint_counts(whole, data), atol=1e-9)


def test_rows_with_many_ways_are_drawn_so_often_for_each_copy(monkeypatch):
    monkeypatch.setattr(ways, "MOST_WAYS", 1)
    rng, model, data = open_rows(1)
    fits = ObservedFits(data, 1.0)
    rows = complete(fits, fits.fit(model.graph).network, 1, rng)
    assert not rows.is_exact
    assert rows.together.is_complete
    assert rows.together.weights.sum() == pytest.approx(data.weights.sum())


@pytest.mark.parametrize("score", ["bic", "bdeu", EdgePrior("k2", 2.0)], ids=str)
def test_scores_of_completed_rows_are_those_of_their_counts(score):
    """Families of complete columns, those whose whole rows are counted at once, and the others: all by one kernel."""
    for seed in SEEDS:
        rng, model, data = open_rows(seed, 300)
        fits = ObservedFits(data, 1.0)
        kept = KeptCounts(score, fits.rows, fits.incomplete)
        for step in range(2):  # the second completion uses what was kept
            graph = model.graph if step == 0 else jt.DirectedGraph([], model.graph.nodes)
            rows = complete(fits, fits.fit(graph).network, 5, rng)
            scores, plain = kept.scores(rows), as_local_scores(score, rows.together)
            positions = rng.permutation(len(fits.names)).tolist()
            for size in range(len(positions)):
                child, parents = positions[0], positions[1 : 1 + size]
                candidates = [NOTHING, *positions[1 + size :]]
                found = scores.score_extensions(child, parents, candidates)
                np.testing.assert_allclose(found, plain.score_extensions(child, parents, candidates), rtol=1e-9)


def plain_structural_em(data: jt.Dataset) -> jt.DirectedGraph:
    """The algorithm as it is written: all families fitted by EM, all rows completed, a climb, until nothing moves."""
    graph = learn_structure(data, "hill-climbing", score="node-average")
    seen, best = [], (-np.inf, graph)
    while graph not in seen:
        seen.append(graph)
        model = jt.fit(graph, data, prior=1.0, variables=data.variables, rng=0).model
        best = max(best, (observed_bic(graph, data), graph), key=lambda one: one[0])
        counts = joint_counts(model, data)
        cells = np.indices(counts.shape).reshape(counts.ndim, -1)
        columns = dict(zip(model.variables.names, cells, strict=True))
        completed = jt.Dataset.from_codes(model.variables, columns, counts.ravel())
        graph = learn_structure(completed.only(list(data.columns)), HillClimbing())
    return best[1]


def observed_bic(graph: jt.DirectedGraph, data: jt.Dataset) -> float:
    fitted = jt.fit(graph, data, prior=1.0, variables=data.variables, rng=0)
    cost = 0.5 * log(data.weights.sum()) * sum(map(count_parameters, fitted.model.conditionals))
    return fitted.log_likelihood - cost


def test_it_ends_at_the_graph_of_the_plain_algorithm_and_with_tries_not_below(monkeypatch):
    scores = []
    for seed in SEEDS:
        _, _, data = open_rows(seed, 150)
        plain, found = plain_structural_em(data), learn_structure(data, "structural-em")
        with monkeypatch.context() as patch:
            patch.setattr(structural_em, "MOST_TRIED", 0)
            assert learn_structure(data, "structural-em").is_equivalent(plain), seed
        scores.append((observed_bic(found, data), observed_bic(plain, data)))
    assert all(mine >= other - 1e-3 for mine, other in scores)


def test_a_dependence_that_expected_counts_hide_is_found():
    """Of rows half of which lack one end of an edge, the first completion follows the graph without it."""
    rng = np.random.default_rng(3)
    first = rng.integers(2, size=400)
    second = np.where(rng.random(400) < 0.3, 1 - first, first)
    second[rng.random(400) < 0.8] = -1
    binary = [jt.Variable("a", 2), jt.Variable("b", 2)]
    data = jt.Dataset.from_codes(binary, {"a": first, "b": second})
    assert len(learn_structure(data, "structural-em").edges) == 1


def family_by_definition(data: jt.Dataset, family: tuple[str, ...], cost: float) -> float:
    codes = np.array([data.columns[name] for name in family])
    is_whole = (codes >= 0).all(axis=0)
    sizes = [data.variable(name).num_states for name in family]
    counts = np.zeros(sizes)
    np.add.at(counts, tuple(codes[:, is_whole]), data.weights[is_whole])
    given = np.broadcast_to(counts.sum(axis=0), counts.shape)
    log_likelihood = float((counts[counts > 0] * np.log(counts[counts > 0] / given[counts > 0])).sum())
    return data.weights.sum() / counts.sum() * log_likelihood - cost * np.prod(sizes[1:]) * (sizes[0] - 1)


def test_node_averages_of_many_candidates_are_those_of_each_family():
    """However the families lack values: rows are found once for those that lack them in the same columns."""
    for seed in SEEDS:
        rng, _, data = open_rows(seed, 200)
        scores, names = as_local_scores(structure.NodeAverage(cost=1.5), data), list(data.columns)
        child, *others = rng.permutation(len(names)).tolist()
        candidates = [NOTHING, *others[1:]]
        found = scores.score_extensions(child, others[:1], candidates)
        for value, one in zip(found, candidates, strict=True):
            family = [child, others[0], *([one] if one != NOTHING else [])]
            assert value == pytest.approx(family_by_definition(data, tuple(names[at] for at in family), 1.5))


# --- interruptions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["hill-climbing", "combined", "ges", "mmhc", "structural-em"])
def test_ctrl_c_keeps_the_best_graph_so_far(method):
    """Its score is the largest that was reported."""
    model, has_holes = jt.example("student"), method == "structural-em"
    data = rows_with_holes(model, 1000, 0.1) if has_holes else jt.sample(model, 1000, rng=0)
    peaks = []

    def stop(step, peak):
        peaks.append(peak)
        if len(peaks) == (2 if has_holes else 4):
            raise KeyboardInterrupt

    with pytest.warns(jt.errors.NotConvergedWarning, match=r"interrupted .* step \d+; the graph is the best so far"):
        found = structure.search(data, method, rng=0, progress=stop)
    assert found.method == method
    if has_holes:
        assert ObservedFits(data, 1.0).fit(found.graph).score == pytest.approx(max(peaks))
    else:
        assert structure.score(found.graph, data) == pytest.approx(max(peaks))


def test_ctrl_c_before_there_is_a_graph_and_in_the_bootstrap_ends():
    data = jt.sample(jt.example("asia"), 200, rng=0)

    def stop(step, peak):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        structure.strengths(data, draws=3, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        learn_structure(data, "exact", progress=stop)


# --- what is said beforehand -----------------------------------------------------------------------------------------


def test_a_long_search_is_announced_where_progress_is_shown(monkeypatch):
    """With the node-average score where rows are many; predicted work grows with the rows, and holes cost more."""
    data = rows_with_holes(jt.example("student"), 200, 0.1)
    whole = jt.sample(jt.example("student"), 200, rng=0)
    monkeypatch.setattr(forecast, "LONG", 0.0)
    learn_structure(data)  # no one watches
    with pytest.warns(jt.errors.LongSearchWarning, match="structural EM over 200 rows and 5 columns will take about"):
        learn_structure(data, progress=print)
    with pytest.warns(
        jt.errors.LongSearchWarning, match="the search over 200 rows .* Ctrl-C keeps the best graph so far$"
    ):
        learn_structure(whole, progress=print)
    monkeypatch.setattr(forecast, "MANY_ROWS", 100)
    assert "--score node-average is quicker" in forecast.forecast(structural_em.StructuralEM(), data).text(
        "--score node-average"
    )
    search = structural_em.StructuralEM()
    seconds = [forecast.forecast(search, rows).seconds for rows in (whole, data, data.take(list(range(200)) * 10))]
    assert seconds[0] < seconds[1] < seconds[2]
    assert forecast.forecast(jt.PC(), whole) is None
