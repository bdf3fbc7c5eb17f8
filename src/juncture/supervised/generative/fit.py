"""A generative classifier learned from rows and their classes; and the Gaussian classes that learning starts from.

A covariance of discriminant analysis is full, diagonal or spherical, shared by all classes or not. Learning starts from
classes that are equal. A shared covariance that is diagonal or spherical is the diagonal, or its mean, of the shared
full one: that is its maximum likelihood estimate too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_choice
from juncture.base.options import Options
from juncture.components.contract import Emissions
from juncture.components.gaussian import GaussianEmissions
from juncture.data.rows import Rows, read_labels
from juncture.errors import InvalidData
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.numerics.iteration import Trace
from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.learning import (
    ESTIMATES,
    Estimation,
    LabelledRows,
    Restrict,
    check_shrinkage,
    learn,
    log_evidence,
    weighted_sum,
)
from juncture.supervised.generative.naive_bayes import ColumnFamily, as_column_family, equal_classes
from juncture.supervised.model import check_as_many, read_training
from juncture.variables import State, Variable

GAUSSIANS = {"qda": ("full", False), "lda": ("full", True)}  # name → covariance, whether it is shared


@dataclass(frozen=True)
class GenerativeOptions(Options):
    """How p(class) and p(row | class) are learned from rows and their labels.

    Cells of rows may be missing (NaN), and labels (None, NaN), which EM fills: semi-supervised learning. `prior` is a
    pseudo-count for each cell of tables; for rates it is as many rows at the mean of all classes.

    Parameters
    ----------
    families
        What rows are in each class. "qda": Gaussian vectors, "lda": Gaussian vectors with one covariance. Else columns
        are independent in each class (naive Bayes), of a family for all of them or a list of families: "gaussian",
        "bernoulli", "categorical" (codes 0, 1, …), "poisson", "exponential", "multinomial" (counts of words), or a
        class such as `jt.Gamma`. By default those of the classifier that is given, or "gaussian".
    class_prior
        The probabilities of the classes: None takes their shares, a number is a pseudo-count of each, a list (classes
        sorted) or a mapping from labels gives them.
    estimate
        "point": the largest likelihood, or posterior density. "bayes": the parameters integrated out.
    shrinkage
        Of the covariances of "lda" and "qda": (1 - shrinkage) Σ + shrinkage diag(Σ). A number from 0 to 1, or
        "ledoit-wolf", which estimates the one of least squared error; worth it where rows are few beside the columns.
    method
        "em", or a `jt.ExpectationMaximization`, for rows without a label, or with holes in Gaussian vectors.
    """

    families: Any = None
    class_prior: Any = None
    estimate: str = "point"
    shrinkage: Any = None
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"em": ExpectationMaximization}

    def __post_init__(self) -> None:
        check_choice(self.estimate, ESTIMATES, "estimate")
        check_shrinkage(self.shrinkage)


def fit_classifier(
    model: GenerativeClassifier | type[GenerativeClassifier],
    data: Any,
    y: Any = None,
    *,
    prior: float = 1.0,
    weights: Any = None,
    progress: Any = None,
    options: GenerativeOptions,
) -> Fit[GenerativeClassifier]:
    """Learn p(class) and p(row | class); of a classifier that is given the classes and the families stay."""
    read = read_training(model, data, y, weights)
    classes, codes = as_classes(read.targets, None if isinstance(model, type) else model.classes)
    if isinstance(model, type) or options.families is not None:
        cells = as_cells(read.inputs)
        densities, restrict = start_densities(
            "gaussian" if options.families is None else options.families, cells, len(classes)
        )
    else:
        cells, densities, restrict = model.read_inputs(read.inputs)[0], model.densities, None
    check_as_many(len(codes), cells.shape[0])
    rows = LabelledRows(cells, codes, read.inputs.weights(len(codes)))
    template = GenerativeClassifier(np.full(len(classes), 1.0 / len(classes)), densities, classes)
    estimation = Estimation(prior, options.class_prior, options.estimate, restrict, options.shrinkage)
    learned = learn(template, rows, estimation, options.method, progress)
    found = learned.model._with_names(read.names, read.target_name)
    if learned.log_likelihood is not None and learned.trace is not None:
        return Fit(found, learned.log_likelihood, learned.trace, learned.statistics)
    total = log_likelihood(found, rows)
    return Fit(found, total, Trace((total,), True, "learned in one step"), learned.statistics)


def as_classes(y: Any, known: tuple[State, ...] | None = None) -> tuple[tuple[State, ...], np.ndarray]:
    """The classes, those that are known or sorted, and the index of each row's, -1 where it is missing."""
    classes, codes = read_labels(y)
    if not classes:
        raise InvalidData("no row has a label")
    if known is None:
        return tuple(classes), codes
    variable = Variable("class", list(known))
    return known, np.append([variable.code(label) for label in classes], -1)[codes]


