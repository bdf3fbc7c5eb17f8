"""Generalised linear models: a family whose mean is the inverse link of w·φ(x) + offset."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_number
from juncture.base.values import Value, few, read_only
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, InvalidModel
from juncture.families.discrete.binomial import Binomial
from juncture.numerics.stable import as_numbers
from juncture.supervised.regression.bases import Basis, check_basis
from juncture.supervised.regression.features import FeatureModel
from juncture.supervised.regression.links import Link, as_link
from juncture.supervised.regression.responses import Response, as_response
from juncture.supervised.regression.rows import check_finite


class GeneralizedLinearModel(FeatureModel):
    """p(t | x) is a member of a family, with g(E[t | x]) = w·φ(x) + offset for a link g.

    Parameters
    ----------
    family
        A class: `jt.Gaussian`, `jt.Bernoulli`, `jt.Binomial`, `jt.Poisson`, `jt.Geometric`, `jt.NegativeBinomial`,
        `jt.Exponential` or `jt.Gamma`.
    coefficients
        (feature,): w.
    link
        "identity", "log", "logit", "probit", "complementary log-log", "inverse", "inverse squared", "square root", or a
        `Link`; by default the canonical link, and the logarithm for the mean of geometric and negative binomial counts.
    dispersion
        φ, with the variance φ V(mean): of a Gaussian its variance, of a Gamma 1 / shape; 1 for the others.
    successes
        Of a negative binomial.
    basis
        The features φ(x); by default a constant and the inputs.

    Examples
    --------
    >>> import juncture as jt
    >>> model = GeneralizedLinearModel(jt.Poisson, [0.0, 1.0])
    >>> model.predict([0.0, 2.0]).mean.round(4).tolist()
    [1.0, 7.3891]
    """

    _fields = ("family", "coefficients", "link", "dispersion", "successes", "basis")
    family: type
    coefficients: np.ndarray
    link: Link
    dispersion: float
    successes: float | None
    basis: Basis

    def __init__(
        self,
        family: type,
        coefficients: Any,
        link: Any = None,
        *,
        dispersion: float = 1.0,
        successes: float | None = None,
        basis: Basis | None = None,
    ) -> None:
        response = as_response(family, successes)
        numbers = check_array(coefficients, "coefficients", ndim=1, error=InvalidModel)
        spread = check_number(dispersion, "dispersion", above=0, finite=True, error=InvalidModel)
        if not response.has_dispersion and spread != 1:
            raise InvalidModel(f"the dispersion of a {family.__name__} is 1; got {spread:g}")
        self._set(
            family=family, coefficients=as_numbers(numbers, numbers.shape, name="coefficients"),
            link=as_link(link, response.canonical), dispersion=spread,
            successes=None if successes is None else float(successes), basis=check_basis(basis),
        )  # fmt: skip

    @property
    def num_coefficients(self) -> int:
        """The number of features."""
        return len(self.coefficients)

    @property
    def num_parameters(self) -> int:
        """The number of free parameters: the coefficients, and of some families the dispersion."""
        return len(self.coefficients) + int(self.response.has_dispersion)

    @property
    def response(self) -> Response:
        return as_response(self.family, self.successes)

    def mean(self, inputs: Any, *, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """(row,): E[t | x]; of a binomial, the probability of success."""
        features = self._features(inputs)
        scores = features @ self.coefficients + read_offset(offset, exposure, len(features), self.link)
        with np.errstate(all="ignore"):
            means = np.asarray(self.link.inverse(scores))
        response = self.response
        if not response.holds(means):
            row = int(np.argmax(~((means > response.low) & (means < response.high))))
            raise InvalidData(
                f"row {row} of the inputs has the score {scores[row]:.4g}, for which a {self.family.__name__} with the"
                f" link {self.link.name!r} has no mean"
            )
        return means

    def predict(self, inputs: Any, *, offset: Any = None, exposure: Any = None, trials: Any = None) -> Any:
        """The distribution of the target of each row: a batch of the family."""
        means = self.mean(inputs, offset=offset, exposure=exposure)
        if self.family is Binomial:
            return Binomial(read_trials(trials, len(means)).astype(np.int64), means)
        return self.response.member(means, self.dispersion)

    def __repr__(self) -> str:
        numbers = few((f"{number:.4g}" for number in self.coefficients), most=4)
        return f"GeneralizedLinearModel({self.family.__name__}, [{numbers}], {self.link.name!r}, basis={self.basis!r})"


class GeneralizedLinearFit(Value):
    """A generalised linear model learned from rows.

    Attributes
    ----------
    model
        The `GeneralizedLinearModel`; its dispersion is Pearson's statistic over the degrees of freedom.
    covariance
        (feature, feature): of the coefficients, the dispersion times the inverse of the Fisher information.
    deviance, null_deviance
        Twice what the log-likelihood, with dispersion 1, is below that of means equal to the targets: of the model, and
        of the best constant mean.
    pearson
        Σ weight (t - mean)² / V(mean).
    log_likelihood
        Of the rows under the model.
    num_rows
        Rows, or the sum of their weights.
    num_steps
        The steps of Fisher scoring.
    """

    _fields = (
        "model", "covariance", "deviance", "null_deviance", "pearson", "log_likelihood", "num_rows", "num_steps",
    )  # fmt: skip
    model: GeneralizedLinearModel
    covariance: np.ndarray
    deviance: float
    null_deviance: float
    pearson: float
    log_likelihood: float
    num_rows: float
    num_steps: int

    def __init__(self, model: GeneralizedLinearModel, covariance: Any, **numbers: float) -> None:
        self._set(model=model, covariance=read_only(covariance), **numbers)

    @property
    def standard_errors(self) -> np.ndarray:
        """(feature,): the standard deviation of each coefficient."""
        return np.sqrt(np.diag(self.covariance))

    def plot(self, **options: Any) -> Any:
        """The prediction with its band over one input; `jt.plot`."""
        return plot(self, **options)

    def __repr__(self) -> str:
        fitted = f"deviance {self.deviance:.6g} of {self.null_deviance:.6g}, dispersion {self.model.dispersion:.4g}"
        return f"GeneralizedLinearFit({self.model.family.__name__}, {fitted}, log-likelihood {self.log_likelihood:.6g})"


def read_offset(offset: Any, exposure: Any, num_rows: int, link: Link) -> np.ndarray:
    """What is added to the scores: the offset, and the logarithm of the exposure."""
    total = np.zeros(num_rows)
    for given, what in ((offset, "offset"), (exposure, "exposure")):
        if given is None:
            continue
        values = check_array(given, what)
        if values.shape not in ((), (num_rows,)):
            raise InvalidData(f"{what} is one number a row, {num_rows} here; got an array of the shape {values.shape}")
        values = np.broadcast_to(values, (num_rows,))
        check_finite(values, f"the {what}")
        total = total + (values if what == "offset" else log_exposure(values, link))
    return total


def log_exposure(exposure: np.ndarray, link: Link) -> np.ndarray:
    if link.name != "log":
        raise InvalidData(
            f"an exposure multiplies the mean, which the link {link.name!r} does not allow: take link='log'"
        )
    if not (exposure > 0).all():
        raise InvalidData(f"row {int(np.argmin(exposure > 0))} of the exposure is not positive")
    return np.log(exposure)


def read_trials(trials: Any, num_rows: int) -> np.ndarray:
    """The number of trials of each row of a binomial."""
    if trials is None:
        raise InvalidData("a binomial needs trials=, a whole number of at least 1, or one for each row")
    found = check_array(trials, "trials")
    if found.shape not in ((), (num_rows,)):
        raise InvalidData(f"trials are one number a row, {num_rows} here; got an array of the shape {found.shape}")
    if not ((found >= 1) & (found == np.floor(found))).all():
        raise InvalidData("trials are whole numbers of at least 1")
    return np.broadcast_to(found, (num_rows,))
