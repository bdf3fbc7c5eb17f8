"""`HiddenMarkovModel`: a Markov chain of hidden states that emit observations; and its HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_array
from juncture.base.values import Value, number_of
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, distributions_html
from juncture.components.convert import as_emissions
from juncture.data.sequences import Sequences, as_sequences
from juncture.data.sources.sequence_source import StepKind
from juncture.errors import InvalidModel, Unsupported
from juncture.factors.printed_tables import table_html
from juncture.numerics import stable
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    from juncture.drawing.states import StateDiagram
    from juncture.networks.bayesian_network import BayesianNetwork
    from juncture.networks.factor_product import FactorGraph

SHOWN = 6  # labels


class HiddenMarkovModel(Value):
    """p(z, x) = initial[z0] Π transition[z(t-1), z(t)] Π p(x(t) | z(t)).

    Parameters
    ----------
    initial
        (state,): the distribution of the first state.
    transition
        (state, state): row i is the distribution of the state after state i.
    emissions
        One distribution per state: a batch of a family, a list of families or mixtures, a table (state, symbol) of
        probabilities, an `Emissions` object, or None where observations are log-likelihoods (step, state).
    states
        The labels of the states; by default 0, 1, ….
    symbols
        The labels of the symbols of a table; by default 0, 1, ….

    Examples
    --------
    >>> HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["dry", "wet"])
    HiddenMarkovModel(2 states: dry, wet; 2 symbols)

    `model["wet"]` is the distribution of what that state emits.
    """

    kind: ClassVar[str] = "hidden Markov model"
    initial: np.ndarray  # (state,)
    transition: np.ndarray  # (from, to)
    emissions: Emissions
    states: tuple[State, ...]
    __iter__ = None  # or Python would try model[0], model[1], … as states

    def __init__(
        self,
        initial: Any,
        transition: Any,
        emissions: Any,
        *,
        states: Iterable[State] | None = None,
        symbols: Iterable[State] | None = None,
    ) -> None:
        given = check_array(initial, "the initial distribution, one probability per state,", error=InvalidModel)
        size = len(given) if given.ndim == 1 else 0
        if not size:
            raise InvalidModel(f"the initial distribution is one probability per state; got {initial!r}")
        labels = Variable("state", size if states is None else states).labels
        if len(labels) != size:
            raise InvalidModel(f"there are {size} states; got {len(labels)} labels")
        self._set(
            initial=check_initial(initial, size),
            transition=check_transition(transition, size),
            emissions=with_symbols(as_emissions(emissions, size), symbols),
            states=labels,
        )

    def check_numbers(self) -> None:
        """Raise unless the constructor takes the tables: where they were trusted, and may have overflowed."""
        check_initial(self.initial, self.num_states)
        check_transition(self.transition, self.num_states)

    @classmethod
    def trusted(
        cls, like: HiddenMarkovModel, initial: np.ndarray, transition: np.ndarray, emissions: Emissions
    ) -> HiddenMarkovModel:
        """The states of another model with other parameters, which are not checked again; arrays become read-only."""
        for table in (initial, transition):
            table.setflags(write=False)
        model = cls.__new__(cls)
        model._set(initial=initial, transition=transition, emissions=emissions, states=like.states)
        return model

    @property
    def num_states(self) -> int:
        return len(self.initial)

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one observation: () for a number, (d,) for a vector."""
        return self.emissions.event_shape

    @cached_property
    def variables(self) -> Scope:
        """The state, and what is observed of a step: "symbol" of a table, else "x", or "x0", "x1", … of a vector."""
        return Scope([self._state, *self.emissions.variables])

    @property
    def num_parameters(self) -> int:
        """The number of free parameters; zeros of the transitions stay zeros."""
        free = int((self.transition > 0).sum() - self.num_states + (self.initial > 0).sum() - 1)
        return free + self.emissions.num_parameters

    def __getitem__(self, state: State) -> Any:
        """The distribution of what a state emits, by the state's label."""
        return self.emissions[self._state.code(state)]

    @cached_property
    def _state(self) -> Variable:
        return Variable("state", self.states)

    @cached_property
    def _symbol(self) -> Variable | None:
        symbols = self.emissions.symbols
        return None if symbols is None or symbols == tuple(range(len(symbols))) else Variable("symbol", symbols)

    @property
    def step_kind(self) -> StepKind:
        """How rows of a table are read as steps."""
        return StepKind(self.event_shape, None if self._symbol is None else self._symbol.labels, self.states)

    def sequences(self, data: Any, lengths: Any = None) -> Sequences:
        """Data as checked sequences: labels of states and symbols as codes, holes as NaN."""
        found = as_sequences(
            data,
            lengths,
            event_shape=self.event_shape,
            state_code=self._state.code,
            symbol_code=None if self._symbol is None else self._symbol.code,
            takes_minus_infinity=self.emissions.takes_minus_infinity,
        )
        return found.with_observations(self.emissions.check(found.observations, found.describe_step))

    def to_bayesian_network(self, length: int) -> BayesianNetwork:
        """The chain over `length` steps: state0, observation0, state1, …; for emissions that are a table.

        Transitions are tied to each other, and so are emissions.
        """
        from juncture.sequences.hidden_markov.unrolled import unroll_network

        return unroll_network(self, length)

    def to_factor_graph(self, sequence: Any) -> FactorGraph:
        """The states of one sequence; each observation is a factor of likelihoods. Z is p(sequence).

        Labels of states, if the sequence has any, enter as factors too.
        """
        from juncture.sequences.hidden_markov.unrolled import unroll_factors

        return unroll_factors(self, self.sequences(sequence))

    def to_diagram(self) -> StateDiagram:
        """The states, their initial probabilities, and the transitions of probability 0.005 or more."""
        from juncture.sequences.state_diagram import state_diagram

        return state_diagram(self.states, self.transition, self.initial)

    def __repr__(self) -> str:
        named = "" if self.states == tuple(range(self.num_states)) else f": {', '.join(map(str, self.states[:SHOWN]))}"
        more = ", …" if named and self.num_states > SHOWN else ""
        return f"HiddenMarkovModel({number_of(self.num_states, 'state')}{named}{more}; {self.emissions.summary})"

    def _repr_html_(self) -> str:
        return hidden_markov_html(self)


