"""Networks from statistics: maximum likelihood, priors, ties, and what is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sources import as_source
from juncture.learning.conditionals.table import TableCounts
from juncture.learning.networks.posterior import posterior
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.numerics.iteration import Trace
from support.builders import random_rows
from support.learning_oracles import quiet, random_codes, random_tables

SEEDS = st.integers(0, 2**32 - 1)
X, Y = jt.Variable("x", ["a", "b"]), jt.Variable("y", [0, 1, 2])
CHAIN = jt.DirectedGraph([("x", "y")])
ROWS = {"x": ["a", "a", "a", "b"], "y": [0, 0, 1, 2]}


def table_of(model, name="y"):
    return model[name].values.tolist()


def test_maximum_likelihood_is_relative_frequencies():
    """S2-178, S4-206, S0-274."""
    fitted = jt.fit(CHAIN, ROWS)
    assert table_of(fitted.model, "x") == [0.75, 0.25]
    assert table_of(fitted.model) == [[2 / 3, 1 / 3, 0.0], [0.0, 0.0, 1.0]]
    assert fitted.log_likelihood == pytest.approx(3 * np.log(0.75) + np.log(0.25) + 2 * np.log(2 / 3) + np.log(1 / 3))
    assert fitted.trace.converged
    assert fitted.trace.values == (fitted.log_likelihood,)


@given(seed=SEEDS)
def test_no_other_table_has_a_larger_likelihood(seed):
    """S2-178, S3-027: and the likelihood is the sum over the rows."""
    rng = np.random.default_rng(seed)
    model = random_tables(rng)
    rows = jt.Dataset.from_codes(model.variables, random_codes(rng, model, 30))
    fitted = quiet(jt.fit, model, rows, rng=0)
    assert fitted.log_likelihood == pytest.approx(float(np.sum(jt.log_prob(fitted.model, rows))), abs=1e-9)
    other = [jt.Conditional(p.child, p.parents, random_rows(rng, p.values.shape)) for p in model.conditionals]
    assert np.sum(jt.log_prob(jt.BayesianNetwork(other), rows)) <= fitted.log_likelihood + 1e-9


@given(seed=SEEDS)
def test_two_halves_added_are_one_fit(seed):
    rng = np.random.default_rng(seed)
    model = random_tables(rng)
    rows = jt.Dataset.from_codes(model.variables, random_codes(rng, model, 20))
    halves = jt.statistics(model, rows.take(slice(7))) + jt.statistics(model, rows.take(slice(7, None)))
    assert quiet(jt.estimate, model, halves) == quiet(jt.fit, model, rows, rng=0).model
    assert jt.estimate(model, halves, 0.5) == jt.fit(model, rows, prior=0.5).model


# --- priors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "added"),
    [
        (2.0, 2.0),
        (np.float64(2.0), 2.0),
        (jt.BDeu(12), 2.0),
        (jt.K2(), 1.0),
        ({"y": 2.0}, 2.0),
        ({"y": [1.0, 2.0, 3.0]}, [1.0, 2.0, 3.0]),
        ({"y": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        ({"y": jt.Dirichlet([1.0, 2.0, 3.0])}, [1.0, 2.0, 3.0]),
        ({"y": jt.BDeu(6)}, 1.0),
    ],
)
def test_a_prior_is_rows_that_were_counted_before(prior, added):
    """S2-179, S4-209: (N + α) / Σ (N + α)."""
    counts = np.array([[2, 1, 0], [0, 0, 1]]) + np.asarray(added, float)
    found = jt.fit(CHAIN, ROWS, prior=prior).model
    assert found["y"].values == pytest.approx(counts / counts.sum(axis=1, keepdims=True))


def test_bdeu_spreads_one_sample_over_each_table():
    found = jt.estimate(CHAIN, jt.statistics(CHAIN, ROWS), jt.BDeu(6.0))
    assert found["x"].values == pytest.approx(np.array([3 + 3, 1 + 3]) / 10)
    assert found["y"].values == pytest.approx(np.array([[3, 2, 1], [1, 1, 2]]) / np.array([[6], [4]]))


def test_the_mode_of_the_posterior():
    """The mode under α is the mean under α - 1; S2-179 calls the mean a mode."""
    statistics = jt.statistics(CHAIN, ROWS)
    for prior, less in [(3.0, 2.0), ({"y": [2.0, 3.0, 4.0], "x": 2.0}, {"y": [1.0, 2.0, 3.0], "x": 1.0})]:
        assert jt.estimate(CHAIN, statistics, prior, point="mode") == jt.estimate(CHAIN, statistics, less)
    assert jt.estimate(CHAIN, statistics, {"y": 2.0}, point="mode")["x"].values.tolist() == [0.75, 0.25]
    with pytest.raises(jt.errors.InvalidData, match=r"below 1; the smallest is 0\.5"):
        jt.estimate(CHAIN, statistics, 0.5, point="mode")


def test_the_objective_is_the_likelihood_and_the_prior():
    fitted = jt.fit(CHAIN, ROWS, prior=2.0)
    prior = 2 * sum(float(np.log(part.values).sum()) for part in fitted.model.conditionals)
    assert fitted.trace.values == (pytest.approx(fitted.log_likelihood + prior),)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (-1.0, "at least 0"),
        (float("nan"), "at least 0"),
        ({"y": [1.0, -1.0, 2.0]}, "at least 0"),
        ({"y": [1.0, float("nan"), 2.0]}, "finite"),
        ({"y": [1.0, 2.0]}, r"shape \(2, 3\)"),
        ("much", "a prior is a number"),
        ({"z": 1.0}, "no variable 'z'"),
    ],
)
def test_priors_that_make_no_sense(prior, message):
    with pytest.raises((jt.errors.InvalidData, jt.UnknownVariable), match=message):
        jt.fit(CHAIN, ROWS, prior=prior)


def test_a_prior_for_what_takes_none_is_refused():
    x, z = jt.Variable("x", 2), jt.Variable("z", 2)
    model = jt.BayesianNetwork([jt.Conditional(x, [], [0.5, 0.5]), jt.NoisyOr(z, [x], [0.5])])
    with pytest.raises(jt.errors.InvalidData, match=r"'z' would change nothing: NoisyOr"):
        jt.fit(model, {"x": [0, 0, 1, 1], "z": [0, 0, 1, 0]}, prior={"z": 1.0})


@pytest.mark.parametrize("options", [{"point": "median"}, {"on_unseen": "zero"}])
def test_wishes_that_make_no_sense(options):
    with pytest.raises(jt.errors.InvalidData, match=r"point is|on_unseen is"):
        jt.fit(CHAIN, ROWS, **options)


def test_the_whole_posterior():
    """S1-041, S4-209: Dirichlet(α + N) for every combination of parents' states; its mean is the estimate."""
    statistics = jt.statistics(CHAIN, ROWS)
    found = posterior(CHAIN, statistics, 1.0)
    assert found["y"].concentration.tolist() == [[3.0, 2.0, 1.0], [1.0, 1.0, 2.0]]
    for name in ("x", "y"):
        assert found[name].mean == pytest.approx(jt.estimate(CHAIN, statistics, 1.0)[name].values)
    with pytest.raises(jt.errors.InvalidData, match="neither rows nor a prior"):
        posterior(CHAIN, statistics, None)


