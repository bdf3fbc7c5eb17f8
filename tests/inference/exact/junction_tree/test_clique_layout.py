"""Cliques hang on small tables where they can, and the tree stays a junction tree."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.exact.junction_tree.engine import JunctionTree
from support.builders import random_network


def plan_of(model):
    return JunctionTree().packed_model(model).tree.plan


def cliques_of(plan):
    return [set(plan.nodes[start:stop].tolist()) for start, stop in zip(plan.starts, plan.starts[1:], strict=False)]


@given(seed=st.integers(0, 2**32 - 1))
def test_the_cliques_of_a_variable_are_connected(seed):
    rng = np.random.default_rng(seed)
    plan = plan_of(random_network(rng, num_variables=int(rng.integers(2, 14))))
    cliques, parents = cliques_of(plan), plan.table[:, 5]
    for node in range(len(plan.num_states)):
        holding = [clique for clique, members in enumerate(cliques) if node in members]
        tops = [clique for clique in holding if parents[clique] not in holding]
        assert len(tops) == 1
    assert all(parent < clique for clique, parent in enumerate(parents))


def test_a_small_clique_hangs_on_a_small_one():
    """Two leaves of `a`, which is in one large table: the second leaf hangs on the first, not on the table."""
    a, *others = (jt.Variable(f"x{number}", 5) for number in range(5))
    leaves = [jt.Variable(f"leaf{number}", 2) for number in range(2)]
    parts = [jt.Conditional(variable, [], np.full(5, 0.2)) for variable in (a, *others[:-1])]
    parts.append(jt.Conditional(others[-1], [a, *others[:-1]], np.full((5,) * 5, 0.2)))
    parts += [jt.Conditional(leaf, [a], np.full((5, 2), 0.5)) for leaf in leaves]
    plan = plan_of(jt.BayesianNetwork(parts))
    sizes, parents = plan.table[:, 1], plan.table[:, 5]
    assert sorted(sizes[parents[parents >= 0]].tolist()) == [10, 5**5]
