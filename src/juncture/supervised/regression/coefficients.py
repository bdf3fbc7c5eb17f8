"""The coefficients of a regression with their errors: robust covariances, and the table of estimates, tests, intervals.

The covariance of maximum likelihood coefficients is A⁻¹ M A⁻¹, with the curvature A and the covariance M of the scores
of rows (the sandwich of Huber and White). The model says M = A; robust errors estimate M from the residuals, so that
they hold where the variance of the target is not that of the family. Scores of rows that belong together are added
first (clusters).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from juncture.base.checks import check_array, check_choice, check_iterable, check_number
from juncture.base.values import Value, number_of, read_only
from juncture.data.rows import read_labels
from juncture.drawing.notebook import html_table
from juncture.errors import InvalidData
from juncture.factors.printed_tables import align_columns
from juncture.supervised.model import split_column

if TYPE_CHECKING:
    import pandas as pd

    from juncture.supervised.regression.bases import FeatureModel

ROBUST = ("HC0", "HC1", "HC2", "HC3")


class CoefficientTable(Value):
    """The coefficients of a regression, with standard errors, tests against 0 and intervals; `print` shows the table.

    Attributes
    ----------
    names
        (coefficient,): "constant", the columns, and of a basis with several functions of a column their numbers; of
        more than two classes with the class before them.
    estimates, standard_errors
        (coefficient,).
    statistics
        (coefficient,): estimate / standard error; z, or t where the dispersion was estimated.
    p_values
        (coefficient,): of a coefficient of 0, two-sided.
    low, high
        (coefficient,): the ends of the intervals.
    degrees
        Degrees of freedom of Student's t; infinite for z.
    confidence
        Of the intervals.
    errors
        How standard errors were estimated: "model", "HC0" to "HC3", or "clusters".
    """

    names: tuple[str, ...]
    estimates: np.ndarray
    standard_errors: np.ndarray
    statistics: np.ndarray
    p_values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    degrees: float
    confidence: float
    errors: str

    def __init__(
        self,
        names: Any,
        estimates: Any,
        standard_errors: Any,
        degrees: float,
        confidence: float = 0.9,
        errors: str = "model",
    ) -> None:
        level = check_number(confidence, "the confidence", above=0, below=1)
        found = check_array(estimates, "the estimates", ndim=1)
        spread = check_array(standard_errors, "the standard errors", ndim=1)
        labels, freedom = check_iterable(names, "names"), check_number(degrees, "the degrees of freedom", above=0)
        if not len(labels) == len(found) == len(spread) or not (spread >= 0).all():
            raise InvalidData("names, estimates and standard errors of at least 0 are as many as coefficients")
        if not all(isinstance(each, str) for each in labels):
            raise InvalidData("the names of coefficients are texts")
        check_choice(errors, ("model", "clusters", *ROBUST), "errors")
        ratios = np.divide(found, spread, out=np.where(found == 0, 0.0, np.copysign(np.inf, found)), where=spread > 0)
        is_z = np.isinf(freedom)
        tails = special.ndtr(-np.abs(ratios)) if is_z else special.stdtr(freedom, -np.abs(ratios))
        middle = (1 + level) / 2
        width = float(special.ndtri(middle) if is_z else special.stdtrit(freedom, middle))
        self._set(
            names=tuple(labels), estimates=read_only(found), standard_errors=read_only(spread),
            statistics=read_only(ratios), p_values=read_only(2 * tails), low=read_only(found - width * spread),
            high=read_only(found + width * spread), degrees=freedom, confidence=level, errors=errors,
        )  # fmt: skip

    @property
    def statistic(self) -> str:
        """What the statistics are: "z" or "t"."""
        return "z" if np.isinf(self.degrees) else "t"

    def to_pandas(self) -> pd.DataFrame:
        """A row for each coefficient."""
        import pandas as pd

        numbers = (self.estimates, self.standard_errors, self.statistics, self.p_values, self.low, self.high)
        heads = ("estimate", "standard error", self.statistic, "p", "low", "high")
        return pd.DataFrame(dict(zip(heads, numbers, strict=True)), index=pd.Index(self.names, name="coefficient"))

    def _lines(self) -> list[list[str]]:
        numbers = zip(self.estimates, self.standard_errors, self.statistics, self.p_values, strict=True)
        ends = zip(self.low, self.high, strict=True)
        rows = [
            [name, f"{one:.5g}", f"{error:.4g}", f"{ratio:.3f}", f"{p:.3g}", f"{low:.5g}", f"{high:.5g}"]
            for name, (one, error, ratio, p), (low, high) in zip(self.names, numbers, ends, strict=True)
        ]
        return [["", "estimate", "standard error", self.statistic, "p", "low", "high"], *rows]

    @property
    def _note(self) -> str:
        freedom = "" if np.isinf(self.degrees) else f" with {self.degrees:g} degrees of freedom"
        kind = {"model": "of the model", "clusters": "robust within clusters"}.get(
            self.errors, f"robust, {self.errors}"
        )
        return f"intervals of {100 * self.confidence:g} %; {self.statistic}{freedom}; standard errors {kind}"

    def __str__(self) -> str:
        return "\n".join([*align_columns(self._lines(), 1), self._note])

    def __repr__(self) -> str:
        return (
            f"CoefficientTable({number_of(len(self.names), 'coefficient')}, {self.statistic}, errors {self.errors!r})"
        )

    def _repr_html_(self) -> str:
        heads, *rows = self._lines()
        return html_table(heads, rows, self._note, num_labels=1)


def feature_labels(model: FeatureModel) -> list[str]:
    """A name for each feature: the constant, and functions of the columns."""
    constants, inputs = int(model.basis.has_constant), [each.name for each in model.inputs]
    functions = (model.num_coefficients - constants) // len(inputs) if inputs else 0
    names = [name if functions == 1 else f"{name}[{place}]" for name in inputs for place in range(1, functions + 1)]
    return ["constant"] * constants + names


def check_robust(robust: Any, clusters: Any) -> None:
    """Refuse what is no kind of robust errors, and two kinds at once."""
    if robust is not None:
        check_choice(robust, ROBUST, "robust")
        if clusters is not None:
            raise InvalidData("clusters= has robust errors of its own: leave out robust=")


def errors_of(options: Any) -> str:
    """The name of the errors that options ask for."""
    return "clusters" if options.clusters is not None else options.robust or "model"


def take_clusters(data: Any, options: Any) -> tuple[Any, Any]:
    """The table without the column that `clusters` names, and the options with the index of each row's cluster."""
    given = options.clusters
    if given is None:
        return data, options
    if isinstance(given, str):
        data, given = split_column(data, given, option="clusters")
    labels, codes = read_labels(given)
    if (codes < 0).any():
        raise InvalidData(f"row {int(np.argmax(codes < 0))} has no cluster: each row is of one")
    if len(labels) < 2:
        raise InvalidData("errors within clusters need at least 2 clusters")
    return data, replace(options, clusters=codes)


