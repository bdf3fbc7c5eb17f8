"""`LinearGaussianStateSpace`: a hidden vector with linear-Gaussian dynamics and linear-Gaussian observations.

Its sequences have observations and inputs, and states where some are given. Over a number of steps the model is one
Gaussian: all variables are linear in independent noises.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_count
from juncture.base.values import Value, number_of
from juncture.data.sequences import Sequence, Sequences, as_inputs, as_sequences
from juncture.data.sources.sequence_source import StepKind
from juncture.errors import InvalidData, InvalidModel, hint
from juncture.runtime.memory import check_table_fits
from juncture.sequences.state_space.parts import additions, as_covariance, as_part, each_step
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    from juncture.drawing.diagram import Diagram
    from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian

AXES = {  # of one step; a leading axis more is time
    "transition": 2,
    "observation": 2,
    "transition_noise": 2,
    "observation_noise": 2,
    "input_to_state": 2,
    "input_to_observation": 2,
    "transition_offset": 1,
    "observation_offset": 1,
}
COVARIANCES = ("transition_noise", "observation_noise", "initial_covariance")
MOVING = ("transition", "transition_noise", "input_to_state", "transition_offset")  # used between two steps


class LinearGaussianStateSpace(Value):
    """A linear-Gaussian state-space model: hidden states z, observations y, and inputs u where there are any.

        z[0] ~ N(initial_mean, initial_covariance)
        z[t+1] = transition z[t] + input_to_state u[t] + transition_offset + noise of covariance transition_noise
        y[t] = observation z[t] + input_to_observation u[t] + observation_offset + noise of covariance observation_noise

    Every part except the initial ones may vary with time. Such a part has a leading axis of time; its entry t belongs
    to y[t], or to the transition from z[t] to z[t+1]. Covariances may be singular. A number stands for a matrix of one
    entry. Inputs come with the data: `Sequence(observations, covariates=u)`.

    Parameters
    ----------
    transition
        (state, state).
    observation
        (value, state).
    transition_noise
        (state, state), the covariance of the noise of the states.
    observation_noise
        (value, value), the covariance of the noise of the observations.
    initial_mean
        (state,).
    initial_covariance
        (state, state).
    input_to_state, input_to_observation
        (state, input) and (value, input).
    transition_offset, observation_offset
        (state,) and (value,).

    Examples
    --------
    >>> walk = LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, initial_mean=0.0, initial_covariance=1.0)
    >>> walk.to_gaussian(1).covariance.tolist()
    [[1.0, 1.0], [1.0, 3.0]]
    """

    kind: ClassVar[str] = "linear-Gaussian state space"
    transition: np.ndarray  # (state, state)
    observation: np.ndarray  # (value, state)
    transition_noise: np.ndarray  # (state, state)
    observation_noise: np.ndarray  # (value, value)
    initial_mean: np.ndarray  # (state,)
    initial_covariance: np.ndarray  # (state, state)
    input_to_state: np.ndarray | None  # (state, input)
    input_to_observation: np.ndarray | None  # (value, input)
    transition_offset: np.ndarray | None  # (state,)
    observation_offset: np.ndarray | None  # (value,)

    def __init__(  # noqa: PLR0913 (a model has as many parts)
        self,
        transition: Any,
        observation: Any,
        transition_noise: Any,
        observation_noise: Any,
        initial_mean: Any,
        initial_covariance: Any,
        *,
        input_to_state: Any = None,
        input_to_observation: Any = None,
        transition_offset: Any = None,
        observation_offset: Any = None,
    ) -> None:
        move = as_part(transition, (None, None), name="transition")
        size = move.shape[-1]
        if move.shape[-2] != size:
            raise InvalidModel(f"transition must be square; it has the shape {move.shape}")
        look = as_part(observation, (None, size), name="observation")
        values = look.shape[-2]
        self._set(
            transition=move,
            observation=look,
            transition_noise=as_covariance(transition_noise, size, name="transition_noise"),
            observation_noise=as_covariance(observation_noise, values, name="observation_noise"),
            initial_mean=as_part(initial_mean, (size,), name="initial_mean", may_vary=False),
            initial_covariance=as_covariance(initial_covariance, size, name="initial_covariance", may_vary=False),
            input_to_state=_optional(input_to_state, (size, None), "input_to_state"),
            input_to_observation=_optional(input_to_observation, (values, None), "input_to_observation"),
            transition_offset=_optional(transition_offset, (size,), "transition_offset"),
            observation_offset=_optional(observation_offset, (values,), "observation_offset"),
        )
        widths = {part.shape[-1] for part in (self.input_to_state, self.input_to_observation) if part is not None}
        if len(widths) > 1:
            raise InvalidModel(
                f"input_to_state and input_to_observation must take the same number of inputs; they take {widths}"
            )

    # -- sizes

    @property
    def state_dimension(self) -> int:
        return int(self.transition.shape[-1])

    @property
    def observation_dimension(self) -> int:
        return int(self.observation.shape[-2])

    @cached_property
    def variables(self) -> Scope:
        """The state, the observation and the input of a step, vectors of numbers; an input only where there is one."""
        sizes = {"state": self.state_dimension, "observation": self.observation_dimension, "input": self.num_inputs}
        return Scope(Variable(name, dimension=size) for name, size in sizes.items() if size)

    @property
    def num_parameters(self) -> int:
        """The numbers that all parts have, of a covariance those on and above the diagonal.

        A change of the basis of the states leaves the distribution of the observations as it is.
        """
        return sum(count_free(name, part) for name, part in self.parts.items())

    @property
    def num_inputs(self) -> int:
        given = [part for part in (self.input_to_state, self.input_to_observation) if part is not None]
        return int(given[0].shape[-1]) if given else 0

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one observation."""
        return (self.observation_dimension,)

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """The parts that the model has, by name."""
        return {name: self.__dict__[name] for name in self._fields if self.__dict__[name] is not None}

    @property
    def varying(self) -> tuple[str, ...]:
        """The names of the parts that have an axis of time."""
        return tuple(name for name, part in self.parts.items() if part.ndim > AXES.get(name, part.ndim))

    @cached_property
    def max_length(self) -> int | None:
        """The longest sequence for which the varying parts are given; None if no part varies."""
        return min((len(self.parts[name]) + (name in MOVING) for name in self.varying), default=None)

    # -- changes and forms

    def with_parts(self, **parts: Any) -> LinearGaussianStateSpace:
        """The same model with some parts replaced."""
        for name in parts:
            if name not in self._fields:
                raise InvalidModel(f"a state space has no part {name!r}; {hint(name, self._fields)}")
        return LinearGaussianStateSpace(**{**self.parts, **parts})

    def to_gaussian(self, length: int, covariates: Any = None) -> MultivariateGaussian:
        """All states and then all observations of a sequence, (z[0], z[1], …, y[0], y[1], …), as one Gaussian."""
        from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian

        return MultivariateGaussian(*unroll(self, length, covariates))

    @property
    def step_kind(self) -> StepKind:
        """How rows of a table are read as steps."""
        return StepKind(self.event_shape)

    def sequences(self, data: Any, lengths: Any = None) -> Sequences:
        """Data of any form as checked sequences of this model's observations, and inputs where it has any.

        `Sequence(…, states=)` gives states, as rows of numbers with NaN for those that are not known.
        """
        found = as_real_sequences(data, lengths, self.event_shape, self.state_dimension)
        self.check_inputs(found.covariates, found.num_steps)
        longest = int(found.lengths.max(initial=0))
        self.check_length(longest, f"a sequence of {longest} steps")
        return found

    def check_length(self, length: int, what: str) -> None:
        if self.max_length is not None and length > self.max_length:
            raise InvalidData(
                f"{what} is longer than the {self.max_length} steps that the parts which vary in time are given for:"
                f" {', '.join(self.varying)}"
            )

    def check_inputs(self, covariates: np.ndarray | None, length: int) -> None:
        width = 0 if covariates is None else covariates.shape[1]
        if width != self.num_inputs and (length or width):
            remedy = "declare input_to_state=…, or leave them out"
            if self.num_inputs:
                remedy = "give covariates=…, one row a step; data bring them as jt.Sequence(observations, covariates=…)"
            inputs, got = number_of(self.num_inputs, "input"), number_of(width, "covariate")
            raise InvalidData(f"the model takes {inputs} a step; got {got}: {remedy}")

    def to_diagram(self) -> Diagram:
        """Two steps: the state, the state after it, what is observed of both, and the inputs if there are any."""
        from juncture.drawing.diagram import Diagram, Edge, Node

        sizes = {"state": self.state_dimension, "observation": self.observation_dimension, "input": self.num_inputs}
        kinds = [kind for kind, size in sizes.items() if size]
        nodes = [
            Node(f"{kind} {step}", note=number_of(sizes[kind], "number"), shaded=kind != "state")
            for step in ("t", "t+1")
            for kind in kinds
        ]
        edges = [Edge("state t", "state t+1"), *(Edge(f"state {step}", f"observation {step}") for step in ("t", "t+1"))]
        if self.input_to_state is not None:
            edges.append(Edge("input t", "state t+1"))
        if self.input_to_observation is not None:
            edges += [Edge(f"input {step}", f"observation {step}") for step in ("t", "t+1")]
        drawn = {name for edge in edges for name in (edge.source, edge.target)}
        return Diagram([node for node in nodes if node.name in drawn], edges)

    def _repr_html_(self) -> str:
        from juncture.drawing.notebook import diagram_html

        return diagram_html(repr(self), self.to_diagram())

    def __repr__(self) -> str:
        inputs = f", {number_of(self.num_inputs, 'input')}" if self.num_inputs else ""
        varying = f", varying {', '.join(self.varying)}" if self.varying else ""
        sizes = f"{number_of(self.state_dimension, 'state')}, {number_of(self.observation_dimension, 'observation')}"
        return f"LinearGaussianStateSpace({sizes}{inputs}{varying})"


