"""`MixtureBeliefs`: which component each row came from, what its holes hide, and how odd it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_generator
from juncture.base.values import Value, number_of, read_only
from juncture.components.categorical import CategoricalEmissions
from juncture.components.gaussian import GaussianEmissions, patterns
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.drawing.shares import ShareDiagram
from juncture.errors import Unsupported
from juncture.factors.factor import Factor
from juncture.families.vectors.block_matrices import block
from juncture.inference.engines.contract import EXACT, Diagnostics, OneVariable
from juncture.inference.engines.display import rows_diagram, steps_html, table_shares
from juncture.inference.engines.row_factors import RowFactors, marginals_frame, wide_frame
from juncture.inference.engines.verb_options import check_num_rows, impossible_indices
from juncture.numerics import stable
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class MixtureBeliefs(OneVariable):
    """The posterior of the component of each row: `beliefs["component"]` is p(component | row).

    For one row, `beliefs["component"]` is a `Factor` and `log_evidence` a number. For many rows, `values` is (row,
    component), with NaN where a row is impossible.

    Attributes
    ----------
    model
        The mixture.
    log_joint
        log p(row, component), (row, component).
    is_single
        Whether there is one row.
    method
        The name of the algorithm.
    diagnostics
        Whether the answers are exact, and further facts about the run.
    index
        The index of the frame of pandas that the rows come from; else None.
    rows
        The rows, (row, *event), NaN where something is missing.
    """

    variable = "component"
    model: Mixture
    log_joint: np.ndarray  # (row, component): log p(row, component)
    is_single: bool
    method: str = "enumeration"
    diagnostics: Diagnostics = EXACT
    index: Any = None  # of the frame that the rows come from
    rows: np.ndarray = field(default_factory=lambda: np.empty(0))  # (row, *event)

    @cached_property
    def log_evidences(self) -> np.ndarray:
        """log p(row), (row,)."""
        return stable.log_sum_exp(self.log_joint, axis=1)

    @property
    def log_evidence(self) -> Any:
        """log p(row): a float of one row, (row,) of many."""
        return float(self.log_evidences[0]) if self.is_single else self.log_evidences

    @cached_property
    def responsibilities(self) -> np.ndarray:
        """p(component | row), (row, component)."""
        total = self.log_evidences[:, None]
        shares = np.full_like(self.log_joint, np.nan)
        np.subtract(self.log_joint, total, out=shares, where=total > -np.inf)
        return np.asarray(np.exp(shares))

    @cached_property
    def impossible(self) -> tuple[int, ...]:
        """The rows that no component can have made."""
        return impossible_indices(self.log_evidences)

    @property
    def code_length(self) -> Any:
        """-log₂ p(row), in bits: how long a code of the row is, under the mixture; less a constant for real numbers."""
        return -self.log_evidence / np.log(2.0)

    def outlier_score(self, draws: int = 1000, *, rng: Any = None) -> np.ndarray:
        """The share of rows drawn from the mixture, with the same holes, that are likelier: near 1 for an outlier.

        Parameters
        ----------
        draws
            The number of rows drawn.
        rng
            A seed or a `numpy.random.Generator`.

        Returns
        -------
        numpy.ndarray
            (row,)
        """
        return outlier_scores(self.model, self.rows, self.log_evidences, check_count(draws, "draws", least=1), rng)

    def impute(self) -> Imputed:
        """The rows with their holes filled by the mean of what is missing given what is observed, and deviations."""
        if self.impossible:
            raise Unsupported(f"row {self.impossible[0]} is impossible: no component can say what is missing in it")
        return impute_rows(self.model, self.rows, self.responsibilities)

    def purity(self, classes: Any) -> float:
        """The share of rows whose class is the most frequent one among the rows of the same component.

        Parameters
        ----------
        classes
            The true class of each row.

        Returns
        -------
        float
            From 0 to 1; 1 if each component holds rows of one class.
        """
        from juncture.clusters.clusters import purity_of

        return purity_of(self.log_joint.argmax(axis=1), classes)

    @property
    def scope(self) -> Scope:
        return Scope([Variable("component", self.model.num_components)])

    def __getitem__(self, name: str) -> Any:
        """p(component | row): a `Factor`, or one row of it per row."""
        self._check_variable(name)
        values = self.responsibilities
        return Factor(self.scope, values[0]) if self.is_single else RowFactors(self.scope, values)

    def to_dict(self) -> dict[str, dict[State, Any]]:
        """Name → component → probability (one number, or one a row)."""
        return {name: self[name].to_dict() for name in self}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of variable, component and probability, with the row first when there are many."""
        return marginals_frame(self.to_dict(), None if self.is_single else "row")

    def to_frame(self) -> pd.DataFrame:
        """A wide frame: a line per row, with the index of the frame that was given, and a column for each component."""
        return wide_frame({"component": self["component"]}, self.index)

    def sample(self, n: int, *, rng: Any = None) -> Dataset:
        """`n` components drawn from the posterior, given one row."""
        if not self.is_single:
            raise Unsupported("components are drawn given one row; infer and sample once for each row")
        count, shares = check_num_rows(n), self.responsibilities[0]
        codes = as_generator(rng).choice(len(shares), count, p=shares / shares.sum())
        return Dataset.from_codes(self.scope, {"component": codes})

    def __len__(self) -> int:
        return len(self.log_joint)

    def __repr__(self) -> str:
        rows = f"log_evidence={self.log_evidence:.6g}" if self.is_single else number_of(len(self), "row")
        components = number_of(self.model.num_components, "component")
        return f"MixtureBeliefs({components}; {rows}; exact, by {self.method})"

    def to_diagram(self) -> ShareDiagram:
        """The probability of each component, for the first rows."""
        return rows_diagram([table_shares(self.scope, self.responsibilities)], len(self), self.index)

    def _repr_html_(self) -> str:
        if not len(self):
            return f"<p><code>{escape(repr(self))}</code></p>"
        return steps_html(repr(self), range(self.model.num_components), self.responsibilities, "row")


