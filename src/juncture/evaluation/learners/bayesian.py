"""Bayesian comparison of two learners: the probabilities that one is better, or that both are equivalent.

The region of practical equivalence (rope) holds the differences that do not matter. On the folds of one data set the
posterior of the mean difference is a Student t distribution that knows of the correlation of folds (Corani and
Benavoli 2015); over data sets the posterior of where differences lie is that of a Dirichlet process (Benavoli, Mangili,
Corani, Zaffalon and Ruggeri 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from juncture.base.checks import check_count, check_number
from juncture.base.options import as_generator
from juncture.base.shown import Shown
from juncture.drawing.pictures import plot
from juncture.evaluation.learners.paired_tests import check_pairs, check_test

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 1000  # draws at a time


@dataclass(frozen=True)
class BayesianComparison(Shown):
    """The posterior probabilities that the second learner is better, that both are equivalent, or the first better.

    Attributes
    ----------
    name
        The model of the differences.
    second_better, equivalent, first_better
        The probabilities that the difference, first minus second, lies below, in, or above the region of practical
        equivalence. They add up to 1.
    rope
        Half the width of the region.
    difference
        The mean (over data sets, the median) of the differences that were observed.
    low, high
        The ends of the credible interval of the mean difference; NaN for the signed-rank model, which has none.
    """

    name: str
    second_better: float
    equivalent: float
    first_better: float
    rope: float
    difference: float
    low: float
    high: float

    @property
    def probabilities(self) -> tuple[float, float, float]:
        """Of the second being better, of equivalence, of the first being better."""
        return self.second_better, self.equivalent, self.first_better

    def to_pandas(self) -> pd.Series:
        """The fields as a series."""
        import pandas as pd

        return pd.Series({name: getattr(self, name) for name in self.__dataclass_fields__})

    def plot(self, **options: Any) -> Any:
        """The three probabilities as bars."""
        return plot(self, **options)


def bayesian_correlated_t(
    first: Any, second: Any, test_fraction: float, *, rope: float = 0.0, confidence: float = 0.95
) -> BayesianComparison:
    """The Bayesian correlated t-test of two learners on the folds of one data set.

    Parameters
    ----------
    first, second
        The scores of the two learners on the same test parts: (fold,) or (repeat, fold).
    test_fraction
        The share of rows that each test part has: 1/k for k folds. It is the correlation of the differences.
    rope
        Half the width of the region of practical equivalence, as 0.01 for accuracies.
    confidence
        The probability of the credible interval.

    Returns
    -------
    BayesianComparison
        From the posterior of the mean difference: a Student t with n - 1 degrees of freedom and the squared scale
        s² (1/n + ρ/(1 - ρ)), under the prior that knows nothing of mean and variance.

    Examples
    --------
    >>> a, b = [0.81, 0.85, 0.84, 0.82, 0.80], [0.79, 0.80, 0.81, 0.80, 0.79]
    >>> round(bayesian_correlated_t(a, b, 1 / 5, rope=0.01).first_better, 3)
    0.905
    """
    differences = check_pairs(first, second)
    fraction = check_number(test_fraction, "test_fraction", above=0, below=1)
    width, level = check_number(rope, "the rope", least=0, finite=True), check_test("two-sided", confidence)
    mean, degrees = float(differences.mean()), len(differences) - 1
    scale = float(np.sqrt(differences.var(ddof=1) * (1 / len(differences) + fraction / (1 - fraction))))
    if scale <= 1e-12 * abs(mean) or scale == 0:  # all differences are the same: the posterior is a point
        below, above = float(mean < -width), float(mean > width)
        margin = 0.0
    else:
        below = float(special.stdtr(degrees, (-width - mean) / scale))
        above = float(special.stdtr(degrees, (mean - width) / scale))
        margin = scale * float(special.stdtrit(degrees, (1 + level) / 2))
    inside = max(0.0, 1 - below - above)
    name = "Bayesian correlated t"
    return BayesianComparison(name, below, inside, above, width, mean, mean - margin, mean + margin)


def bayesian_signed_rank(
    first: Any, second: Any, *, rope: float = 0.0, strength: float = 0.5, draws: int = 50_000, rng: Any = None
) -> BayesianComparison:
    """The Bayesian signed-rank test of two learners over data sets.

    Parameters
    ----------
    first, second
        The scores of the two learners, one a data set.
    rope
        Half the width of the region of practical equivalence.
    strength
        The weight of the prior, an imagined difference of 0; each data set has the weight 1.
    draws
        From the posterior.
    rng
        The seed, or a generator; fresh by default.

    Returns
    -------
    BayesianComparison
        The share of draws in which most of the mean differences of two data sets lie below, in, or above the region.

    Examples
    --------
    >>> a, b = [0.80, 0.75, 0.91, 0.60, 0.84], [0.78, 0.70, 0.90, 0.56, 0.81]
    >>> bayesian_signed_rank(a, b, rng=0).first_better > 0.95
    True
    """
    differences = check_pairs(first, second, least=1)
    width = check_number(rope, "the rope", least=0, finite=True)
    weight = check_number(strength, "the strength of the prior", above=0, finite=True)
    number, generator = check_count(draws, "draws", least=1), as_generator(rng)
    places = np.concatenate([[0.0], differences])
    sums = places[:, None] + places
    below, above = (sums < -2 * width).astype(float), (sums > 2 * width).astype(float)
    concentration = np.concatenate([[weight], np.ones(len(differences))])
    wins = np.zeros(3)
    for start in range(0, number, BLOCK):
        shares = generator.dirichlet(concentration, size=min(BLOCK, number - start))
        left, right = ((shares @ side * shares).sum(axis=1) for side in (below, above))
        wins += count_largest(np.stack([left, 1 - left - right, right], axis=1))
    lost, same, won = (wins / number).tolist()
    middle = float(np.median(differences))
    return BayesianComparison("Bayesian signed-rank", lost, same, won, width, middle, float("nan"), float("nan"))


def count_largest(masses: np.ndarray) -> np.ndarray:
    """How often each region has the most mass; equal masses share."""
    is_largest = masses >= masses.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((is_largest / is_largest.sum(axis=1, keepdims=True)).sum(axis=0))