def check_initial(initial: Any, size: int) -> np.ndarray:
    return stable.as_probabilities(initial, (size,), name="the initial distribution")


def check_transition(transition: Any, size: int) -> np.ndarray:
    axes = "one row and one column per state"
    return stable.as_probabilities(transition, (size, size), name="the transition matrix", axes=axes)


def with_symbols(emissions: Emissions, symbols: Iterable[State] | None) -> Emissions:
    if symbols is None:
        return emissions
    if not isinstance(emissions, CategoricalEmissions):
        raise InvalidModel(f"only a table of emissions has symbols; these are {type(emissions).__name__}")
    return CategoricalEmissions(emissions.probabilities, symbols)


def hidden_markov_html(model: HiddenMarkovModel) -> str:
    """A line of words, and three tables."""
    now, after = Variable("state", model.states), Variable("next", model.states)
    start = table_html(Scope([Variable("initial", model.states)]), model.initial)
    moves = table_html(Scope([now, after]), model.transition)
    return f"<p><code>{escape(repr(model))}</code></p>{start}{moves}{emissions_html(model, now)}"


def emissions_html(model: HiddenMarkovModel, state: Variable) -> str:
    """A table of symbols as it is; else the distribution of each state."""
    emissions = model.emissions
    if isinstance(emissions, CategoricalEmissions):
        return table_html(Scope([state, Variable("symbol", emissions.symbols)]), np.asarray(emissions.probabilities))
    try:
        return distributions_html(model.states, emissions, ("state", "emits"))
    except Unsupported:  # the states have no distributions of their own
        return f"<p>{escape(emissions.summary)}</p>"
