"""Structural EM (Friedman 1998): the best model so far completes the missing cells, and the structure is learned again.

Missing cells are drawn from their joint posterior, several times each, which approximates the expected counts. The
graph whose fitted model has the best BIC, of the rows as they are, is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.errors import InvalidData, TooLarge
from juncture.families.vectors.normal_gamma import NormalInverseGamma
from juncture.graphs.directed import DirectedGraph
from juncture.learning.fit import Fit
from juncture.learning.structure.constraints import Constrained, check_positive, check_whole
from juncture.learning.structure.data import Cases, advise, check_numbers, impossible_edges
from juncture.learning.structure.scores.discrete import NodeAverage
from juncture.learning.structure.scores.local_scores import rounding
from juncture.learning.structure.searches.hill_climbing import HillClimbing
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics.iteration import ProgressCallback
from juncture.verbs import fit, infer

PATIENCE = 3  # steps without a better graph that end it: completions are drawn, so that steps may miss


@dataclass(frozen=True, kw_only=True)
class StructuralEM(Constrained):
    """Structural EM for rows with holes: draw the missing cells, climb on the completed rows, fit, and repeat.

    The first graph maximises the node-average score; where columns are real it has no edges. Complete rows need one
    climb.

    Parameters
    ----------
    required, forbidden, tiers, max_parents, score, tabu, restarts
        As in `HillClimbing`.
    completions
        How many times the missing cells of each row are drawn.
    max_steps
        The largest number of repetitions.
    prior
        The pseudo-count of each cell when parameters are fitted; for a real column, so many rows of standard numbers.
    """

    score: Any = "bic"
    tabu: int = 0
    restarts: int = 0
    completions: int = 5
    max_steps: int = 10
    prior: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("tabu", 0), ("restarts", 0), ("completions", 1), ("max_steps", 1)):
            check_whole(getattr(self, name), name, least)
        check_positive(self.prior, "the prior of structural EM")

    def run(self, data: Cases, *, rng: np.random.Generator, progress: ProgressCallback | None = None) -> DirectedGraph:
        if data.is_complete:
            return self._search(self.score).run(data, rng=rng, progress=progress)
        if not isinstance(data, Dataset):
            raise TooLarge(
                "structural EM draws the missing cells of each row, and so needs rows in memory; past it,"
                f" {advise(data)}"
            )
        data = standardize(data)
        graph, prior = self._first_graph(data, rng), self._priors(data)
        best, peak, since = graph, -np.inf, 0
        for step in range(1, self.max_steps + 1):
            fitted = fit(graph, data, prior=prior, variables=data.variables, rng=0)
            score = observed_score(fitted, data)
            since = 0 if score > peak + rounding(score) else since + 1
            best, peak = (graph, score) if since == 0 else (best, peak)
            if progress is not None:
                progress(step, peak)
            if since == PATIENCE:
                break
            rows = complete_rows(fitted.model, data, self.completions, rng)
            graph = self._search(self.score).run(rows, rng=rng)
        return best

    def _first_graph(self, data: Dataset, rng: np.random.Generator) -> DirectedGraph:
        """The best graph by the node-average score; where columns are real, the required edges alone."""
        if not has_numbers(data):
            return self._search(NodeAverage()).run(data, rng=rng)
        self.bounds(tuple(data.columns), impossible_edges(data))
        return DirectedGraph(self.required, tuple(data.columns))

    def _priors(self, data: Dataset) -> Any:
        """The pseudo-count for tables, and as many rows of standard numbers for lines."""
        if not has_numbers(data):
            return self.prior
        line = NormalInverseGamma(0.0, self.prior, 1.0 + 0.5 * self.prior, 0.5 * self.prior)
        return {variable.name: line if variable.is_real else self.prior for variable in data.variables}

    def _search(self, score: Any) -> HillClimbing:
        constraints = {name: getattr(self, name) for name in Constrained.__dataclass_fields__}
        return HillClimbing(score=score, tabu=self.tabu, restarts=self.restarts, **constraints)


def has_numbers(data: Dataset) -> bool:
    return any(variable.is_real for variable in data.variables)


def standardize(data: Dataset) -> Dataset:
    """Real columns less their mean, in units of their deviation: the prior depends on units, a graph does not."""
    check_numbers(data)
    weights = np.ones(len(data)) if data.weights is None else data.weights
    columns = dict(data.columns)
    for variable in data.variables:
        if variable.is_real:
            columns[variable.name] = standard_column(variable.name, columns[variable.name], weights)
    return Dataset.from_codes(data.variables, columns, data.weights)


def standard_column(name: str, column: np.ndarray, weights: np.ndarray) -> np.ndarray:
    known = ~np.isnan(column) & (weights > 0)
    if not known.any():
        raise InvalidData(f"no row has a value of {name!r}: leave the column out")
    mean = np.average(column[known], weights=weights[known])
    deviation = np.sqrt(np.average((column[known] - mean) ** 2, weights=weights[known]))
    if not deviation > 0:
        raise InvalidData(f"{name!r} has the same number in every row that has one: leave the column out")
    return np.asarray((column - mean) / deviation)


def observed_score(fitted: Fit[BayesianNetwork], data: Dataset) -> float:
    """The BIC of the observed cells: missing cells are summed out."""
    weight = len(data) if data.weights is None else float(np.sum(data.weights))
    num_parameters = sum(map(count_parameters, fitted.model.conditionals))
    return float(fitted.log_likelihood - 0.5 * log(max(weight, 1.0)) * num_parameters)


def count_parameters(part: Any) -> int:
    return int(part.num_parameters if part.child.is_real else part.parents.size * (part.child.num_states - 1))


def complete_rows(model: BayesianNetwork, data: Dataset, times: int, rng: np.random.Generator) -> Dataset:
    """Copies of each row with missing cells drawn from their posterior; the copies share the weight of the row."""
    indices = np.repeat(np.arange(len(data)), times)
    columns = {name: np.array(column[indices]) for name, column in data.columns.items()}
    for name in data.columns:
        draw_missing(model, data, columns, name, rng)
    weights = np.ones(len(data)) if data.weights is None else data.weights
    return Dataset.from_codes(data.variables, columns, weights[indices] / times)


def draw_missing(
    model: BayesianNetwork, data: Dataset, columns: Mapping[str, np.ndarray], name: str, rng: np.random.Generator
) -> None:
    """Draw the missing cells of one column given the observed and the previously drawn cells of their rows."""
    holes = np.flatnonzero(has_hole(columns[name]))
    if len(holes):
        rows = Dataset.from_codes(data.variables, {other: column[holes] for other, column in columns.items()})
        posterior = infer(model, rows, targets=[name])[name]
        if model.variable(name).is_real:
            columns[name][holes] = np.reshape(posterior.sample(1, rng=rng), -1)
            return
        probabilities = posterior.values
        uniforms = rng.random((len(holes), 1)) * probabilities.sum(axis=1, keepdims=True)
        drawn = (np.cumsum(probabilities, axis=1) <= uniforms).sum(axis=1)
        columns[name][holes] = np.minimum(drawn, probabilities.shape[1] - 1)
