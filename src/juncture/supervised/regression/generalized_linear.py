"""Generalised linear models: a family whose mean is the inverse link of w·φ(x) + offset.

A model is a response family (its variance, its deviance and its members, by the mean) and a link, the function g with
g(mean) = w·φ(x) + offset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri, xlogy

from juncture.base.checks import check_array, check_choice, check_function, check_number
from juncture.base.options import Options
from juncture.base.values import Value, few, read_only
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.learning.fit import Fit
from juncture.numerics.descent import Descent
from juncture.numerics.iteration import Trace
from juncture.numerics.stable import as_numbers
from juncture.supervised.model import take_numbers
from juncture.supervised.regression.bases import Basis, FeatureModel, check_basis
from juncture.supervised.regression.coefficients import CoefficientTable, feature_labels
from juncture.supervised.regression.inputs_and_targets import check_finite


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

    `jt.fit(jt.supervised.GeneralizedLinearModel, X, y, family=jt.Poisson)` learns one, with the options of
    `GeneralizedLinearOptions`. `jt.infer`, `jt.log_prob` and `jt.sample` take the offset, the exposure and the trials
    of the rows as `offset=`, `exposure=` and `trials=`: numbers, or the name of a column.

    Examples
    --------
    >>> import juncture as jt
    >>> fitted = jt.fit(GeneralizedLinearModel, [0.0, 1.0, 2.0, 3.0], [1, 3, 7, 20], family=jt.Poisson)
    >>> fitted.model.coefficients.round(4).tolist(), fitted.standard_errors.round(4).tolist()
    ([0.0289, 0.9859], [0.5913, 0.2268])
    >>> round(jt.infer(fitted.model, {"x0": 1.0}, exposure=10.0)["y"].mean, 2)
    27.59
    >>> model = GeneralizedLinearModel(jt.Poisson, [0.0, 1.0])
    >>> model.predict([0.0, 2.0]).mean.round(4).tolist()
    [1.0, 7.3891]
    """

    kind: ClassVar[str] = "generalised linear model"
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

    def mean(self, X: Any, *, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """(row,): E[t | x]; of a binomial, the probability of success."""
        features = self._features(X)
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

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None, trials: Any = None) -> Any:
        """The distribution of the target of each row: a batch of the family."""
        means = self.mean(X, offset=offset, exposure=exposure)
        if self.family is Binomial:
            return Binomial(read_trials(trials, len(means)).astype(np.int64), means)
        if trials is not None:
            raise InvalidData("trials= is for jt.Binomial only")
        return self.response.member(means, self.dispersion)

    def predict_target(
        self, rows: Any, *, method: str = "closed-form", rng: Any = None, options: RowFacts | None = None
    ) -> Any:
        """The distribution of the target of each row."""
        facts = options or RowFacts()
        return self.predict(rows, offset=facts.offset, exposure=facts.exposure, trials=facts.trials)

    def take_facts(self, data: Any, options: Any) -> tuple[Any, Any]:
        """The table without the columns of offset, exposure and trials, and the options with these columns."""
        return take_fact_columns(data, options)

    def __repr__(self) -> str:
        numbers = few((f"{number:.4g}" for number in self.coefficients), most=4)
        return f"GeneralizedLinearModel({self.family.__name__}, [{numbers}], {self.link.name!r}, basis={self.basis!r})"


@dataclass(frozen=True)
class RowFacts(Options):
    """What is known of rows beside their inputs; each may be the name of a column of the table.

    Parameters
    ----------
    offset
        What is added to the score of each row.
    exposure
        By what the mean of each row is multiplied, with the link "log".
    trials
        Of a binomial: a number, or one for each row.
    """

    offset: Any = None
    exposure: Any = None
    trials: Any = None


def take_fact_columns(data: Any, options: Any) -> tuple[Any, Any]:
    """A row or a table without the columns that options of rows name, and the options with these columns."""
    for name in RowFacts.names():
        given = getattr(options, name)
        if isinstance(given, str):
            data, column = take_numbers(data, given, option=name)
            options = replace(options, **{name: column})
    return data, options


