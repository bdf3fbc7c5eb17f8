"""`fit` for Markov networks and factor graphs: the tables of the factors, with their scopes and zeros kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from juncture.base.checks import check_kind
from juncture.base.options import Options, as_generator, as_seed, as_variable_names, used_seed
from juncture.data.dataset import Dataset
from juncture.data.sources.contract import RowSource
from juncture.errors import InvalidData, NotConvergedWarning, TooLarge, Unsupported, warn_user
from juncture.inference.infer import engine_for
from juncture.learning.fit import Fit
from juncture.learning.networks.gradient import GradientAscent
from juncture.learning.networks.templates import prepare_rows
from juncture.learning.undirected.ascent import Stopping, ascend
from juncture.learning.undirected.likelihood import (
    CellExpectation,
    ConditionalLikelihood,
    Likelihood,
    MarginalLikelihood,
    Objective,
    break_symmetry,
    check_counts_possible,
    dot_counts,
    find_latent,
)
from juncture.learning.undirected.log_tables import Coordinates, FreeCells, LogTables, coupled_cells
from juncture.learning.undirected.margins import closed_form, fit_proportionally, log_partition
from juncture.learning.undirected.penalties import Penalty, check_penalty
from juncture.learning.undirected.pseudo_likelihood import PseudoLikelihood
from juncture.learning.undirected.statistics import FactorStatistics, check_tables, count_if_complete
from juncture.networks.factor_product import FactorProduct
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress, check_stopping_rule

M = TypeVar("M", bound=FactorProduct)
PATIENCE = 60.0  # predicted seconds that Z may take after a fit that did not need it


TOLERANCE = 1e-7  # of the largest entry of the gradient, by the row


@dataclass(frozen=True)
class MaximumLikelihood(GradientAscent):
    """The closed form of maximum likelihood where a model is decomposable; for others gradient ascent.

    Parameters
    ----------
    tolerance, max_steps, engine
        As in `GradientAscent`.
    """


@dataclass(frozen=True)
class IterativeProportionalFitting(Options):
    """Iterative proportional fitting: one factor after the other is given its margin in the data.

    A decomposable model has a closed form, which is taken. Of a graph of real numbers it is covariance selection.

    Parameters
    ----------
    tolerance
        A fit ends when no margin differs by more from that of the data, in probability (1e-7 by default); of a graph
        of real numbers, when no covariance does, in deviations of the columns (1e-12).
    max_steps
        The largest number of sweeps over the factors.
    engine
        The engine that gives the margins of the model, as `method` in `infer`; a graph of real numbers asks none.
    """

    tolerance: float | None = None
    max_steps: int = 1000
    engine: Any = "auto"

    def __post_init__(self) -> None:
        check_stopping_rule(0.0 if self.tolerance is None else self.tolerance, self.max_steps)


@dataclass(frozen=True)
class MaximumPseudoLikelihood(Options):
    """The maximum of Σ log p(variable | all others), which needs no Z (Besag 1975).

    Parameters
    ----------
    tolerance
        The ascent ends when no entry of the gradient, by the row, is larger.
    max_steps
        The largest number of steps.
    engine
        The engine that gives the Z of the log-likelihood at the end.
    """

    tolerance: float = TOLERANCE
    max_steps: int = 1000
    engine: Any = "auto"

    def __post_init__(self) -> None:
        check_stopping_rule(self.tolerance, self.max_steps)


@dataclass(frozen=True)
class FactorEstimate(Options):
    """How the tables of an undirected model are estimated from counts.

    Parameters
    ----------
    penalty
        `L1(strength)` or `L2(strength)` on the parameters: the logarithms of the tables, or η. Without a penalty, a
        cell that no row has gets probability zero.
    coupling
        A matrix B with a row for each cell of each factor: θ = Bη is learned, by its η.
    method
        "gradient" is L-BFGS on the log-likelihood, also of rows with holes; "ipf" is iterative proportional fitting;
        "pseudo-likelihood" maximises Σ log p(variable | all others), which needs no Z. "auto" and "ipf" take the
        closed form where the model is decomposable; else "auto" is "gradient". Or a `jt.MaximumLikelihood` (which is
        "auto"), `jt.GradientAscent`, `jt.IterativeProportionalFitting` or `jt.MaximumPseudoLikelihood` with its
        options.
    """

    penalty: Penalty | None = None
    coupling: Any = None
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {
        "auto": MaximumLikelihood,
        "gradient": GradientAscent,
        "ipf": IterativeProportionalFitting,
        "pseudo-likelihood": MaximumPseudoLikelihood,
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", check_penalty(self.penalty))


@dataclass(frozen=True)
class FactorOptions(FactorEstimate):
    """How the tables of an undirected model are learned from rows.

    Parameters
    ----------
    given
        Variables that will always be observed: Σ log p(others | given) is maximised, by its gradient. The model is
        then a conditional random field; `log_likelihood` is that of the others.
    latent
        The names of variables whose columns, if there are any, are not used.
    missing
        A marker of missing values, such as "?" or -999, or a list of markers.
    """

    given: Iterable[str] = ()
    latent: Iterable[str] = ()
    missing: Any = None


def fit_factors(
    structure: M,
    data: Any,
    *,
    prior: Any = None,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: FactorOptions,
) -> Fit[M]:
    """A model with the scopes of the given one, whose tables are learned.

    The tables of the given one say where the ascent starts, and their zeros stay zeros.
    """
    check_tables(structure)
    refuse_prior(prior)
    check_progress(progress)
    template, rows = prepare_rows(structure, data, None, options.latent, weights, options.missing)
    task = Task.of(template, rows, options, as_seed(rng), progress)
    names = check_given(options.given, template, rows)
    statistics = None if names else count_if_complete(template, rows)
    if statistics is None:
        return task.fit_rows(names)
    if isinstance(task.learner, MaximumPseudoLikelihood):
        check_weight(statistics.weight)
        check_counts_possible(task.tables, statistics)
        return task.fit_pseudo_likelihood(statistics)
    return task.fit_counts(statistics)


def estimate_factors(structure: M, statistics: FactorStatistics, prior: Any = None, *, options: FactorEstimate) -> M:
    """The model that counts of complete rows lead to, by "gradient", "ipf" or a closed form."""
    refuse_prior(prior)
    check_kind(statistics, FactorStatistics, "the statistics of an undirected model")
    if [part.scope for part in statistics.counts] != [part.scope for part in structure.factors]:
        raise InvalidData("the statistics are of factors over other variables than those of the model")
    if isinstance(options.method, MaximumPseudoLikelihood):
        raise Unsupported("the pseudo-likelihood needs the rows: jt.fit takes them")
    model: M = Task.of(structure, None, options, 0).fit_counts(statistics).model
    return model


@dataclass(frozen=True, eq=False)
class Task:
    """What is learned from which rows, and how."""

    tables: LogTables
    rows: Any  # a `Dataset` or a source; None where counts are given
    learner: Any
    stopping: Stopping
    penalty: Penalty | None
    coupling: Any
    seed: int

    @classmethod
    def of(
        cls,
        template: FactorProduct,
        rows: Any,
        options: FactorEstimate,
        seed: int,
        progress: ProgressCallback | None = None,
    ) -> Task:
        learner = options.method
        tolerance = TOLERANCE if learner.tolerance is None else learner.tolerance
        stopping = Stopping(tolerance, learner.max_steps, progress)
        return cls(LogTables(template), rows, learner, stopping, options.penalty, options.coupling, seed)

    @cached_property
    def expectation(self) -> CellExpectation:
        """The expected cells of the model."""
        return CellExpectation.of(self.tables, self.learner.engine, self.seed)

    def fit_counts(self, statistics: FactorStatistics) -> Fit[Any]:
        """From the counts of complete rows."""
        check_weight(statistics.weight)
        check_counts_possible(self.tables, statistics)
        is_fitting = isinstance(self.learner, IterativeProportionalFitting)
        if is_fitting and not self.is_plain:
            raise Unsupported(
                'iterative proportional fitting takes no penalty and no coupling; learn with method="gradient"'
            )
        may_be_closed = is_fitting or isinstance(self.learner, MaximumLikelihood)
        closed = self.fit_closed_form(statistics) if may_be_closed and self.is_plain else None
        if closed is not None:
            return closed
        return self.fit_margins(statistics) if is_fitting else self.fit_likelihood(statistics)

    @property
    def is_plain(self) -> bool:
        """Whether each cell is a parameter of its own, without a penalty."""
        return self.penalty is None and self.coupling is None

    def coordinates(self, statistics: FactorStatistics) -> Coordinates:
        """For complete rows: without a penalty the cells that no row has are left out, as their limit is zero."""
        if self.coupling is not None:
            return coupled_cells(self.coupling, self.tables)
        is_free = self.tables.is_possible if self.penalty is not None else statistics.cells > 0
        return FreeCells(self.tables.given, is_free)

    def fit_closed_form(self, statistics: FactorStatistics) -> Fit[Any] | None:
        """Maximum likelihood of a decomposable model; None for another."""
        logs = closed_form(self.tables, statistics)
        if logs is None:
            return None
        log_likelihood = dot_counts(statistics.cells, logs) - statistics.weight * log_partition(self.tables)
        trace = Trace((log_likelihood,), True, "a decomposable model: the margins of the data in one step")
        return Fit(self.tables.exact_model(logs), log_likelihood, trace, statistics)

    def fit_margins(self, statistics: FactorStatistics) -> Fit[Any]:
        logs, trace = fit_proportionally(self.expectation, statistics, self.stopping)
        warn_unless_converged(trace)
        return Fit(self.tables.exact_model(logs), trace.values[-1], trace, statistics, self.seed_of_engine)

    def fit_likelihood(self, statistics: FactorStatistics) -> Fit[Any]:
        likelihood = Likelihood(self.expectation, statistics.cells, statistics.weight)
        logs, trace = self.ascend(likelihood, self.coordinates(statistics))
        log_likelihood = likelihood.value_and_gradient(logs)[0]
        return Fit(self.tables.exact_model(logs), log_likelihood, trace, statistics, self.seed_of_engine)

    def fit_pseudo_likelihood(self, statistics: FactorStatistics) -> Fit[Any]:
        logs, trace = self.ascend(PseudoLikelihood.of(self.tables, self.rows), self.coordinates(statistics))
        log_likelihood = self.try_log_likelihood(statistics, logs)
        return Fit(self.tables.exact_model(logs), log_likelihood, trace, statistics, self.seed_of_engine)

    @property
    def seed_of_engine(self) -> int | None:
        """The seed, where the engine draws at random."""
        return self.seed if engine_for(self.learner.engine).draws_itself else None

    def fit_rows(self, given: list[str]) -> Fit[Any]:
        """By the gradient of expectations given each row: rows with holes, or the likelihood given some columns."""
        if not isinstance(self.learner, GradientAscent):
            rule = "maximises the joint likelihood" if given else "takes complete rows"
            raise Unsupported(
                f'{type(self.learner).__name__} {rule}; rows with holes and given=… are for method="gradient"'
            )
        likelihood = (
            ConditionalLikelihood.of(self.tables, self.rows, given, self.learner.engine, self.seed)
            if given
            else MarginalLikelihood.of(self.tables, self.rows, self.learner.engine, self.seed)
        )
        check_weight(likelihood.weight)
        generator = as_generator(self.seed)
        start = break_symmetry(self.tables, find_latent(self.tables, self.rows), generator)
        free = FreeCells(start, self.tables.is_possible)
        coordinates = free if self.coupling is None else coupled_cells(self.coupling, self.tables)
        logs, trace = self.ascend(likelihood, coordinates)
        log_likelihood = likelihood.value_and_gradient(logs)[0]
        seed = used_seed(self.seed, generator) if self.seed_of_engine is None else self.seed
        return Fit(self.tables.exact_model(logs), log_likelihood, trace, likelihood.expected_statistics(logs), seed)

    def ascend(self, objective: Objective, coordinates: Coordinates) -> tuple[np.ndarray, Trace]:
        """θ at the maximum, and the course of the ascent."""
        vector, trace = ascend(objective, coordinates, self.stopping, self.penalty)
        warn_unless_converged(trace)
        return coordinates.logs(vector), trace

    def try_log_likelihood(self, statistics: FactorStatistics, logs: np.ndarray) -> float:
        """The log-likelihood; NaN, with a warning, where Z takes more than there is of memory or patience."""
        try:
            log_z = self.expectation.of_model(logs, PATIENCE)[1]
        except TooLarge:
            warn_user(
                "the model is too large for its Z, so the log-likelihood of this fit is NaN; its trace has the"
                " pseudo-likelihood",
                UserWarning,
            )
            return math.nan
        return dot_counts(statistics.cells, logs) - statistics.weight * log_z


def warn_unless_converged(trace: Trace) -> None:
    if not trace.converged:
        warn_user(f"learning an undirected model {trace.reason}; the model is the best so far", NotConvergedWarning)


def refuse_prior(prior: Any) -> None:
    if prior is not None:
        raise Unsupported("the tables of an undirected model take no prior; give penalty=jt.L2(…) or jt.L1(…)")


def check_given(given: Iterable[str], template: FactorProduct, rows: Dataset | RowSource) -> list[str]:
    """The names of the columns that are given."""
    names = [template.variable(name).name for name in as_variable_names(given, "given")]
    if len(names) == len(template.variables):
        raise InvalidData("given=… names all variables of the model; leave those out whose distribution is learned")
    known = [variable.name for variable in rows.variables]
    for name in names:
        if name not in known:
            raise InvalidData(f"given=… names {name!r}, which the data do not have")
    return names


def check_weight(weight: float) -> None:
    if not weight > 0:
        raise InvalidData("learning an undirected model needs at least one row of positive weight")
