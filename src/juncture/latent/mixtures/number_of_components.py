"""`choose_components`: the number of components of a mixture, by a criterion or by held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

from juncture.base.checks import check_choice, check_count, check_iterable, check_kind
from juncture.base.options import as_generator, as_seed, used_seed
from juncture.base.shown import Shown
from juncture.base.values import few
from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, EmissionStatistics
from juncture.components.family import FamilyEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture, MixturePrior
from juncture.data.feature_names import name_model
from juncture.data.rows import Rows
from juncture.errors import InvalidData, NotConvergedWarning, RegularizedWarning, Unsupported
from juncture.families.conjugacy import ConjugatePrior
from juncture.families.continuous.beta import Beta
from juncture.families.posteriors.generic import GenericPrior
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.latent.mixtures.fit import MixtureOptions, as_blocks, as_emission_statistics, as_emissions, learn_mixture
from juncture.latent.mixtures.starts import weak_prior
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, check_progress

if TYPE_CHECKING:
    import pandas as pd


CRITERIA = ("bic", "aic", "held-out", "evidence")
FOLDS = 5
Learn = Callable[[int, np.ndarray, np.ndarray], Fit[Mixture]]


@dataclass(frozen=True, eq=False, repr=False)
class ComponentChoice(Shown):
    """The scores of mixtures with different numbers of components, and the best of them.

    Attributes
    ----------
    numbers
        The numbers of components.
    scores
        Of each: by "bic" log p(rows) - ½ log(rows) · parameters, by "aic" log p(rows) - parameters, by "held-out"
        the sum of log p(row) over rows that were not learned from, by "evidence" a lower bound of log p(rows), with
        the parameters integrated out. The higher the better.
    errors
        The standard error of each score by "held-out"; 0 for the others.
    criterion
        The criterion.
    fit
        The `Fit` of the best number, to all rows.
    seed
        The seed of the starts and folds: `rng=choice.seed` repeats the choice.
    """

    numbers: tuple[int, ...]
    scores: np.ndarray
    errors: np.ndarray
    criterion: str
    fit: Fit[Mixture]
    seed: int | None = None

    @property
    def best(self) -> int:
        """The number with the highest score; of equal ones the smaller."""
        return self.numbers[int(np.argmax(self.scores))]

    @property
    def model(self) -> Mixture:
        """The mixture with the best number of components, learned from all rows."""
        return self.fit.model

    def to_pandas(self) -> pd.DataFrame:
        """A row for each number of components."""
        import pandas as pd

        return pd.DataFrame({"components": self.numbers, "score": self.scores, "error": self.errors})

    def __repr__(self) -> str:
        listed = few(f"{number}: {score:.6g}" for number, score in zip(self.numbers, self.scores, strict=True))
        return f"ComponentChoice({self.best} by {self.criterion}; {listed})"


def choose_components(  # noqa: PLR0913 (one function, many options)
    template: Mixture,
    data: Any,
    numbers: Iterable[int] = range(1, 9),
    criterion: str = "bic",
    prior: Any = "weak",
    *,
    weights: Any = None,
    start: Any = "random",
    method: Any = "auto",
    rng: Any = None,
    progress: ProgressCallback | None = None,
) -> ComponentChoice:
    """The number of components that a criterion prefers, and the mixture with it.

    Parameters
    ----------
    template
        A mixture whose first component gives the family.
    data
        Rows as `fit` takes them, in memory.
    numbers
        The numbers of components to compare.
    criterion
        "bic"; "aic"; "held-out": the log-likelihood of rows that are left out, a fifth at a time; or "evidence": a
        lower bound of the evidence under the prior, which must be conjugate for each component.
    prior
        As that of `fit`; the weak prior keeps a component from winning by shrinking to a point.
    weights, method
        As those of `fit`.
    start
        "random" or "k-means".
    rng
        A seed or a `numpy.random.Generator` for starts and folds.
    progress
        A function that is called after each step of each mixture that is learned.

    Returns
    -------
    ComponentChoice
        The scores, the best number and its mixture.

    Examples
    --------
    >>> import juncture as jt
    >>> rows = [0.1, 0.3, 0.2, 0.0, 9.1, 9.2, 9.0, 9.3]
    >>> jt.clusters.choose_components(jt.Mixture([1.0], [jt.Gaussian(0.0, 1.0)]), rows, [1, 2]).best
    2
    """
    check_kind(template, Mixture, "the template")
    check_choice(criterion, CRITERIA, "criterion")
    options = MixtureOptions.of({"start": check_choice(start, ("random", "k-means"), "start"), "method": method})
    check_progress(progress)
    asked = [check_count(number, "a number of components", least=1) for number in check_iterable(numbers, "numbers")]
    read = Rows.of(data, template.feature_names, weights=weights, extra="ignore")
    rows, names = read.numbers(template.event_shape), read.names
    if read.is_single(template.event_shape) or not asked:
        raise InvalidData("choose_components takes many rows, and numbers of components to compare")
    counted = read.weights(len(rows))
    seed = as_seed(rng)
    generator = as_generator(seed)

    def learn(number: int, some: np.ndarray, own: np.ndarray) -> Fit[Mixture]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RegularizedWarning)
            warnings.simplefilter("ignore", NotConvergedWarning)
            wide = repeat_component(template, number)
            blocks = as_blocks(wide, some, own)
            return learn_mixture(wide, blocks, prior, generator, options, progress)

    fits = [learn(number, rows, counted) for number in asked]
    if criterion == "held-out":
        scores, errors = held_out_scores(learn, asked, rows, counted, generator)
    elif criterion == "evidence":
        scores = np.array([evidence_bound(each, as_own_prior(prior, each.model, rows, counted)) for each in fits])
        errors = np.zeros(len(fits))
    else:
        scores = np.array([penalized(each, criterion, float(counted.sum())) for each in fits])
        errors = np.zeros(len(fits))
    best = name_model(fits[int(np.argmax(scores))], names)
    return ComponentChoice(tuple(asked), scores, errors, criterion, best, used_seed(seed, generator))


def repeat_component(template: Mixture, number: int) -> Mixture:
    """A mixture of equal components, of the family of the first component of the template."""
    return Mixture(np.full(number, 1.0 / number), template.components.take([0] * number))


def as_own_prior(prior: Any, model: Mixture, rows: np.ndarray, weights: np.ndarray) -> MixturePrior:
    """The prior of a mixture with this number of components."""
    if isinstance(prior, str):
        return weak_prior(model, rows, weights)
    return prior if isinstance(prior, MixturePrior) else MixturePrior(prior)


def penalized(found: Fit[Mixture], criterion: str, num_rows: float) -> float:
    each = 1.0 if criterion == "aic" else 0.5 * np.log(max(num_rows, 1.0))
    return float(found.log_likelihood - each * found.model.num_parameters)


def held_out_scores(
    learn: Learn, numbers: list[int], rows: np.ndarray, weights: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Σ weight · log p(row) over rows that were left out, and its standard error, for each number."""
    fold = rng.permutation(len(rows)) % min(FOLDS, len(rows))
    logs = np.empty((len(numbers), len(rows)))
    for index, number in enumerate(numbers):
        for part in range(int(fold.max()) + 1):
            out = fold == part
            logs[index, out] = learn(number, rows[~out], weights[~out]).model.log_prob(rows[out])
    weighted = np.where(weights > 0, logs, 0.0) * weights
    return weighted.sum(axis=1), weighted.std(axis=1) * np.sqrt(len(rows))


