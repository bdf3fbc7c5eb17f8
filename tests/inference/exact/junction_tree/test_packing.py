"""Factors packed into cliques: from the inner axes outwards by the kernel, and by sums of logarithms."""

import numpy as np

from juncture.factors.factor import Factor
from juncture.inference.exact.junction_tree.dense_tree import pack_cliques, pack_logs, pack_tables
from juncture.inference.exact.junction_tree.plan import find_structure, lay_out_plan
from juncture.variables import Variable


def random_tree(rng):
    num_states = rng.integers(1, 5, rng.integers(1, 9))
    variables = [Variable(f"x{node}", int(size)) for node, size in enumerate(num_states)]
    scopes = [rng.permutation(len(variables))[: rng.integers(0, 5)].tolist() for _ in range(rng.integers(1, 12))]
    tables = [rng.random(num_states[scope]) * (rng.random(num_states[scope]) > 0.2) for scope in scopes]
    factors = [Factor([variables[n] for n in scope], t) for scope, t in zip(scopes, tables, strict=True)]
    return lay_out_plan(find_structure(scopes, num_states)), factors


def test_every_factor_is_in_its_clique_once():
    rng = np.random.default_rng(0)
    for _ in range(60):
        plan, factors = random_tree(rng)
        base, bounds = np.full(plan.num_cells, np.nan), np.full(plan.num_cliques, np.nan)
        assert pack_tables(plan, [factor.values.reshape(-1) for factor in factors], base, bounds)
        expected = np.exp(pack_logs(plan, [factor.log_values for factor in factors]))
        np.testing.assert_allclose(base, expected, rtol=1e-13)
        for bound, (offset, size) in zip(bounds, plan.table[:, :2], strict=True):
            cells = base[offset : offset + size]
            assert bound == min(cells[cells > 0], default=np.inf)


def test_logarithms_of_the_cliques_are_the_same_where_products_are_safe():
    rng = np.random.default_rng(1)
    for _ in range(20):
        plan, factors = random_tree(rng)
        tree = pack_cliques(plan, factors)
        np.testing.assert_allclose(tree.log_base, pack_logs(plan, tree.log_factors), rtol=1e-13, atol=1e-14)
