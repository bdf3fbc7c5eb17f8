"""`fit` for Markov networks and factor graphs: the tables of the factors, with their scopes and zeros kept."""

from __future__ import annotations

from typing import Any, TypeVar

from juncture.checks import check_choice
from juncture.errors import InvalidData, NotConvergedWarning, Unsupported, warn_user
from juncture.iteration import ProgressCallback, Trace, check_progress, check_stopping_rule
from juncture.learning.fit import Fit
from juncture.learning.networks.templates import prepare_rows
from juncture.learning.undirected.ascent import Ascent, Stopping
from juncture.learning.undirected.decomposable import closed_form, log_partition
from juncture.learning.undirected.expectation import CellExpectation
from juncture.learning.undirected.log_tables import FreeCells, LogTables
from juncture.learning.undirected.objectives import Likelihood, check_counts_possible, dot_counts
from juncture.learning.undirected.proportional_fitting import fit_proportionally
from juncture.learning.undirected.statistics import FactorStatistics, count_if_complete
from juncture.networks.factor_product import FactorProduct

M = TypeVar("M", bound=FactorProduct)
METHODS = ("auto", "gradient", "ipf")


def fit_factors(  # noqa: PLR0913 (one verb, many options)
    structure: M,
    data: Any,
    prior: Any = None,
    *,
    method: str = "auto",
    weights: Any = None,
    missing: Any = None,
    engine: Any = "auto",
    tolerance: float = 1e-7,
    max_steps: int = 1000,
    progress: ProgressCallback | None = None,
) -> Fit[M]:
    """A model with the scopes of the given one, whose tables are learned.

    Parameters
    ----------
    structure
        A `MarkovNetwork` or `FactorGraph`; its tables say where the ascent starts, and their zeros stay zeros.
    data, weights, missing
        As for Bayesian networks.
    prior
        None: tables have penalties.
    method
        "gradient" is L-BFGS on the log-likelihood, "ipf" iterative proportional fitting. "auto" and "ipf" take the
        closed form where the model is decomposable; else "auto" is "gradient".
    engine
        The engine that gives the expected cells, as `method` in `infer`.
    tolerance
        The ascent ends when no cell of the model differs from that of the data by more, in probability.
    max_steps, progress
        The largest number of steps; a function that is called after each, with its number and the objective.
    """
    check_prior(prior)
    check_choice(method, METHODS, "the method of learning undirected models")
    check_stopping_rule(tolerance, max_steps)
    check_progress(progress)
    template, rows = prepare_rows(structure, data, None, (), weights, missing)
    tables, stopping = LogTables(template), Stopping(tolerance, max_steps, progress)
    statistics = count_if_complete(template, rows)
    if statistics is None:
        raise Unsupported("undirected models are learned from complete rows; drop the rows with holes")
    check_weight(statistics.weight)
    check_counts_possible(tables, statistics)
    if method != "gradient" and (fitted := fit_closed_form(tables, statistics)) is not None:
        return fitted
    expectation = CellExpectation.of(tables, engine)
    if method == "ipf":
        return fit_margins(expectation, statistics, stopping)
    return fit_likelihood(tables, statistics, expectation, stopping)


def fit_closed_form(tables: LogTables, statistics: FactorStatistics) -> Fit[Any] | None:
    """Maximum likelihood of a decomposable model; None for another."""
    logs = closed_form(tables, statistics)
    if logs is None:
        return None
    log_likelihood = dot_counts(statistics.cells, logs) - statistics.weight * log_partition(tables)
    trace = Trace((log_likelihood,), True, "a decomposable model: the margins of the data in one step")
    return Fit(tables.model(logs), log_likelihood, trace, statistics)


def fit_margins(expectation: CellExpectation, statistics: FactorStatistics, stopping: Stopping) -> Fit[Any]:
    logs, trace = fit_proportionally(expectation, statistics, stopping)
    warn_unless_converged(trace)
    return Fit(expectation.tables.model(logs), trace.values[-1], trace, statistics)


def fit_likelihood(
    tables: LogTables, statistics: FactorStatistics, expectation: CellExpectation, stopping: Stopping
) -> Fit[Any]:
    """Maximum likelihood from counts: a cell that no row has gets probability zero, its limit."""
    counts = statistics.cells
    coordinates = FreeCells(tables.given, counts > 0)
    likelihood = Likelihood(expectation, counts, statistics.weight)
    vector, trace = Ascent(likelihood, coordinates, stopping).run()
    logs = coordinates.logs(vector)
    warn_unless_converged(trace)
    return Fit(tables.model(logs), likelihood.value_and_gradient(logs)[0], trace, statistics)


def warn_unless_converged(trace: Trace) -> None:
    if not trace.converged:
        warn_user(f"learning an undirected model {trace.reason}; the model is the best so far", NotConvergedWarning)


def check_prior(prior: Any) -> None:
    if prior is not None:
        raise Unsupported("the tables of an undirected model take no prior; give penalty=jt.L2(…) or jt.L1(…)")


def check_weight(weight: float) -> None:
    if not weight > 0:
        raise InvalidData("learning an undirected model needs at least one row of positive weight")
