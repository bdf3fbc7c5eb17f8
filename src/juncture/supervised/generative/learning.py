"""Learning generative classifiers: one pass over labelled rows; EM where labels or correlated entries are missing.

Each class is learned from its own rows, so that complete rows with labels need their statistics only, which add. A row
without a label belongs to each class by its posterior probability (semi-supervised EM; Nigam et al. 2000): EM raises
Σ log p(row, label) over the labelled rows plus Σ log p(row) over the others.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from juncture.components.contract import Emissions, named
from juncture.components.gaussian import GaussianEmissions
from juncture.errors import RegularizedWarning, warn_user
from juncture.inference.engines.verb_options import check_data
from juncture.latent.mixtures.expectation import MixtureStatistics
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.expectation_maximization import resolve_learner
from juncture.numerics import stable
from juncture.numerics.iteration import Trace
from juncture.supervised.generative.classifier import GenerativeClassifier, as_class_prior

BLOCK = 2**22  # numbers of weights (row, class) at once: enough rows for all cores
Restrict = Callable[[Emissions], Emissions]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with the index of their class, -1 where it is missing, and their weights."""

    rows: Any
    codes: np.ndarray
    weights: np.ndarray

    def blocks(self, num_classes: int) -> Iterator[LabelledRows]:
        size = max(256, BLOCK // num_classes)
        for start in range(0, max(1, len(self.codes)), size):
            own = slice(start, start + size)
            yield LabelledRows(self.rows[own], self.codes[own], self.weights[own])

    def shares(self, num_classes: int) -> np.ndarray:
        """(row, class): the weight of a labelled row in its class; rows without a label have none."""
        found = np.zeros((len(self.codes), num_classes))
        known = np.flatnonzero(self.codes >= 0)
        found[known, self.codes[known]] = self.weights[known]
        return found


def count_labelled(template: GenerativeClassifier, data: LabelledRows) -> MixtureStatistics:
    """The statistics of the labelled rows of each class; they add."""
    parts = (
        count_shares(template, block.rows, block.shares(template.num_classes))
        for block in data.blocks(template.num_classes)
    )
    return reduce(operator.add, parts)


def count_shares(template: GenerativeClassifier, rows: Any, shares: np.ndarray) -> MixtureStatistics:
    return MixtureStatistics(shares.sum(axis=0), template.densities.statistics(rows, shares))


def log_evidence(log_joint: np.ndarray, block: LabelledRows) -> np.ndarray:
    """log p(row, label), of a row without a label log p(row), from log p(row, class)."""
    known, totals = np.flatnonzero(block.codes >= 0), np.asarray(stable.log_sum_exp(log_joint, axis=1))
    totals[known] = log_joint[known, block.codes[known]]
    return totals


def weighted_sum(totals: np.ndarray, block: LabelledRows) -> float:
    counted = block.weights > 0
    return float(block.weights[counted] @ totals[counted])


def estimate_classifier(
    template: GenerativeClassifier,
    statistics: MixtureStatistics,
    prior: Any = None,
    class_prior: Any = None,
    restrict: Restrict | None = None,
) -> GenerativeClassifier:
    """The classifier of the largest likelihood, or with a conjugate prior of the largest posterior density."""
    shares = as_class_prior(class_prior, template.classes, statistics.counts)
    with named(lambda index, outer: f"the class {template.classes[index]!r}"):
        densities = template.densities.estimate(statistics.components, prior)
    return GenerativeClassifier(shares, densities if restrict is None else restrict(densities), template.classes)


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """A generative classifier to learn by EM from rows, some of them without a label or with missing entries."""

    template: GenerativeClassifier
    data: LabelledRows
    prior: Any = None
    class_prior: Any = None
    restrict: Restrict | None = None
    models: ClassVar[str] = "generative classifiers"

    def start(self) -> GenerativeClassifier:
        """The classifier of the labelled rows; in each class all rows without a label weigh as much as one row.

        So no density of the start is a point, where a class has few labels.
        """
        statistics = count_labelled(self.template, self.data)
        free = np.where(self.data.codes < 0, self.data.weights, 0.0)
        if free.any():
            shares = np.repeat(free[:, None] / free.sum(), self.template.num_classes, axis=1)
            statistics += count_shares(self.template, self.data.rows, shares)
        return self.maximize(statistics, self.template)

    def another_start(self) -> GenerativeClassifier:
        return self.start()

    def blocks(self) -> Iterator[LabelledRows]:
        return self.data.blocks(self.template.num_classes)

    def expect(self, model: GenerativeClassifier, block: LabelledRows) -> Expected[MixtureStatistics]:
        log_joint = model._log_joint(block.rows)
        totals = log_evidence(log_joint, block)
        check_data(totals, block.weights, lambda row: f"row {row} is impossible in every class that it may have")
        shares, free = block.shares(model.num_classes), np.flatnonzero((block.codes < 0) & (block.weights > 0))
        shares[free] = np.exp(log_joint[free] - totals[free, None]) * block.weights[free, None]
        return Expected(count_shares(model, block.rows, shares), weighted_sum(totals, block))

    def maximize(self, statistics: MixtureStatistics, model: GenerativeClassifier) -> GenerativeClassifier:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RegularizedWarning)
            return self.estimate(statistics, model)

    def estimate(self, statistics: MixtureStatistics, model: GenerativeClassifier) -> GenerativeClassifier:
        return estimate_classifier(model, statistics, self.prior, self.class_prior, self.restrict)

    def log_prior(self, model: GenerativeClassifier) -> float:
        own = model.densities.log_prior(self.prior)
        if np.ndim(self.class_prior) or self.class_prior is None or hasattr(self.class_prior, "keys"):
            return own
        return own + float(self.class_prior) * float(stable.log(model.prior).sum())

    def recover(self, state: EMState[GenerativeClassifier, MixtureStatistics], fall: float) -> GenerativeClassifier:
        """Where rounding in almost degenerate densities lowers the objective, the densities stay."""
        shares = as_class_prior(self.class_prior, self.template.classes, state.statistics.counts)
        return state.model.with_prior(shares)


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned classifier, its statistics, and of EM the log-likelihood and the trace."""

    model: GenerativeClassifier
    statistics: MixtureStatistics
    log_likelihood: float | None = None
    trace: Trace | None = None


def run_em(problem: ClassProblem, method: Any = "em") -> Learned:
    found, trace = resolve_learner(method, ClassProblem.models).run(problem)
    report_regularized(problem, found)
    return Learned(found.model, found.statistics, found.log_likelihood, trace)


def needs_em(template: GenerativeClassifier, data: LabelledRows) -> bool:
    """Whether a label is missing, or an entry whose expectation depends on the parameters."""
    if ((data.codes < 0) & (data.weights > 0)).any():
        return True
    densities = template.densities
    return isinstance(densities, GaussianEmissions) and not densities.is_diagonal and bool(np.isnan(data.rows).any())


def report_regularized(problem: ClassProblem, found: EMState[GenerativeClassifier, MixtureStatistics]) -> None:
    """One warning for each class of the learned classifier that regularisation keeps from its data."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RegularizedWarning)
        problem.estimate(found.statistics, found.model)
    for message in dict.fromkeys(str(each.message) for each in caught if each.category is RegularizedWarning):
        warn_user(message, RegularizedWarning)
