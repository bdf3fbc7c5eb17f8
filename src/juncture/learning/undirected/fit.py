"""`fit` for Markov networks and factor graphs: the tables of the factors, with their scopes and zeros kept."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from juncture.base.checks import check_choice, check_kind
from juncture.base.options import as_generator, as_variable_names
from juncture.data.dataset import Dataset
from juncture.data.sources.contract import RowSource
from juncture.errors import InvalidData, NotConvergedWarning, TooLarge, Unsupported, warn_user
from juncture.learning.fit import Fit
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
METHODS = ("auto", "gradient", "ipf", "pseudo-likelihood")
PATIENCE = 60.0  # predicted seconds that Z may take after a fit that did not need it


def fit_factors(  # noqa: PLR0913 (one verb, many options)
    structure: M,
    data: Any,
    *,
    prior: Any = None,
    method: str = "auto",
    penalty: Penalty | None = None,
    coupling: Any = None,
    given: Iterable[str] = (),
    latent: Iterable[str] = (),
    weights: Any = None,
    missing: Any = None,
    engine: Any = "auto",
    tolerance: float = 1e-7,
    max_steps: int = 1000,
    rng: Any = 0,
    progress: ProgressCallback | None = None,
) -> Fit[M]:
    """A model with the scopes of the given one, whose tables are learned.

    Parameters
    ----------
    structure
        A `MarkovNetwork` or `FactorGraph`; its tables say where the ascent starts, and their zeros stay zeros.
    data, latent, weights, missing
        As for Bayesian networks.
    prior
        None: tables have penalties.
    method
        "gradient" is L-BFGS on the log-likelihood, also of rows with holes; "ipf" is iterative proportional fitting;
        "pseudo-likelihood" maximises Σ log p(variable | all others), which needs no Z. "auto" and "ipf" take the
        closed form where the model is decomposable; else "auto" is "gradient".
    penalty
        `L1(strength)` or `L2(strength)` on the parameters: the logarithms of the tables, or η. Without a penalty, a
        cell that no row has gets probability zero.
    coupling
        A matrix B with a row for each cell of each factor: θ = Bη is learned, by its η.
    given
        Variables that will always be observed: Σ log p(others | given) is maximised, by its gradient. The model is
        then a conditional random field; `log_likelihood` is that of the others.
    engine
        The engine that gives the expected cells, as `method` in `infer`. The log-likelihood of an engine that draws
        at random, or approximates, is an estimate.
    tolerance
        An ascent ends when no entry of the gradient, by the row, is larger: then no cell of the model differs by more
        from that of the data, in probability.
    max_steps, progress
        The largest number of steps; a function that is called after each, with its number and the objective.
    rng
        A seed or a generator, for the start of tables that are symmetric in a latent variable.
    """
    check_tables(structure)
    check_options(prior, method, tolerance, max_steps, progress)
    template, rows = prepare_rows(structure, data, None, latent, weights, missing)
    task = Task(
        LogTables(template), rows, Stopping(tolerance, max_steps, progress), check_penalty(penalty), coupling, engine
    )
    names = check_given(given, template, rows)
    statistics = None if names else count_if_complete(template, rows)
    if statistics is None:
        return task.fit_rows(method, names, as_generator(rng))
    if method == "pseudo-likelihood":
        check_weight(statistics.weight)
        check_counts_possible(task.tables, statistics)
        return task.fit_pseudo_likelihood(statistics)
    return task.fit_counts(method, statistics)


def estimate_factors(  # noqa: PLR0913 (one verb, many options)
    structure: M,
    statistics: FactorStatistics,
    prior: Any = None,
    *,
    method: str = "auto",
    penalty: Penalty | None = None,
    coupling: Any = None,
    engine: Any = "auto",
    tolerance: float = 1e-7,
    max_steps: int = 1000,
) -> M:
    """The model that counts of complete rows lead to, by "gradient", "ipf" or a closed form; options as in `fit`."""
    check_options(prior, method, tolerance, max_steps, None)
    check_kind(statistics, FactorStatistics, "the statistics of an undirected model")
    if [part.scope for part in statistics.counts] != [part.scope for part in structure.factors]:
        raise InvalidData("the statistics are of factors over other variables than those of the model")
    if method == "pseudo-likelihood":
        raise Unsupported("the pseudo-likelihood needs the rows: jt.fit takes them")
    stopping = Stopping(tolerance, max_steps)
    task = Task(LogTables(structure), None, stopping, check_penalty(penalty), coupling, engine)
    model: M = task.fit_counts(method, statistics).model
    return model


@dataclass(frozen=True, eq=False)
class Task:
    """What is learned from which rows, and how."""

    tables: LogTables
    rows: Any  # a `Dataset` or a source; None where counts are given
    stopping: Stopping
    penalty: Penalty | None
    coupling: Any
    engine: Any

    def fit_counts(self, method: str, statistics: FactorStatistics) -> Fit[Any]:
        """From the counts of complete rows."""
        check_weight(statistics.weight)
        check_counts_possible(self.tables, statistics)
        if method == "ipf" and not self.is_plain:
            raise Unsupported(
                'iterative proportional fitting takes no penalty and no coupling; learn with method="gradient"'
            )
        closed = self.fit_closed_form(statistics) if method != "gradient" and self.is_plain else None
        if closed is not None:
            return closed
        return self.fit_margins(statistics) if method == "ipf" else self.fit_likelihood(statistics)

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
        logs, trace = fit_proportionally(CellExpectation.of(self.tables, self.engine), statistics, self.stopping)
        warn_unless_converged(trace)
        return Fit(self.tables.exact_model(logs), trace.values[-1], trace, statistics)

    def fit_likelihood(self, statistics: FactorStatistics) -> Fit[Any]:
        likelihood = Likelihood(CellExpectation.of(self.tables, self.engine), statistics.cells, statistics.weight)
        logs, trace = self.ascend(likelihood, self.coordinates(statistics))
        return Fit(self.tables.exact_model(logs), likelihood.value_and_gradient(logs)[0], trace, statistics)

    def fit_pseudo_likelihood(self, statistics: FactorStatistics) -> Fit[Any]:
        logs, trace = self.ascend(PseudoLikelihood.of(self.tables, self.rows), self.coordinates(statistics))
        log_likelihood = try_log_likelihood(self.tables, statistics, logs, self.engine)
        return Fit(self.tables.exact_model(logs), log_likelihood, trace, statistics)

    def fit_rows(self, method: str, given: list[str], rng: np.random.Generator) -> Fit[Any]:
        """By the gradient of expectations given each row: rows with holes, or the likelihood given some columns."""
        if method not in ("auto", "gradient"):
            rule = "maximises the joint likelihood" if given else "takes complete rows"
            raise Unsupported(f'method={method!r} {rule}; rows with holes and given=… are for method="gradient"')
        likelihood = (
            ConditionalLikelihood.of(self.tables, self.rows, given, self.engine)
            if given
            else MarginalLikelihood.of(self.tables, self.rows, self.engine)
        )
        check_weight(likelihood.weight)
        start = break_symmetry(self.tables, find_latent(self.tables, self.rows), rng)
        free = FreeCells(start, self.tables.is_possible)
        coordinates = free if self.coupling is None else coupled_cells(self.coupling, self.tables)
        logs, trace = self.ascend(likelihood, coordinates)
        log_likelihood = likelihood.value_and_gradient(logs)[0]
        return Fit(self.tables.exact_model(logs), log_likelihood, trace, likelihood.expected_statistics(logs))

    def ascend(self, objective: Objective, coordinates: Coordinates) -> tuple[np.ndarray, Trace]:
        """θ at the maximum, and the course of the ascent."""
        vector, trace = ascend(objective, coordinates, self.stopping, self.penalty)
        warn_unless_converged(trace)
        return coordinates.logs(vector), trace


def try_log_likelihood(tables: LogTables, statistics: FactorStatistics, logs: np.ndarray, engine: Any) -> float:
    """The log-likelihood; NaN, with a warning, where Z takes more than there is of memory or patience."""
    try:
        log_z = CellExpectation.of(tables, engine).of_model(logs, PATIENCE)[1]
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


def check_options(prior: Any, method: Any, tolerance: float, max_steps: int, progress: Any) -> None:
    if prior is not None:
        raise Unsupported("the tables of an undirected model take no prior; give penalty=jt.L2(…) or jt.L1(…)")
    check_choice(method, METHODS, "the method of learning undirected models")
    check_stopping_rule(tolerance, max_steps)
    check_progress(progress)


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
