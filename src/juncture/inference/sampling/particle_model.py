"""`ParticleModel`: hidden states with any dynamics and any observations, given by functions of many states at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_function
from juncture.errors import InvalidModel


@dataclass(frozen=True, eq=False)
class ParticleModel:
    """A state space with hidden states z and observations y, given by functions.

    Each function works on many states at once: `states` has a state in each row, (particle, …). Time starts at 0.

    Parameters
    ----------
    initial
        `initial(n, rng)`: n draws of z[0].
    transition
        `transition(states, time, rng)`: for each z[time - 1] a draw of z[time].
    log_observation
        `log_observation(observation, states, time)`: log p(y[time] | z[time]) for each state, (particle,).
    log_transition
        `log_transition(next_states, states, time)`: log p(z[time] | z[time - 1]), row by row; needed for smoothing and
        for guided filters. Both arguments may have a further axis of length 1 in front: the function must broadcast.
    log_initial
        `log_initial(states)`: log p(z[0]), for guided filters.

    Examples
    --------
    >>> import numpy as np
    >>> walk = ParticleModel(
    ...     initial=lambda n, rng: rng.normal(size=n),
    ...     transition=lambda states, time, rng: states + rng.normal(size=states.shape),
    ...     log_observation=lambda y, states, time: -np.abs(y - states),
    ... )
    >>> walk.initial(3, np.random.default_rng(0)).shape
    (3,)
    """

    initial: Callable[[int, np.random.Generator], Any]
    transition: Callable[[np.ndarray, int, np.random.Generator], Any]
    log_observation: Callable[[Any, np.ndarray, int], Any]
    log_transition: Callable[[np.ndarray, np.ndarray, int], Any] | None = None
    log_initial: Callable[[np.ndarray], Any] | None = None

    def __post_init__(self) -> None:
        for name in ("initial", "transition", "log_observation"):
            check_function(getattr(self, name), name)
        for name in ("log_transition", "log_initial"):
            if getattr(self, name) is not None:
                check_function(getattr(self, name), name)

    def initial_states(self, count: int, rng: np.random.Generator) -> np.ndarray:
        return as_states(self.initial(count, rng), count, "initial")

    def next_states(self, states: np.ndarray, time: int, rng: np.random.Generator) -> np.ndarray:
        return as_states(self.transition(states, time, rng), len(states), "transition")

    def log_likelihoods(self, observation: Any, states: np.ndarray, time: int) -> np.ndarray:
        values = self.log_observation(observation, states, time)
        return as_log_densities(values, (len(states),), f"log_observation at time {time}")

    def log_transitions(self, later: np.ndarray, earlier: np.ndarray, time: int) -> np.ndarray:
        """(later, earlier): log p(later | earlier), of every pair."""
        if self.log_transition is None:
            raise InvalidModel("smoothing needs the density of transitions: give the state space log_transition")
        values = self.log_transition(later[:, np.newaxis], earlier[np.newaxis], time)
        return as_log_densities(values, (len(later), len(earlier)), f"log_transition at time {time}")


@dataclass(frozen=True, eq=False)
class Proposal:
    """The draws of a guided filter, which look at the observation.

    Parameters
    ----------
    initial
        `initial(observation, n, rng)`: n draws of z[0], and the logarithm of their density, (particle,).
    transition
        `transition(states, observation, time, rng)`: for each z[time - 1] a draw of z[time], and the logarithm of their
        density.

    Examples
    --------
    >>> import numpy as np
    >>> near = Proposal(
    ...     initial=lambda y, n, rng: (np.full(n, y), np.zeros(n)),
    ...     transition=lambda states, y, time, rng: (np.full(len(states), y), np.zeros(len(states))),
    ... )
    >>> near.initial(2.0, 3, None)[0].tolist()
    [2.0, 2.0, 2.0]
    """

    initial: Callable[[Any, int, np.random.Generator], tuple[Any, Any]]
    transition: Callable[[np.ndarray, Any, int, np.random.Generator], tuple[Any, Any]]

    def __post_init__(self) -> None:
        check_function(self.initial, "initial")
        check_function(self.transition, "transition")

    def draw_initial(
        self, space: ParticleModel, observation: Any, count: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """States, and the logarithm of the ratio of their densities under the model and the proposal."""
        if space.log_initial is None:
            raise InvalidModel(
                "a guided filter needs the density of the first states: give the state space log_initial"
            )
        drawn, log_proposed = as_pair(self.initial(observation, count, rng), "the proposal's initial")
        states = as_states(drawn, count, "the proposal's initial")
        log_proposed = as_log_densities(log_proposed, (count,), "the density of the proposal's initial")
        return states, log_ratio(as_log_densities(space.log_initial(states), (count,), "log_initial"), log_proposed)

    def draw_next(
        self, space: ParticleModel, states: np.ndarray, observation: Any, time: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        if space.log_transition is None:
            raise InvalidModel("a guided filter needs the density of transitions: give the state space log_transition")
        count = len(states)
        drawn, log_proposed = as_pair(self.transition(states, observation, time, rng), "the proposal's transition")
        later = as_states(drawn, count, "the proposal's transition")
        log_proposed = as_log_densities(log_proposed, (count,), f"the density of the proposal at time {time}")
        values = space.log_transition(later, states, time)
        return later, log_ratio(as_log_densities(values, (count,), f"log_transition at time {time}"), log_proposed)


def as_pair(drawn: Any, what: str) -> tuple[Any, Any]:
    if not isinstance(drawn, tuple) or len(drawn) != 2:
        raise InvalidModel(f"{what} must return states and the logarithm of their density, a tuple of two arrays")
    return drawn


def log_ratio(log_model: np.ndarray, log_proposed: np.ndarray) -> np.ndarray:
    if (log_proposed == -np.inf).any():
        raise InvalidModel("the proposal drew a state to which it gives density 0: its density does not fit its draws")
    return log_model - log_proposed


def as_states(values: Any, count: int, what: str) -> np.ndarray:
    """Numbers, (particle, …)."""
    try:
        states = np.asarray(values)
    except ValueError:
        states = np.empty(0, object)
    if states.ndim < 1 or len(states) != count or states.dtype.kind not in "biuf":
        raise InvalidModel(f"{what} must return {count:,} states as one array of numbers; got {states.shape}")
    if states.dtype.kind == "f" and not np.isfinite(states).all():
        raise InvalidModel(f"{what} returned states that are NaN or infinite")
    return states


def as_log_densities(values: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Logarithms of densities: below ∞, not NaN."""
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        found = np.full((1, 0), np.nan)
    if found.shape != shape:
        raise InvalidModel(f"{what} must return an array of shape {shape}; got {found.shape}")
    if np.isnan(found).any() or (found == np.inf).any():
        raise InvalidModel(f"{what} returned NaN or ∞; the logarithm of a density lies below ∞")
    return found
