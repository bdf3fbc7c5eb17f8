"""The Laplace posterior of a logistic regression: a Gaussian around the mode, and predictions that average over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_choice, check_count, check_kind
from juncture.base.options import as_generator
from juncture.base.values import Value
from juncture.data.feature_names import Names
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, Unsupported
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.numerics.stable import LOG_TWO_PI, as_numbers, sigmoid, softmax
from juncture.runtime.parallel import block_rows, map_blocks
from juncture.supervised.regression.inputs_and_targets import decode_classes
from juncture.supervised.regression.logistic import LogisticFit, LogisticRegression

REACH, DIGITS = 9.0, 36.0  # standard deviations on each side; exp(-36) is the error of the trapezoidal rule


class LaplaceLogistic(Value):
    """A logistic regression whose coefficients have the posterior N(mode, covariance), approximately.

    Attributes
    ----------
    mode
        The `LogisticRegression` of the most probable coefficients.
    root
        (coefficient, coefficient): B with BBᵀ the covariance of the coefficients, read by rows. Columns far from 0 need
        twice the digits in the covariance, where they cancel those of the constant.
    log_evidence
        Laplace's approximation of log p(targets | inputs); None where the prior of some coefficient is flat.
    """

    mode: LogisticRegression
    root: np.ndarray
    log_evidence: float | None

    def __init__(self, mode: LogisticRegression, root: Any, log_evidence: float | None) -> None:
        size = mode.coefficients.size
        found = as_numbers(root, (size, size), name="the root of the covariance of the coefficients")
        self._set(mode=mode, root=found, log_evidence=log_evidence)

    @property
    def covariance(self) -> np.ndarray:
        """(coefficient, coefficient): of the coefficients, read by rows."""
        return np.asarray(self.root @ self.root.T)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in the order of `predict_proba`."""
        return self.mode.classes

    @property
    def feature_names(self) -> Names | None:
        """The names of the columns of inputs."""
        return self.mode.feature_names

    def predict(self, inputs: Any, method: str = "quadrature", *, draws: int = 1000, rng: Any = None) -> np.ndarray:
        """(row,): the class of the largest probability, with the options of `predict_proba`."""
        found = self.predict_proba(inputs, method, draws=draws, rng=rng)
        return decode_classes(self.classes, found.argmax(axis=1))

    @property
    def coefficients(self) -> MultivariateGaussian:
        """The distribution of the coefficients, read by rows."""
        return MultivariateGaussian(self.mode.coefficients.reshape(-1), self.covariance)

    def predict_proba(
        self, inputs: Any, method: str = "quadrature", *, draws: int = 1000, rng: Any = None
    ) -> np.ndarray:
        """(row, class): the probability of each class, averaged over the posterior of the coefficients.

        Parameters
        ----------
        inputs
            A table of numbers, (row, input).
        method
            "quadrature": exact for this posterior, of two classes. "probit": σ(μ / √(1 + πs²/8)) for log-odds N(μ, s²),
            of two classes, within 0.02. "draws": the mean over draws of the coefficients, of any number of classes.
        draws, rng
            How many, and the source of random numbers.
        """
        chosen = check_choice(method, ("quadrature", "probit", "draws"), "method")
        features = self.mode._features(inputs)
        if chosen == "draws":
            return self._average_draws(features, check_count(draws, "draws", least=1), rng)
        if len(self.mode.classes) > 2:
            raise Unsupported(
                f'method="{chosen}" is for two classes; with {len(self.mode.classes)}, take method="draws"'
            )
        mean = features @ self.mode.coefficients[0]
        variance = ((features @ self.root) ** 2).sum(axis=1)
        average = mean_sigmoid(mean, variance) if chosen == "quadrature" else probit_sigmoid(mean, variance)
        return np.stack([1 - average, average], axis=1)

    def _average_draws(self, features: np.ndarray, draws: int, rng: Any) -> np.ndarray:
        shape = self.mode.coefficients.shape
        turned = np.asarray(np.linalg.qr(self.root.T, mode="r"))
        triangle = turned * np.where(np.diagonal(turned) < 0, -1.0, 1.0)[:, None]  # which the covariance determines
        noise = as_generator(rng).standard_normal((draws, len(triangle))) @ triangle
        drawn = self.mode.coefficients + noise.reshape(draws, *shape)

        def of_block(block: slice) -> np.ndarray:
            scores = np.einsum("rf,dkf->rdk", features[block], drawn)
            return softmax(np.concatenate([np.zeros((*scores.shape[:2], 1)), scores], axis=2)).mean(axis=1)

        size = max(1, 2**20 // (draws * len(self.mode.classes)))
        return np.concatenate(map_blocks(of_block, len(features), size)) if len(features) else features[:, :0]

    def plot(self, **options: Any) -> Any:
        """The probability of each class over one input; `jt.plot`."""
        return plot(self, **options)

    def __repr__(self) -> str:
        evidence = "" if self.log_evidence is None else f", log-evidence {self.log_evidence:.6g}"
        return f"LaplaceLogistic({self.mode.coefficients.size} coefficients{evidence})"


def laplace_logistic(fit: LogisticFit) -> LaplaceLogistic:
    """The Gaussian posterior of the coefficients around those of a fit.

    Parameters
    ----------
    fit
        That of `fit_logistic`, with `penalty=jt.L2(α)` for the prior N(0, 1/α) of each coefficient. With
        `penalize_constant=True` the constant has it too, and there is an evidence.

    Returns
    -------
    LaplaceLogistic

    Examples
    --------
    >>> import juncture as jt
    >>> from juncture.supervised import fit_logistic
    >>> fit = fit_logistic([0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1], penalty=jt.L2(0.1))
    >>> laplace_logistic(fit).predict_proba([3.0, 30.0])[:, 1].round(3).tolist()
    [0.853, 0.913]
    """
    found = check_kind(fit, LogisticFit, "fit")
    if found.penalty is not None and found.penalty.absolute:
        raise InvalidData("an L1 penalty has corners, where Laplace's approximation has no curvature: take jt.L2")
    if found.root.shape[1] < len(found.root):
        raise InvalidData("some features depend on others, and their prior is flat: give penalty=jt.L2(strength)")
    return LaplaceLogistic(found.model, found.root, log_evidence(found))


def log_evidence(fit: LogisticFit) -> float | None:
    """log p(targets, mode) + (k/2) log 2π - ½ log |information|, Laplace's rule, with the prior normalised."""
    if not fit.has_proper_prior or fit.penalty is None:
        return None
    size = fit.model.coefficients.size
    prior = 0.5 * size * (np.log(fit.penalty.squared) - LOG_TWO_PI)
    if len(fit.model.classes) > 2:  # differences of weights that have the precision α each, less their common shift
        prior -= 0.5 * fit.model.coefficients.shape[1] * np.log(len(fit.model.classes))
    return float(fit.log_posterior + prior + 0.5 * size * LOG_TWO_PI + np.linalg.slogdet(fit.root)[1])


def probit_sigmoid(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """E[σ(a)] for a ~ N(mean, variance), with a probit in place of the sigmoid."""
    return sigmoid(mean / np.sqrt(1 + np.pi / 8 * variance))


def mean_sigmoid(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """E[σ(a)] for a ~ N(mean, variance) to rounding, by the trapezoidal rule.

    The poles of σ lie at distance π / s from the line, so that a step of 2π² / (36 s) has an error of exp(-36).
    """
    deviation = np.sqrt(np.maximum(variance, 0.0))
    step = min(0.5, 2 * np.pi**2 / (DIGITS * max(float(deviation.max(initial=0.0)), 1e-300)))
    points = step * np.arange(-np.ceil(REACH / step), np.ceil(REACH / step) + 1)
    shares = np.exp(-0.5 * points**2)
    shares /= shares.sum()

    def of_block(block: slice) -> np.ndarray:
        return np.asarray(sigmoid(mean[block, None] + deviation[block, None] * points) @ shares)

    parts = map_blocks(of_block, len(mean), block_rows((len(points),), numbers=2**20))
    return np.concatenate(parts) if parts else np.zeros(0)