def count_free(name: str, part: np.ndarray) -> int:
    """The free numbers of a part: all, or those on and above the diagonal of each covariance."""
    if name not in COVARIANCES:
        return part.size
    size = part.shape[-1]
    return part.size // size**2 * (size * (size + 1) // 2)


def _optional(given: Any, shape: tuple[int | None, ...], name: str) -> np.ndarray | None:
    return None if given is None else as_part(given, shape, name=name)


def as_real_sequences(data: Any, lengths: Any, event_shape: tuple[int, ...], num_states: int) -> Sequences:
    """Checked sequences whose `states` are vectors (step, state), NaN where no state is given; None without any."""
    if isinstance(data, Sequences):
        return data
    single = isinstance(data, Sequence)
    given = [data] if single else data
    if not isinstance(given, list | tuple) or not any(isinstance(one, Sequence) for one in given):
        return as_sequences(data, lengths, event_shape=event_shape)
    bare = [without_states(one) for one in given]
    found = as_sequences(bare[0] if single else bare, lengths, event_shape=event_shape)
    if not any(isinstance(one, Sequence) and one.states is not None for one in given):
        return found
    sizes = np.diff(found.offsets) if lengths is None else [found.num_steps]
    given_rows = [given_states(one, int(size), num_states) for one, size in zip(given, sizes, strict=True)]
    return replace(found, states=np.concatenate(given_rows))


