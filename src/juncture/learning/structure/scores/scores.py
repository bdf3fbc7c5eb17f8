"""Scores of structures: sums over families, the higher the better; `as_local_scores` computes them from data.

`jt.BDeu` and `jt.K2`, the priors of tables, are scores as well: the evidence of the rows under them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any, Protocol, runtime_checkable

import numpy as np

from juncture.base.checks import check_number
from juncture.base.dispatch import one_path
from juncture.base.options import resolve
from juncture.errors import InvalidData, Unsupported
from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.learning.conditionals.table import K2, BDeu, check_pseudo_count
from juncture.learning.structure.constraints import Constrained, EdgeConstraints, check_positive
from juncture.learning.structure.data import (
    Cases,
    check_complete,
    impossible_edges,
    is_mixed,
    read_nodes,
    settle,
    total_weight,
)
from juncture.learning.structure.scores.discrete import (
    NodeAverage,
    check_some_observed,
    default_cost,
    discrete_scores,
    observed_scores,
)
from juncture.learning.structure.scores.gaussian import BGe, gaussian_scores
from juncture.learning.structure.scores.local_scores import LocalScores, ScoreCache, with_edge_prior
from juncture.learning.structure.scores.mixed import mixed_scores
from juncture.learning.structure.scores.streamed_scores import StreamedDiscreteScores, StreamedObservedScores
from juncture.learning.structure.sets import member_of, parents_of
from juncture.learning.structure.streamed.streamed_rows import StreamedRows
from juncture.learning.structure.streamed.sums import SummedRows


@runtime_checkable
class HasCost(Protocol):
    """A score that is the log-likelihood less a cost for each free parameter."""

    def cost(self, num_rows: float) -> float:
        """The penalty of one free parameter."""


@dataclass(frozen=True)
class LogLikelihood:
    """The log-likelihood at its maximum; it never falls when an edge is added."""

    def cost(self, num_rows: float) -> float:
        """The penalty of one free parameter."""
        return 0.0


@dataclass(frozen=True)
class AIC:
    """The log-likelihood, less 1 for each free parameter (Akaike 1974)."""

    def cost(self, num_rows: float) -> float:
        return 1.0


@dataclass(frozen=True)
class BIC:
    """The log-likelihood, less ½ log(rows) for each free parameter (Schwarz 1978); MDL is the same, negative."""

    def cost(self, num_rows: float) -> float:
        return 0.5 * log(max(check_number(num_rows, "the number of rows", finite=True), 1.0))


@dataclass(frozen=True)
class BDs:
    """As `jt.BDeu`, but its rows are spread over those states of the parents that occur (Scutari 2016)."""

    equivalent_sample_size: float = 10.0

    def __post_init__(self) -> None:
        check_pseudo_count(self.equivalent_sample_size, "the equivalent sample size of BDs")


@dataclass(frozen=True)
class EdgePrior:
    """A score plus the log prior of a graph in which edges are independent and equally probable.

    Parameters
    ----------
    score
        The name of a score, or a score such as `BDeu(10)`.
    expected_parents
        The expected number of parents of a variable under the prior. Each edge adds its log-odds to the score.
    """

    score: Any = "bdeu"
    expected_parents: float = 1.0

    def __post_init__(self) -> None:
        check_positive(self.expected_parents, "expected_parents")


SCORES: dict[str, Callable[[], Any]] = {
    "bic": BIC,
    "mdl": BIC,
    "aic": AIC,
    "log-likelihood": LogLikelihood,
    "bdeu": BDeu,
    "bds": BDs,
    "k2": K2,
    "bge": BGe,
    "node-average": NodeAverage,
}
LEAST_SIZE = 1e-100  # rows before the data, which are spread over many cells
EVIDENCES = {K2: "cell", BDeu: "even", BDs: "seen"}


def as_local_scores(score: Any, data: Cases) -> LocalScores:
    """The local scores of the data: tables for variables with states, linear Gaussians for real ones."""
    wanted = resolve(score, SCORES, what="score")
    if isinstance(wanted, EdgePrior):
        return with_edge_prior(as_local_scores(wanted.score, data), wanted.expected_parents)
    if isinstance(data, StreamedRows):
        return streamed_scores(wanted, data)
    if is_mixed(data):
        return mixed_scores(wanted, data)
    if isinstance(data, SummedRows) or any(variable.is_real for variable in data.variables):
        return gaussian_scores(wanted, data)
    if isinstance(wanted, NodeAverage):
        return observed_scores(wanted, data)
    return discrete_scores(data, *counting_rule(wanted, total_weight(data)))


def streamed_scores(wanted: Any, data: StreamedRows) -> LocalScores:
    """The local scores of rows past memory; estimates come from the same score of the sample."""
    if isinstance(wanted, NodeAverage):
        check_some_observed(data)
        cost = default_cost(data.weight, data.holes) if wanted.cost is None else wanted.cost
        return data.keep(
            ("node-average", cost), lambda: StreamedObservedScores(data, as_local_scores(wanted, data.sample), cost)
        )
    check_complete(data)
    rule = counting_rule(wanted, data.weight)
    return data.keep(rule, lambda: StreamedDiscreteScores(data, as_local_scores(wanted, data.sample), *rule))


def counting_rule(wanted: Any, num_rows: float) -> tuple[str, float]:
    """How a family's table is scored: the kind, and the cost of a parameter or the rows before the data."""
    if isinstance(wanted, HasCost):
        return "likelihood", wanted.cost(num_rows)
    if type(wanted) not in EVIDENCES:
        raise Unsupported(f"the score {wanted!r} is not one of variables with states; take 'bic' or 'bdeu'")
    size = getattr(wanted, "equivalent_sample_size", 1.0)
    if not size >= LEAST_SIZE:
        raise InvalidData(f"the evidence under {wanted!r} needs rows before the data: give at least {LEAST_SIZE}")
    return EVIDENCES[type(wanted)], size