def scatter_of_scores(
    directions: np.ndarray, factors: np.ndarray, counts: np.ndarray, leverages: np.ndarray, options: Any
) -> np.ndarray:
    """(direction, direction): the estimate of M in directions in which A is the identity.

    `directions` are the features of rows in these, `factors` what makes them the score of one repetition of a row, and
    `leverages` those of one repetition. HC1 divides by n - k in place of n, HC2 the squares by 1 - leverage, and HC3 by
    its square; G clusters have the factor G / (G - 1) · (n - 1) / (n - k).
    """
    total, size = float(counts.sum()), directions.shape[1]
    if options.clusters is None:
        squares = factors**2 * counts
        if options.robust in {"HC2", "HC3"}:
            if not (leverages[counts > 0] < 1 - 1e-10).all():
                row = int(np.argmax((leverages >= 1 - 1e-10) & (counts > 0)))
                raise InvalidData(f"row {row} alone determines a coefficient: {options.robust} has no value; take HC1")
            squares = squares / np.where(counts > 0, 1 - leverages, 1.0) ** (1 if options.robust == "HC2" else 2)
        return directions.T @ (directions * squares[:, None]) * (spare(total, size) if options.robust == "HC1" else 1.0)
    codes = options.clusters
    if len(codes) != len(directions):
        raise InvalidData(f"clusters= has a label for each row, {len(directions)} here; got {len(codes)}")
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums = np.add.reduceat((directions * (factors * counts)[:, None])[order], starts, axis=0)
    number = len(starts)
    return sums.T @ sums * (number / (number - 1) * spare(total, size) * (total - 1) / total)


def spare(total: float, size: int) -> float:
    """n / (n - k)."""
    if not total > size:
        raise InvalidData(f"robust errors need more rows than features; there are {total:g} rows and {size} features")
    return total / (total - size)
