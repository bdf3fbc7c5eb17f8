"""The algebra of log-tables and messages in trees of cliques, against `einsum` over random tables.

Tables have zeros, empty scopes, axes in any order and rows of evidence; some trees are impossible.
"""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.exact import clique_messages, log_tables
from juncture.inference.exact.clique_messages import CliqueEdge, CliqueLayout, MessageTree, collect, distribute
from juncture.inference.exact.elimination import eliminate_in_order
from juncture.inference.exact.log_tables import (
    ROWS,
    DenseProducts,
    ListedProducts,
    LogFactor,
    align,
    combine,
    divide,
    largest,
    leave_one_out,
    multiply,
    normalize,
    reduce_axes,
    reduce_to,
    sum_by_axes,
    sum_out,
    sums_without_each,
)
from juncture.numerics import stable

SEEDS = st.integers(0, 2**32 - 1)
SUMS = [stable.log_sum_exp, sum_by_axes, sum_out]
SIZES = {ROWS: 4, **dict(enumerate([2, 3, 1, 2, 9]))}


def random_factor(rng, nodes, sizes=SIZES, zeros=0.3):
    """A table over these nodes in a random order; now and then every entry is 0."""
    scope = tuple(int(node) for node in rng.permutation(list(nodes)))
    values = rng.gamma(1.0, size=[sizes[node] for node in scope])
    kept = rng.random(values.shape) >= (1.0 if rng.random() < 0.03 else zeros)
    return LogFactor(scope, stable.log(np.where(kept, values, 0.0)))


def random_scope(rng, nodes, most=4):
    return tuple(rng.permutation(list(nodes))[: rng.integers(0, most)].tolist())


def product_over(factors, nodes, sizes=SIZES):
    """The product of all tables summed to some nodes, by one `einsum`."""
    letters = {node: index for index, node in enumerate(sizes)}
    operands = [part for node in nodes for part in (np.ones(sizes[node]), [letters[node]])]
    for factor in factors:
        operands += [np.exp(factor.logs), [letters[node] for node in factor.nodes]]
    return np.einsum(*operands, [letters[node] for node in nodes]) if operands else np.ones(())


def close(logs, values):
    np.testing.assert_allclose(np.exp(logs), values, rtol=1e-12, atol=0)


@given(seed=SEEDS)
def test_aligned_tables_are_added_for_their_product(seed):
    rng = np.random.default_rng(seed)
    factors = [random_factor(rng, random_scope(rng, SIZES)) for _ in range(rng.integers(0, 5))]
    found = multiply(factors)
    assert set(found.nodes) == {node for factor in factors for node in factor.nodes}
    close(found.logs, product_over(factors, found.nodes))
    if found.nodes:
        last = found.nodes[int(rng.integers(len(found.nodes)))]
        other = multiply(factors, last=last)
        assert other.nodes[-1] == last
        close(other.logs, product_over(factors, other.nodes))
    wide = tuple(rng.permutation(list(SIZES)).tolist())
    for factor in factors:
        shape = tuple(SIZES[node] if node in factor.nodes else 1 for node in wide)
        assert align(factor.logs, factor.nodes, wide).shape == shape
    ones = [(wide, np.zeros([SIZES[node] for node in wide]))]
    close(combine([*ones, *factors], wide), product_over([*factors], wide))
    zero_wins = [(factor.nodes, np.isneginf(factor.logs)) for factor in factors]
    np.testing.assert_array_equal(combine(zero_wins, wide, np.logical_or, False), combine(factors, wide) == -np.inf)


@pytest.mark.parametrize("add", SUMS)
@given(seed=SEEDS)
def test_nodes_are_summed_out_or_maximised(add, seed):
    rng = np.random.default_rng(seed)
    factor = random_factor(rng, random_scope(rng, SIZES, 6))
    kept = tuple(rng.permutation(list(factor.nodes))[: rng.integers(0, len(factor.nodes) + 1)].tolist())
    close(reduce_to(factor.logs, factor.nodes, kept, add), product_over([factor], kept))
    gone = tuple(axis for axis, node in enumerate(factor.nodes) if node not in kept)
    order = [node for node in factor.nodes if node in kept]
    found = reduce_to(factor.logs, factor.nodes, kept, largest)
    expected = factor.logs.max(axis=gone).transpose([order.index(node) for node in kept])
    np.testing.assert_array_equal(found, expected)
    summed = reduce_to(np.exp(factor.logs), factor.nodes, kept, partial(reduce_axes, np.add))
    np.testing.assert_allclose(summed, product_over([factor], kept), rtol=1e-13)


@pytest.mark.parametrize("add", SUMS)
def test_sums_stay_in_range(add):
    logs = np.array([[[1e4, 1e4], [-1e4, -np.inf]], [[-np.inf, -np.inf], [-1e300, -1e300]]])
    found = add(logs, (2,))
    assert found == pytest.approx(np.array([[1e4 + np.log(2), -1e4], [-np.inf, -1e300]]), rel=1e-15)
    assert add(logs, (0, 1, 2)) == pytest.approx(1e4 + np.log(2), rel=1e-15)


