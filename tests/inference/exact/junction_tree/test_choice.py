"""`choose` says which junction tree runs and why; one row and many rows get the same tree, and so the same answers."""

from __future__ import annotations

import ast
import warnings
from importlib import import_module
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
from support.builders import random_field, random_network

PACKAGE = Path(jt.__file__).parent


def numbers_of(path: Path) -> set[str]:
    """The numbers in capitals that a file of the junction tree defines."""
    module = vars(import_module(f"{choice.__package__}.{path.stem}"))
    statements = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Assign | ast.AnnAssign)]
    names = {part.id for node in statements for part in ast.walk(node) if isinstance(part, ast.Name)}
    return {name for name in names if name.isupper() and isinstance(module[name], int | float)}


MEASURED = numbers_of(Path(choice.__file__))


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


OTHER_NUMBERS = {  # which decide no tree: how rows run together, what is kept or refused, how long is searched
    "cuts": {"MAX_SETS", "MAX_BYTES", "ALWAYS", "CELLS_AT_ONCE", "MAX_BLOCK", "LEAST_BLOCK"},
    "dense_tree": {"MOST_SUMS", "CELLS_OF_SUMS", "LARGEST"},
    "engine": {"PLANNING"},
    "factored_tree": {"CHUNK_CELLS", "LOG_2"},
    "plan": {"KEPT_ENTRIES", "MOST_OPERATIONS", "ROOM", "SURELY_FREE", "SLICED_EFFORT", "MAX_EFFORT"},
    "sensitivity": {"MANY_CELLS", "LISTED_PART", "MOST_LISTED"},  # of message trees in NumPy
    "sparse_plan": {"MAX_KEYS", "MAX_STEPS", "STEPS_PER_SECOND", "OPERATIONS_PER_KEPT_CELL", "BYTES_PER_ENTRY"},
}


def test_no_other_file_of_the_junction_tree_has_numbers_that_decide():
    paths = [path for path in Path(choice.__file__).parent.glob("*.py") if path.stem != "choice"]
    assert {path.stem: names for path in paths if (names := numbers_of(path))} == OTHER_NUMBERS


def field(num_nodes: int, num_states: int, rng: np.random.Generator) -> jt.MarkovNetwork:
    """Every pair of nodes has a factor: one clique of all nodes."""
    nodes = [jt.Variable(f"x{number}", num_states) for number in range(num_nodes)]
    pairs = [(one, other) for place, one in enumerate(nodes) for other in nodes[:place]]
    return jt.MarkovNetwork([jt.Factor(pair, rng.uniform(0.5, 1.0, (num_states,) * 2)) for pair in pairs])


def test_small_tables_are_stored():
    found = jt.cost(jt.example("asia"))
    assert str(found).endswith("; stores all joint states of the cliques: 40 in all")
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


def test_rows_share_the_search_for_a_tree(monkeypatch):
    model, seen = field(9, 6, np.random.default_rng(0)), frozenset({"x0", "x1", "x2", "x3", "x4"})
    whole = choose(model).cost.operations
    monkeypatch.setattr(choice, "SEARCH_PER_FACTOR", 2.0 * whole / len(model.factors))  # two runs for a search
    assert choose(model, seen).is_reduced  # it may be asked again
    assert [choose(model, seen, num_rows=count).is_reduced for count in (1, 2, 4)] == [False, False, True]


def test_possible_states_are_stored_where_few_are_possible():
    copies = [jt.Variable(f"copy{number}", 4) for number in range(9)]
    same = np.zeros((4,) * 9)
    same[tuple(np.indices((4,))) * 9] = 1.0
    found = choose(jt.MarkovNetwork([jt.Factor(copies, same)]))
    assert found.kind == "possible states"
    assert found.cost.largest_table == 4
    assert found.why == "<0.1% of 262,144"


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
    monkeypatch.setattr(choice, "SEARCH_PER_FACTOR", 0)
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


@pytest.mark.usefixtures("_every_run_is_long")
@given(seed=st.integers(0, 2**32 - 1))
def test_rows_of_which_some_are_reduced_agree_with_enumeration(seed):
    """Rows may be impossible, findings soft, targets few; impossible rows have NaN everywhere."""
    rng = np.random.default_rng(seed)
    model = random_network(rng) if rng.random() < 0.5 else random_field(rng)
    evidence, names = any_rows(model, rng, 5), list(model.variables.names)
    targets = [names[place] for place in rng.permutation(len(names))[: int(rng.integers(1, len(names) + 1))]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.ImpossibleEvidenceWarning)
        found, oracle = (jt.infer(model, evidence, targets=targets, method=name) for name in ("exact", "enumeration"))
        best, first = (
            jt.most_probable(model, evidence, targets=targets, method=name) for name in ("exact", "enumeration")
        )
    np.testing.assert_allclose(found.log_evidence, oracle.log_evidence, rtol=1e-9, atol=1e-12)
    for some in (targets[:1], targets[-1:], targets[:3]):
        np.testing.assert_allclose(found.joint(*some).values, oracle.joint(*some).values, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(best.log_prob, first.log_prob, rtol=1e-9, atol=1e-12)
    assert best.assignments == first.assignments
    assert best.impossible == first.impossible == found.impossible


@pytest.mark.usefixtures("_every_run_is_long")
def test_an_impossible_row_that_is_reduced_has_no_answers():
    model = jt.example("asia")
    rows = [{"tub": "yes", "xray": "yes", "lung": "no"}, {"tub": "yes", "either": "no", "lung": "yes"}]
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        found = jt.infer(model, rows)
    assert found.impossible == (1,)
    for name in model.variables.names:  # observed or not
        assert np.isnan(found[name].values).tolist() == [[False, False], [True, True]]
    assert np.isnan(found.joint("tub", "lung").values[1]).all()


def any_rows(model: jt.BayesianNetwork | jt.MarkovNetwork, rng: np.random.Generator, num_rows: int) -> jt.Evidence:
    """Rows of any states, with holes, and likelihoods of one variable, with zeros: some rows are impossible."""
    rows = [
        {one.name: one.labels[rng.integers(one.num_states)] for one in model.variables if rng.random() < share}
        for share in rng.choice([0.0, 0.4, 1.0], num_rows)
    ]
    soft = model.variables[int(rng.integers(len(model.variables)))]
    likelihoods = rng.choice([0.0, 0.3, 1.0, 2.0], (num_rows, soft.num_states))
    likelihoods[likelihoods.max(axis=1) == 0.0] = 1.0
    return jt.Evidence(rows, likelihoods={soft.name: likelihoods})


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
