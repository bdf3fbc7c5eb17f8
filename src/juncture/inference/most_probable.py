"""`most_probable`: the best joint states given evidence, of all unobserved variables or of some targets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture import verbs
from juncture.base.checks import check_count
from juncture.base.dispatch import register
from juncture.base.methods import register_names
from juncture.base.options import as_generator
from juncture.base.values import few, format_count, number_of
from juncture.data.dataset import Dataset, Extra
from juncture.data.findings import Findings
from juncture.errors import InvalidData, TooLarge
from juncture.evidence import as_findings
from juncture.inference.engines.beliefs import Beliefs, check_possible
from juncture.inference.engines.contract import EXACT, Diagnosed, Diagnostics, Query, Question
from juncture.inference.engines.ranked import RankedAnswers
from juncture.inference.engines.verb_options import as_budget, check_policy, time_left
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.infer import (
    APPROXIMATE_METHODS,
    EXACT_METHODS,
    MODE_METHODS,
    NETWORKS,
    REAL_METHODS,
    absorb_array,
    as_targets,
    engine_for,
)
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.runtime.memory import check_memory
from juncture.variables import Assignment, Scope

if TYPE_CHECKING:
    from juncture.drawing.grids import Grid
    from juncture.networks.bayesian_network import Network

BYTES_PER_PAIR = 24  # of variables: what the search keeps for each assignment that it gives
BYTES_PER_STATE = 64  # ... where every variable that is not observed is among those asked for
BYTES_PER_LABEL = 100
MODE = frozenset({Question.MODE})
LOOPY = APPROXIMATE_METHODS.only("loopy")  # the one of these that also gives modes


@dataclass(frozen=True, repr=False)
class MostProbable(Diagnosed):
    """An assignment, log p(assignment | evidence), and log of the product of factors (and likelihoods) there.

    `log_prob` is None where the engine does not know log p(evidence) exactly, as one that only climbs or estimates it.
    """

    assignment: Assignment
    log_prob: Any
    log_joint: float
    method: str = field(default="", compare=False)  # the algorithm that ran
    diagnostics: Diagnostics = field(default=EXACT, compare=False)
    is_density: bool = field(default=False, compare=False)  # whether some of it are real numbers

    @property
    def impossible(self) -> tuple[int, ...]:
        """The impossible rows: always (), as evidence of probability zero in a single row raises an error."""
        return ()

    @property
    def bound(self) -> float | None:
        """No assignment has a larger `log_joint`; None where the engine has no such bound."""
        upper = self.diagnostics.upper
        return self.log_joint if upper is None and self.exact else upper

    def __repr__(self) -> str:
        states = few(f"{name!r}: {state!r}" for name, state in self.assignment.items())
        return f"MostProbable(assignment={{{states}}}, log_prob={self.log_prob!r}, log_joint={self.log_joint!r})"

    def to_diagram(self) -> Grid:
        from juncture.inference.engines.display import assignment_grid

        return assignment_grid(self.assignment)

    @staticmethod
    def _diagram_of(ranked: Sequence[MostProbable]) -> Grid:
        """The best assignments in a table, with their probabilities and what differs."""
        from juncture.inference.engines.display import ranked_grid

        is_density = any(each.is_density for each in ranked)
        return ranked_grid(
            [each.assignment for each in ranked],
            [np.nan if each.log_prob is None else each.log_prob for each in ranked],
            is_density=is_density,
        )

    def _repr_html_(self) -> str:
        known = "" if self.log_prob is None else f"log_prob={self.log_prob:.6g}, "
        words = f"MostProbable({known}log_joint={self.log_joint:.6g}, by {self.method})"
        from juncture.drawing.text import format_value
        from juncture.inference.engines.display import states_html

        rows = ((name, format_value(state)) for name, state in self.assignment.items())
        return states_html(words, ["variable", "state"], rows, len(self.assignment))


class MostProbableArray(MostProbable):
    """The best assignment of all nodes of a `PairwiseNetwork`.

    `array` has the model's shape and holds the states of all nodes; `assignment` is made when it is asked for, and has
    the nodes that are not observed.
    """

    model: PairwiseNetwork
    codes: np.ndarray  # (node,)
    observed: frozenset[str]

    def __init__(self, model: PairwiseNetwork, codes: np.ndarray, observed: Sequence[str], **fields: Any) -> None:
        vars(self).update(model=model, codes=codes, observed=frozenset(observed), is_density=False, **fields)

    @cached_property
    def array(self) -> np.ndarray:
        """The state of each node, an array of the model's shape."""
        return self.model.decode(self.codes)

    @cached_property
    def assignment(self) -> Assignment:
        states, labels = self.model.states, self.codes.tolist()
        pairs = zip(self.model.names, labels, strict=True)
        return {name: states[code] for name, code in pairs if name not in self.observed}

    def to_diagram(self) -> Any:
        """An image, where the nodes form one; else a table of names and states."""
        if not self.model.is_image:
            return super().to_diagram()
        from juncture.drawing.rasters import Rasters

        return Rasters.of({"most probable": (self.codes.reshape(self.model.shape), f"by {self.method}")})

    def _repr_html_(self) -> str:
        from juncture.drawing.notebook import diagram_html

        return diagram_html(repr(self), self.to_diagram()) if self.model.is_image else super()._repr_html_()

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.model.shape))
        return f"MostProbableArray({shape} nodes, log_prob={self.log_prob!r}, log_joint={self.log_joint!r})"