class Imputed(Value):
    """Rows whose holes are filled.

    Attributes
    ----------
    mean
        The rows; where a cell is missing, its mean given what is observed, or of a categorical column its most probable
        code.
    standard_deviation
        The standard deviation of each cell that was missing, or of a categorical column the probability that its code
        is another one; 0 for cells that were observed.
    """

    mean: np.ndarray
    standard_deviation: np.ndarray

    def __init__(self, mean: Any, standard_deviation: Any) -> None:
        self._set(mean=read_only(mean, float), standard_deviation=read_only(standard_deviation, float))

    def __repr__(self) -> str:
        holes = number_of(int((self.standard_deviation > 0).sum()), "hole")
        return f"Imputed({number_of(len(self.mean), 'row')}, {holes})"


def impute_rows(model: Mixture, rows: np.ndarray, shares: np.ndarray) -> Imputed:
    """The rows (row, *event) with their holes filled; shares are the responsibilities (row, component)."""
    flat = np.array(rows, float).reshape(len(rows), prod(rows.shape[1:]))
    found, deviation = flat.copy(), np.zeros_like(flat)
    for positions, seen in patterns(flat):
        missing = np.setdiff1d(np.arange(flat.shape[1]), seen)
        if len(missing):
            fill = fill_gaussian if isinstance(model.components, GaussianEmissions) else fill_columns
            cells = np.ix_(positions, missing)
            found[cells], deviation[cells] = fill(model.components, flat[positions], seen, missing, shares[positions])
    return Imputed(found.reshape(rows.shape), deviation.reshape(rows.shape))


def fill_gaussian(
    components: Any, rows: np.ndarray, seen: np.ndarray, missing: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """E[missing | seen] is linear in what is seen, in each component (Bishop 2.81, 2.82)."""
    mean, covariance = components.means, components.full.covariance
    gain = np.linalg.solve(block(covariance, seen, seen), block(covariance, seen, missing))
    left = block(covariance, missing, missing) - block(covariance, missing, seen) @ gain
    shift = np.einsum("nks,ksm->nkm", rows[:, None, seen] - mean[:, seen], gain)
    return combine(shares, mean[:, missing] + shift, np.diagonal(left, axis1=1, axis2=2))


def combine(shares: np.ndarray, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of a mixture with the means (row, component, cell) and the variances (component, cell)."""
    mean = np.einsum("nk,nkm->nm", shares, means)
    spread = np.einsum("nk,nkm->nm", shares, (means - mean[:, None]) ** 2 + variances)
    return mean, np.sqrt(spread)


def fill_columns(
    components: Any, rows: np.ndarray, seen: np.ndarray, missing: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Columns are independent given the component."""
    found = [fill_column(part, shares) for part in parts_of(components, missing)]
    mean, deviation = (np.stack(each, axis=1) for each in zip(*found, strict=True))
    return mean, deviation


def parts_of(components: Any, missing: np.ndarray) -> list[Any]:
    """The emissions of the missing columns."""
    parts = components.parts if isinstance(components, IndependentEmissions) else [components]
    if any(part.event_shape for part in parts):
        raise Unsupported("holes are filled in Gaussian vectors and in independent columns of numbers or codes")
    return [parts[column] for column in missing]


def fill_column(part: Any, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(part, CategoricalEmissions):
        probabilities = shares @ part.probabilities
        return probabilities.argmax(axis=1).astype(float), 1.0 - probabilities.max(axis=1)
    mean, variance = (np.array([float(getattr(each, name)) for each in part]) for name in ("mean", "variance"))
    means = np.broadcast_to(mean[:, None], (len(shares), len(mean), 1))
    found, deviation = combine(shares, means, variance[:, None])
    return found[:, 0], deviation[:, 0]


def outlier_scores(model: Mixture, rows: np.ndarray, log_probs: np.ndarray, num_draws: int, rng: Any) -> np.ndarray:
    """The share of draws, with the holes of the row, that are likelier than the row: (row,)."""
    generator = as_generator(rng)
    drawn = np.asarray(model.components.sample(draw_components(model, num_draws, generator), generator), float)
    flat, draws = np.asarray(rows, float).reshape(len(rows), -1), drawn.reshape(num_draws, -1)
    scores = np.empty(len(rows))
    for positions, seen in patterns(flat):
        shown = np.full_like(draws, np.nan)
        shown[:, seen] = draws[:, seen]
        logs = np.sort(model.log_prob(shown.reshape(drawn.shape)))
        scores[positions] = (num_draws - np.searchsorted(logs, log_probs[positions], side="right")) / num_draws
    return scores


def draw_components(model: Mixture, number: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice(model.num_components, number, p=model.weights / model.weights.sum())
