"""The logarithms of factors: energies, features with parameters, canonical potentials, and the minimal form.

- A factor is made from an energy, ψ = exp(-E), or from a feature with a parameter, ψ = exp(θ · f).
- Canonical potentials are the interactions of a positive table, one for each set of variables that has any:
  log p(x) = Σ u_S(x_S) over all sets S, where
  u_S(x_S) = Σ (-1)^(|S| - |T|) log p(x_T, first states elsewhere) over T ⊆ S.
- `MinimalPotentials` are the parameters of a product of positive tables, of which none is a function of the others.
  Tables say more than the distribution needs: a factor over a and b can take over what one over a says. The
  interactions of each set of variables, relative to the first states, are the same however the factors share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any

import numpy as np

from juncture.base.values import Value, number_of, read_only
from juncture.errors import InvalidModel
from juncture.factors.factor import Factor
from juncture.factors.scope_tables import title_of
from juncture.graphs.undirected import UndirectedGraph
from juncture.numerics.stable import where
from juncture.variables import Scope


def boltzmann(scope: Scope, energy: Any) -> Factor:
    """exp(-E), where E = +inf gives exactly 0 and nothing else does."""
    what = f"the energy over ({', '.join(scope.names)})"
    try:
        table = np.asarray(energy, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidModel(f"{what} must be a table of numbers of shape {scope.shape}: {error}") from error
    if np.isnan(table).any():
        raise InvalidModel(f"{what} has an entry that is not a number; an infinite energy forbids a combination")
    if np.isneginf(table).any():
        raise InvalidModel(f"{what} has an entry -inf; energies are numbers, and +inf forbids a combination")
    return Factor.from_logs(scope, -table)


def log_linear_factor(scope: Scope, feature: Callable[..., float] | Any, weight: float) -> Factor:
    if callable(feature):
        states = product(*(variable.labels for variable in scope))
        feature = np.array([feature(*labels) for labels in states], dtype=float).reshape(scope.shape)
    return boltzmann(scope, -float(weight) * np.asarray(feature, dtype=float))


def canonical_potentials(joint: Factor, graph: UndirectedGraph | None, tolerance: float) -> list[Factor]:
    """A number, and exp(u_S) for each set S with an interaction beyond the tolerance; each must be a clique."""
    if np.isneginf(joint.log_values).any():
        raise InvalidModel(
            "canonical potentials need a positive entry everywhere, but the table has a zero"
            f"{where(np.isneginf(joint.log_values))}; factorizes() decides for tables with zeros"
        )
    found = interactions(joint.log_values)
    potentials = [Factor.from_logs([], found[(0,) * found.ndim])]
    for axes in subsets(found.ndim):
        potential = interaction(found, axes)
        if np.abs(potential).max() > tolerance:
            scope = Scope(joint.scope[axis] for axis in axes)
            check_clique(scope, graph, float(np.abs(potential).max()))
            potentials.append(Factor.from_logs(scope, potential))
    return potentials


def interactions(log_values: np.ndarray) -> np.ndarray:
    """In each cell u_S(x_S), where S are the variables that are not in their first state there (Möbius inversion)."""
    found = np.array(log_values)
    for axis in range(found.ndim):
        others = np.moveaxis(found, axis, 0)
        others[1:] -= others[0]
    return found


def interaction(found: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """u_S over all states of S; 0 where one of them is the first."""
    part = found[tuple(slice(None) if axis in axes else 0 for axis in range(found.ndim))]
    inner = (slice(1, None),) * part.ndim
    padded = np.zeros_like(part)
    padded[inner] = part[inner]
    return padded


def subsets(num_axes: int) -> Iterator[tuple[int, ...]]:
    """All sets of axes but the empty one, small ones first."""
    return (axes for size in range(1, num_axes + 1) for axes in combinations(range(num_axes), size))


def check_clique(scope: Scope, graph: UndirectedGraph | None, strength: float) -> None:
    if graph is None:
        return
    for one, other in combinations(scope.names, 2):
        if other not in graph.neighbors(one):
            raise InvalidModel(
                f"the table does not factorise over the graph: {', '.join(scope.names)} interact "
                f"(by {strength:.3g} in the logarithm), but {one!r} and {other!r} are not adjacent"
            )


class MinimalPotentials(Value):
    """log p(x) = constant + Σ parameter[states of S], over the sets S whose variables are all past their first state.

    `MarkovNetwork.minimal_form` makes them.

    Parameters
    ----------
    interactions
        For each set of variables, the parameters: an axis for each variable, without its first state.
    log_constant
        What the tables multiply every assignment by: log Z less this is log Z of the minimal form.
    """

    interactions: tuple[tuple[Scope, np.ndarray], ...]
    log_constant: float

    def __init__(self, interactions: Iterable[tuple[Scope, np.ndarray]], log_constant: float) -> None:
        parts = tuple((scope, read_only(table)) for scope, table in interactions)
        self._set(interactions=parts, log_constant=float(log_constant))

    @property
    def num_parameters(self) -> int:
        return sum(table.size for _, table in self.interactions)

    @cached_property
    def parameters(self) -> dict[tuple[str, ...], np.ndarray]:
        """The parameters by the names of the variables, in the order of the model."""
        return {scope.names: table for scope, table in self.interactions}

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """A factor for each set, 1 where a variable is in its first state; their product is p up to the constant."""
        padded = ((scope, np.pad(table, [(1, 0)] * table.ndim)) for scope, table in self.interactions)
        return tuple(Factor.from_logs(scope, table) for scope, table in padded)

    def __repr__(self) -> str:
        return f"MinimalPotentials({number_of(self.num_parameters, 'parameter')})"


def minimal_potentials(factors: Iterable[Factor], variables: Scope) -> MinimalPotentials:
    """The interactions of all tables, added up; every table is positive."""
    order = {name: place for place, name in enumerate(variables.names)}
    found: dict[tuple[str, ...], np.ndarray] = {}
    for factor in factors:
        check_positive(factor)
        arranged = factor.reorder(*sorted(factor.scope.names, key=order.__getitem__))
        cells = interactions(arranged.log_values)
        for axes in chain.from_iterable(combinations(range(cells.ndim), size) for size in range(cells.ndim + 1)):
            own = cells[tuple(slice(1, None) if axis in axes else 0 for axis in range(cells.ndim))]
            names = tuple(arranged.scope.names[axis] for axis in axes)
            found[names] = found.get(names, 0.0) + own
    constant = float(found.pop((), np.zeros(())))
    sets = sorted(found, key=lambda names: (len(names), [order[name] for name in names]))
    return MinimalPotentials(
        ((Scope(variables.variable(name) for name in names), found[names]) for names in sets if found[names].size),
        constant,
    )


def check_positive(factor: Factor) -> None:
    if np.isneginf(factor.log_values).any():
        raise InvalidModel(
            f"a minimal form needs positive tables, but {title_of(factor.scope)} has a zero;"
            " a model that is fitted with a penalty has none"
        )
