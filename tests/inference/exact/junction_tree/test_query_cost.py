"""`cost` tells what a query takes: the limit of bytes at which the query runs, and below which it is refused."""

from functools import partial

import numpy as np
import pytest
from tests.support.builders import random_field

import juncture as jt


def check_limit(ask, found):
    ask(memory_limit=int(found.bytes))
    with pytest.raises(jt.TooLarge):
        ask(memory_limit=int(found.bytes) - 1)


def star(num_leaves=10):
    """A hidden centre: summed out first, it leaves one table over all leaves."""
    rng = np.random.default_rng(0)
    centre = jt.Variable("centre", 3)
    leaves = [jt.Variable(f"leaf {number}", 2) for number in range(num_leaves)]
    tables = [jt.Conditional(leaf, [centre], rng.dirichlet(np.ones(2), size=3)) for leaf in leaves]
    return jt.BayesianNetwork([jt.Conditional(centre, [], [0.2, 0.3, 0.5]), *tables])


def test_the_cost_of_marginal_map():
    model, leaves = star(), [f"leaf {number}" for number in range(10)]
    found = jt.cost(model, targets=leaves, verb="most_probable")
    assert found.largest_table >= 2**10 > jt.cost(model, targets=leaves).largest_table
    check_limit(partial(jt.most_probable, model, targets=leaves), found)
    some = jt.cost(model, observed=leaves[:5], targets=leaves[5:], verb="most_probable")
    assert some.bytes < found.bytes
    evidence = dict.fromkeys(leaves[:5], 0)
    jt.most_probable(model, evidence, targets=leaves[5:], memory_limit=int(some.bytes))
    everything = jt.cost(model, verb="most_probable")
    assert everything == jt.cost(model)
    assert jt.cost(model, targets=["centre"], verb="most_probable") == jt.cost(model, targets=["centre"])


def test_a_query_runs_within_its_cost_and_no_less():
    rng = np.random.default_rng(0)
    for _ in range(6):
        model = random_field(rng, num_variables=int(rng.integers(3, 8)))
        some = list(model.variables.names[: int(rng.integers(2, len(model.variables)))])
        check_limit(partial(jt.infer, model, targets=some), jt.cost(model, targets=some))
        found = jt.cost(model, targets=some, verb="most_probable")
        check_limit(partial(jt.most_probable, model, targets=some), found)


def test_the_cost_of_tables_that_are_reduced_by_evidence():
    middle = [jt.Variable(f"x{number}", 4) for number in range(14)]
    pairs = [(one, other) for number, one in enumerate(middle) for other in middle[number + 1 :]]
    rng = np.random.default_rng(1)
    model = jt.MarkovNetwork([jt.Factor(pair, rng.uniform(0.5, 1.0, (4, 4))) for pair in pairs])
    seen = [variable.name for variable in middle[:10]]
    assert jt.cost(model).width == 13
    found = jt.cost(model, observed=seen)
    assert found.width == 3
    assert np.isfinite(jt.infer(model, dict.fromkeys(seen, 0), memory_limit=int(found.bytes)).log_evidence)


def test_a_verb_without_a_cost_is_named():
    with pytest.raises(jt.errors.Unsupported, match="no cost of the verb 'fit'"):
        jt.cost(star(), verb="fit")
