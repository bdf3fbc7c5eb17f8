"""Learning generative classifiers: one pass over labelled rows; EM where labels or correlated entries are missing.

Each class is learned from its own rows, so that complete rows with labels need their statistics only, which add. A row
without a label belongs to each class by its posterior probability (semi-supervised EM; Nigam et al. 2000): EM raises
Σ log p(row, label) over the labelled rows plus Σ log p(row) over the others.

Estimates are points, or the parameters of each class are integrated out under a conjugate prior: the density of a new
row is then p(row | rows of the class) = p(row, rows) / p(rows), the ratio of two evidences. It is a Student t for
Gaussians, a negative binomial for Poisson counts, a Dirichlet-multinomial for counts of words. One cell of zeros and
ones, or of categories, has the mean of its Beta or Dirichlet posterior as its probability.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce, singledispatch
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_choice, check_number
from juncture.base.notes import Name, Notes
from juncture.components.bernoulli import BernoulliEmissions, check_ones
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, EmissionStatistics
from juncture.components.convert import of_batch
from juncture.components.family import FamilyEmissions, StudentEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.gaussian_estimate import reference_moments
from juncture.components.independent import IndependentEmissions
from juncture.components.word_counts import BagOfWords, DirichletCounts, MultinomialCounts, check_counts
from juncture.errors import InvalidData, Unsupported
from juncture.families.vectors.normal_gamma import NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart
from juncture.inference.engines.verb_options import check_data
from juncture.latent.mixtures.expectation import MixtureStatistics
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.expectation_maximization import resolve_learner
from juncture.numerics import stable
from juncture.numerics.iteration import Trace
from juncture.supervised.generative.classifier import GenerativeClassifier, as_class_prior
from juncture.supervised.generative.naive_bayes import pseudo_rows

ESTIMATES = ("point", "bayes")
LEDOIT_WOLF = "ledoit-wolf"


@dataclass(frozen=True)
class Estimation:
    """How parameters are estimated.

    `prior` is a pseudo-count of each cell of tables, and for rates as many rows at the mean of all classes.
    `class_prior` has the probabilities of classes, as `as_class_prior` takes them. `estimate` is "point" or "bayes".
    `restrict` makes a shared covariance diagonal or spherical. `shrinkage` is how far full covariances are drawn to
    their diagonals: a number from 0 to 1, or "ledoit-wolf".
    """

    prior: float
    class_prior: Any = None
    estimate: str = "point"
    restrict: Restrict | None = None
    shrinkage: Any = None

    def __post_init__(self) -> None:
        check_shrinkage(self.shrinkage)
        if self.shrinkage is not None and self.estimate == "bayes":
            raise InvalidData('shrinkage= is for estimate="point": estimate="bayes" has a prior of the covariances')
        check_number(self.prior, "the pseudo-count", least=0.0, finite=True)
        check_choice(self.estimate, ESTIMATES, "estimate")
        if self.estimate == "bayes" and not self.prior:
            raise InvalidData(
                'the pseudo-count must be above 0 where estimate="bayes": it is the parameter of the prior'
            )


def learn(
    template: GenerativeClassifier,
    data: LabelledRows,
    options: Estimation,
    method: Any = "em",
    progress: Any = None,
) -> Learned:
    """The classifier of these rows: in one pass over them where nothing is missing that it needs, else by EM."""
    resolve_learner(method, ClassProblem.models)
    check_rows(template, data)
    check_shrunk(template.densities, options.shrinkage)
    if not needs_em(template, data):
        statistics = count_labelled(template, data)
        if isinstance(options.shrinkage, str):
            plain = from_statistics(template, statistics, replace(options, shrinkage=None))
            return Learned(shrink(plain, ledoit_wolf_shrinkage(plain.densities, data)), statistics)
        return Learned(from_statistics(template, statistics, options), statistics)
    if options.estimate == "bayes":
        raise Unsupported(
            'estimate="bayes" has no closed form where labels, or entries of Gaussian vectors, are missing: take'
            ' estimate="point"'
        )
    if options.shrinkage is not None:
        raise Unsupported(
            "shrinkage needs rows without missing cells and labels: EM has no likelihood that shrunk covariances raise;"
            " leave out the other rows, or shrinkage="
        )
    shares = np.repeat(data.weights[:, None] / template.num_classes, template.num_classes, axis=1)
    prior = pseudo_rows(template.densities, count_shares(template, data.rows, shares).components, options.prior)
    return run_em(ClassProblem(template, data, prior, options.class_prior, options.restrict), method, progress)


def from_statistics(
    template: GenerativeClassifier, statistics: MixtureStatistics, options: Estimation
) -> GenerativeClassifier:
    """The classifier that the statistics of labelled rows give."""
    if options.estimate == "bayes":
        shares = as_class_prior(options.class_prior, template.classes, statistics.counts)
        densities = predictive_densities(template.densities, statistics.components, options.prior)
        return GenerativeClassifier(shares, densities, template.classes)
    if isinstance(options.shrinkage, str):
        raise Unsupported(
            'shrinkage="ledoit-wolf" needs all rows at once, and not their statistics: use fit, or give a number'
        )
    check_shrunk(template.densities, options.shrinkage)
    prior = pseudo_rows(template.densities, statistics.components, options.prior)
    learned, notes = estimate_classifier(template, statistics, prior, options.class_prior, options.restrict)
    notes.warn(class_names(template))
    return learned if options.shrinkage is None else shrink(learned, options.shrinkage)


def check_shrinkage(shrinkage: Any) -> None:
    """Refuse what is no shrinkage: None, "ledoit-wolf", or a number from 0 to 1."""
    if isinstance(shrinkage, str):
        check_choice(shrinkage, (LEDOIT_WOLF,), "shrinkage")
    elif shrinkage is not None:
        check_number(shrinkage, "shrinkage", least=0.0, most=1.0)


def check_shrunk(densities: Emissions, shrinkage: Any) -> None:
    """Refuse shrinkage of what has no full covariances."""
    is_full = isinstance(densities, GaussianEmissions) and densities.structure in {"full", "tied"}
    if shrinkage is not None and not is_full:
        raise Unsupported(f"shrinkage draws full covariances to their diagonals; there are none in {densities.summary}")


def shrink(classifier: GenerativeClassifier, shrinkage: Any) -> GenerativeClassifier:
    """The classifier with covariances (1 - shrinkage) Σ + shrinkage diag(Σ); the shrinkage of each class, or of all."""
    densities: Any = classifier.densities
    covariance = densities.covariance
    share = np.reshape(shrinkage, (-1, 1, 1)) if np.ndim(shrinkage) and covariance.ndim == 3 else shrinkage
    drawn = covariance * np.where(np.eye(covariance.shape[-1]) > 0, 1.0, 1.0 - share)
    shrunk = GaussianEmissions(densities.means, drawn, densities.structure)
    return GenerativeClassifier(classifier.prior, shrunk, classifier.classes)


def ledoit_wolf_shrinkage(densities: Any, data: LabelledRows) -> Any:
    """The shrinkage of least expected squared error, as Ledoit and Wolf (2004) estimate it, in standardised columns.

    It is Σ ‖zzᵀ - R‖² / n² over ‖R - I‖², at most 1, of rows z in deviations of the columns from the mean of the class,
    with the correlations R; a number of a shared covariance, else one for each class.
    """
    is_shared, covariances = densities.structure == "tied", densities.full.covariance
    units = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))  # (class, column)
    known = np.flatnonzero(data.codes >= 0)
    codes, weights = data.codes[known], data.weights[known]
    squares = (((data.rows[known] - densities.means[codes]) / units[codes]) ** 2).sum(axis=1) ** 2
    groups = np.zeros_like(codes) if is_shared else codes
    total = np.bincount(groups, weights, minlength=len(covariances))
    fourth = np.bincount(groups, weights * squares, minlength=len(covariances))
    correlations = covariances / (units[:, :, None] * units[:, None, :])
    length = (correlations**2).sum(axis=(1, 2))
    apart = np.maximum(length - covariances.shape[1], 0.0)  # ‖R - I‖², as the diagonal of R is 1
    noise = np.maximum(np.divide(fourth - total * length, total**2, out=np.zeros_like(total), where=total > 0), 0.0)
    found = np.divide(noise, apart, out=np.ones_like(apart), where=apart > noise)
    return float(found[0]) if is_shared else found


def check_rows(template: GenerativeClassifier, data: LabelledRows) -> None:
    """Refuse cells that a family does not take, and rows that weigh nothing."""
    if not (data.weights[data.codes >= 0] > 0).any():
        raise InvalidData("no row with a label counts: their weights are zero")
    check_cells(template.densities, data.rows)


def check_cells(densities: Emissions, rows: Any) -> None:
    """Refuse cells that a family does not take; a sparse matrix is for counts of words, and zeros and ones."""
    if isinstance(rows, np.ndarray):
        densities.check(rows)
    elif isinstance(densities, BagOfWords):
        check_counts(rows)
    elif isinstance(densities, BernoulliEmissions):
        check_ones(rows)
    else:
        raise Unsupported(
            "a sparse matrix has counts of words, or zeros and ones: all columns are multinomial, or all Bernoulli; got"
            f" {densities.summary}"
        )


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
) -> tuple[GenerativeClassifier, Notes]:
    """The classifier of the largest likelihood, or with a conjugate prior of the largest posterior density.

    The notes are about the classes that regularisation keeps from their data.
    """
    shares = as_class_prior(class_prior, template.classes, statistics.counts)
    densities, notes = template.densities.estimate_with_notes(statistics.components, prior)
    held = densities if restrict is None else restrict(densities)
    return GenerativeClassifier(shares, held, template.classes), notes


def class_names(model: GenerativeClassifier) -> Name:
    """What a warning calls the densities of a class."""
    return lambda index: f"the class {model.classes[index]!r}"


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
        return self.estimate(statistics, model)[0]

    def estimate(
        self, statistics: MixtureStatistics, model: GenerativeClassifier
    ) -> tuple[GenerativeClassifier, Notes]:
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


def run_em(problem: ClassProblem, method: Any = "em", progress: Any = None) -> Learned:
    found, trace = resolve_learner(method, ClassProblem.models).run(problem, progress)
    problem.estimate(found.statistics, found.model)[1].warn(class_names(found.model))
    return Learned(found.model, found.statistics, found.log_likelihood, trace)


def needs_em(template: GenerativeClassifier, data: LabelledRows) -> bool:
    """Whether a label is missing, or an entry whose expectation depends on the parameters."""
    if ((data.codes < 0) & (data.weights > 0)).any():
        return True
    densities = template.densities
    return isinstance(densities, GaussianEmissions) and not densities.is_diagonal and bool(np.isnan(data.rows).any())


STRENGTH = 0.01  # rows that the prior of a mean weighs


@singledispatch
def predictive_densities(densities: Emissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    """The densities of a new row in each class, given the statistics of the rows of the class.

    `alpha` is the parameter of Beta and Dirichlet priors, and the weight in rows of Gamma priors. Gaussians have a weak
    prior: the mean of all classes with the strength of a hundredth of a row, their variances with d + 2 degrees.
    """
    raise Unsupported(f'estimate="bayes" has no closed form for {densities.summary}: take estimate="point"')


@predictive_densities.register
def _(densities: IndependentEmissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    pairs = zip(densities.parts, statistics.parts, strict=True)
    parts = [predictive_densities(part, found, alpha) for part, found in pairs]
    flat = [each for part in parts for each in (part.parts if isinstance(part, IndependentEmissions) else (part,))]
    return IndependentEmissions(flat)


@predictive_densities.register
def _(densities: BernoulliEmissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    return densities.estimate(statistics, alpha)  # (ones + α) / (seen + 2α), the mean of the Beta posterior


@predictive_densities.register
def _(densities: CategoricalEmissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    return densities.estimate(statistics, alpha)


@predictive_densities.register
def _(densities: MultinomialCounts, statistics: EmissionStatistics, alpha: float) -> Emissions:
    return DirichletCounts(statistics.parts[0] + alpha)


@predictive_densities.register
def _(densities: FamilyEmissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    prior = pseudo_rows(densities, statistics, alpha)
    if prior is None:
        raise Unsupported(
            f'estimate="bayes" has no conjugate prior for {densities.summary} columns: take estimate="point"'
        )
    return FamilyEmissions(prior.posterior(statistics.parts[0]).predictive())


@predictive_densities.register
def _(densities: GaussianEmissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    moments = statistics.parts[0]
    if densities.structure not in {"diagonal", "full"}:
        raise Unsupported(
            f'estimate="bayes" has a closed form for "full" and "diagonal" covariances; got "{densities.structure}"'
        )
    center, variance = reference_moments(*statistics.parts)
    if densities.structure == "full":
        size = densities.dimension
        prior: Any = NormalInverseWishart(center, STRENGTH, size + 2.0, np.diag(variance))
        return StudentEmissions(prior.posterior(moments).predictive())
    prior = NormalInverseGamma(center, STRENGTH, 1.5, 0.5 * variance)
    family = prior.posterior(moments).predictive()  # (class, column)
    return IndependentEmissions(of_batch(family[:, column]) for column in range(densities.dimension))
