"""What is too large is refused in a sentence before anything is allocated; so is what is no engine."""

from __future__ import annotations

import pytest

import juncture as jt
from juncture.inference.infer import EXACT_METHODS

ASIA = jt.example("asia")
ENGINES = sorted(set(EXACT_METHODS) - {"auto", "exact"})
MANY = jt.MarkovNetwork([jt.Factor([jt.Variable(f"x{place}", 2)], [1, 2]) for place in range(1100)])


def len_of(count):
    return f"1e{len(str(count)) - 1}"


@pytest.mark.parametrize("count", [10**12, 10**20, 10**400], ids=len_of)
@pytest.mark.parametrize("given", [None, {"xray": "yes"}])
def test_more_rows_than_fit(count, given):
    with pytest.raises(jt.TooLarge, match=r"rows would need .* sample fewer"):
        jt.sample(ASIA, count, given=given)


@pytest.mark.parametrize("count", [10**20, 10**400], ids=len_of)
def test_longer_sequences_than_fit(count):
    chain = jt.MarkovChain([[0.5, 0.5], [0.1, 0.9]], initial=[0.5, 0.5])
    with pytest.raises(jt.TooLarge, match=r"states would need .* draw shorter"):
        jt.sample(chain, count)


@pytest.mark.parametrize("method", ["junction-tree", "variable-elimination"])
@pytest.mark.parametrize("k", [10**9, 10**400], ids=len_of)
def test_more_best_assignments_than_fit(method, k):
    with pytest.raises(jt.TooLarge, match=r"best assignments of 1,100 variables would need .* smaller k"):
        jt.most_probable(MANY, k=k, method=method)


@pytest.mark.parametrize("method", ENGINES)
def test_a_large_k_gives_all_assignments_where_they_are_few(method):
    model = jt.MarkovNetwork([jt.Factor([jt.Variable("a", 2), jt.Variable("b", 3)], [[1, 2, 0], [4, 5, 6]])])
    assert len(jt.most_probable(model, k=10**9, method=method)) == 5


@pytest.mark.parametrize("ask", [jt.infer, jt.most_probable, lambda model, **options: jt.sample(model, 3, **options)])
def test_enumeration_of_more_states_than_a_float_counts(ask):
    with pytest.raises(jt.TooLarge, match=r"would visit 2\^1100 joint states of 1100 variables"):
        ask(MANY, method="enumeration")


def test_a_product_of_more_entries_than_python_writes_out():
    variables = [jt.Variable(f"x{place}", 2) for place in range(20_000)]
    with pytest.raises(jt.TooLarge, match=r"would have 2\^20000 entries"):
        jt.Factor(variables[:1], [1, 1]).multiply(jt.Factor.trusted(jt.variables.Scope(variables), None))


@pytest.mark.parametrize("method", [3, 2.5, int, object(), [], {"a": 1}, lambda: None])
@pytest.mark.parametrize(
    "ask", [jt.infer, jt.most_probable, lambda model, **options: jt.sample(model, 3, given={}, **options)]
)
def test_what_is_no_engine(ask, method):
    with pytest.raises(
        jt.errors.Unsupported, match=r"method is the name of an engine or an engine itself; got .*'auto'"
    ):
        ask(ASIA, method=method)


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("model", [jt.FactorGraph([]), jt.MarkovNetwork([jt.Factor([], 2.0)]), jt.BayesianNetwork([])])
def test_the_best_assignment_of_nothing_is_empty(model, method):
    best = jt.most_probable(model, method=method)
    assert best.assignment == {}
    assert best.log_prob == 0
    assert jt.most_probable(model, k=3, method=method) == [best]
    assert jt.most_probable(model, [{}, {}], method=method).log_prob.tolist() == [0, 0]


def test_draws_that_are_too_large_name_a_sampler_that_takes_any_width():
    with pytest.raises(jt.TooLarge, match=r"; method='gibbs' draws from an approximation$"):
        jt.sample(jt.ising((40, 40), coupling=0.4, field=0.1), 10, rng=0)