class GeneralizedLinearFit(Fit[GeneralizedLinearModel]):
    """A generalised linear model learned from rows.

    Attributes
    ----------
    model
        The `GeneralizedLinearModel`; its dispersion is Pearson's statistic over the degrees of freedom.
    log_likelihood
        Of the rows under the model.
    trace
        Minus half the deviance, which is the log-likelihood with dispersion 1 but for a constant, at the start and
        after each step.
    statistics
        None: the likelihood needs all rows.
    seed
        Of the rows that stochastic gradient steps drew; None of Fisher scoring.
    covariance
        (feature, feature): of the coefficients, the dispersion times the inverse of the Fisher information, or from the
        residuals where robust errors were asked for. With a penalty its curvature counts as information.
    errors
        How the covariance was estimated: "model", "HC0" to "HC3", or "clusters".
    degrees
        The degrees of freedom of t; infinite where the dispersion is known.
    penalty
        What was subtracted: None, or `jt.L2`.
    deviance, null_deviance
        Twice what the log-likelihood, with dispersion 1, is below that of means equal to the targets: of the model, and
        of the best constant mean.
    pearson
        Σ weight (t - mean)² / V(mean).
    num_rows
        Rows, or the sum of their weights.
    course
        The `Descent` of stochastic gradient steps, with the coefficients after each; None of Fisher scoring.
    """

    covariance: np.ndarray
    deviance: float
    null_deviance: float
    pearson: float
    num_rows: float
    degrees: float
    errors: str
    penalty: Any
    course: Descent | None

    def __init__(
        self,
        model: GeneralizedLinearModel,
        log_likelihood: float,
        trace: Trace,
        *,
        covariance: Any,
        seed: int | None = None,
        course: Descent | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(model, log_likelihood, trace, None, seed)
        self._set(covariance=read_only(covariance), course=course, **facts)

    @property
    def standard_errors(self) -> np.ndarray:
        """(feature,): the standard deviation of each coefficient."""
        return np.sqrt(np.diag(self.covariance))

    def coefficient_table(self, confidence: float = 0.9) -> CoefficientTable:
        """The coefficients with standard errors, z or t, p and intervals.

        Parameters
        ----------
        confidence
            Of the intervals.

        Examples
        --------
        >>> import juncture as jt
        >>> fitted = jt.fit(GeneralizedLinearModel, [0.0, 1.0, 2.0, 3.0], [1, 3, 7, 20], family=jt.Poisson)
        >>> fitted.coefficient_table().p_values.round(4).tolist()
        [0.961, 0.0]
        """
        model = self.model
        labels, errors = feature_labels(model), self.standard_errors
        return CoefficientTable(labels, model.coefficients, errors, self.degrees, confidence, self.errors)

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


PairFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Response:
    """A family as the response of a generalised linear model.

    `variance` and `deviance` are those of one observation with dispersion 1. The means lie between `low` and `high`,
    which are no means themselves.
    """

    canonical: str
    low: float
    high: float
    variance: Callable[[np.ndarray], np.ndarray]
    deviance: PairFunction  # of target and mean: 2 (log p(target | target) - log p(target | mean))
    member: Callable[[np.ndarray, float], Any]  # of mean and dispersion
    is_target: Callable[[np.ndarray], np.ndarray]
    targets: str
    has_dispersion: bool = False

    def holds(self, means: np.ndarray) -> bool:
        """Whether all are means of the family."""
        return bool(((means > self.low) & (means < self.high) & np.isfinite(means)).all())

    def check_targets(self, targets: np.ndarray) -> None:
        wrong = ~self.is_target(targets)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidData(
                f"row {row} of the targets is {targets[row]:g}; targets of this family are {self.targets}"
            )


def ratio_terms(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """target · log(target / mean), 0 where the target is."""
    return np.asarray(xlogy(target, target / mean))


def squared(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return (target - mean) ** 2


def bernoulli_deviance(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return 2 * (ratio_terms(target, mean) + ratio_terms(1 - target, 1 - mean))


def poisson_deviance(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return 2 * (ratio_terms(target, mean) - (target - mean))


def gamma_deviance(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return 2 * (target / mean - 1 - np.log(target / mean))


def is_count(target: np.ndarray) -> np.ndarray:
    return (target >= 0) & (target == np.floor(target))


def is_positive(target: np.ndarray) -> np.ndarray:
    return target > 0


def gaussian_of(mean: np.ndarray, variance: float) -> Gaussian:
    return Gaussian(mean, np.full(np.shape(mean), variance))


def negative_binomial(successes: float) -> Response:
    """Counts with variance mean + mean² / successes."""

    def variance(mean: np.ndarray) -> np.ndarray:
        return mean + mean**2 / successes

    def deviance(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
        rest = (target + successes) * np.log((target + successes) / (mean + successes))
        return np.asarray(2 * (ratio_terms(target, mean) - rest))

    def member(mean: np.ndarray, _: float) -> NegativeBinomial:
        return NegativeBinomial(successes, successes / (successes + mean))

    return Response("log", 0.0, np.inf, variance, deviance, member, is_count, "whole numbers of at least 0")


GEOMETRIC = negative_binomial(1.0)
RESPONSES: dict[type, Response] = {
    Gaussian: Response(
        "identity", -np.inf, np.inf, np.ones_like, squared, gaussian_of, np.isfinite, "finite numbers", True
    ),
    Bernoulli: Response(
        "logit", 0.0, 1.0, lambda mean: mean * (1 - mean), bernoulli_deviance, lambda mean, _: Bernoulli(mean),
        lambda target: (target == 0) | (target == 1), "0 or 1",
    ),
    Poisson: Response(
        "log", 0.0, np.inf, lambda mean: mean, poisson_deviance, lambda mean, _: Poisson(mean), is_count,
        "whole numbers of at least 0",
    ),
    Geometric: Response(
        "log", 0.0, np.inf, GEOMETRIC.variance, GEOMETRIC.deviance, lambda mean, _: Geometric(1 / (1 + mean)), is_count,
        "whole numbers of at least 0",
    ),
    Exponential: Response(
        "inverse", 0.0, np.inf, np.square, gamma_deviance, lambda mean, _: Exponential(1 / mean), is_positive,
        "positive numbers",
    ),
    Gamma: Response(
        "inverse", 0.0, np.inf, np.square, gamma_deviance,
        lambda mean, dispersion: Gamma(1 / dispersion, 1 / (dispersion * mean)), is_positive, "positive numbers", True,
    ),
}  # fmt: skip


def as_response(family: Any, successes: Any = None) -> Response:
    """The response of a family class; a negative binomial needs the number of successes."""
    if family is NegativeBinomial:
        if successes is None:
            raise InvalidData("a negative binomial needs successes=, a positive number, which is known")
        return negative_binomial(check_number(successes, "successes", above=0, finite=True))
    if successes is not None:
        raise InvalidData("successes= is for jt.NegativeBinomial only")
    if family is Binomial:
        return RESPONSES[Bernoulli]
    found = RESPONSES.get(family) if isinstance(family, type) else None
    if found is None:
        names = ", ".join(kind.__name__ for kind in (*RESPONSES, Binomial, NegativeBinomial))
        raise Unsupported(
            f"the family of a generalised linear model is one of the classes {names} of jt; got {family!r}"
        )
    return found


Function = Callable[[np.ndarray], np.ndarray]


class Link(Value):
    """A link function with its inverse, and the derivative of the inverse.

    Parameters
    ----------
    name
        What it is called.
    function
        g: from means to scores.
    inverse
        From scores to means. Where it leaves the means of the family, the likelihood is 0.
    derivative
        Of the inverse, by the score.

    Examples
    --------
    >>> cube = Link("cube root", np.cbrt, lambda score: score**3, lambda score: 3 * score**2)
    >>> float(cube.inverse(np.array(2.0)))
    8.0
    """

    name: str
    function: Function
    inverse: Function
    derivative: Function

    def __init__(self, name: str, function: Function, inverse: Function, derivative: Function) -> None:
        functions = {"function": function, "inverse": inverse, "derivative": derivative}
        self._set(name=str(name), **{key: check_function(value, key) for key, value in functions.items()})

    def __repr__(self) -> str:
        return f"Link({self.name!r})"


def ones(score: np.ndarray) -> np.ndarray:
    return np.ones_like(score)


def as_given(values: np.ndarray) -> np.ndarray:
    return values


def reciprocal(values: np.ndarray) -> np.ndarray:
    return np.divide(1.0, values)


def minus_squared_reciprocal(score: np.ndarray) -> np.ndarray:
    return -np.divide(1.0, score**2)


def squared_reciprocal(mean: np.ndarray) -> np.ndarray:
    return np.divide(1.0, mean**2)


def reciprocal_root(score: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(score))


def reciprocal_root_slope(score: np.ndarray) -> np.ndarray:
    return -0.5 * np.power(score, -1.5)


def doubled(score: np.ndarray) -> np.ndarray:
    return 2 * score


def logistic_slope(score: np.ndarray) -> np.ndarray:
    return np.asarray(expit(score) * expit(-score))


def normal_density(score: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * score**2) / np.sqrt(2 * np.pi)


def log_log_complement(mean: np.ndarray) -> np.ndarray:
    return np.log(-np.log1p(-mean))


def complement_of_doubly_exponential(score: np.ndarray) -> np.ndarray:
    return -np.expm1(-np.exp(score))


def complement_slope(score: np.ndarray) -> np.ndarray:
    return np.exp(score - np.exp(score))


LINKS = {
    link.name: link
    for link in (
        Link("identity", as_given, as_given, ones),
        Link("log", np.log, np.exp, np.exp),
        Link("logit", logit, expit, logistic_slope),
        Link("probit", ndtri, ndtr, normal_density),
        Link("complementary log-log", log_log_complement, complement_of_doubly_exponential, complement_slope),
        Link("inverse", reciprocal, reciprocal, minus_squared_reciprocal),
        Link("inverse squared", squared_reciprocal, reciprocal_root, reciprocal_root_slope),
        Link("square root", np.sqrt, np.square, doubled),
    )
}


def as_link(link: Any, canonical: str) -> Link:
    """A link by its name, or itself; None is the canonical link of the family."""
    if isinstance(link, Link):
        return link
    return LINKS[canonical if link is None else check_choice(link, LINKS, "link")]
