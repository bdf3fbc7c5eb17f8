"""A Gaussian Bayesian network as linear equations with noise: y - Σ b · x - intercept = noise, one row a variable.

Inside, every variable is the deviation from its prior mean, divided by a power of two near its standard deviation: the
rows then have no constants, and neither large means nor units cost any digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture.base.values import number_of
from juncture.errors import InvalidModel, Unsupported
from juncture.factors.conditional import signature
from juncture.factors.gaussian import Constant
from juncture.inference.engines.real_variables import is_linear
from juncture.kernels.gaussian.minimum_degree import mark_ancestors
from juncture.kernels.gaussian.regressions import find_scales, sum_means
from juncture.networks.bayesian_network import BayesianNetwork


def check_linear(model: Any) -> None:
    """Raise `Unsupported` for a model that is no Gaussian network, with the first conditional that is not linear."""
    if not isinstance(model, BayesianNetwork):
        raise Unsupported(f"gaussian-elimination takes a Gaussian network; got {type(model).__name__}")
    strange = next((part for part in model.conditionals if not is_linear(part)), None)
    if strange is not None:
        raise Unsupported(
            f"gaussian-elimination takes conditionals that are LinearGaussian in real parents, or Constant; "
            f"{signature(strange)} is not"
        )


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """The rows of a network: row i has the variables `nodes[starts[i]:starts[i + 1]]`, its child first."""

    names: tuple[str, ...]
    order: np.ndarray  # (node,): parents first
    starts: np.ndarray  # (row + 1,)
    nodes: np.ndarray
    coefficients: np.ndarray  # of the nodes: 1 for the child, minus those of its parents
    intercepts: np.ndarray  # (row,)
    deviations: np.ndarray  # (row,): the standard deviation of the noise

    @classmethod
    def of(cls, model: BayesianNetwork) -> LinearSystem:
        check_linear(model)
        names = model.variables.names
        number = {name: node for node, name in enumerate(names)}
        families = [
            [number[part.child.name], *(number[name] for name in part.parents.names)] for part in model.conditionals
        ]
        linear = [linear_parts(part) for part in model.conditionals]
        numbers = np.array([(intercept, variance) for _, intercept, variance in linear]).reshape(-1, 2)
        return cls(
            names=names,
            order=np.array([number[name] for name in model.graph.topological_order()], np.int64),
            starts=np.cumsum([0, *map(len, families)], dtype=np.int64),
            nodes=np.array([node for family in families for node in family], np.int64),
            coefficients=np.array([number for slopes, _, _ in linear for number in (-1.0, *slopes)]) * -1.0,
            intercepts=np.ascontiguousarray(numbers[:, 0]),
            deviations=np.sqrt(numbers[:, 1]),
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {name: node for node, name in enumerate(self.names)}

    @cached_property
    def parents(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(starts, parents, coefficients of the parents) of each variable."""
        is_parent = np.ones(len(self.nodes), np.bool_)
        is_parent[self.starts[:-1]] = False
        return self.starts - np.arange(len(self.starts)), self.nodes[is_parent], -self.coefficients[is_parent]

    @cached_property
    def means(self) -> np.ndarray:
        """(node,): E x."""
        means = np.zeros(len(self.names))
        sum_means(self.order, *self.parents, self.intercepts, means)
        if not np.isfinite(means).all():
            name = self.names[int(self.order[~np.isfinite(means[self.order])][0])]
            raise InvalidModel(
                f"the mean of {name!r} is larger than a double can hold; use smaller coefficients or units"
            )
        return means

    @cached_property
    def scales(self) -> np.ndarray:
        """(node,): the unit of each variable inside, a power of two."""
        scales = np.ones(len(self.names))
        find_scales(self.order, *self.parents, self.deviations, scales)
        return scales

    @cached_property
    def is_exact(self) -> np.ndarray:
        """(row,): whether the row has no noise."""
        return self.deviations == 0

    @cached_property
    def row_scales(self) -> np.ndarray:
        """(row,): what the coefficients of a row are divided by: its deviation, or the unit of the child if exact."""
        children = self.nodes[self.starts[:-1]]
        return np.where(self.is_exact, self.scales[children], self.deviations)

    @cached_property
    def entries(self) -> np.ndarray:
        """The coefficients of the rows inside: in units of the variables and of the noise."""
        rows = np.repeat(np.arange(len(self.names)), np.diff(self.starts))
        return self.coefficients * self.scales[self.nodes] / self.row_scales[rows]

    def find_needed(self, names: np.ndarray) -> np.ndarray:
        """(node,): whether a variable is among these, or an ancestor of one; all others integrate to 1."""
        needed = np.zeros(len(self.names), np.bool_)
        needed[names] = True
        starts, parents, _ = self.parents
        mark_ancestors(self.order, starts, parents, needed)
        return needed

    def __repr__(self) -> str:
        return f"LinearSystem({number_of(len(self.names), 'row')})"


def linear_parts(part: Any) -> tuple[list[float], float, float]:
    """(coefficients, intercept, variance) of a conditional that is linear."""
    if isinstance(part, Constant):
        return [], float(part.value), 0.0
    return part.coefficients.tolist(), float(part.intercept), float(part.variance)
