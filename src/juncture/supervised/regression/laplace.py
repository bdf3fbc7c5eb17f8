"""The Laplace posterior of a logistic regression: a Gaussian around the mode, and predictions that average over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_choice, check_count, check_kind
from juncture.base.options import Options, as_generator
from juncture.data.feature_names import Names
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, Unsupported
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.inference.engines.contract import EXACT, Diagnostics
from juncture.learning.fit import Fit
from juncture.numerics.stable import LOG_TWO_PI, as_numbers, log, sigmoid, softmax
from juncture.runtime.parallel import block_rows, map_blocks
from juncture.supervised.model import SupervisedModel
from juncture.supervised.regression.inputs_and_targets import decode_classes
from juncture.supervised.regression.logistic import LogisticFit, LogisticOptions, LogisticRegression, fit_logistic

REACH, DIGITS = 9.0, 36.0  # standard deviations on each side; exp(-36) is the error of the trapezoidal rule


@dataclass(frozen=True)
class AverageOptions(Options):
    """How predictions average over the coefficients.

    Parameters
    ----------
    draws
        With method="draws", the number of draws of the coefficients.
    """

    draws: int = 1000

    def __post_init__(self) -> None:
        check_count(self.draws, "draws", least=1)


class LaplaceLogistic(SupervisedModel):
    """A logistic regression whose coefficients have the posterior N(mode, covariance), approximately.

    Parameters
    ----------
    mode
        The `LogisticRegression` of the most probable coefficients.
    root
        (coefficient, coefficient): B with BBᵀ the covariance of the coefficients, read by rows. Columns far from 0 need
        twice the digits in the covariance, where they cancel those of the constant.
    log_evidence
        Laplace's approximation of log p(y | X); None where the prior of some coefficient is flat.

    `jt.fit(jt.supervised.LaplaceLogistic, X, y, penalty=jt.L2(α))` learns one, with the options of `LogisticOptions`:
    the prior is N(0, 1/α) for each coefficient. With `penalize_constant=True` the constant has it too, and there is an
    evidence. The `log_likelihood` of the fit is that of the mode.

    `jt.infer(model, X)` averages over the coefficients. Its `method` is "quadrature", exact for this posterior, of two
    classes; "probit", σ(μ / √(1 + πs²/8)) for log-odds N(μ, s²), of two classes, within 0.02; or "draws", the mean over
    `draws=` draws of the coefficients, of any number of classes. "auto" is quadrature for two classes, else draws.

    Examples
    --------
    >>> import juncture as jt
    >>> fitted = jt.fit(LaplaceLogistic, [0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1], penalty=jt.L2(0.1))
    >>> fitted.model.predict_proba([3.0, 30.0])[:, 1].round(3).tolist()
    [0.853, 0.913]
    >>> round(jt.infer(fitted.model, {"x0": 3.0})["y"][1], 3)
    0.853
    """

    kind: ClassVar[str] = "logistic regression with a Laplace posterior"
    algorithms: ClassVar[tuple[str, ...]] = ("quadrature", "probit", "draws")
    random_algorithms: ClassVar[tuple[str, ...]] = ("draws",)
    mode: LogisticRegression
    root: np.ndarray
    log_evidence: float | None

    def __init__(self, mode: LogisticRegression, root: Any, log_evidence: float | None) -> None:
        check_kind(mode, LogisticRegression, "mode")
        size = mode.coefficients.size
        found = as_numbers(root, (size, size), name="the root of the covariance of the coefficients")
        self._set(mode=mode, root=found, log_evidence=log_evidence)
        names = {"feature_names": mode.feature_names, "target_name": mode.target_name}
        self._set(**{key: value for key, value in names.items() if value is not None})

    @property
    def num_columns(self) -> int | None:
        """The number of inputs; None for a constant, which takes any number."""
        return self.mode.num_columns

    @property
    def num_parameters(self) -> int:
        """The number of coefficients."""
        return self.mode.num_parameters

    def _named(self, names: Names | None) -> Self:
        return type(self)(self.mode._named(names), self.root, self.log_evidence)

    def with_target_name(self, name: str | None) -> Self:
        return type(self)(self.mode.with_target_name(name), self.root, self.log_evidence)

    def algorithm_of(self, method: Any, verb: str = "infer") -> str:
        """The algorithm that a name stands for; with more than two classes "auto" draws."""
        return self.usual_algorithm if method == "auto" else super().algorithm_of(method, verb)

    @property
    def usual_algorithm(self) -> str:
        """What "auto" stands for: quadrature of two classes, draws of more."""
        return "quadrature" if len(self.classes) == 2 else "draws"

    def diagnostics_of(self, method: str) -> Diagnostics:
        """Return how far predictions can be trusted: those by quadrature are exact under the Gaussian posterior."""
        return EXACT if method == "quadrature" else Diagnostics(exact=False)

    def predict_target(
        self, rows: Any, *, method: str = "auto", rng: Any = None, options: AverageOptions | None = None
    ) -> np.ndarray:
        """(row, class): log p(class | x)."""
        draws = (options or AverageOptions()).draws
        return np.asarray(log(self.predict_proba(rows, method, draws=draws, rng=rng)))

    @property
    def covariance(self) -> np.ndarray:
        """(coefficient, coefficient): of the coefficients, read by rows."""
        return np.asarray(self.root @ self.root.T)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in the order of `predict_proba`."""
        return self.mode.classes

    def predict(self, X: Any, method: str = "auto", *, draws: int = AverageOptions.draws, rng: Any = None) -> Any:
        """(row,): the class of the largest probability, with the options of `predict_proba`."""
        found = self.predict_proba(X, method, draws=draws, rng=rng)
        return decode_classes(self.classes, found.argmax(axis=1))

    @property
    def coefficients(self) -> MultivariateGaussian:
        """The distribution of the coefficients, read by rows."""
        return MultivariateGaussian(self.mode.coefficients.reshape(-1), self.covariance)

    def predict_proba(
        self, X: Any, method: str = "auto", *, draws: int = AverageOptions.draws, rng: Any = None
    ) -> np.ndarray:
        """(row, class): the probability of each class, averaged over the posterior of the coefficients.

        Parameters
        ----------
        X
            A table of numbers, (row, input).
        method
            "quadrature", "probit" or "draws"; "auto" is the first of two classes, and the last of more.
        draws, rng
            How many, and the source of random numbers.
        """
        chosen = check_choice(method, ("auto", *self.algorithms), "method")
        if chosen == "auto":
            chosen = self.usual_algorithm
        features = self.mode._features(X)
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


def fit_laplace(
    model: LaplaceLogistic | type[LaplaceLogistic],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    options: LogisticOptions,
) -> Fit[LaplaceLogistic]:
    """The Gaussian posterior around the mode; a model that is given says its basis, classes and columns."""
    mode = LogisticRegression if isinstance(model, type) else model.mode
    found = fit_logistic(mode, data, y, weights=weights, options=options)
    return Fit(laplace_logistic(found), found.log_likelihood, found.trace, None)


def laplace_logistic(fit: LogisticFit) -> LaplaceLogistic:
    """The Gaussian posterior of the coefficients around those of a fit."""
    if fit.penalty is not None and fit.penalty.absolute:
        raise InvalidData("an L1 penalty has corners, where Laplace's approximation has no curvature: take jt.L2")
    if fit.root.shape[1] < len(fit.root):
        raise InvalidData("some features depend on others, and their prior is flat: give penalty=jt.L2(strength)")
    return LaplaceLogistic(fit.model, fit.root, log_evidence(fit))


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
