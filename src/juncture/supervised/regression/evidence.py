"""Bayesian linear regression at the most likely precisions α of the weights and β of the noise; the choice of a basis.

With the eigenvalues λ of ΦᵀΦ, γ = Σ βλ / (α + βλ) counts the weights that the rows determine. At a maximum of the
evidence α = γ / ‖w‖² and 1/β = Σ (t - w·φ)² / (N - γ), which are repeated until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.checks import check_iterable
from juncture.errors import InvalidData, NotConvergedWarning, warn_user
from juncture.iteration import Trace, check_stopping_rule, iterate
from juncture.numerics import LOG_TWO_PI, log, softmax
from juncture.pictures import plot
from juncture.supervised.regression.bases import Basis, check_basis
from juncture.supervised.regression.bayesian import BayesianLinearRegression
from juncture.supervised.regression.rows import Rows, read_rows
from juncture.supervised.regression.statistics import RegressionStatistics, add_up
from juncture.values import Value, few, read_only

RATIOS = np.logspace(-14, 6, 401)  # of α to β, in units of the largest eigenvalue of ΦᵀΦ


class Precisions(NamedTuple):
    """α of the weights and β of the noise."""

    weights: float
    noise: float


@dataclass(frozen=True)
class EvidenceAscent:
    """The fixed point of α and β, in the eigenvectors of ΦᵀΦ; an `Iteration`."""

    values: np.ndarray  # (direction,): eigenvalues λ
    cross: np.ndarray  # (direction,): Φᵀt along the eigenvectors
    squares: float
    num_rows: float
    start: Precisions

    def init(self) -> Precisions:
        return self.start

    def step(self, state: Precisions) -> Precisions:
        bent = state.weights + state.noise * self.values
        weights = state.noise * self.cross / bent
        determined = self.determined(state)
        length, left = float(weights @ weights), self.squares_about(weights)
        return Precisions(determined / length, (self.num_rows - determined) / left)

    def determined(self, state: Precisions) -> float:
        """γ: the number of weights that the rows determine."""
        return float((state.noise * self.values / (state.weights + state.noise * self.values)).sum())

    def squares_about(self, weights: np.ndarray) -> float:
        return max(float(self.squares - 2 * weights @ self.cross + self.values @ weights**2), 0.0)

    def objective(self, state: Precisions) -> float:
        """The log-evidence of the hyperparameters."""
        bent = state.weights + state.noise * self.values
        weights = state.noise * self.cross / bent
        fit = state.noise * self.squares_about(weights) + state.weights * float(weights @ weights)
        logs = len(self.values) * np.log(state.weights) + self.num_rows * (np.log(state.noise) - LOG_TWO_PI)
        return float(0.5 * (logs - np.log(bent).sum() - fit))


class EvidenceFit(Value):
    """Bayesian linear regression at the hyperparameters of the largest evidence.

    Attributes
    ----------
    prior
        N(w | 0, I/α) with the noise precision β.
    posterior
        The same regression after the rows.
    log_evidence
        log p(targets | inputs, α, β).
    num_determined
        γ, the number of weights that the rows determine rather than the prior.
    trace
        The log-evidence of each step.
    """

    _fields = ("prior", "posterior", "log_evidence", "num_determined", "trace")
    prior: BayesianLinearRegression
    posterior: BayesianLinearRegression
    log_evidence: float
    num_determined: float
    trace: Trace

    def __init__(
        self,
        prior: BayesianLinearRegression,
        posterior: BayesianLinearRegression,
        log_evidence: float,
        num_determined: float,
        trace: Trace,
    ) -> None:
        self._set(
            prior=prior, posterior=posterior, log_evidence=float(log_evidence), num_determined=float(num_determined),
            trace=trace,
        )  # fmt: skip

    @property
    def precision(self) -> float:
        """α, the precision of each weight under the prior."""
        return float(self.prior.precision[0, 0])

    @property
    def noise_precision(self) -> float:
        """β."""
        return self.prior.noise_precision

    def plot(self, **options: Any) -> Any:
        """The prediction with its band over one input; `jt.plot`."""
        return plot(self, **options)

    def __repr__(self) -> str:
        numbers = f"precision={self.precision:.4g}, noise_precision={self.noise_precision:.4g}"
        return f"EvidenceFit({numbers}, log-evidence {self.log_evidence:.6g}, basis={self.prior.basis!r})"


def fit_evidence(
    inputs: Any,
    targets: Any,
    basis: Basis | None = None,
    *,
    weights: Any = None,
    tolerance: float = 1e-13,
    max_steps: int = 10_000,
) -> EvidenceFit:
    """Bayesian linear regression whose α and β maximise the evidence (type-II maximum likelihood).

    Parameters
    ----------
    inputs
        A table of numbers, (row, input), or a list of numbers for one input.
    targets
        One number a row.
    basis
        The features; by default a constant and the inputs.
    weights
        The weight of each row; a row of weight 2 counts as two.
    tolerance, max_steps
        When to end.

    Returns
    -------
    EvidenceFit

    Examples
    --------
    >>> fit = fit_evidence([0.0, 1.0, 2.0, 3.0, 4.0], [1.1, 2.9, 5.2, 7.0, 8.8])
    >>> fit.posterior.mean.round(3).tolist(), fit.trace.converged
    ([1.097, 1.95], True)
    """
    check_stopping_rule(tolerance, max_steps)
    chosen, rows = check_basis(basis), read_rows(inputs, targets, weights)
    statistics = add_up(chosen, rows)
    ascent = start_ascent(statistics)
    found, trace = iterate(ascent, tolerance=tolerance, max_steps=max_steps, is_monotone=False)
    if not trace.converged:
        warn_user(f"the precisions α and β {trace.reason}: raise max_steps", NotConvergedWarning)
    size = len(statistics.cross)
    before = BayesianLinearRegression(np.zeros(size), found.weights * np.eye(size), found.noise, chosen)
    prior = before._named(rows.names)
    after = prior.update_by(statistics)
    return EvidenceFit(prior, after, prior.log_evidence_of(statistics), ascent.determined(found), trace)


def start_ascent(statistics: RegressionStatistics) -> EvidenceAscent:
    """From the ratio α/β of the highest peak on a grid: given the ratio, β has a closed form.

    Where α → ∞, which leaves no weights, the evidence of few rows may be higher still; that is no peak.
    """
    values, vectors = np.linalg.eigh(statistics.products)
    values, cross = np.maximum(values, 0.0), vectors.T @ statistics.cross
    ratios = RATIOS * (values.max(initial=0.0) or 1.0)  # (ratio,)
    left = statistics.squares - (cross**2 / (ratios[:, None] + values)).sum(axis=1)
    left = np.maximum(left, np.finfo(float).eps * statistics.squares)
    logs = 0.5 * (len(values) * np.log(ratios) - np.log(ratios[:, None] + values).sum(axis=1))
    heights = logs - 0.5 * statistics.weight * log(left)
    is_peak = (heights[1:-1] >= heights[:-2]) & (heights[1:-1] > heights[2:])
    if not is_peak.any():
        raise InvalidData(
            "the evidence has no maximum in α and β: the targets are linear in the features without noise, or the rows"
            " do not show that they depend on them; fix both in BayesianLinearRegression.standard"
        )
    best = 1 + int(np.where(is_peak, heights[1:-1], -np.inf).argmax())
    noise = statistics.weight / float(left[best])
    start = Precisions(noise * float(ratios[best]), noise)
    return EvidenceAscent(values, cross, statistics.squares, statistics.weight, start)


class BasisChoice(Value):
    """Bases compared by the evidence of the rows.

    Attributes
    ----------
    bases
        As they were given.
    log_evidences
        (basis,): log p(targets | inputs, basis).
    posteriors
        The regression of each basis after the rows.
    """

    _fields = ("bases", "log_evidences", "posteriors")
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
    inputs: Any,
    targets: Any,
    bases: Iterable[Basis],
    *,
    precision: float | None = None,
    noise_precision: float | None = None,
    weights: Any = None,
) -> BasisChoice:
    """The evidence of each of several bases: the choice of a polynomial degree without rows kept back.

    Parameters
    ----------
    inputs
        A table of numbers, (row, input), or a list of numbers for one input.
    targets
        One number a row.
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
    rows = read_rows(inputs, targets, weights)
    found = [weigh_basis(basis, rows, precision, noise_precision) for basis in listed]
    return BasisChoice(listed, [value for value, _ in found], [posterior for _, posterior in found])


def weigh_basis(
    basis: Basis, rows: Rows, precision: float | None, noise_precision: float | None
) -> tuple[float, BayesianLinearRegression]:
    """The log-evidence and the posterior of one basis."""
    if precision is None or noise_precision is None:
        fit = fit_evidence(rows.inputs, rows.targets, basis, weights=rows.weights)
        return fit.log_evidence, fit.posterior._named(rows.names)
    statistics = add_up(basis, rows)
    prior = BayesianLinearRegression.standard(len(statistics.cross), precision, noise_precision, basis)
    return prior.log_evidence_of(statistics), prior.update_by(statistics)