@dataclass(frozen=True, eq=False, repr=False)
class MostProbableRows(Diagnosed):
    """The best assignment of each row of evidence; a row that is impossible has holes, NaN and -inf.

    `log_prob` is NaN in all rows where the engine does not know log p(evidence) of each exactly.
    """

    assignments: Dataset
    log_prob: np.ndarray  # (row,)
    log_joint: np.ndarray  # (row,)
    impossible: tuple[int, ...]
    method: str = ""  # the algorithm that ran
    diagnostics: Diagnostics = EXACT

    def __repr__(self) -> str:
        size = f"{number_of(len(self.assignments), 'row')} of {number_of(len(self.assignments.columns), 'variable')}"
        return f"MostProbableRows({size}; by {self.method})"

    def to_diagram(self) -> Grid:
        from juncture.inference.engines.display import rows_grid

        is_density = any(variable.is_real for variable in self.assignments.variables)
        return rows_grid(self._first_rows(), self.log_prob, len(self.assignments.columns), is_density=is_density)

    def _first_rows(self) -> dict[str, list[Any]]:
        from juncture.factors.printed_tables import MAX_HTML_COLUMNS, MAX_HTML_ROWS

        names = list(self.assignments.columns)[:MAX_HTML_COLUMNS]
        return self.assignments.only(names).take(slice(MAX_HTML_ROWS)).to_dict()

    def _repr_html_(self) -> str:
        from juncture.drawing.text import format_value
        from juncture.inference.engines.display import states_html

        first, num_columns = self._first_rows(), len(self.assignments.columns)
        columns = ([value if value is None else format_value(value) for value in column] for column in first.values())
        rows = zip(count(), (f"{value:.4g}" for value in self.log_prob), *columns, strict=False)
        return states_html(repr(self), ["row", "log_prob", *first], rows, len(self.assignments), num_columns)


def most_probable_factors(  # noqa: PLR0913 (one verb, many options)
    model: Network,
    evidence: Any = None,
    *,
    k: int | None = None,
    targets: Sequence[str] | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: Extra = "error",
    memory_limit: int | None = None,
    budget: float | None = None,
    rng: Any = None,
) -> Any:
    started = time.monotonic()
    check_policy(on_impossible)
    model, evidence = absorb_array(model, evidence)
    findings = as_findings(evidence, model.variables, extra=extra)
    if k is not None:
        check_count(k, "k", least=1)
    if k is not None and not findings.is_single:
        raise InvalidData("k goes with one row of evidence; ask for the k best of each row alone")
    engine = engine_for(method, memory_limit, MODE, model)
    questions = (MODE | {Question.LOG_EVIDENCE}) & engine.answers
    names, seconds = as_targets(model, targets), as_budget(budget)
    if rng is not None:
        as_generator(rng)  # which refuses what is none
    try:
        beliefs = Beliefs.of(model, engine, Query(findings, names, questions, budget=seconds), rng)
    except TooLarge as refusal:
        has_all = targets is None or unobserved_names(model, findings) <= set(names)
        if method != "auto" or not isinstance(engine, JunctionTree) or not has_all or k not in (None, 1):
            raise
        from juncture.inference.automatic import approximate_mode

        query = Query(findings, names, MODE, as_generator(rng), time_left(seconds, started), memory_limit)
        beliefs = approximate_mode(model, query, refusal)
    check_possible(beliefs, on_impossible)
    scope = scope_of(beliefs, targets)
    if k is not None and not scope.has_real:
        check_num_best(int(k), scope, memory_limit, has_rest=targets is not None)
    codes, log_joint = beliefs.answers.best(scope.names, k or 1)
    if not findings.is_single:
        return best_rows(beliefs, scope, codes[:, 0], log_joint[:, 0])
    has_all = targets is None
    ranked = [
        best_row(beliefs, scope, row, float(value), has_all=has_all)
        for row, value in zip(codes[0], log_joint[0], strict=True)
        if value > -np.inf
    ]
    return ranked[0] if k is None else RankedAnswers(ranked)


