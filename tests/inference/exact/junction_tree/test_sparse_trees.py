"""Junction trees that keep possible cells only: every question as on the tree that has all cells."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.drawing.text import format_percentage
from juncture.evidence import as_findings
from juncture.inference.engines.contract import Query, Question
from juncture.inference.engines.lowering import lower
from juncture.inference.exact.junction_tree.choice import choose_dense, keep_possible_states
from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.exact.junction_tree.sparse_plan import SparsePlan
from juncture.inference.exact.junction_tree.sparse_tree import SparseTree
from juncture.kernels.junction_tree.layout import CONSTANT, GATHER, MOVE, PARENT, STRIP
from support.builders import joint_table
from support.zeros import PossibleCells, any_evidence, field_with_zeros, model_with_zeros, network_with_zeros

SEEDS = st.integers(0, 2**32 - 1)


def both(seed, directed):
    """The same model twice: with all cells, and with possible ones; and evidence."""
    build = network_with_zeros if directed else field_with_zeros
    dense, sparse = (build(np.random.default_rng(seed)) for _ in range(2))
    keep_possible_states(sparse)
    assert isinstance(JunctionTree().packed_model(sparse).tree, SparseTree)
    assert not isinstance(JunctionTree().packed_model(dense).tree, SparseTree)
    rng = np.random.default_rng(seed + 1)
    return dense, sparse, [any_evidence(dense, rng) for _ in range(5)]


def outcome(ask):
    """What a question gives: an answer, or the message of an error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ask()
    except jt.ImpossibleEvidence as error:
        return str(error)


def check_alike(one, other):
    assert type(one) is type(other)
    if isinstance(one, str):
        assert one == other
    else:
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("directed", [True, False])
@given(seed=SEEDS)
def test_answers_are_those_of_all_cells(seed, directed):
    dense, sparse, rows = both(seed, directed)
    names = dense.variables.names

    def numbers(model, evidence, **options):
        beliefs = jt.infer(model, evidence, **options)
        values = [beliefs[name].values for name in options.get("targets", names)]
        return np.concatenate([np.atleast_1d(beliefs.log_evidence), *(np.ravel(value) for value in values)])

    for evidence in rows:
        check_alike(*(outcome(lambda m=m, e=evidence: numbers(m, e)) for m in (dense, sparse)))
        check_alike(*(outcome(lambda m=m, e=evidence: numbers(m, e, targets=names[:1])) for m in (dense, sparse)))
    check_alike(*(outcome(lambda m=m: numbers(m, rows)) for m in (dense, sparse)))
    check_alike(*(outcome(lambda m=m: jt.infer(m, rows[0]).joint(*names[:2]).values) for m in (dense, sparse)))