def evidence_bound(found: Fit[Mixture], prior: MixturePrior) -> float:
    """The bound for a mixture that was learned; weights and tables without a prior have a uniform one."""
    statistics: Any = found.statistics
    complete = count_evidence(statistics.counts[None], prior.weights)
    complete += components_evidence(found.model.components, statistics.components, prior.components)
    expected = as_emissions(found.model).log_likelihood(as_emission_statistics(statistics))
    return complete + found.log_likelihood - expected


def components_evidence(components: Emissions, statistics: EmissionStatistics, prior: Any) -> float:
    """Log of the evidence of data with these statistics, over all components."""
    if isinstance(components, IndependentEmissions):
        parts = zip(components.parts, statistics.parts, components._priors(prior), strict=True)
        return sum(components_evidence(*part) for part in parts)
    if isinstance(components, CategoricalEmissions):
        return count_evidence(statistics.parts[0], prior)
    if isinstance(components, BernoulliEmissions):
        ones, seen = statistics.parts
        counts = np.stack([ones, np.maximum(seen - ones, 0.0)], axis=-1).reshape(-1, 2)
        return count_evidence(counts, Dirichlet([prior.a, prior.b]) if isinstance(prior, Beta) else prior)
    is_conjugate = isinstance(components, FamilyEmissions) or (
        isinstance(components, GaussianEmissions) and components.structure in {"full", "diagonal"}
    )
    if not is_conjugate or not isinstance(prior, ConjugatePrior | GenericPrior):
        raise Unsupported(
            f"the evidence needs a conjugate prior of each component, as MixturePrior(components=…), and no tied or"
            f" spherical covariances; of {components.summary} it is {prior!r}: take another criterion, or give one"
        )
    return float(np.sum(np.asarray(prior.log_evidence(statistics.parts[0]))))


def count_evidence(counts: np.ndarray, prior: Any) -> float:
    """Σ over the rows of counts (row, state) of log ∫ Π θ^n Dirichlet(θ) dθ; a number is each concentration."""
    alpha = np.asarray(prior.concentration if isinstance(prior, Dirichlet) else 1.0 if prior is None else prior, float)
    if not isinstance(prior, Real | Dirichlet | None):
        raise Unsupported(f"the evidence of counts needs a number or a Dirichlet as prior; got {prior!r}")
    alpha = np.broadcast_to(alpha, counts.shape)
    totals = gammaln(alpha.sum(axis=-1)) - gammaln((alpha + counts).sum(axis=-1))
    return float((totals + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=-1)).sum())