# --- what was never seen -------------------------------------------------------------------------------------------


UNSEEN = {"x": ["a", "a"], "y": [0, 1], "z": ["n", "n"]}
WIDE = jt.DirectedGraph([("x", "y"), ("z", "y")])
DECLARED = [X, jt.Variable("z", ["n", "m", "o"])]


def test_one_warning_counts_what_was_never_seen():
    """S2-178: the rule for unseen parents' states is uniform, and said."""
    with pytest.warns(
        jt.errors.UnseenParentsWarning, match=r"5 combinations .* in 1 family \(most in that of 'y': 5\)"
    ) as said:
        model = jt.fit(WIDE, UNSEEN, variables=DECLARED).model
    assert len(said) == 1
    assert model["y"].values[1, 2].tolist() == [0.5, 0.5]
    with pytest.raises(jt.errors.InvalidData, match=r'5 combinations .* on_unseen="uniform"'):
        jt.fit(WIDE, UNSEEN, variables=DECLARED, on_unseen="error")
    assert jt.fit(WIDE, UNSEEN, prior=1.0, variables=DECLARED, on_unseen="error").model["y"].values[1, 2].tolist() == [
        0.5,
        0.5,
    ]


def test_rows_with_holes_are_held_to_the_same():
    holes = {"x": ["a", "a", None], "y": [0, 1, 1], "z": ["n", "n", "n"]}
    with pytest.raises(jt.errors.InvalidData, match="never seen"):
        jt.fit(WIDE, holes, variables=DECLARED, on_unseen="error")


def test_without_rows_the_prior_answers():
    empty = jt.Dataset.from_codes([X, Y], {"x": np.empty(0, int), "y": np.empty(0, int)})
    assert jt.fit(CHAIN, empty, prior=1.0).model["y"].values == pytest.approx(np.full((2, 3), 1 / 3))
    with pytest.warns(jt.errors.UnseenParentsWarning, match="3 combinations"):
        assert jt.fit(CHAIN, empty).log_likelihood == 0.0


# --- statistics of something else ----------------------------------------------------------------------------------


