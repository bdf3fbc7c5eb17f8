"""`MinimalPotentials`: the parameters of a product of positive tables, of which none is a function of the others.

Tables say more than the distribution needs: a factor over a and b can take over what one over a says. The interactions
of each set of variables, relative to the first states, are the same however the factors share them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import chain, combinations

import numpy as np

from juncture.base.values import Value, number_of, read_only
from juncture.errors import InvalidModel
from juncture.factors.factor import Factor
from juncture.factors.scope_tables import title_of
from juncture.networks.canonical_potentials import interactions
from juncture.variables import Scope


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

    _fields = ("interactions", "log_constant")
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
