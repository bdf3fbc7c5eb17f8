"""Bayesian linear regression at the most likely precisions α of the weights and β of the noise; the choice of a basis.

With the eigenvalues λ of ΦᵀΦ, γ = Σ βλ / (α + βλ) counts the weights that the rows determine. At a maximum of the
evidence α = γ / ‖w‖² and 1/β = Σ (t - w·φ)² / (N - γ), which are repeated until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from juncture.base.checks import check_flag, check_iterable
from juncture.base.options import Options
from juncture.base.values import Value, few, read_only
from juncture.data.feature_names import Names
from juncture.errors import InvalidData, NotConvergedWarning, RegularizedWarning, warn_user
from juncture.learning.conditionals.softmax import standardization
from juncture.learning.learners import ClosedForm
from juncture.numerics.iteration import check_stopping_rule, iterate
from juncture.numerics.stable import LOG_TWO_PI, softmax
from juncture.supervised.model import read_training
from juncture.supervised.regression.bases import Basis, basis_of, check_basis
from juncture.supervised.regression.bayesian import BayesianLinearRegression, PosteriorFit, add_up, fit_conjugate
from juncture.supervised.regression.inputs_and_targets import Pairs, pairs_of, read_pairs

RATIOS = np.logspace(-36, 12, 961)  # of α to β, in units of the largest eigenvalue of ΦᵀΦ
SMALLEST = 1e-12  # eigenvalue of ΦᵀΦ, in units of the largest, below which the rows leave a direction to the prior
ROUNDING, EXACT = np.finfo(float).eps ** 2, 1e3  # of a squared target; how many roundings are no noise


class Precisions(NamedTuple):
    """α of the weights and β of the noise."""

    weights: float
    noise: float


@dataclass(frozen=True)
class EvidenceAscent:
    """The fixed point of α and β, in the eigenvectors of ΦᵀΦ; an `Iteration`.

    With Φ = USVᵀ, the squares about weights w are what no weights explain and Σ (Uᵀt - Sw)²: nothing cancels.
    """

    roots: np.ndarray  # (direction,): singular values S, the roots of the eigenvalues λ
    projected: np.ndarray  # (direction,): Uᵀt
    unexplained: float  # Σ (t - w·φ)² at least squares
    num_rows: float
    start: Precisions
    vectors: np.ndarray  # (feature, direction): V
    is_settled: bool = False  # whether the start is the answer

    def init(self) -> Precisions:
        return self.start

    @property
    def values(self) -> np.ndarray:
        """(direction,): eigenvalues λ."""
        return np.asarray(self.roots**2)

    def weights(self, state: Precisions) -> np.ndarray:
        """(direction,): the posterior mean."""
        return np.asarray(self.roots * self.projected / (state.weights / state.noise + self.values))

    def step(self, state: Precisions) -> Precisions:
        if self.is_settled:
            return state
        weights, determined = self.weights(state), self.determined(state)
        return Precisions(
            determined / float(weights @ weights), (self.num_rows - determined) / self.squares_about(weights)
        )

    def determined(self, state: Precisions) -> float:
        """γ: the number of weights that the rows determine."""
        return float((self.values / (state.weights / state.noise + self.values)).sum())

    def squares_about(self, weights: np.ndarray) -> float:
        return self.unexplained + float(((self.projected - self.roots * weights) ** 2).sum())

    def objective(self, state: Precisions) -> float:
        """The log-evidence of the hyperparameters."""
        bent, weights = state.weights + state.noise * self.values, self.weights(state)
        fit = state.noise * self.squares_about(weights) + state.weights * float(weights @ weights)
        logs = len(self.values) * np.log(state.weights) + self.num_rows * (np.log(state.noise) - LOG_TWO_PI)
        return float(0.5 * (logs - np.log(bent).sum() - fit))


class EvidenceFit(PosteriorFit):
    """Bayesian linear regression at the hyperparameters of the largest evidence.

    Attributes
    ----------
    model
        The posterior: the regression of `prior` after the rows.
    log_likelihood
        The log-evidence log p(y | X, α, β).
    trace
        The log-evidence of each step.
    statistics
        The `RegressionStatistics` of the rows.
    prior
        The weights of features divided by their standard deviations are N(0, I/α), the noise has the precision β. Where
        rows do not show that targets depend on features, the evidence rises with α for ever and the weights are 0: α is
        10¹² times what the rows say then.
    precision
        α, the precision of each weight of the features divided by their standard deviations.
    num_determined
        γ, the number of weights that the rows determine rather than the prior.
    """

    model: BayesianLinearRegression
    prior: BayesianLinearRegression
    num_determined: float
    precision: float

    @property
    def noise_precision(self) -> float:
        """β."""
        return self.prior.noise_precision

    def __repr__(self) -> str:
        numbers = f"precision={self.precision:.4g}, noise_precision={self.noise_precision:.4g}"
        return f"EvidenceFit({numbers}, log-evidence {self.log_likelihood:.6g}, basis={self.prior.basis!r})"


@dataclass(frozen=True)
class EvidenceMaximization(Options):
    """The precisions of weights and of noise that maximise the evidence (type-II maximum likelihood).

    Parameters
    ----------
    tolerance
        Steps end when the log-evidence changes by less, relative to what it changed since the start, or to 1.
    max_steps
        The largest number of steps, after which a warning says so.
    standardize
        Whether α is the precision of the weights of features divided by their standard deviations, a constant left as
        it is, so that the units of the columns do not matter; False for the prior N(w | 0, I/α) of the features as they
        are.
    """

    tolerance: float = 1e-13
    max_steps: int = 10_000
    standardize: bool = True

    def __post_init__(self) -> None:
        check_stopping_rule(self.tolerance, self.max_steps)
        check_flag(self.standardize, "standardize")


@dataclass(frozen=True)
class BayesianLinearOptions(Options):
    """How a Bayesian linear regression is learned: the posterior of a prior, or of precisions that the rows choose.

    Parameters
    ----------
    basis
        The features; by default a constant and the inputs, or those of the prior.
    method
        "conjugate": the posterior of the prior that is given in place of the class. "evidence", or a
        `jt.EvidenceMaximization` with its options: the posterior of the prior, a Gaussian with mean 0 and one precision
        α of the weights of standardised features, whose α, with the precision of the noise, has the largest evidence.
        "auto" is the first for a prior, and the second for the class.
    """

    basis: Basis | None = None
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"evidence": EvidenceMaximization, "conjugate": ClosedForm}

    def __post_init__(self) -> None:
        check_basis(self.basis)

    def with_learner(self, given: Mapping[str, Any]) -> Self:
        """The same options with the learner in place of its name; "auto" waits for the model."""
        return self if self.method == "auto" and not given else super().with_learner(given)


def fit_bayesian(
    model: BayesianLinearRegression | type[BayesianLinearRegression],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    options: BayesianLinearOptions,
) -> PosteriorFit:
    """The posterior of a prior; of the class, that of the precisions which maximise the evidence."""
    learner = options.method
    if learner == "auto":
        learner = EvidenceMaximization() if isinstance(model, type) else ClosedForm()
    if isinstance(learner, ClosedForm):
        if isinstance(model, type):
            raise InvalidData(
                'method="conjugate" is the posterior of a prior: give one in place of the class, such as'
                " BayesianLinearRegression.standard(…)"
            )
        if options.basis is not None:
            raise InvalidData("a prior has its basis: leave basis= out, or give the class in place of the prior")
        return fit_conjugate(model, data, y, weights=weights, options=options)
    read = read_training(model, data, y, weights)
    found = maximize_evidence(pairs_of(read), check_basis(basis_of(model, options.basis)), learner)
    return named_fit(found, read.names, read.target_name)


def named_fit(fit: EvidenceFit, names: Names | None, target: str) -> EvidenceFit:
    """The same result, whose regressions know the names of the columns."""
    prior, after = (one._with_names(names, target) for one in (fit.prior, fit.model))
    return EvidenceFit(
        after, fit.log_likelihood, fit.trace, fit.statistics, prior=prior, num_determined=fit.num_determined,
        precision=fit.precision,
    )  # fmt: skip


def maximize_evidence(rows: Pairs, chosen: Basis, learner: EvidenceMaximization) -> EvidenceFit:
    """The regression whose precisions α and β maximise the evidence of checked rows."""
    features = chosen.features(rows.inputs)
    scale = standardization(features, rows.weights).deviation if learner.standardize else np.ones(features.shape[1])
    ascent = start_ascent(rows, features / scale)
    found, trace = iterate(ascent, tolerance=learner.tolerance, max_steps=learner.max_steps, is_monotone=False)
    if not trace.converged:
        warn_user(f"the precisions α and β {trace.reason}: raise max_steps", NotConvergedWarning)
    size, statistics = len(ascent.roots), add_up(chosen, rows)
    prior = BayesianLinearRegression(np.zeros(size), np.diag(found.weights * scale**2), found.noise, chosen)
    bent = prior.precision + found.noise * statistics.products
    after = BayesianLinearRegression(ascent.vectors @ ascent.weights(found) / scale, bent, found.noise, chosen)
    return EvidenceFit(
        after, ascent.objective(found), trace, statistics, prior=prior, num_determined=ascent.determined(found),
        precision=found.weights,
    )  # fmt: skip


def start_ascent(rows: Pairs, features: np.ndarray) -> EvidenceAscent:
    """From the ratio α/β at the highest peak: given the ratio, β has a closed form.

    Where α → ∞, which leaves no weights, the evidence of few rows may be higher still; that is the answer only where
    there is no peak.
    """
    size, heavy = features.shape[1], np.sqrt(rows.weights)[:, None]
    triangle = np.zeros((size + 1, size + 1))
    found = np.linalg.qr(np.column_stack([features, rows.targets]) * heavy, mode="r")
    triangle[: len(found)] = found
    left, roots, right = np.linalg.svd(triangle[:size, :size])
    projected, total = left.T @ triangle[:size, size], float(rows.weights.sum())
    unexplained, squares = float(triangle[size, size] ** 2), float(rows.weights @ rows.targets**2)
    least, largest = ROUNDING * (squares or total), roots.max(initial=0.0) ** 2 or 1.0
    unexplained = max(unexplained, least)
    is_singular = roots.min(initial=np.inf) ** 2 < SMALLEST * largest  # then only the prior bends some directions
    ratios = largest * (RATIOS[RATIOS > SMALLEST] if is_singular else RATIOS)  # (ratio,)
    shrunk = ratios[:, None] / (ratios[:, None] + roots**2)
    rest = unexplained + shrunk @ projected**2
    heights = 0.5 * np.log(shrunk).sum(axis=1) - 0.5 * total * np.log(rest)
    is_peak = (heights[1:-1] >= heights[:-2]) & (heights[1:-1] > heights[2:])
    best = 0 if heights[0] > heights[-1] else len(ratios) - 1
    if is_peak.any():
        best = 1 + int(np.where(is_peak, heights[1:-1], -np.inf).argmax())
    if best == 0 or rest[best] < EXACT * least:
        warn_user(
            "the targets are linear in the features without noise; the noise is set to the rounding of the targets",
            RegularizedWarning,
        )
    ratio = float(ratios[best])
    if is_peak.any():
        ratio = climb(ratios[best - 1], ratios[best + 1], roots**2, projected**2, unexplained, total)
    noise = total / (unexplained + float(projected**2 @ (ratio / (ratio + roots**2))))
    start = Precisions(noise * ratio, noise)
    return EvidenceAscent(roots, projected, unexplained, total, start, right.T, not is_peak.any())


def climb(low: float, high: float, values: np.ndarray, parts: np.ndarray, unexplained: float, total: float) -> float:
    """The ratio α/β between two of the grid at which the slope of the evidence is 0, to rounding."""
    from scipy.optimize import brentq

    def slope(log_ratio: float) -> float:
        ratio = np.exp(log_ratio)
        kept = values / (ratio + values)
        return float(kept.sum() - total * (parts @ (kept * (1 - kept))) / (unexplained + parts @ (1 - kept)))

    ends = np.log(low), np.log(high)
    if not slope(ends[0]) > 0 > slope(ends[1]):  # a peak of rounding on a level part
        return float(np.sqrt(low * high))
    return float(np.exp(brentq(slope, *ends, xtol=1e-15, rtol=4 * np.finfo(float).eps)))


class BasisChoice(Value):
    """Bases compared by the evidence of the rows.

    Attributes
    ----------
    bases
        As they were given.
    log_evidences
        (basis,): log p(y | X, basis).
    posteriors
        The regression of each basis after the rows.
    """

    bases: tuple[Basis, ...]
    log_evidences: np.ndarray
    posteriors: tuple[BayesianLinearRegression, ...]

    def __init__(self, bases: Any, log_evidences: Any, posteriors: Any) -> None:
        self._set(bases=tuple(bases), log_evidences=read_only(log_evidences), posteriors=tuple(posteriors))

    @property
    def best(self) -> BayesianLinearRegression:
        """The regression of the basis with the largest evidence."""
        return self.posteriors[int(self.log_evidences.argmax())]

    @property
    def probabilities(self) -> np.ndarray:
        """(basis,): the posterior probability of each basis, all of them as probable before."""
        return softmax(self.log_evidences)

    def __repr__(self) -> str:
        lines = (f"{basis!r}: {value:.6g}" for basis, value in zip(self.bases, self.log_evidences, strict=True))
        return f"BasisChoice({few(lines)})"


def compare_bases(
    X: Any,
    y: Any,
    bases: Iterable[Basis],
    *,
    precision: float | None = None,
    noise_precision: float | None = None,
    weights: Any = None,
) -> BasisChoice:
    """The evidence of each of several bases: the choice of a polynomial degree without rows kept back.

    Parameters
    ----------
    X
        A table of numbers, (row, input), or a list of numbers for one input.
    y
        One number a row, or the name of the column of the table that has them.
    bases
        What to choose from.
    precision, noise_precision
        α of the weights and β of the noise; without them, those of the largest evidence for each basis.
    weights
        The weight of each row.

    Returns
    -------
    BasisChoice

    Examples
    --------
    >>> from juncture.supervised import PolynomialBasis
    >>> x, t = [0.0, 1.0, 2.0, 3.0], [0.1, 1.0, 3.9, 9.2]
    >>> bases = [PolynomialBasis(degree) for degree in range(4)]
    >>> compare_bases(x, t, bases, precision=0.01, noise_precision=25.0).best.basis
    PolynomialBasis(2)
    """
    listed = [check_basis(basis) for basis in check_iterable(bases, "bases")]
    if not listed:
        raise InvalidData("bases are a list of at least one basis")
    if (precision is None) != (noise_precision is None):
        raise InvalidData("give both of precision and noise_precision, or none of them")
    rows = read_pairs(X, y, weights)
    found = [weigh_basis(basis, rows, precision, noise_precision) for basis in listed]
    return BasisChoice(listed, [value for value, _ in found], [posterior for _, posterior in found])


def weigh_basis(
    basis: Basis, rows: Pairs, precision: float | None, noise_precision: float | None
) -> tuple[float, BayesianLinearRegression]:
    """The log-evidence and the posterior of one basis."""
    if precision is None or noise_precision is None:
        fit = maximize_evidence(rows, basis, EvidenceMaximization())
        return fit.log_likelihood, fit.model._named(rows.names)
    statistics = add_up(basis, rows)
    prior = BayesianLinearRegression.standard(len(statistics.cross), precision, noise_precision, basis)
    return prior.log_evidence_of(statistics), prior.update_by(statistics)
