"""`choose` says which junction tree runs and why; one row and many rows get the same tree, and so the same answers."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference.engines.contract import Query
from juncture.inference.exact.junction_tree import choice
from juncture.inference.exact.junction_tree.choice import Choice, choose
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.exact.junction_tree.reduced_answers import RowwiseAnswers
from support.builders import random_network

PACKAGE = Path(jt.__file__).parent
MEASURED = {name for name in vars(choice) if name.isupper() and isinstance(vars(choice)[name], int | float)}


def test_the_measured_numbers_are_read_by_the_chooser_alone():
    imported = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("junction_tree.choice"):
                imported |= {alias.name for alias in node.names}
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "choice":
                imported.add(node.attr)
    assert {"LONG_RUN", "LEAST_ZEROS", "FACTORED_CELLS", "CUT_CELLS"} < MEASURED
    assert imported >= {"choose", "may_cut"}
    assert not imported & MEASURED


def field(num_nodes: int, num_states: int, rng: np.random.Generator) -> jt.MarkovNetwork:
    """Every pair of nodes has a factor: one clique of all nodes."""
    nodes = [jt.Variable(f"x{number}", num_states) for number in range(num_nodes)]
    pairs = [(one, other) for place, one in enumerate(nodes) for other in nodes[:place]]
    return jt.MarkovNetwork([jt.Factor(pair, rng.uniform(0.5, 1.0, (num_states,) * 2)) for pair in pairs])


def test_small_tables_are_stored():
    found = jt.cost(jt.example("asia"))
    assert str(found).endswith("; stores all joint states of the cliques: there are 40")
    assert str(jt.compile(jt.example("asia")).cost) == str(found)


def test_large_cliques_are_kept_as_factors_and_evidence_may_make_them_small():
    model = field(9, 6, np.random.default_rng(0))
    whole, given_some = choose(model), choose(model, frozenset({"x0", "x1", "x2", "x3", "x4"}))
    assert whole.kind == "factors"
    assert not whole.is_reduced
    assert given_some.is_reduced
    assert given_some.kind == "tables"
    assert given_some.cost.operations < whole.cost.operations
    assert "reduces the tables by the evidence on 5 variables first" in str(
        jt.cost(model, observed=["x0", "x1", "x2", "x3", "x4"])
    )


def test_possible_states_are_stored_where_few_are_possible():
    copies = [jt.Variable(f"copy{number}", 4) for number in range(9)]
    same = np.zeros((4,) * 9)
    same[tuple(np.indices((4,))) * 9] = 1.0
    found = choose(jt.MarkovNetwork([jt.Factor(copies, same)]))
    assert found.kind == "possible states"
    assert found.cost.largest_table == 4
    assert found.why == f"{4 / 4**9:.2g} of all 262,144"


def test_beyond_the_memory_the_evidence_reduces_the_tables():
    model = field(6, 5, np.random.default_rng(1))
    limit = int(choose(model).cost.bytes) - 1
    some = frozenset({"x0", "x1", "x2"})
    assert not choose(model, some).is_reduced
    assert choose(model, some, memory_limit=limit).is_reduced
    assert not choose(model, memory_limit=limit).is_reduced  # without evidence there is nothing to reduce by


@pytest.fixture
def _every_run_is_long(monkeypatch):
    monkeypatch.setattr(choice, "LONG_RUN", 0.0)
    monkeypatch.setattr(choice, "OPERATIONS_PER_FACTOR", 0)
    monkeypatch.setattr(choice, "REDUCED_RUNS", 0.5)


def rows_of(model: jt.BayesianNetwork, rng: np.random.Generator, num_rows: int) -> list[dict[str, object]]:
    """Rows that are possible, with holes: some rows have none, some observe nothing."""
    drawn = jt.sample(model, num_rows, rng=rng).to_pandas().to_dict("records")
    shares = rng.choice([0.0, 0.4, 1.0], num_rows)
    return [
        {name: label for name, label in row.items() if rng.random() < share}
        for row, share in zip(drawn, shares, strict=True)
    ]


@pytest.mark.usefixtures("_every_run_is_long")
@given(seed=st.integers(0, 2**32 - 1))
def test_rows_that_are_reduced_each_for_itself_have_the_answers_of_single_rows(seed):
    rng = np.random.default_rng(seed)
    model = random_network(rng)
    rows = rows_of(model, rng, 6)
    many, best = jt.infer(model, rows), jt.most_probable(model, rows)
    pair = list(model.variables.names[:2])
    for number, row in enumerate(rows):
        alone = jt.infer(model, row)
        np.testing.assert_allclose(np.atleast_1d(many.log_evidence)[number], alone.log_evidence, rtol=1e-12)
        for name in model.variables.names:
            np.testing.assert_allclose(many[name].values[number], alone[name].values, rtol=1e-12, atol=1e-300)
        np.testing.assert_allclose(many.joint(*pair).values[number], alone.joint(*pair).values, rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(best.log_prob[number], jt.most_probable(model, row).log_prob, rtol=1e-12)


def test_rows_of_a_model_too_large_for_memory_are_answered_where_each_row_alone_is():
    rng = np.random.default_rng(2)
    model = field(6, 5, rng)
    limit = int(choose(model).cost.bytes) - 1
    rows = [{f"x{node}": int(rng.integers(5)) for node in rng.permutation(6)[:4]} for _ in range(5)]
    many = jt.infer(model, rows, memory_limit=limit)
    assert many.exact
    for number, row in enumerate(rows):
        alone = jt.infer(model, row)
        assert many.log_evidence[number] == pytest.approx(alone.log_evidence, rel=1e-12)
        np.testing.assert_allclose(many["x0"].values[number], alone["x0"].values, rtol=1e-11)
    with pytest.raises(jt.TooLarge, match="limit"):
        jt.infer(model, [*rows, {}], memory_limit=limit, method="exact")


@pytest.mark.usefixtures("_every_run_is_long")
def test_only_rows_that_gain_are_taken_apart():
    model, engine = jt.example("asia"), JunctionTree()
    assert isinstance(engine.choice(model), Choice)
    plan = engine.compile(model, model.variables.names, model.variables.names)
    findings = as_findings([{}, {"xray": "yes", "smoke": "no", "bronc": "no", "lung": "yes"}, {}], model.variables)
    answers = plan.run(model, Query(findings, model.variables.names))
    assert isinstance(answers, RowwiseAnswers)
    assert answers.apart.tolist() == [1]
    expected = answers.expected(model.conditionals, np.array([1.0, 2.0, 0.5]))
    for part, (table,) in zip(model.conditionals, expected, strict=True):
        names = (*part.parents.names, part.child.name)
        direct = np.tensordot([1.0, 2.0, 0.5], answers.marginal(names), axes=1)
        np.testing.assert_allclose(table, direct, rtol=1e-12)