def without_states(one: Any) -> Any:
    if not isinstance(one, Sequence) or one.states is None:
        return one
    bare = Sequence(one.observations, covariates=one.covariates, weight=one.weight)
    bare._set(index=one.index)
    return bare


def given_states(one: Any, num_steps: int, num_states: int) -> np.ndarray:
    """The states that a sequence gives, (step, state), NaN for the others."""
    if not isinstance(one, Sequence) or one.states is None:
        return np.full((num_steps, num_states), np.nan)
    given_rows = one.states[:, None] if one.states.ndim == 1 else one.states
    if given_rows.dtype.kind not in "biuf" or given_rows.shape != (num_steps, num_states):
        raise InvalidData(
            f"the states of a sequence are one row of {num_states} numbers a step, NaN where they are not known; got"
            f" an array of the shape {one.states.shape}"
        )
    if np.isinf(given_rows).any():
        raise InvalidData("the states of a sequence are finite, or NaN where they are not known")
    return given_rows.astype(np.float64)


def unroll(model: LinearGaussianStateSpace, length: int, covariates: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of all states and then all observations of `length` steps.

    With the moves taken to the left, M z = first state, shifts and noises: z = M⁻¹ (…); then y = O z + levels + noises.
    """
    length = check_count(length, "the length", least=1)
    model.check_length(length, f"a length of {length}")
    inputs = None if covariates is None else as_inputs(covariates)
    if inputs is not None and len(inputs) != length:
        raise InvalidData(f"there is one row of covariates a step: {length}; got {len(inputs)}")
    model.check_inputs(inputs, length)
    width = length * (model.state_dimension + model.observation_dimension)
    check_table_fits(
        (width, width), f"the Gaussian of {length:,} steps", "take fewer steps, or infer, which needs none"
    )
    times = np.arange(length)
    shifts, levels = additions(model, times, inputs)
    moves = each_step(model.transition, 2, times[:-1])
    noise_covariances = each_step(model.transition_noise, 2, times[:-1])
    size = model.state_dimension
    to_noises = np.eye(length * size)  # M
    noises = np.zeros((length * size, length * size))
    noises[:size, :size] = model.initial_covariance
    for time in times[1:]:
        here, before = slice(time * size, (time + 1) * size), slice((time - 1) * size, time * size)
        to_noises[here, before] = -moves[time - 1]
        noises[here, here] = noise_covariances[time - 1]
    from_noises = np.linalg.inv(to_noises)
    mean = from_noises @ np.concatenate([model.initial_mean, *shifts[:-1]])
    covariance = from_noises @ noises @ from_noises.T
    look = block_diagonal(each_step(model.observation, 2, times))
    both = np.vstack([np.eye(len(mean)), look])
    whole = both @ covariance @ both.T
    whole[len(mean) :, len(mean) :] += block_diagonal(each_step(model.observation_noise, 2, times))
    return np.concatenate([mean, look @ mean + levels.ravel()]), (whole + whole.T) / 2


def block_diagonal(blocks: np.ndarray) -> np.ndarray:
    """(step, row, column) as one matrix with the blocks on its diagonal."""
    from scipy.linalg import block_diag

    return block_diag(*blocks)