def test_statistics_must_be_those_of_the_structure():
    statistics = jt.statistics(CHAIN, ROWS)
    with pytest.raises(jt.errors.InvalidData, match="'y' are given x; the structure gives it none"):
        jt.estimate(jt.DirectedGraph([("y", "x")]), statistics)
    with pytest.raises(jt.UnknownVariable, match="no variable 'z'"):
        jt.estimate(jt.DirectedGraph([("x", "y"), ("y", "z")]), statistics)
    with pytest.raises(jt.errors.InvalidData, match="estimate takes"):
        jt.estimate(CHAIN, {"x": 1})
    with pytest.raises(jt.errors.Unsupported, match="BayesianNetwork, MarkovNetwork, FactorGraph, DirectedGraph"):
        jt.estimate("x -> y", statistics)


def test_statistics_must_be_of_the_models_kind_and_states():
    binary = jt.Variable("y", [0, 1])
    parts = [jt.Conditional(X, [], [0.5, 0.5]), jt.Conditional(binary, [X], [[0.5, 0.5], [0.5, 0.5]])]
    with pytest.raises(jt.errors.InvalidData, match=r"states \[0, 1, 2\] for 'y', the model has \[0, 1\]"):
        jt.estimate(jt.BayesianNetwork(parts), jt.statistics(CHAIN, ROWS))
    noisy = jt.BayesianNetwork([parts[0], jt.NoisyOr(binary, [X], [0.5])])
    with pytest.raises(
        jt.errors.InvalidData, match=r"are TableCounts, from which NoisyOr\(y \| x\) cannot be estimated"
    ):
        jt.estimate(noisy, jt.statistics(CHAIN, {"x": ["a", "b"], "y": [0, 1]}))
    with pytest.raises(jt.errors.InvalidData, match="are given no parents"):
        jt.estimate(jt.BayesianNetwork(parts), jt.statistics(jt.DirectedGraph(nodes=["x", "y"]), ROWS))


def test_blocks_that_weigh_too_much_together_are_refused():
    """Each block for itself may be added up; both together may not, wherever they are added."""
    rows = {"a": [0, 1, 1], "b": [0, 1, 0], "w": [6e299, 3e299, 2e299]}
    graph = jt.DirectedGraph.parse("a -> b")
    whole = as_source(lambda: iter([rows]), weights="w", block_rows=1)
    with pytest.raises(jt.errors.InvalidData, match=r"add up to 1\.1e\+300; at most 1e\+300"):
        jt.fit(graph, whole)
    one = jt.statistics(graph, {"a": [0, 1], "b": [0, 1]}, weights=[4e299, 4e299])
    for add in (lambda: one + one, lambda: one.scaled(2.0)):
        with pytest.raises(jt.errors.InvalidData, match=r"add up to 1\.6e\+300"):
            add()


def overflowed() -> dict[str, Any]:
    """Models of tables that no constructor would take."""
    a = jt.Variable("a", 2)
    coin = jt.BayesianNetwork([jt.Conditional(a, [], [0.5, 0.5])])
    field, chain = coin.to_markov_network(), jt.HiddenMarkovModel([0.5, 0.5], np.eye(2), np.eye(2))
    nan, none = np.full(2, np.nan), np.zeros(2)
    return {
        "table of zeros": jt.BayesianNetwork.trusted(coin, [jt.Conditional.trusted(coin["a"], none)]),
        "factor": jt.MarkovNetwork.trusted(field, [jt.Factor.trusted(field.factors[0].scope, nan)]),
        "initial": jt.HiddenMarkovModel.trusted(chain, nan, np.eye(2), chain.emissions),
        "transition": jt.HiddenMarkovModel.trusted(chain, np.array([0.5, 0.5]), np.zeros((2, 2)), chain.emissions),
        "emissions": jt.HiddenMarkovModel.trusted(
            chain, np.array([0.5, 0.5]), np.eye(2), jt.CategoricalEmissions.trusted(chain.emissions, np.zeros((2, 2)))
        ),
    }


@pytest.mark.parametrize("model", overflowed().values(), ids=list(overflowed()))
def test_what_is_learned_passes_the_check_of_what_users_give(model):
    with pytest.raises(jt.errors.InvalidData, match=r"learning overflowed: .*(sums to 0|not a finite number)"):
        jt.results.Fit(model, 0.0, Trace((0.0,), True, "one step"), None)


def test_an_estimate_passes_the_check_of_what_users_give():
    a = jt.Variable("a", 2)
    counts = NetworkStatistics({"a": TableCounts(a, [], [1.5e308, 1.5e308])}, 1.0)
    with (
        np.errstate(over="ignore"),
        pytest.raises(jt.errors.InvalidData, match="learning overflowed: the conditional of 'a'"),
    ):
        jt.estimate(jt.DirectedGraph(nodes=["a"]), counts)