def scope_of(beliefs: Beliefs, targets: Sequence[str] | None) -> Scope:
    """The variables that were asked for, or those that are not observed in every row, in the order of the model."""
    variables: Scope = beliefs.model.variables
    if targets is None and not beliefs.findings.names:
        return variables
    names = beliefs.targets if targets is not None else unobserved_names(beliefs.model, beliefs.findings)
    return Scope(variable for variable in variables if variable.name in names)


def best_row(beliefs: Beliefs, scope: Scope, codes: np.ndarray, log_joint: float, *, has_all: bool) -> MostProbable:
    """One assignment; of all nodes of a `PairwiseNetwork` with its array."""
    model = beliefs.model
    shared: dict[str, Any] = {
        "log_prob": log_joint - float(beliefs.log_evidence) if knows_evidence(beliefs) else None,
        "log_joint": log_joint,
        "method": beliefs.method,
        "diagnostics": beliefs.diagnostics,
    }
    if not isinstance(model, PairwiseNetwork) or not has_all:
        return MostProbable(labels(scope, codes), **shared, is_density=scope.has_real)
    known = [name for name in beliefs.findings.names if name not in scope.names]
    if known:
        every = np.empty(model.num_nodes, dtype=np.int64)
        every[[model.variables.axis(name) for name in scope.names]] = codes
        every[[model.variables.axis(name) for name in known]] = [int(beliefs.findings.codes[name][0]) for name in known]
        codes = every
    return MostProbableArray(model, codes, known, **shared)


def knows_evidence(beliefs: Beliefs) -> bool:
    """Whether the log p(evidence) of an engine is exact; by an estimate, log p(states | evidence) could be above 0."""
    return Question.LOG_EVIDENCE in beliefs.engine.answers and beliefs.exact


def check_num_best(k: int, scope: Scope, memory_limit: int | None, *, has_rest: bool) -> None:
    """Raise `TooLarge` for more assignments than fit in memory; there are no more than joint states.

    A search among some variables keeps the assignments next to each that it gives; among all, only their values.
    """
    count, size = min(k, scope.size), len(scope)
    what = f"the {format_count(count)} best assignments of {number_of(size, 'variable')}"
    kept = BYTES_PER_PAIR * size**2 if has_rest else BYTES_PER_STATE * sum(scope.shape)
    check_memory(count * (kept + BYTES_PER_LABEL * size), what, "ask for a smaller k", memory_limit)


def unobserved_names(model: Network, findings: Findings) -> set[str]:
    """The variables that are not observed in every row."""
    return {name for name in model.variables.names if not findings.is_observed(name).all()}


def labels(scope: Scope, codes: np.ndarray) -> Assignment:
    pairs = zip(scope, codes, strict=True)
    return {variable.name: float(code) if variable.is_real else variable.labels[int(code)] for variable, code in pairs}


def best_rows(beliefs: Beliefs, scope: Scope, codes: np.ndarray, log_joint: np.ndarray) -> MostProbableRows:
    possible = ~np.isneginf(beliefs.log_evidence)
    columns = {
        variable.name: np.where(possible, codes[:, index], np.nan)
        if variable.is_real
        else np.where(possible, codes[:, index], -1).astype(np.int64)
        for index, variable in enumerate(scope)
    }
    log_prob = np.full(len(log_joint), np.nan)
    if knows_evidence(beliefs):
        np.subtract(log_joint, beliefs.log_evidence, out=log_prob, where=possible)
    chosen = Dataset.from_codes(scope, columns)
    return MostProbableRows(chosen, log_prob, log_joint, beliefs.impossible, beliefs.method, beliefs.diagnostics)


for kind in NETWORKS:
    register(verbs.most_probable, kind, most_probable_factors)
    register_names(kind, "most_probable", EXACT_METHODS | LOOPY | MODE_METHODS | REAL_METHODS)