def as_cells(rows: Rows) -> Any:
    """(row, column) of numbers, or a sparse matrix."""
    if hasattr(rows.data, "tocsr"):
        return rows.data.tocsr().astype(np.float64)
    cells = rows.matrix()
    if not cells.shape[1]:
        raise InvalidData(f"rows must be a table, (row, column); got an array of the shape {cells.shape}")
    return cells


def start_densities(families: Any, cells: Any, num_classes: int) -> tuple[Emissions, Restrict | None]:
    """Densities of the asked kind that are equal in all classes, and what restricts a shared covariance."""
    if isinstance(families, str) and families in GAUSSIANS:
        kind, is_shared = GAUSSIANS[families]
        return equal_gaussians(cells, kind, num_classes, is_shared=is_shared), None
    listed = list(families) if isinstance(families, list | tuple) else [families] * cells.shape[1]
    if len(listed) != cells.shape[1]:
        raise InvalidData(f"there are {cells.shape[1]} columns, but {len(listed)} families")
    columns = [with_categories(as_column_family(each), cells, index) for index, each in enumerate(listed)]
    return equal_classes(cells, columns, num_classes), None


def with_categories(family: ColumnFamily, cells: Any, column: int) -> ColumnFamily:
    """The family with its number of categories, which are the codes 0, 1 and so on of the column."""
    if not family.is_coded or family.num_categories:
        return family
    known = cells[:, column][~np.isnan(cells[:, column])]
    if not len(known) or (known < 0).any() or (known != np.floor(known)).any():
        raise InvalidData(f"column {column} is categorical: its cells are the codes 0, 1 and so on of its categories")
    return replace(family, num_categories=int(known.max()) + 1)


def log_likelihood(model: GenerativeClassifier, data: LabelledRows) -> float:
    """Σ log p(row, label), weighted; of rows without a label log p(row)."""
    blocks = data.blocks(model.num_classes)
    return sum(weighted_sum(log_evidence(model._log_joint(block.rows), block), block) for block in blocks)


COVARIANCES = ("full", "diagonal", "spherical")


def equal_gaussians(rows: np.ndarray, covariance: Any, num_classes: int, *, is_shared: bool) -> GaussianEmissions:
    """Gaussian classes with the means and variances of the columns; a constant column has the variance 1."""
    kind = check_choice(covariance, COVARIANCES, "covariance")
    known = np.where(np.isnan(rows), 0.0, 1.0)
    total = np.maximum(known.sum(axis=0), 1.0)
    mean = np.where(known > 0, rows, 0.0).sum(axis=0) / total
    variance = np.square(np.where(known > 0, rows - mean, 0.0)).sum(axis=0) / total
    variance = np.where(variance > 0, variance, 1.0)
    means = np.repeat(mean[None], num_classes, axis=0)
    if is_shared:
        return GaussianEmissions(means, np.diag(variance), "tied")
    if kind == "full":
        return GaussianEmissions(means, np.repeat(np.diag(variance)[None], num_classes, axis=0), "full")
    if kind == "diagonal":
        return GaussianEmissions(means, np.repeat(variance[None], num_classes, axis=0), "diagonal")
    return GaussianEmissions(means, np.full(num_classes, variance.mean()), "spherical")


def restriction(covariance: Any, *, is_shared: bool) -> Restrict | None:
    """What a shared covariance is restricted to; None where nothing is."""
    kind = check_choice(covariance, COVARIANCES, "covariance")
    if not is_shared or kind == "full":
        return None
    return only_diagonal if kind == "diagonal" else only_spherical


def only_diagonal(densities: Emissions) -> Emissions:
    variances = np.diagonal(densities.covariance)  # type: ignore[attr-defined]
    return GaussianEmissions(densities.mean, np.diag(variances), "tied")  # type: ignore[attr-defined]


def only_spherical(densities: Emissions) -> Emissions:
    covariance = densities.covariance  # type: ignore[attr-defined]
    own = np.eye(len(covariance)) * np.diagonal(covariance).mean()
    return GaussianEmissions(densities.mean, own, "tied")  # type: ignore[attr-defined]


def num_shared_parameters(densities: GaussianEmissions, covariance: str) -> int:
    """The free numbers of means and of one covariance of this kind."""
    size = densities.dimension
    own = {"full": size * (size + 1) // 2, "diagonal": size, "spherical": 1}
    return densities.num_states * size + own[covariance]
