"""Generalised linear models by Fisher scoring (IRLS), with steps that are halved, or by stochastic gradient.

The score of a row with weight w is w (t - μ) μ'(η) / V(μ) · φ(x), its information w μ'(η)² / V(μ) · φ(x) φ(x)ᵀ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, xlogy

from juncture.base.checks import check_array, check_flag
from juncture.base.options import Options, as_seed
from juncture.base.values import number_of
from juncture.errors import InvalidData, NotConvergedWarning, RegularizedWarning, warn_user
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.binomial import Binomial
from juncture.learning.conditionals.softmax import FLAT, orthogonal_directions, standardization
from juncture.learning.learners import StochasticGradient
from juncture.learning.newton import Newton
from juncture.learning.undirected.penalties import check_penalty
from juncture.numerics.descent import descend_stochastic
from juncture.numerics.iteration import Trace
from juncture.numerics.newton import (
    DampedNewton,
    Expansion,
    inverse_root,
    is_well_conditioned,
    least_curvature,
    shortest_step,
)
from juncture.runtime.parallel import block_rows, map_blocks, one_thread
from juncture.supervised.model import read_training, weights_left
from juncture.supervised.regression.bases import Basis, basis_of, check_basis
from juncture.supervised.regression.coefficients import check_robust, errors_of, scatter_of_scores, take_clusters
from juncture.supervised.regression.generalized_linear import (
    LINKS,
    RESPONSES,
    GeneralizedLinearFit,
    GeneralizedLinearModel,
    Link,
    Response,
    RowFacts,
    as_link,
    as_response,
    read_offset,
    read_trials,
    take_fact_columns,
)
from juncture.supervised.regression.inputs_and_targets import Pairs, pairs_of, read_pairs

SMALLEST = 1e-300  # dispersion
MANY_ROWS, FEW_ROWS = 50_000, 10_000  # from so many rows, scoring starts at the maximum of a few of them
LINEAR = 1e-8  # of the tolerance, where scoring converges linearly
MOST_STEPS = 500  # of a fit; where more are needed, there is no maximum


@dataclass(frozen=True)
class GeneralizedLinearOptions(RowFacts):
    """How a generalised linear model is learned: maximum likelihood, or its mode under a Gaussian prior.

    Features are centered and scaled before anything is solved or inverted, so that their units and offsets do not
    matter; where some depend on others, the coefficients are those of least norm in standard deviations. Weights of
    rows count as repetitions.

    Parameters
    ----------
    family
        A class: `jt.Gaussian`, `jt.Bernoulli`, `jt.Binomial`, `jt.Poisson`, `jt.Geometric`, `jt.NegativeBinomial`,
        `jt.Exponential` or `jt.Gamma`. The targets of a binomial are numbers of successes.
    link
        The name of a link, or a `Link`; by default the canonical one. The rate of an exponential is linear in the
        features with "inverse", the canonical link: the mean is one over the rate.
    successes
        Of a negative binomial.
    basis
        The features; by default a constant and the inputs.
    penalty
        `jt.L2(strength)`, or its strength: ½ strength Σ w² is subtracted from minus half the deviance, as in ridge
        regression: a Gaussian prior with the variance dispersion / strength.
    penalize_constant
        Whether the coefficient of the constant is in the penalty.
    standardize
        Whether the penalty is that of the coefficients of standardised features, which is the same in all units.
    robust
        "HC0" to "HC3": standard errors from the residuals of the rows, which hold where the variance of the targets is
        not that of the family. None: those of the model.
    clusters
        A label for each row, or the name of a column: standard errors that hold where rows with one label depend on
        each other.
    start
        The first coefficients; by default those of the linked targets.
    method
        "newton": Fisher scoring (iteratively reweighted least squares), or a `jt.Newton` with its options. "gradient":
        stochastic gradient steps w ← w + ε ∇ log p(t | x, w), or a `jt.StochasticGradient` with its options.
    """

    family: Any = None
    link: Any = None
    successes: float | None = None
    basis: Basis | None = None
    penalty: Any = None
    penalize_constant: bool = False
    standardize: bool = False
    robust: str | None = None
    clusters: Any = None
    start: Any = None
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"newton": Newton, "gradient": StochasticGradient}

    def __post_init__(self) -> None:
        check_basis(self.basis)
        penalty = check_penalty(self.penalty)
        if penalty is not None and penalty.absolute:
            raise InvalidData("the penalty of a generalised linear model is jt.L2(strength): jt.L1 has no curvature")
        object.__setattr__(self, "penalty", penalty)
        check_flag(self.penalize_constant, "penalize_constant")
        check_flag(self.standardize, "standardize")
        check_robust(self.robust, self.clusters)

    def of_model(self, model: GeneralizedLinearModel) -> GeneralizedLinearOptions:
        """The same options, where nothing else was given with the family, the link and the basis of a model."""
        if self.family not in {None, model.family}:
            return self
        return replace(
            self,
            family=model.family,
            link=model.link if self.link is None else self.link,
            successes=model.successes if self.successes is None else self.successes,
            basis=basis_of(model, self.basis),
        )


def fit_generalized_linear(
    model: GeneralizedLinearModel | type[GeneralizedLinearModel],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    rng: Any = None,
    options: GeneralizedLinearOptions,
) -> GeneralizedLinearFit:
    """The model of largest likelihood; one that is given says its family, link, basis and columns."""
    if not isinstance(model, type):
        options = options.of_model(model)
    table, known = take_clusters(*take_fact_columns(data, options))
    if known is not options and not isinstance(weights, str):
        weights = weights_left(data, weights)
    options, read = known, read_training(model, table, y, weights)
    problem = state_problem(pairs_of(read), options)
    if isinstance(options.method, StochasticGradient):
        if options.penalty is not None:
            raise InvalidData('penalty= is for Fisher scoring: leave it out, or take method="newton"')
        found = descend_generalized_linear(problem, options, as_seed(rng))
    else:
        found = maximize_likelihood(problem.orthogonal(), options, options.method.limits)
    return found.with_model(found.model._with_names(read.names, read.target_name))


def maximize_likelihood(
    problem: Problem, options: GeneralizedLinearOptions, limits: dict[str, Any]
) -> GeneralizedLinearFit:
    """The fit at the maximum of the likelihood, or of it less the penalty, by Fisher scoring."""
    near = maximum_of_few(problem) if options.start is None else None
    first, there = near or first_point(problem, options.start)
    found = scoring(problem, **limits).minimize(problem.expand, first, there)
    most = limits.get("max_steps", MOST_STEPS)
    if not found.converged and most < MOST_STEPS:
        warn_user(f"Fisher scoring did not end within max_steps={most}: raise it", NotConvergedWarning)
    elif not found.converged or not least_curvature(found.here.hessian, there.hessian) > FLAT:
        raise InvalidData(
            "the coefficients grow without end, or to the edge of the family's means: targets that the inputs separate"
            " have no maximum of the likelihood; give other rows, or fewer features"
        )
    reason = "the steps gain nothing" if found.converged else f"stopped after {number_of(most, 'step')}"
    trace = Trace(tuple(-value for value in found.values), found.converged, reason)
    change: Any = problem.change
    return report(problem, found.point, change @ found.point, found.here, trace, options)


def descend_generalized_linear(problem: Problem, options: GeneralizedLinearOptions, seed: int) -> GeneralizedLinearFit:
    """The fit after stochastic gradient steps on the coefficients, in the units of the features as they are given."""
    first, _ = first_point(problem, options.start, problem.expand_exactly)
    learner = options.method
    course = descend_stochastic(
        problem.row_gradient, first, len(problem.targets), step=learner.rule, max_steps=learner.max_steps, rng=seed,
        function=lambda point: problem.expand_exactly(point).value,
    )  # fmt: skip
    turned = problem.orthogonal()
    point = turned.back @ course.point
    trace = replace(course.trace, values=tuple(-value for value in course.trace.values))
    return report(turned, point, course.point, turned.expand_exactly(point), trace, options, seed=seed, course=course)


def maximum_of_few(problem: Problem) -> tuple[np.ndarray, Expansion] | None:
    """The maximum for some of many rows, with all rows' expansion there; None where these do not tell enough.

    Of a canonical link the likelihood has one maximum. Where all rows have none, as they grow without end in some
    direction, some rows have none either, or they have no curvature in that direction.
    """
    if len(problem.targets) < MANY_ROWS or problem.link.name != problem.response.canonical:
        return None
    few = problem.every(len(problem.targets) // FEW_ROWS)
    try:
        first, there = first_point(few, None)
    except InvalidData:
        return None
    found = scoring(few, 1e-6).minimize(few.expand, first, there)
    is_curved = is_well_conditioned(found.here.hessian) and least_curvature(found.here.hessian, there.hessian) > FLAT
    if not (found.converged and is_curved):
        return None
    here = problem.expand(found.point)
    return (found.point, here) if np.isfinite(here.value) else None


def scoring(problem: Problem, tolerance: float = 1e-16, max_steps: int = MOST_STEPS) -> DampedNewton:
    """Fisher scoring, whose tolerances are in units of the deviance: those of the squared target for a Gaussian.

    With a canonical link the last step squares what is left of the error; with another it takes a share of it, so that
    steps end later.
    """
    if problem.link.name != problem.response.canonical:
        tolerance *= LINEAR
    weights = problem.weights if problem.family is not Gaussian else problem.weights * problem.targets**2
    unit = float(weights.sum())
    return DampedNewton(
        shortest_step, tolerance=1e-30 * unit, relative_tolerance=tolerance, sufficient=1e-6,
        rounding=1e-14, scale=1e-16 * unit, max_steps=max_steps,
    )  # fmt: skip


def report(
    problem: Problem,
    point: np.ndarray,
    coefficients: np.ndarray,
    here: Expansion,
    trace: Trace,
    options: GeneralizedLinearOptions,
    **course: Any,
) -> GeneralizedLinearFit:
    """The fit at a point of an orthogonal problem, which is these coefficients of the features."""
    means, response = problem.means(point), problem.response
    is_inside = response.holds(means) or not problem.is_logistic
    if is_inside:
        pearson = float(problem.weights @ ((problem.targets - means) ** 2 / response.variance(means)))
    else:
        pearson = logistic_pearson(problem, point)
    deviance = 2 * here.value - float(((problem.pull @ point) ** 2).sum())
    change: Any = problem.change
    inner = inverse_root(here.hessian)
    root, pulled = change @ inner, problem.pull @ inner
    spare = float(problem.counts.sum()) - (root.shape[1] - float((pulled**2).sum()))
    dispersion = 1.0
    if response.has_dispersion:
        if not spare > 0:
            raise InvalidData(
                f"the rows (n_samples = {problem.counts.sum():g}) do not determine the dispersion: give more rows than"
                " features"
            )
        dispersion = pearson / spare
        if not dispersion > SMALLEST:
            warn_user(
                "the means are equal to the targets, so that the dispersion is 0; it is set to 1e-300",
                RegularizedWarning,
            )
            dispersion = SMALLEST
    model = GeneralizedLinearModel(
        problem.family,
        coefficients,
        problem.link,
        dispersion=dispersion,
        successes=problem.successes,
        basis=problem.basis,
    )
    return GeneralizedLinearFit(
        model,
        log_likelihood(problem, means, dispersion)
        if is_inside
        else log_likelihood(problem, problem.targets, dispersion) - deviance / 2,
        trace,
        covariance=root @ scatter(problem, point, inner, dispersion, options) @ root.T,
        deviance=deviance,
        null_deviance=null_deviance(problem),
        pearson=pearson,
        num_rows=float(problem.counts.sum()),
        degrees=degrees_of(options, spare) if response.has_dispersion else np.inf,
        errors=errors_of(options),
        penalty=options.penalty,
        **course,
    )


def degrees_of(options: Any, spare: float) -> float:
    """The degrees of freedom of t: what rows have beside the features, or clusters beside one."""
    return spare if options.clusters is None else float(len(np.unique(options.clusters)) - 1)


def scatter(
    problem: Problem, point: np.ndarray, inner: np.ndarray, dispersion: float, options: GeneralizedLinearOptions
) -> np.ndarray:
    """The covariance of the coefficients in directions in which the curvature, with dispersion 1, is the identity."""
    if errors_of(options) == "model":
        return dispersion * np.eye(inner.shape[1])
    scores, directions = problem.features @ point + problem.offset, problem.features @ inner
    means, derivative = np.asarray(problem.link.inverse(scores)), np.asarray(problem.link.derivative(scores))
    slope = (1.0 if problem.trials is None else problem.trials) * derivative / problem.response.variance(means)
    leverages = slope * derivative * (directions**2).sum(axis=1)
    return scatter_of_scores(directions, slope * (problem.targets - means), problem.counts, leverages, options)


def log_likelihood(problem: Problem, means: np.ndarray, dispersion: float) -> float:
    def add_rows(part: slice) -> float:
        targets, own = problem.targets[part], means[part]
        if problem.trials is None:
            logs = problem.response.member(own, dispersion).log_prob(targets)
        else:
            trials = problem.trials[part]
            logs = Binomial(trials.astype(np.int64), own).log_prob(np.round(targets * trials))
        return float(problem.counts[part] @ logs)

    return float(sum(map_blocks(add_rows, len(means), block_rows((8,)))))


def logistic_pearson(problem: Problem, point: np.ndarray) -> float:
    """Σ w (t - μ)² / μ (1 - μ) of a logistic regression by its scores; infinite where no double holds it."""
    scores, targets = problem.features @ point + problem.offset, problem.targets
    total = -2 * targets * (1 - targets)
    with np.errstate(over="ignore"):
        for part, exponents in ((targets, -scores), (1 - targets, scores)):
            total += part**2 * np.exp(exponents, out=np.zeros_like(part), where=part > 0)
    return float(problem.weights @ total)


def null_deviance(problem: Problem) -> float:
    """Of the best constant score, with the offset."""
    if not problem.offset.any():
        middle = problem.weights @ problem.targets / problem.weights.sum()
        with np.errstate(all="ignore"):
            terms = problem.response.deviance(problem.targets, np.full(len(problem.targets), middle))
        return float(problem.weights @ terms)
    alone = replace(problem, features=np.ones((len(problem.targets), 1)), pull=np.zeros((0, 1)), change=None, back=None)
    found = scoring(alone).minimize(alone.expand, *first_point(alone, None))
    return 2 * found.here.value


def deviance_explained(
    model: GeneralizedLinearModel, X: Any, y: Any, *, weights: Any, offset: Any, exposure: Any
) -> float:
    """1 less the deviance of the means over that of the best constant; of targets that are all equal 0, or 1 if met."""
    known = GeneralizedLinearOptions(offset=offset, exposure=exposure).of_model(model)
    problem = state_problem(read_pairs(X, y, weights), known)
    means = model.mean(X, offset=offset, exposure=exposure)
    left, null = float(problem.weights @ problem.response.deviance(problem.targets, means)), null_deviance(problem)
    if not null > 0:
        return float(left <= 0)
    return 1.0 - left / null


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows of a generalised linear model: half the deviance of coefficients, with dispersion 1, and its derivatives."""

    family: type
    response: Response
    link: Link
    basis: Basis
    features: np.ndarray  # (row, feature)
    targets: np.ndarray  # (row,); shares of successes for a binomial
    weights: np.ndarray  # (row,); times the trials for a binomial
    offset: np.ndarray  # (row,)
    counts: np.ndarray  # (row,): the weights of rows as given
    trials: np.ndarray | None
    successes: float | None
    pull: np.ndarray  # (·, feature): the penalty is ½ ‖pull coefficients‖²
    change: np.ndarray | None = None  # (feature, direction): coefficients are change times those of directions
    back: np.ndarray | None = None  # (direction, feature): from coefficients to those of directions

    def orthogonal(self) -> Problem:
        """The same problem in orthonormal directions of the standardised features: no unit or offset costs digits."""
        has_constant = self.basis.has_constant
        given = self.features[:, int(has_constant) :]
        standard = standardization(given, self.counts, is_centered=has_constant)
        roots, size = np.sqrt(self.counts)[:, None], block_rows((2 * self.features.shape[1],))
        with one_thread(len(given) > size):
            triangles = map_blocks(
                lambda part: np.asarray(
                    np.linalg.qr(standard.of_rows(given[part], has_constant) * roots[part], mode="r")
                ),
                len(given),
                size,
            )
            change = standard.change(has_constant)
            turn = orthogonal_directions([*triangles, self.pull @ change])
            columns = np.empty((turn.shape[1], len(given)))

            def turn_rows(part: slice) -> None:
                columns[:, part] = turn.T @ standard.of_rows(given[part], has_constant).T

            map_blocks(turn_rows, len(given), size)
        back = np.linalg.solve(change.T, turn / (turn**2).sum(axis=0)).T
        own = change @ turn
        return replace(self, features=columns.T, pull=self.pull @ own, change=own, back=back)

    def every(self, step: int) -> Problem:
        """The problem of every row whose number is a multiple of `step`."""
        return replace(
            self,
            features=self.features[::step],
            targets=self.targets[::step],
            weights=self.weights[::step],
            offset=self.offset[::step],
            counts=self.counts[::step],
            trials=None if self.trials is None else self.trials[::step],
        )

    def means(self, coefficients: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(self.link.inverse(self.features @ coefficients + self.offset))

    def expand(self, coefficients: np.ndarray) -> Expansion:
        """Half the deviance, its gradient, and the Fisher information; inf where a mean leaves the family."""
        size = len(coefficients)
        rows = block_rows((2 * size,))
        with one_thread(len(self.features) > rows), np.errstate(all="ignore"):
            parts = map_blocks(lambda part: self._expand_block(coefficients, part), len(self.features), rows)
        if any(part is None for part in parts):
            return Expansion(np.inf, np.zeros(size), np.eye(size))
        return self._penalised(coefficients, [part for part in parts if part is not None])

    def _penalised(self, coefficients: np.ndarray, parts: Sequence[tuple[float, np.ndarray, np.ndarray]]) -> Expansion:
        """The sum of the parts and the penalty."""
        value, gradient, hessian = (sum(part[place] for part in parts) for place in range(3))
        pulled = self.pull @ coefficients
        return Expansion(
            float(value) + 0.5 * float(pulled @ pulled),
            np.asarray(gradient) + self.pull.T @ pulled,
            np.asarray(hessian) + self.pull.T @ self.pull,
        )

    def _expand_block(self, coefficients: np.ndarray, part: slice) -> tuple[float, np.ndarray, np.ndarray] | None:
        features, targets, weights = self.features[part], self.targets[part], self.weights[part]
        scores = features @ coefficients + self.offset[part]
        means = np.asarray(self.link.inverse(scores))
        if not self.response.holds(means):
            return None
        derivative = np.asarray(self.link.derivative(scores))
        slope = weights * derivative / self.response.variance(means)
        bend = slope * derivative
        value = 0.5 * float(weights @ self.response.deviance(targets, means))
        gradient = features.T @ (slope * (means - targets))
        found = value, gradient, (features * bend[:, None]).T @ features
        return found if all(np.isfinite(part).all() for part in found) else None

    @property
    def is_logistic(self) -> bool:
        """Whether the scores are log-odds: the likelihood then is positive at all finite scores."""
        return self.response is RESPONSES[Bernoulli] and self.link == LINKS["logit"]

    def expand_exactly(self, coefficients: np.ndarray) -> Expansion:
        """As `expand`; of a logistic regression also where its means are 0 or 1 to the last digit."""
        if not self.is_logistic:
            return self.expand(coefficients)
        parts = map_blocks(
            lambda part: self._expand_logistic(coefficients, part),
            len(self.features),
            block_rows((2 * len(coefficients),)),
        )
        return self._penalised(coefficients, parts)

    def _expand_logistic(self, coefficients: np.ndarray, part: slice) -> tuple[float, np.ndarray, np.ndarray]:
        features, targets, weights = self.features[part], self.targets[part], self.weights[part]
        scores = features @ coefficients + self.offset[part]
        ones, zeros = expit(scores), expit(-scores)  # μ and 1 - μ, each to its last digit
        terms = targets * np.logaddexp(0, -scores) + (1 - targets) * np.logaddexp(0, scores)
        own = xlogy(targets, targets) + xlogy(1 - targets, 1 - targets)
        gradient = features.T @ (weights * ((1 - targets) * ones - targets * zeros))
        return float(weights @ (terms + own)), gradient, (features * (weights * ones * zeros)[:, None]).T @ features

    def row_gradient(self, coefficients: np.ndarray, row: int) -> np.ndarray:
        """The gradient of one row, for stochastic descent."""
        part = slice(row, row + 1)
        found = (
            self._expand_logistic(coefficients, part) if self.is_logistic else self._expand_block(coefficients, part)
        )
        if found is None:
            raise InvalidData(
                f"at {coefficients.round(4).tolist()} row {row} has no mean in the family: take shorter steps, or"
                " another start"
            )
        return found[1]


def state_problem(rows: Pairs, options: GeneralizedLinearOptions) -> Problem:
    """The rows with what the options say of them, checked."""
    family, trials, successes = options.family, options.trials, options.successes
    if family is None:
        raise InvalidData("a generalised linear model has a family: give family=, a class such as jt.Poisson")
    response, chosen = as_response(family, successes), check_basis(options.basis)
    linked = as_link(options.link, response.canonical)
    if trials is not None and family is not Binomial:
        raise InvalidData("trials= is for jt.Binomial only")
    number = read_trials(trials, len(rows.targets)) if family is Binomial else None
    if number is None:
        response.check_targets(rows.targets)
    elif not ((rows.targets >= 0) & (rows.targets <= number) & (rows.targets == np.floor(rows.targets))).all():
        raise InvalidData("targets of a binomial are whole numbers from 0 to the trials of their row")
    features = chosen.features(rows.inputs)
    return Problem(
        family,
        response,
        linked,
        chosen,
        features,
        rows.targets if number is None else rows.targets / number,
        rows.weights if number is None else rows.weights * number,
        read_offset(options.offset, options.exposure, len(rows.targets), linked),
        rows.weights,
        number,
        None if successes is None else float(successes),
        pull_of(features, rows.weights, chosen, options),
    )


def pull_of(features: np.ndarray, weights: np.ndarray, basis: Basis, options: GeneralizedLinearOptions) -> np.ndarray:
    """(·, feature): the root of the penalty."""
    if options.penalty is None:
        return np.zeros((0, features.shape[1]))
    constants = int(basis.has_constant)
    units = np.ones(features.shape[1])
    if options.standardize:
        units[constants:] = standardization(features[:, constants:], weights, is_centered=basis.has_constant).deviation
    units[:constants] = float(options.penalize_constant)
    return np.diag(np.sqrt(options.penalty.squared) * units)


def first_point(
    problem: Problem, start: Any, expand: Callable[[np.ndarray], Expansion] | None = None
) -> tuple[np.ndarray, Expansion]:
    """The start as given, or least squares of linked targets that are drawn to their mean, which has a likelihood."""
    size = problem.features.shape[1] if problem.back is None else problem.back.shape[1]
    tries: Iterable[np.ndarray]
    if start is not None:
        given = check_array(start, "start", ndim=1)
        if given.shape != (size,) or not np.isfinite(given).all():
            raise InvalidData(f"start is a list of {size} finite numbers, one for each feature")
        tries = [given if problem.back is None else problem.back @ given]
    else:
        middle = float(problem.weights @ problem.targets / problem.weights.sum())
        drawn = (0.5 * (problem.targets + middle), np.full(len(problem.targets), middle))
        tries = (solve_linked(problem, means) for means in drawn)
    for point in tries:
        here = (expand or problem.expand)(point) if np.isfinite(point).all() else None
        if here is not None and np.isfinite(here.value):
            return point, here
    raise InvalidData(
        f"no start was found at which all rows have means of a {problem.family.__name__} with the link"
        f" {problem.link.name!r}: give start=, coefficients at which they have"
    )


def solve_linked(problem: Problem, means: np.ndarray) -> np.ndarray:
    """The coefficients whose scores are closest to the links of these means.

    They come from products of the features, which are orthonormal, or nearly so where rows have trials.
    """
    size = block_rows((2 * problem.features.shape[1],))
    with np.errstate(all="ignore"):
        scores = np.asarray(problem.link.function(means)) - problem.offset
    if not np.isfinite(scores).all():
        return np.full(problem.features.shape[1], np.nan)

    def multiply(part: slice) -> tuple[np.ndarray, np.ndarray]:
        features = problem.features[part]
        heavy = features * problem.weights[part, None]
        return heavy.T @ features, heavy.T @ scores[part]

    with one_thread(len(scores) > size):
        parts = map_blocks(multiply, len(scores), size)
    squares, products = (np.sum([part[place] for part in parts], axis=0) for place in range(2))
    return np.asarray(np.linalg.lstsq(squares, products, rcond=None)[0])