def test_a_large_table_is_summed_axis_by_axis_to_the_same():
    logs = 5 * np.random.default_rng(0).normal(size=(300, 4, 3, 2))
    for axes in ((1,), (3,), (1, 3), (1, 2, 3), (2, 3)):
        expected = stable.log_sum_exp(logs, axis=axes)
        np.testing.assert_array_equal(sum_out(logs, axes), sum_by_axes(logs, axes))
        np.testing.assert_allclose(np.exp(sum_out(logs, axes) - expected), 1.0, rtol=1e-13)


@given(seed=SEEDS)
def test_a_quotient_times_its_divisor_is_what_was_divided(seed):
    rng = np.random.default_rng(seed)
    factor = random_factor(rng, random_scope(rng, SIZES, 5), zeros=0.6)
    kept = tuple(node for node in factor.nodes if rng.random() < 0.5)
    below = align(reduce_to(factor.logs, factor.nodes, kept), kept, factor.nodes)
    quotient = divide(factor.logs, below)
    assert not np.isnan(quotient).any()
    close(quotient + below, np.exp(factor.logs))
    is_zero = np.broadcast_to(below == -np.inf, quotient.shape)
    assert (quotient[is_zero] == -np.inf).all()
    assert (divide(factor.logs, below, of_zeros=0.0)[is_zero] == 0.0).all()


def test_numbers_over_their_sums():
    logs = np.array([[-1e4, -1e4 + np.log(3)], [800.0, -np.inf]])
    assert normalize(logs, (1,)) == pytest.approx(np.array([[0.25, 0.75], [1.0, 0.0]]))
    assert normalize(logs) == pytest.approx(np.array([[0.0, 0.0], [1.0, 0.0]]))


@given(seed=SEEDS)
def test_products_without_each(seed):
    rng = np.random.default_rng(seed)
    sizes, products = {node: SIZES[node] for node in range(4)}, DenseProducts(np.array([SIZES[n] for n in range(4)]))
    factors = [random_factor(rng, random_scope(rng, sizes), sizes) for _ in range(rng.integers(0, 6))]
    rest = random_factor(rng, sizes, sizes, zeros=0.0)
    listing = ListedProducts([SIZES[node] for node in range(4)], np.inf)
    for index, found in enumerate(leave_one_out(products, factors, rest)):
        others = [rest, *factors[:index], *factors[index + 1 :]]
        close(products.table(found, (3, 1)), product_over(others, (3, 1), sizes))
    expected = [
        product_over([rest, *factors[:index], *factors[index + 1 :]], factor.nodes, sizes)
        for index, factor in enumerate(factors)
    ]
    for kind in (products, listing):
        for slopes, wanted in zip(kind.derivatives(factors, kind.listed(rest)), expected, strict=True):
            close(slopes, wanted)
        every = kind.multiply([kind.listed(factor) for factor in (*factors, rest)])
        close(kind.table(every, (0, 2)), product_over([*factors, rest], (0, 2), sizes))
        close(kind.table(kind.sum_to(every, (2, 0)), (2,)), product_over([*factors, rest], (2,), sizes))


@given(values=st.lists(st.sampled_from([-np.inf, -2.0, 0.0, 1.5]), max_size=6))
def test_sums_without_each(values):
    expected = [sum(values[:index] + values[index + 1 :]) for index in range(len(values))]
    assert sums_without_each(np.array(values, dtype=float)).tolist() == expected


@given(seed=SEEDS)
def test_tables_wait_in_the_bucket_of_their_first_node(seed):
    """Bucket elimination of plain products, in any order, is `einsum`; what has no node of the order is left."""
    rng = np.random.default_rng(seed)
    factors = [random_factor(rng, random_scope(rng, SIZES)) for _ in range(rng.integers(0, 6))]
    order = rng.permutation(list(SIZES))[: rng.integers(0, len(SIZES) + 1)].tolist()
    kept = tuple(node for node in SIZES if node not in order)
    met = []

    def eliminate(step, bucket):
        met.append(order[step])
        assert all(order[step] in factor.nodes and not {*factor.nodes} & {*order[:step]} for factor in bucket)
        product = multiply([LogFactor((order[step],), np.zeros(SIZES[order[step]])), *bucket])
        rest = tuple(node for node in product.nodes if node != order[step])
        yield LogFactor(rest, reduce_to(product.logs, product.nodes, rest))

    left = eliminate_in_order(order, factors, eliminate)
    assert met == order
    ones = LogFactor(kept, np.zeros([SIZES[node] for node in kept]))
    every_node = [LogFactor((node,), np.zeros(SIZES[node])) for node in order]
    close(multiply([ones, *left]).logs, product_over([*factors, *every_node], kept))


