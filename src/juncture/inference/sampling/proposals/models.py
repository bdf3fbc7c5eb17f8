"""Proposals that users give: a simpler model, whose exact posterior is drawn from, or a function of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import shown
from juncture.data.findings import Findings
from juncture.errors import ImpossibleEvidence, InvalidData, InvalidModel
from juncture.inference.engines.contract import Answers, Query
from juncture.inference.engines.verb_options import DRAWS
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.sampling.network_draws import count_relations
from juncture.inference.sampling.table_draws import Batch, as_batch
from juncture.numerics import stable

Function = Callable[[Mapping[str, Any], int, np.random.Generator], tuple[Mapping[str, Any], Any]]


def log_likelihood_of(row: Findings, columns: Mapping[str, np.ndarray]) -> Any:
    """(draw,): the logarithm of the soft evidence of one row; 0 without any."""
    parts = (stable.log(values[0])[columns[name]] for name, values in row.likelihoods.items())
    return sum(parts, start=np.zeros(1))


@dataclass(frozen=True, eq=False)
class ModelDraws:
    """A `Source`: exact draws of a simpler model given the evidence, weighted by the ratio of both models."""

    model: Any
    simpler: Any
    row: Findings  # a single row
    answers: Answers  # of the simpler model
    log_largest: ClassVar[None] = None

    @classmethod
    def of(cls, model: Any, simpler: Any, row: Findings) -> ModelDraws:
        if set(simpler.variables) != set(model.variables):
            raise InvalidModel("a model as proposal= has the variables of the model, with the same states")
        own = Findings(tuple(simpler.variables), row.codes, row.reals, row.likelihoods)
        answers = JunctionTree().compile(simpler, row.names).run(simpler, Query(own, questions=DRAWS))
        if np.isneginf(answers.log_evidence[0]):
            raise ImpossibleEvidence("the model that was given as proposal= gives the evidence probability zero")
        return cls(model, simpler, row, answers)

    def draw(self, num_draws: int, rng: np.random.Generator) -> Batch:
        columns = self.answers.sample(num_draws, rng)
        log_ratio = self.model.log_joint_of(columns) - self.simpler.log_joint_of(columns)
        return as_batch(self.model, columns, log_ratio + self.answers.log_evidence[0])


@dataclass(frozen=True, eq=False)
class FunctionDraws:
    """A `Source`: draws and log q of a user's function, weighted by p(x, evidence) / q(x)."""

    model: Any
    function: Function
    row: Findings  # a single row
    log_largest: ClassVar[None] = None

    def draw(self, num_draws: int, rng: np.random.Generator) -> Batch:
        given = {name: values[0] for name, values in (self.row.codes | self.row.reals).items()}
        columns, log_q = check_pair(self.function(given, num_draws, rng))
        full = {name: np.full(num_draws, value) for name, value in given.items()}
        for variable in self.model.variables:
            if variable.name not in full:
                full[variable.name] = check_column(variable, columns, num_draws)
        log_density = np.asarray(log_q, float)
        if log_density.shape != (num_draws,) or not np.isfinite(log_density).all():
            raise InvalidData(
                f"a proposal gives log q of each of its {num_draws} draws, a finite number; got {shown(log_q)}"
            )
        log_joint = self.model.log_joint_of(full) + log_likelihood_of(self.row, full)
        relations = count_relations(self.model, full, given)
        return as_batch(self.model, full, log_joint - log_density, relations.counts)


def check_pair(drawn: Any) -> tuple[Mapping[str, Any], Any]:
    if not (isinstance(drawn, tuple) and len(drawn) == 2 and isinstance(drawn[0], Mapping)):
        raise InvalidData(f"a proposal gives (columns by name, log q of each draw); got {shown(drawn)}")
    return drawn


def check_column(variable: Any, columns: Mapping[str, Any], num_draws: int) -> np.ndarray:
    """The draws of one variable: state codes, or numbers."""
    if variable.name not in columns:
        raise InvalidData(f"the proposal gives no column for {variable.name!r}, which is not observed")
    column = np.asarray(columns[variable.name])
    kinds = "f" if variable.is_real else "iu"
    is_right = column.shape == (num_draws,) and column.dtype.kind in kinds + ("iu" if variable.is_real else "")
    if is_right and not variable.is_real:
        is_right = bool(((column >= 0) & (column < variable.num_states)).all())
    if not is_right:
        what = "a number" if variable.is_real else f"a code from 0 to {variable.num_states - 1}"
        raise InvalidData(
            f"the column of {variable.name!r} has {what} for each of {num_draws} draws; got {shown(column)}"
        )
    return column if variable.is_real else column.astype(np.int64)
