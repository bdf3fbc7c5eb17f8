"""Laws over all kinds of sources and all verbs: columns that are kept are those of a dataset, to the bit.

A column that was left out may be the one that is to be predicted: no verb may read it again.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import juncture as jt
from juncture.data.sources import as_source, collect
from juncture.data.sources.groups import groups_rows
from juncture.evidence import as_findings
from support.row_sources import SOURCES

pytestmark = pytest.mark.filterwarnings(
    "ignore::juncture.errors.NotConvergedWarning"
)  # few draws and few steps will do
KINDS = pytest.mark.parametrize("kind", list(SOURCES))
ASIA = jt.example("asia")
KEPT = ["dysp", "smoke", "xray"]  # not in the order of the columns
LEFT_OUT = ["lung", "bronc"]
GRAPH = jt.DirectedGraph.parse("smoke -> xray; smoke -> dysp")
MARKOV = jt.MarkovNetwork([jt.Factor([ASIA.variable("smoke"), ASIA.variable("dysp")], np.ones((2, 2)))])
EM = jt.ExpectationMaximization(max_steps=3, tolerance=0.0)


def draw_rows() -> pa.Table:
    """Rows of the network, with weights whose sums are exact, a second column of weights, and an identifier."""
    table, number = jt.sample(ASIA, 24, rng=1).to_arrow(), np.arange(24)
    for name, cells in (("w", number % 4 / 4), ("v", number % 3 + 0.5), ("person", number % 18 + 100)):
        table = table.append_column(name, pa.array(cells))
    return table


def with_marks(table: pa.Table) -> pa.Table:
    """Holes as nulls in one column and as the mark "?" in another."""
    for name, mark, step in (("xray", None, 5), ("dysp", "?", 7)):
        cells = [mark if row % step == 0 else cell for row, cell in enumerate(table.column(name).to_pylist())]
        table = table.set_column(table.column_names.index(name), name, pa.array(cells, pa.string()))
    return table


ROWS, MARKED = draw_rows(), with_marks(draw_rows())
Verb = Callable[[Any], Any]


def block_answers(verb: Callable[..., Any], read: Callable[[Any], np.ndarray], **options: Any) -> Verb:
    def answer(rows: Any) -> np.ndarray:
        return np.concatenate([read(part.answers) for part in jt.results.answer_blocks(verb, ASIA, rows, **options)])

    return answer


def labels_of(answers: Any) -> np.ndarray:
    """(row, variable)"""
    return np.array([answers.assignments.labels(name) for name in answers.assignments.columns]).T


def read_beliefs(beliefs: Any) -> list[np.ndarray]:
    """Marginals and log-evidence, which are there; and joints of a copy, for which the rows are read again."""
    copied = pickle.loads(pickle.dumps(beliefs))  # noqa: S301 (made here)
    marginals = [beliefs[name].values for name in ASIA.variables.names]
    return [*marginals, beliefs.log_evidence, copied.joint(*LEFT_OUT).values]


EVIDENCE_VERBS: dict[str, Verb] = {  # which take any columns of the network
    "findings": lambda rows: as_findings(rows, tuple(ASIA.variables)).codes,
    "infer": lambda rows: read_beliefs(jt.infer(ASIA, rows)),
    "infer by loopy": lambda rows: jt.infer(ASIA, rows, targets=["lung"], method="loopy")["lung"].values,
    "infer by gibbs": lambda rows: (
        jt.infer(ASIA, rows, targets=["lung"], method=jt.Gibbs(5, 2, 5), rng=0)["lung"].values
    ),
    "log_prob": lambda rows: jt.log_prob(ASIA, rows),
    "most_probable": lambda rows: labels_of(jt.most_probable(ASIA, rows)),
    "most_probable of targets": lambda rows: labels_of(jt.most_probable(ASIA, rows, targets=LEFT_OUT)),
    "answer_blocks infer": block_answers(jt.infer, lambda beliefs: beliefs["lung"].values, targets=["lung"]),
    "answer_blocks log_prob": block_answers(jt.log_prob, np.asarray),
    "answer_blocks most_probable": block_answers(jt.most_probable, labels_of, targets=LEFT_OUT),
}

LEARNING_VERBS: dict[str, Verb] = {  # which take rows of the columns that are kept
    "collect": lambda rows: rows if isinstance(rows, jt.Dataset) else collect(rows),
    "take": lambda rows: (rows if isinstance(rows, jt.Dataset) else collect(rows)).take([3, 1, 1]),
    "statistics": lambda rows: jt.statistics(GRAPH, rows).to_json(),
    "fit": lambda rows: jt.fit(GRAPH, rows, prior=1.0).model,
    "fit declared": lambda rows: jt.fit(GRAPH, rows, prior=1.0, variables=[ASIA.variable(name) for name in KEPT]).model,
    "fit markov": lambda rows: jt.fit(MARKOV, rows).model,
    "learn_structure": jt.learn_structure,
    "structure_score": lambda rows: jt.structure.score(GRAPH, rows),
    "independence_test": lambda rows: jt.structure.independence_test(rows, "smoke", "dysp"),
    "edge_strengths": lambda rows: (
        jt.structure.strengths(rows, draws=1, rng=0).names
    ),  # a source draws from distinct rows
    "edge_posteriors": lambda rows: jt.structure.posteriors(rows, draws=4, chains=2, warmup=0, rng=0).probabilities,
}


def as_bits(found: Any) -> Any:
    """What has to be equal: arrays by their numbers, all else by its value."""
    if isinstance(found, dict):
        return {name: as_bits(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [as_bits(value) for value in found]
    return (found.shape, found.tolist()) if isinstance(found, np.ndarray) else found


WANTED: dict[Any, Any] = {}


def answer_once(name: str, verb: Verb, whole: jt.Dataset) -> Any:
    """The answer for the dataset, which all kinds of sources are compared with."""
    if (name, whole) not in WANTED:
        WANTED[name, whole] = as_bits(verb(whole))
    return WANTED[name, whole]


def check_verbs(make: Callable[[], Any], whole: jt.Dataset, verbs: dict[str, Verb], *, is_once: bool) -> None:
    """Each verb answers for the source as for the dataset; what is read once may refuse a second pass."""
    source = make()
    for name, verb in verbs.items():
        wanted = answer_once(name, verb, whole)
        try:
            found = as_bits(verb(make() if is_once else source))
        except jt.errors.InvalidData as error:
            if not is_once or "more than one pass is needed" not in str(error):
                raise
            continue
        assert found == wanted, name


@KINDS
def test_columns_that_are_kept_are_those_of_a_dataset(kind, tmp_path):
    """Of declared variables, of found ones before and after the pass that finds them, and of both after coding."""
    declared, is_once = tuple(ASIA.variables), SOURCES[kind].is_once
    whole = jt.Dataset(ROWS, declared, extra="ignore").only(KEPT)

    def make() -> Any:
        return as_source(SOURCES[kind].make(ROWS, tmp_path), declared, block_rows=7, extra="ignore").only(KEPT)

    assert make().names == tuple(KEPT)
    check_verbs(make, whole, EVIDENCE_VERBS | LEARNING_VERBS, is_once=is_once)
    if not is_once:
        found = as_source(SOURCES[kind].make(ROWS, tmp_path), block_rows=7)
        early, coded = found.only(KEPT), found.only(KEPT).coded(declared)
        assert coded.variables == tuple(variable for variable in declared if variable.name in KEPT)
        assert len(found.variables) == ROWS.num_columns
        for source in (early, coded, found.only(KEPT), found.coded(declared).only(KEPT), coded.coded(declared)):
            assert np.array_equal(jt.log_prob(ASIA, source), jt.log_prob(ASIA, whole))
            assert collect(source).only(KEPT).to_dict() == whole.to_dict()


@KINDS
def test_weights_and_holes_stay_with_the_columns_that_are_kept(kind, tmp_path):
    """Weights are a column of the source, or of the columns that are kept; marks of holes are those of the source."""
    declared, is_once = tuple(ASIA.variables), SOURCES[kind].is_once
    options = {"weights": "w", "missing": "?", "extra": "ignore"}
    whole = jt.Dataset(MARKED, declared, **options).only(KEPT)
    assert not whole.is_complete
    assert whole.weights is not None

    def make() -> Any:
        return as_source(SOURCES[kind].make(MARKED, tmp_path), declared, block_rows=7, **options).only(KEPT)

    holey = {"collect", "take", "learn_structure"}  # and `fit` by EM, whose sums are those of each kind of source
    check_verbs(make, whole, EVIDENCE_VERBS | {name: LEARNING_VERBS[name] for name in holey}, is_once=is_once)
    if is_once:
        return
    wanted = jt.fit(ASIA, whole, prior=1.0, latent=LATENT, method=EM).model
    found = jt.fit(ASIA, make(), prior=1.0, latent=LATENT, method=EM).model
    assert all(np.allclose(found[name].values, wanted[name].values, 1e-12, 0) for name in ASIA.variables.names)
    source = as_source(SOURCES[kind].make(ROWS, tmp_path), block_rows=7)
    kept = jt.Dataset(ROWS).only([*KEPT, "v"])
    assert (
        jt.fit(GRAPH, source.only([*KEPT, "v"]), prior=1.0, weights="v").model
        == jt.fit(GRAPH, kept, prior=1.0, weights="v").model
    )
    for rows in (source.only(KEPT), kept.only(KEPT)):
        with pytest.raises(jt.UnknownVariable, match="'v'"):
            jt.fit(GRAPH, rows, weights="v")
    check_groups(source.coded(declared, "w").only(KEPT).coded(declared))


def check_groups(source: Any) -> None:
    """An engine that groups rows and adds their weights groups by the columns that are kept."""
    (block,) = source.group_rows([KEPT], 100) if groups_rows(source) else [None]
    if block is not None:
        whole = jt.Dataset(ROWS, ASIA.variables, "w", extra="ignore").only(KEPT)
        codes = np.stack([whole.columns[name] for name in KEPT], axis=1)
        rows, place = np.unique(codes, axis=0, return_inverse=True)
        assert np.stack([block.rows.columns[name] for name in KEPT], axis=1).tolist() == rows.tolist()
        assert block.rows.weights.tolist() == np.bincount(place.ravel(), whole.weights).tolist()


LATENT = [name for name in ASIA.variables.names if name not in KEPT]
NUMBERS = np.random.default_rng(3).normal(size=(24, 3)).round(3)
NUMBERS[::5, 1] = np.nan
STEPS = pa.table(
    {
        "patient": np.repeat(["b", "a", "c"], [9, 4, 11]),
        **{f"x{number}": pa.array(NUMBERS[:, number], from_pandas=True) for number in range(3)},
        "day": np.arange(24) // 2,
        "w": np.repeat([0.5, 1.0, 0.25], [9, 4, 11]),
    }
)
TWO = jt.Mixture([0.5, 0.5], [jt.MultivariateGaussian([0.0, m], np.eye(2)) for m in (-1.0, 1.0)])
FACTORS = jt.FactorAnalysis([[0.5], [0.3]], [0.0, 0.0], [1.0, 1.0])
CHAIN = jt.HiddenMarkovModel(
    [0.6, 0.4], [[0.9, 0.1], [0.3, 0.7]], jt.GaussianEmissions([[0.0, 1.0], [3.0, -1.0]], np.ones((2, 2)), "diagonal")
)
GROUPED = {"group": "patient"}
NUMBER_VERBS: dict[str, Verb] = {
    "mixture infer": lambda rows: jt.infer(TWO, rows).responsibilities,
    "mixture log_prob": lambda rows: jt.log_prob(TWO, rows),
    "factors infer": lambda rows: jt.infer(FACTORS, rows).mean,
    "factors log_prob": lambda rows: jt.log_prob(FACTORS, rows),
}
SEQUENCE_VERBS: dict[str, Verb] = {
    "chain infer": lambda rows: [one.log_evidence for one in jt.infer(CHAIN, rows, **GROUPED)],
    "chain log_prob": lambda rows: jt.log_prob(CHAIN, rows, **GROUPED),
    "chain most_probable": lambda rows: [repr(one) for one in jt.most_probable(CHAIN, rows, **GROUPED)],
    "chain answer_blocks": lambda rows: [
        value
        for part in jt.results.answer_blocks(jt.log_prob, CHAIN, rows, **GROUPED)
        for value in part.answers.tolist()
    ],
}


@KINDS
def test_numbers_and_groups_that_are_kept_are_those_of_a_dataset(kind, tmp_path):
    """By position, so that the order of the columns that are kept counts."""
    variables, is_once = tuple(jt.Dataset(STEPS).variables), SOURCES[kind].is_once
    whole = jt.Dataset(STEPS, variables)

    def make(names: list[str]) -> Any:
        return as_source(SOURCES[kind].make(STEPS, tmp_path), variables, block_rows=7).only(names)

    for columns, verbs in (([], NUMBER_VERBS), (["patient"], SEQUENCE_VERBS)):
        names = ["x2", *columns, "x1"]
        check_verbs(lambda names=names: make(names), whole.only(names), verbs, is_once=is_once)


@KINDS
def test_a_column_that_is_not_there_cannot_be_kept(kind, tmp_path):
    source = as_source(SOURCES[kind].make(ROWS, tmp_path), tuple(ASIA.variables), extra="ignore")
    for rows in (source, source.only(KEPT), jt.Dataset(ROWS).only(KEPT)):
        with pytest.raises(jt.UnknownVariable, match="has no variable 'xry'; did you mean 'xray'"):
            rows.only(["smoke", "xry"])
        with pytest.raises(jt.errors.InvalidData, match="each column is kept once; 'smoke' is named twice"):
            rows.only(["smoke", "xray", "smoke"])
        with pytest.raises(jt.errors.InvalidData, match="names must be a list"):
            rows.only("smoke")
    with pytest.raises(jt.UnknownVariable, match="has no variable 'lung'"):
        source.only(KEPT).only(["lung"])