@pytest.mark.parametrize("directed", [True, False])
@given(seed=SEEDS)
def test_best_states_are_those_of_all_cells(seed, directed):
    dense, sparse, rows = both(seed, directed)

    def best(model, evidence, **options):
        found = jt.most_probable(model, evidence, **options)
        return [(one.assignment, round(one.log_prob, 9)) for one in (found if "k" in options else [found])]

    for options in ({}, {"k": 4}, {"targets": dense.variables.names[:2]}):
        for evidence in rows:
            first, second = (outcome(lambda m=m, e=evidence, o=options: best(m, e, **o)) for m in (dense, sparse))
            assert first == second
    possible = [row for row in rows if not isinstance(outcome(lambda r=row: jt.infer(dense, r)), str)]
    if possible:
        first, second = (jt.most_probable(model, possible) for model in (dense, sparse))
        assert first.assignments == second.assignments
        np.testing.assert_allclose(first.log_prob, second.log_prob, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("directed", [True, False])
@given(seed=SEEDS)
def test_expected_counts_are_those_of_all_cells(seed, directed):
    dense, sparse, rows = both(seed, directed)
    findings = as_findings([{**dict.fromkeys(dense.variables.names), **row} for row in rows], dense.variables)
    weights = np.arange(1.0, len(rows) + 1)

    def expect(model):
        plan = JunctionTree().compile(model, model.variables.names, model.variables.names)
        answers = plan.run(model, Query(findings, questions=frozenset({Question.EXPECTED})))
        tables = answers.expected(model.conditionals if directed else model.factors, weights)
        return np.concatenate([answers.log_evidence, *(np.ravel(part) for parts in tables for part in parts)])

    np.testing.assert_allclose(expect(dense), expect(sparse), rtol=1e-12, atol=1e-12)


@given(seed=SEEDS)
def test_draws_have_the_posterior(seed):
    _, sparse, rows = both(seed, True)
    evidence = {name: value for name, value in rows[0].items() if not isinstance(value, list)}
    beliefs = outcome(lambda: jt.infer(sparse, evidence))
    if isinstance(beliefs, str):
        return
    drawn = jt.sample(sparse, 400, given=evidence, rng=seed)
    assert np.isfinite(jt.log_prob(sparse, drawn)).all()
    for name in sparse.variables.names:
        expected = beliefs[name].values
        counted = np.bincount(drawn.columns[name], minlength=len(expected)) / 400
        assert (np.abs(counted - expected) <= 6.0 * np.sqrt(expected * (1.0 - expected) / 400) + 1e-12).all()


@given(seed=SEEDS)
def test_small_numbers_go_through_logarithms(seed):
    """Factors of tiny numbers, whose products no double holds, have the same answers shifted."""
    rng = np.random.default_rng(seed)
    _, model, _ = both(seed, False)
    tiny = jt.FactorGraph(
        [jt.Factor(part.scope, part.values * 10.0 ** -rng.integers(200, 300)) for part in model.factors],
        variables=model.variables,
    )
    same = JunctionTree().packed_model(model).tree.repack(tiny.factors)
    other = JunctionTree().pack(choose_dense(tiny, lower(tiny)), lower(tiny)).tree
    nothing = CodedFindings.of(as_findings(None, model.variables), {}).row(0)
    nodes = np.arange(len(model.variables))
    for one, two in zip(same.run(nothing, nodes), other.run(nothing, nodes), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)


def test_a_plan_serves_models_with_the_same_zeros_and_no_others():
    _, sparse, _ = both(3, True)
    plan = JunctionTree().compile(sparse, (), sparse.variables.names)
    other = jt.BayesianNetwork(
        [jt.Conditional(part.child, part.parents, np.full(part.scope.shape, 1.0 / part.child.num_states))
         for part in sparse.conditionals]
    )  # fmt: skip
    assert isinstance(plan.pack(sparse).tree, SparseTree)
    packed = plan.pack(other)
    assert not isinstance(packed.tree, SparseTree)
    name = sparse.variables.names[-1]
    found = plan.run(other, Query(as_findings(None, other.variables))).marginal((name,))
    np.testing.assert_allclose(found, 1.0 / other.variable(name).num_states)


def xor_chain(length):
    """x0 … are coins, and each y is the parity of all coins up to it; the last also of the first and the middle one."""
    coins = [jt.Variable(f"x{index}", 2) for index in range(length)]
    sums = [jt.Variable(f"y{index}", 2) for index in range(length)]
    parity = np.zeros((2, 2, 2))
    parity[np.indices((2, 2, 2)).sum(axis=0) % 2 == 0] = 1.0
    parts = [jt.Conditional(coin, [], [0.3, 0.7]) for coin in coins]
    parts.append(jt.Conditional(sums[0], [coins[0]], np.eye(2)))
    parts += [jt.Conditional(sums[at], [sums[at - 1], coins[at]], parity) for at in range(1, length)]
    return jt.BayesianNetwork(parts)


def test_cost_counts_what_is_kept_and_the_plan_says_so():
    """Copies of a coin: each clique has two cells that are possible."""
    coin = jt.Variable("coin", 2)
    copies = [jt.Variable(f"copy{index}", 2) for index in range(30)]
    same = np.zeros((2,) * 14)
    same[(0,) * 14] = same[(1,) * 14] = 1.0
    parts = [[coin, *copies[start : start + 13]] for start in (0, 9, 17)]
    model = jt.MarkovNetwork([jt.Factor(part, same) for part in parts] + [jt.Factor([coin], [0.25, 0.75])])
    found = jt.cost(model)
    assert found.width >= 13
    packed = JunctionTree().packed_model(model)
    assert isinstance(packed.tree.plan, SparsePlan)
    assert found.largest_table == 2
    assert found.operations < 1000
    assert found.kept < 1e-3
    share = format_percentage(found.kept)
    assert f"; stores only the possible joint states of the cliques: {share} of " in str(found)
    assert str(found) in repr(jt.compile(model))
    beliefs = jt.infer(model, {"copy7": 1})
    assert beliefs["copy29"].values.tolist() == [0.0, 1.0]
    assert beliefs.log_evidence == pytest.approx(np.log(0.75))
    with pytest.raises(jt.ImpossibleEvidence, match="copy7"):
        jt.infer(model, {"copy7": 1, "copy28": 0})


def test_cells_read_the_entries_of_their_separators():
    """Cells are all possible joint states of a clique in order, and entries those of a separator."""
    moves, rng = set(), np.random.default_rng(0)
    a, b, c = (jt.Variable(name, 9) for name in "abc")
    wide = [(a, b, c), *((variable, jt.Variable(f"of {variable.name}", 2)) for variable in (a, b, c))]
    tables = [rng.random([variable.num_states for variable in scope]) for scope in wide]
    tables[0][3, 4, 5] = tables[0][7, 0, 2] = 0.0
    models = [jt.MarkovNetwork([jt.Factor(scope, table) for scope, table in zip(wide, tables, strict=True)])]
    for model in (*models, *(model_with_zeros(np.random.default_rng(seed)) for seed in range(30))):
        plan = PossibleCells().choice(model).sparse
        possible = np.argwhere(joint_table(model) > 0.0)
        if plan is None or not len(possible):
            continue
        for clique, (parent, shared) in enumerate(zip(plan.table[:, PARENT], plan.shared, strict=True)):
            if parent < 0:
                continue
            above = plan.nodes[plan.starts[parent] : plan.starts[parent + 1]].tolist()
            separator = [above.index(node) for node in plan.nodes[plan.starts[clique] :][:shared]]
            cells = np.unique(possible[:, above], axis=0)
            entries = np.unique(cells[:, separator], axis=0)
            reads = plan.reads(clique)
            assert np.array_equal(entries[reads], cells[:, separator]), clique
            moves.add(int(plan.table[clique, MOVE]))
    assert moves == {CONSTANT, STRIP, GATHER}


def test_parity_of_a_chain():
    model = xor_chain(40)
    keep_possible_states(model)
    assert isinstance(JunctionTree().packed_model(model).tree, SparseTree)
    assert jt.infer(model)["y39"].values[1] == pytest.approx((1 - (1 - 2 * 0.7) ** 40) / 2, abs=1e-12)