def scores_and_bounds(search: Constrained, score: Any, data: Cases) -> tuple[ScoreCache, EdgeConstraints]:
    """The scores of a search, and the constraints on its graphs: also that no edge leads from numbers to states."""
    scores = ScoreCache(as_local_scores(score, data))
    bounds = search.bounds(scores.names, impossible_edges(data))
    for child, parents in enumerate(bounds.needed):
        if parents and is_mixed(data) and scores.family(child, parents) == -np.inf:
            raise InvalidData(
                f"the edges into {scores.names[child]!r} that are required leave combinations of its parents' states"
                " with too few rows to determine a line: require fewer edges, or give more rows"
            )
    return scores, bounds


def takes_holes(score: Any) -> bool:
    """Whether a score takes rows with holes as they are."""
    if score is None:
        return False
    wanted = resolve(score, SCORES, what="score")
    return takes_holes(wanted.score) if isinstance(wanted, EdgePrior) else isinstance(wanted, NodeAverage)


@one_path
def score(graph: DirectedGraph | PartiallyDirectedGraph, data: Any, score: Any = "bic") -> float:
    """The score of a graph: the sum of the scores of its families.

    Parameters
    ----------
    graph
        A graph whose nodes are columns of the data, or an equivalence class, of which one graph is scored.
    data
        What `Dataset` takes, or a source of rows past memory, as in `learn_structure`.
    score
        The name of a score, or a score such as `BDeu(10)`; the higher the better.

    Returns
    -------
    float
        The score, in nats for the scores that are log-probabilities; -inf where a real variable has a line for each
        combination of its parents' states, and some combination has too few rows to determine its line.

    Examples
    --------
    >>> data = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}
    >>> round(score(DirectedGraph.parse("a -> b"), data, "log-likelihood"), 6)  # 4 log ½
    -2.772589
    """
    member = member_of(graph)
    rows = read_nodes(data, member.nodes)
    is_real = {variable.name: variable.is_real for variable in rows.variables}
    for parent, child in member.edges:
        if is_real[parent] and not is_real[child]:
            raise Unsupported(
                f"the edge {parent!r} -> {child!r} leads from numbers to states, for which there is no score: turn it"
                f" round, or put {parent!r} into bins with jt.Discretizer"
            )
    local = as_local_scores(score, rows)
    return settle(rows, lambda: ScoreCache(local).total(parents_of(member)))