# --- trees of cliques --------------------------------------------------------------------------------------------


def random_forest(rng, rows):
    """Cliques over nodes 0, 1, …, in a forest: each shares some nodes with its parent, and has one of its own."""
    cliques, parents, num_nodes = [], [], 0
    for clique in range(rng.integers(1, 6)):
        parent = int(rng.integers(clique)) if clique and rng.random() < 0.8 else None
        shared = [node for node in cliques[parent] if rng.random() < 0.6] if parent is not None else []
        own = range(num_nodes, num_nodes + int(rng.integers(1, 3)))
        num_nodes = own.stop
        cliques.append(tuple(rng.permutation([*shared, *own]).tolist()))
        parents.append(parent)
    sizes = {node: int(rng.integers(1, 4)) for node in range(num_nodes)} | {ROWS: 3}
    front = (ROWS,) if rows else ()
    nodes = [(*front, *clique) for clique in cliques]
    found = [
        CliqueEdge(at, parent, front if parent is None else tuple(node for node in nodes[at] if node in nodes[parent]))
        for at, parent in enumerate(parents)
    ]
    held = [
        random_factor(rng, [*(front if rng.random() < 0.7 else ()), *random_scope(rng, clique)], sizes, 0.2)
        for clique in cliques
        for _ in range(2)
    ]
    return nodes, found, held, sizes


def root_of(edges, clique):
    while edges[clique].parent is not None:
        clique = edges[clique].parent
    return clique


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("add", SUMS)
@given(seed=SEEDS)
def test_beliefs_are_sums_of_the_product_of_their_tree(add, rows, seed):
    rng = np.random.default_rng(seed)
    nodes, edges, held, sizes = random_forest(rng, rows)
    beliefs = [
        combine([(own, np.zeros([sizes[node] for node in own])), *held[2 * clique : 2 * clique + 2]], own)
        for clique, own in enumerate(nodes)
    ]
    highest = [belief.copy() for belief in beliefs]
    sent = collect(edges, nodes, beliefs, add)
    distribute(edges, nodes, beliefs, sent, add)
    best = collect(edges, nodes, highest, largest)
    distribute(edges, nodes, highest, best, largest)
    front = (ROWS,) if rows else ()
    for clique, own in enumerate(nodes):
        root = root_of(edges, clique)
        inside = [other for other in range(len(nodes)) if root_of(edges, other) == root]
        factors = [held[2 * other + place] for other in inside for place in range(2)]
        factors += [LogFactor(nodes[other], np.zeros([sizes[node] for node in nodes[other]])) for other in inside]
        close(beliefs[clique], product_over(factors, own, sizes))
        close(sent[root], product_over(factors, front, sizes))
        every = tuple({node for other in inside for node in nodes[other]})
        joint = stable.log(product_over(factors, every, sizes))
        close(highest[clique], np.exp(reduce_to(joint, every, own, largest)))
        close(best[root], np.exp(reduce_to(joint, every, front, largest)))


@pytest.mark.parametrize("kind", ["dense", "listed"])
@given(seed=SEEDS)
def test_messages_without_division_differentiate_by_every_entry(kind, seed):
    """Also by entries that are 0, and where the whole product is 0."""
    rng = np.random.default_rng(seed)
    nodes, edges, held, sizes = random_forest(rng, rows=False)
    states = [sizes[node] for node in range(len(sizes) - 1)]
    products = DenseProducts(np.array(states)) if kind == "dense" else ListedProducts(states, np.inf)
    homes = [index // 2 if factor.nodes else -1 for index, factor in enumerate(held)]
    first = {node: clique for clique, own in reversed(list(enumerate(nodes))) for node in own}
    ones = [LogFactor((node,), np.zeros(states[node])) for node in range(len(states))]
    known = [random_factor(rng, one.nodes, sizes) if rng.random() < 0.3 else one for one in ones]
    tree = MessageTree.of(
        CliqueLayout(nodes, edges, homes, [first[n] for n in range(len(states))]), held, known, products
    )
    inside = [*(factor for factor in held if factor.nodes), *known]
    close(tree.log_total, product_over(inside, (), sizes))
    for clique in range(len(nodes)):
        for index, slopes in zip(tree.held[clique], tree.derivatives(clique), strict=True):
            others = [factor for factor in inside if factor is not held[index]]
            close(slopes + tree.log_beside[clique], product_over(others, held[index].nodes, sizes))


def functions_of(path: Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_no_other_file_of_inference_defines_a_function_of_the_algebra():
    algebra = [Path(module.__file__) for module in (log_tables, clique_messages)]
    names = set.union(*map(functions_of, algebra))
    assert names >= {"align", "multiply", "sum_out", "divide", "collect", "distribute"}
    others = [path for path in Path(jt.__file__).parent.glob("inference/**/*.py") if path not in algebra]
    assert {path.stem: again for path in others if (again := functions_of(path) & names)} == {}
