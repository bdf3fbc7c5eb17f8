"""`MixedJoint`: the posterior of real-valued variables and variables with states together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture.base.checks import check_mapping
from juncture.base.options import as_generator
from juncture.base.values import finding_text, number_of
from juncture.data.dataset import Dataset
from juncture.data.findings import is_hole
from juncture.errors import ImpossibleEvidence, InvalidData, Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.draws import BYTES_PER_CELL, check_num_rows
from juncture.inference.engines.row_factors import RowFactors
from juncture.numerics import stable
from juncture.numerics.stable import LOG_TWO_PI
from juncture.variables import Scope, State


@dataclass(frozen=True, eq=False)
class Components:
    """Gaussians over some numbers, each with a weight and the states that go with it; of many rows."""

    weights: np.ndarray  # (row, component)
    codes: np.ndarray  # (row, component, variable with states)
    means: np.ndarray  # (row, component, number)
    covariances: np.ndarray  # (row, component, number, number)

    @classmethod
    def join(cls, parts: Iterable[tuple[np.ndarray, Components]], num_rows: int) -> Components:
        """The components of groups of rows; a row of fewer components than another gets some of weight 0."""
        listed = list(parts)
        if len(listed) == 1 and len(listed[0][0]) == num_rows:
            return listed[0][1]
        most = max([1, *(part.weights.shape[1] for _, part in listed)])
        joined = []
        for name in ("weights", "codes", "means", "covariances"):
            arrays = [(rows, getattr(part, name)) for rows, part in listed]
            shape = (num_rows, most, *arrays[0][1].shape[2:]) if arrays else (0, 1)
            whole = np.zeros(shape, arrays[0][1].dtype if arrays else float)
            for rows, array in arrays:
                whole[rows, : array.shape[1]] = array
            joined.append(whole)
        return cls(*joined)


@dataclass(frozen=True, eq=False, repr=False)
class MixedJoint:
    """p(variables | evidence) of real-valued variables and of variables with states: Gaussians for all configurations.

    `beliefs.joint("height", "sex")` gives one. For many rows of evidence every answer has a row axis in front.

    Attributes
    ----------
    scope
        The variables, in the order in which they were named.
    components
        The weight, the states, the means and the covariances of every configuration.
    is_single
        Whether the evidence is one row.
    """

    scope: Scope
    components: Components
    is_single: bool

    @cached_property
    def real(self) -> tuple[str, ...]:
        """The names of the real-valued variables: the coordinates of `mean` and `covariance`."""
        return tuple(variable.name for variable in self.scope if variable.is_real)

    @cached_property
    def discrete(self) -> Scope:
        """The variables with states."""
        return Scope(variable for variable in self.scope if not variable.is_real)

    @cached_property
    def table(self) -> Any:
        """p(variables with states | evidence): a `Factor`, or one for each row."""
        shape, weights = self.discrete.shape, self.components.weights
        flat = np.zeros((len(weights), self.discrete.size))
        cells = np.ravel_multi_index(tuple(np.moveaxis(self.components.codes, -1, 0)), shape) if shape else 0
        np.add.at(flat, (np.arange(len(weights))[:, None], np.broadcast_to(cells, weights.shape)), weights)
        values = flat.reshape(len(weights), *shape)
        return Factor(self.discrete, values[0]) if self.is_single else RowFactors(self.discrete, values)

    @cached_property
    def mean(self) -> np.ndarray:
        """The means of the real-valued variables, (number,)."""
        return self._one((self.components.weights[..., None] * self.components.means).sum(axis=1))

    @cached_property
    def covariance(self) -> np.ndarray:
        """The covariances of the real-valued variables, (number, number)."""
        parts = self.components
        centre = (parts.weights[..., None] * parts.means).sum(axis=1, keepdims=True)
        centred = parts.means - centre
        spread = parts.covariances + centred[..., :, None] * centred[..., None, :]
        return self._one((parts.weights[..., None, None] * spread).sum(axis=1))

    def given(self, states: Mapping[str, State]) -> MixedJoint:
        """The joint of the others, given states of some of the variables with states."""
        codes = {
            name: self.discrete.variable(name).code(state) for name, state in check_mapping(states, "states").items()
        }
        parts, left = self.components, self.discrete.without(codes)
        fits = np.ones(parts.weights.shape, bool)
        for name, code in codes.items():
            fits &= parts.codes[..., self.discrete.axis(name)] == code
        weights = np.where(fits, parts.weights, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        if self.is_single and not total[0, 0] > 0:
            raise ImpossibleEvidence(f"{', '.join(finding_text(*each) for each in states.items())} cannot occur")
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = weights / total
        kept = [self.discrete.axis(name) for name in left.names]
        scope = self.scope.without(codes)
        return MixedJoint(
            scope, Components(weights, parts.codes[..., kept], parts.means, parts.covariances), self.is_single
        )

    def log_prob(self, values: Mapping[str, Any]) -> float:
        """The log-density at numbers and states of all variables, for one row of evidence."""
        self._check_single("log_prob")
        columns = Dataset([dict(check_mapping(values, "values"))], self.scope).columns
        for name in self.scope.names:
            if name not in columns or is_hole(columns[name]).any():
                raise InvalidData(f"the density needs a value of every variable; {name!r} has none")
        parts = self.components
        fits = parts.weights[0] > 0
        for at, name in enumerate(self.discrete.names):
            fits = fits & (parts.codes[0, :, at] == columns[name][0])
        if not fits.any():
            return -np.inf
        x = np.array([columns[name][0] for name in self.real])
        logs = gaussian_logs(x - parts.means[0, fits], parts.covariances[0, fits], self.real)
        return float(stable.log_sum_exp(logs + np.log(parts.weights[0, fits]), axis=0))

    def sample(self, n: int, *, rng: Any = None) -> Dataset:
        """`n` rows of the variables, for one row of evidence."""
        self._check_single("sample")
        generator, parts = as_generator(rng), self.components
        count = check_num_rows(n, BYTES_PER_CELL * len(self.scope))
        chosen = generator.choice(parts.weights.shape[1], count, p=parts.weights[0] / parts.weights[0].sum())
        values, vectors = np.linalg.eigh(parts.covariances[0])
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        noise = generator.standard_normal((count, len(self.real)))
        drawn = parts.means[0, chosen] + np.einsum("nij,nj->ni", roots[chosen], noise)
        columns: dict[str, np.ndarray] = dict(zip(self.real, drawn.T, strict=True))
        columns |= {name: parts.codes[0, chosen, at] for at, name in enumerate(self.discrete.names)}
        return Dataset.from_codes(self.scope, columns)

    def _one(self, values: np.ndarray) -> np.ndarray:
        found: np.ndarray = values[0] if self.is_single else values
        return found

    def _check_single(self, what: str) -> None:
        if not self.is_single:
            raise Unsupported(f"{what} is for the joint of one row of evidence; infer each row alone")

    def __repr__(self) -> str:
        names, rows = ", ".join(self.scope.names), len(self.components.weights)
        size = number_of(self.components.weights.shape[1], "component")
        return f"MixedJoint({names}; {'' if self.is_single else number_of(rows, 'row') + ', '}{size})"


def gaussian_logs(error: np.ndarray, covariance: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """log N(error; 0, covariance) of each component, by Cholesky factors of the correlations."""
    deviations = np.sqrt(np.einsum("cii->ci", covariance))
    if not (deviations > 0).all():
        raise Unsupported(f"the joint of {', '.join(names)} has no density: one of them is known exactly")
    try:
        root = np.linalg.cholesky(covariance / (deviations[:, :, None] * deviations[:, None, :]))
    except np.linalg.LinAlgError as error_:
        raise Unsupported(
            f"the joint of {', '.join(names)} has no density: one is a function of the others"
        ) from error_
    white = np.linalg.solve(root, (error / deviations)[..., None])[..., 0]
    logs = np.log(np.einsum("cii->ci", root)).sum(axis=1) + np.log(deviations).sum(axis=1)
    return np.asarray(-0.5 * ((white**2).sum(axis=1) + len(names) * LOG_TWO_PI) - logs)
