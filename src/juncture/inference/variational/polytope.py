"""`MarginalPolytope`: all moments that a distribution can have, and the variational form of log Z over them.

log Z(θ) = max over moments μ of θ·μ + H(μ), where H(μ) is the largest entropy of a distribution with these moments; the
maximum is at the moments of p itself. The polytope has a vertex for each assignment, and more faces than can be listed
for all but small models: this is for those (Wainwright and Jordan, 2008, chapter 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_kind
from juncture.base.values import format_count
from juncture.errors import InvalidData, TooLarge
from juncture.factors.scope_tables import title_of
from juncture.information.maximum_entropy import max_entropy
from juncture.networks.factor_product import FactorProduct
from juncture.networks.potentials import MinimalPotentials
from juncture.numerics import stable
from juncture.variables import Scope

MAX_VERTICES = 2**14
MAX_DIMENSION = 9  # for all faces

Event = tuple[tuple[str, Any], ...]
"""(name, state) of some variables, all past their first state: its probability is one moment."""


@dataclass(frozen=True, eq=False)
class MarginalPolytope:
    """The moments of all distributions over some variables.

    Attributes
    ----------
    events
        What each coordinate is the probability of: for two variables of two states "a is 1", "b is 1", "both are 1".
    vertices
        (assignment, coordinate): the moments of each assignment, whose convex hull the polytope is.
    parameters
        (coordinate,): θ of the model, so that log Π factors = θ·(moments of the assignment) + `log_constant`.
    """

    events: tuple[Event, ...]
    vertices: np.ndarray
    parameters: np.ndarray
    log_constant: float

    def moments(self, probabilities: Any) -> np.ndarray:
        """(coordinate,): the moments of a distribution, a table with an axis for each variable of the model."""
        flat = np.reshape(getattr(probabilities, "values", probabilities), -1)
        return stable.as_probabilities(flat, (len(self.vertices),), name="the distribution") @ self.vertices

    def contains(self, moments: Any, *, tolerance: float = 1e-9) -> bool:
        """Whether some distribution has these moments, within a tolerance: a linear program."""
        from scipy.optimize import linprog

        wanted = self._check(moments)
        num_points, size = self.vertices.shape
        # the least t with |Σ share · vertex - moments| ≤ t, shares that are at least 0 and sum to 1
        sides = np.concatenate([self.vertices.T, -self.vertices.T])
        found = linprog(
            np.append(np.zeros(num_points), 1.0),
            A_ub=np.hstack([sides, -np.ones((2 * size, 1))]),
            b_ub=np.concatenate([wanted, -wanted]),
            A_eq=np.append(np.ones(num_points), 0.0)[np.newaxis],
            b_eq=[1.0],
        )
        return bool(found.fun <= tolerance)

    def entropy(self, moments: Any) -> float:
        """H(μ): the largest entropy of a distribution with these moments; minus the conjugate of log Z."""
        wanted = self._check(moments)
        return float(max_entropy(np.arange(len(self.vertices)), self.vertices, wanted).entropy)

    def objective(self, moments: Any) -> float:
        """θ·μ + H(μ): at most log Z of the model, and equal to it at the moments of the model only."""
        return float(self.parameters @ self._check(moments)) + self.entropy(moments) + self.log_constant

    @cached_property
    def log_partition(self) -> float:
        """Log Z of the model, summed over all assignments."""
        return float(stable.log_sum_exp(self.vertices @ self.parameters)) + self.log_constant

    @cached_property
    def inequalities(self) -> tuple[np.ndarray, np.ndarray]:
        """(A, b): the faces of the polytope, as A μ ≤ b, each row scaled to a largest coefficient of 1."""
        from scipy.spatial import ConvexHull

        if self.vertices.shape[1] > MAX_DIMENSION:
            raise TooLarge(
                f"a polytope of {self.vertices.shape[1]} dimensions has too many faces to list; the limit is"
                f" {MAX_DIMENSION}: `contains` decides about single points"
            )
        if self.vertices.shape[1] == 1:
            return np.array([[1.0], [-1.0]]), np.array([1.0, 0.0])
        rows = ConvexHull(self.vertices).equations
        scaled = np.round(rows / np.abs(rows[:, :-1]).max(axis=1, keepdims=True), 9) + 0.0
        faces = np.unique(scaled, axis=0)
        return faces[:, :-1], -faces[:, -1]

    def _check(self, moments: Any) -> np.ndarray:
        values = check_array(moments, "moments", ndim=1)
        if len(values) != len(self.events):
            raise InvalidData(f"there are {len(self.events)} moments, one for each event; got {len(values)}")
        return values

    def __repr__(self) -> str:
        return f"MarginalPolytope({len(self.vertices)} vertices, {len(self.events)} dimensions)"


def marginal_polytope(model: FactorProduct) -> MarginalPolytope:
    """The marginal polytope of an undirected model with positive tables.

    Parameters
    ----------
    model
        A Markov network or factor graph with at most 16,384 assignments.

    Returns
    -------
    MarginalPolytope
        Its vertices, whether it `contains` some moments, their `entropy`, the `objective` whose maximum is log Z, and
        for up to nine dimensions its `inequalities`.

    Examples
    --------
    >>> import juncture as jt
    >>> a, b = jt.Variable("a", 2), jt.Variable("b", 2)
    >>> polytope = marginal_polytope(jt.MarkovNetwork([jt.Factor([a, b], [[1, 1], [1, 2]])]))
    >>> polytope.contains([0.6, 0.6, 0.4]), polytope.contains([0.6, 0.6, 0.1])  # P(a) + P(b) - P(both) is at most 1
    (True, False)
    >>> round(polytope.objective([0.6, 0.6, 0.4]), 6), round(float(np.log(5)), 6)
    (1.609438, 1.609438)
    """
    check_kind(model, FactorProduct, "the model of a marginal polytope")
    scope = model.variables
    if not len(scope):
        raise InvalidData("a marginal polytope is that of a model with variables; this model has none")
    if scope.size > MAX_VERTICES:
        raise TooLarge(
            f"the marginal polytope has {format_count(scope.size)} vertices; the limit is {MAX_VERTICES:,}: take fewer"
            " variables"
        )
    form = model.minimal_form()
    codes = np.stack(np.unravel_index(np.arange(scope.size), scope.shape), axis=1)  # (assignment, variable)
    events = tuple(event for part, _ in form.interactions for event in events_of(part))
    columns = [
        np.all([codes[:, scope.axis(name)] == scope.variable(name).code(state) for name, state in event], axis=0)
        for event in events
    ]
    if not columns:
        raise InvalidData(
            f"{title_of(scope)} has no factor with a variable of two states or more: there are no moments"
        )
    vertices = np.stack(columns, axis=1).astype(float)
    return MarginalPolytope(events, vertices, parameters_of(form), form.log_constant)


def events_of(scope: Scope) -> list[Event]:
    """The joint states of some variables without their first states, in the order of a table."""
    labels = [variable.labels[1:] for variable in scope]
    return [tuple(zip(scope.names, states, strict=True)) for states in product(*labels)]


def parameters_of(form: MinimalPotentials) -> np.ndarray:
    return np.concatenate([table.reshape(-1) for _, table in form.interactions])
