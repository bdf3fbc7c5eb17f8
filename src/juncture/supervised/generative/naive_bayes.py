"""Columns of naive Bayes: the family of each, the densities of all with equal classes, and their priors.

Neighbouring Gaussian columns, columns of zeros and ones, and counts of words are each one block, which is looked at in
one pass; other columns have emissions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from juncture.base.checks import check_choice, shown
from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, EmissionStatistics
from juncture.components.convert import of_batch
from juncture.components.family import FamilyEmissions, stack_members
from juncture.components.gaussian import GaussianEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.repeated import RepeatedEmissions
from juncture.components.word_counts import MultinomialCounts
from juncture.errors import InvalidData, JunctureError, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.categorical import Categorical
from juncture.families.discrete.poisson import Poisson
from juncture.families.family import Family

FAMILIES = ("gaussian", "bernoulli", "categorical", "poisson", "exponential", "multinomial")
NAMES: dict[type, str] = {Gaussian: "gaussian", Bernoulli: "bernoulli", Categorical: "categorical"}
OF_NAMES: dict[str, type[Family]] = {"poisson": Poisson, "exponential": Exponential}


@dataclass(frozen=True)
class ColumnFamily:
    """The family of a column: a name, with the class where it is of `families/`; of categories also their number."""

    name: str
    family: type[Family] | None = None
    num_categories: int = 0

    @property
    def is_coded(self) -> bool:
        return self.name == "categorical"

    def __str__(self) -> str:
        return self.name


def as_column_family(given: Any) -> ColumnFamily:
    """A family by its name, or the class of one, such as `jt.Gamma`."""
    if isinstance(given, ColumnFamily):
        return given
    if isinstance(given, type) and issubclass(given, Family):
        name = NAMES.get(given, given.__name__)
        return ColumnFamily(name, None if given in NAMES else given)
    if not isinstance(given, str):
        raise Unsupported(f"the family of a column is a name, or a class such as jt.Gamma; got {shown(given)}")
    name = check_choice(given, FAMILIES, "the family of a column")
    return ColumnFamily(name, OF_NAMES.get(name))


def equal_classes(rows: Any, families: Sequence[ColumnFamily], num_classes: int) -> Emissions:
    """The densities of these columns, the same in all classes: what learning starts from."""
    parts: list[Emissions] = []
    start = 0
    for family, run in groupby(families):
        size = len(list(run))
        make = BLOCKS.get(family.name)
        if make is not None:
            parts.append(make(rows[:, start : start + size], size, num_classes))
        else:
            columns = range(start, start + size)
            parts += [column_density(rows[:, column], family, num_classes, column) for column in columns]
        start += size
    return parts[0] if len(parts) == 1 and parts[0].event_shape else IndependentEmissions(parts)


def gaussian_block(rows: np.ndarray, size: int, num_classes: int) -> Emissions:
    return GaussianEmissions(np.zeros((num_classes, size)), np.ones((num_classes, size)), "diagonal")


def bernoulli_block(rows: Any, size: int, num_classes: int) -> Emissions:
    return BernoulliEmissions(np.full((num_classes, size), 0.5))


def word_block(rows: Any, size: int, num_classes: int) -> Emissions:
    return MultinomialCounts(np.full((num_classes, size), 1.0 / size))


BLOCKS: dict[str, Callable[[Any, int, int], Emissions]] = {
    "gaussian": gaussian_block,
    "bernoulli": bernoulli_block,
    "multinomial": word_block,
}


def column_density(cells: np.ndarray, family: ColumnFamily, num_classes: int, column: int) -> Emissions:
    """The density of one column that is no block."""
    if family.family is None:
        table = np.full((num_classes, family.num_categories), 1.0 / family.num_categories)
        return CategoricalEmissions(table)
    return of_batch(stack_members([pooled_member(cells, family.family, column)] * num_classes))


def pooled_member(cells: np.ndarray, family: type[Family], column: int) -> Family:
    """The member of a family that fits a column whatever the class."""
    known = cells[~np.isnan(cells)]
    if not len(known):
        raise InvalidData(f"column {column} has no observed cell to learn from; leave it out")
    if family in RATES:
        return RATES[family](known, column)
    try:
        return family.estimate(family.statistics(known))
    except JunctureError as error:
        raise InvalidData(f"no {family.__name__} fits column {column}: {error}") from error


def poisson_member(cells: np.ndarray, column: int) -> Family:
    if not ((cells >= 0) & (cells == np.floor(cells))).all():
        raise InvalidData(f"column {column} is Poisson: its cells are whole numbers of at least 0")
    return Poisson(max(float(cells.mean()), 1e-3))


def exponential_member(cells: np.ndarray, column: int) -> Family:
    if not (cells >= 0).all():
        raise InvalidData(f"column {column} is exponential: its cells are numbers of at least 0")
    return Exponential(1.0 / max(float(cells.mean()), 1e-300))


RATES: dict[type[Family], Callable[[np.ndarray, int], Family]] = {
    Poisson: poisson_member,
    Exponential: exponential_member,
}


def pseudo_rows(densities: Emissions, statistics: EmissionStatistics, alpha: float) -> Any:
    """The priors that add `alpha` counts to each cell of a table; to rates, `alpha` rows at the mean of all classes."""
    if not alpha:
        return [None] * len(densities.parts) if isinstance(densities, IndependentEmissions) else None
    if isinstance(densities, IndependentEmissions):
        pairs = zip(densities.parts, statistics.parts, strict=True)
        return [pseudo_rows(part, found, alpha) for part, found in pairs]
    if isinstance(densities, RepeatedEmissions):
        return pseudo_rows(densities.column, statistics.parts[0], alpha)
    if isinstance(densities, BernoulliEmissions | CategoricalEmissions | MultinomialCounts):
        return alpha
    return rate_prior(densities, statistics, alpha) if isinstance(densities, FamilyEmissions) else None


def rate_prior(densities: FamilyEmissions, statistics: EmissionStatistics, alpha: float) -> Any:
    """A Gamma whose mode is the rate of all classes; a column of zeros counts as half an event among all rows."""
    kind, found = type(densities.family), statistics.parts[0]
    if kind is Bernoulli:
        return Beta(1.0 + alpha, 1.0 + alpha)
    if kind not in RATES:
        return None
    weight, total = float(np.sum(found.weight)), float(np.abs(np.sum(found.total)))
    mean = max(total, 0.5) / weight if kind is Poisson else max(total, 1e-300) / weight
    return Gamma(1.0 + alpha * mean, alpha) if kind is Poisson else Gamma(1.0 + alpha, alpha * mean)
