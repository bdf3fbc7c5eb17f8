"""`MarkovChain`: a sequence of states in which the next state depends on the last one, or on the last few."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.checks import check_count
from juncture.data.sequences.sequences import Sequences, as_sequences
from juncture.data.sources.steps import StepKind
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.factors.html import table_html
from juncture.memory import check_steps_fit, check_table_fits
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics import as_probabilities
from juncture.sequences.markov_chains.checks import as_distribution, as_labels, as_order
from juncture.sequences.markov_chains.evolution import distribution_after, power
from juncture.sequences.markov_chains.histories import first_order_matrix
from juncture.sequences.markov_chains.labels import ChainLabels, Label, shown
from juncture.sequences.markov_chains.questions import ChainQuestions
from juncture.sequences.markov_chains.stationary import reversal
from juncture.sequences.markov_chains.unrolled import unroll
from juncture.sequences.markov_chains.windows import fill_from_states
from juncture.values import number_of
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    from juncture.drawing.states import StateDiagram
    from juncture.sequences.hidden_markov.model import HiddenMarkovModel


class MarkovChain(ChainQuestions):
    """p(x) = p(x₀) Π p(x_t | x_{t-1}), with transition[i, j] = p(next = j | now = i).

    Distributions are arrays in the order of `states`. Communicating classes, stationary distributions and passage times
    are defined for chains of order 1; `to_first_order` converts a chain of higher order.

    Parameters
    ----------
    transition
        The transition table: m axes for the last m states, the oldest first, then one for the next state.
    initial
        The distribution of the first state, or that state; for order m a table of the first m states, or these states.
    states
        The labels of the states, or their number; by default 0, 1, ….
    order
        The number m of earlier states on which the next state depends.

    Examples
    --------
    >>> weather = MarkovChain([[0.9, 0.1], [0.5, 0.5]], "sun", states=["sun", "rain"])
    >>> weather.distribution_at(2).round(4).tolist()
    [0.86, 0.14]
    >>> weather.stationary.round(4).tolist()
    [0.8333, 0.1667]
    >>> weather.hitting_times("rain").round(4).tolist()
    [10.0, 0.0]
    """

    _fields = ("transition", "initial", "labels", "order")
    transition: np.ndarray  # (*history, next)
    initial: np.ndarray | None  # (*first states)
    labels: ChainLabels
    order: int

    def __init__(
        self,
        transition: Any,
        initial: Any = None,
        *,
        states: Iterable[State] | ChainLabels | int | None = None,
        order: int = 1,
    ) -> None:
        order = as_order(order)
        labels = as_labels(states, transition)
        shape = (labels.num_states,) * (order + 1)
        axes = "one row and one column per state" if order == 1 else "one axis per earlier state, then one for the next"
        table = as_probabilities(transition, shape, name="the transition table", axes=axes)
        self._set(transition=table, labels=labels, order=order, initial=None)
        if initial is not None:
            self._set(initial=self._as_distribution(initial, "the initial distribution"))

    @classmethod
    def uniform(cls, states: Iterable[State] | int, order: int = 1) -> MarkovChain:
        """The chain with uniform probabilities: a template from which `fit` learns a chain of these states.

        >>> MarkovChain.uniform(["A", "C", "G", "T"], order=2)
        MarkovChain(4 states, order 2)
        """
        variable, order = Variable("state", states), as_order(order)
        size = variable.num_states
        check_table_fits(
            (size,) * (order + 1),
            f"a Markov chain of {size:,} states and order {order}",
            "take fewer states, or a lower order",
        )
        initial = np.full((size,) * order, float(size) ** -order)
        return cls(np.full((size,) * (order + 1), 1.0 / size), initial, states=variable.labels, order=order)

    @property
    def states(self) -> tuple[Label, ...]:
        return self.labels.labels

    @property
    def num_states(self) -> int:
        return self.labels.num_states

    @property
    def num_parameters(self) -> int:
        """The number of free parameters, including those of the initial distribution."""
        histories = int(self.num_states**self.order)
        return histories - 1 + histories * (self.num_states - 1)

    # --- over time ---------------------------------------------------------------------------------------------------

    def transition_after(self, steps: int) -> np.ndarray:
        """The transition matrix of `steps` steps: the power S^steps."""
        return power(self.matrix, check_count(steps, "the number of steps"))

    def distribution_at(self, time: int, start: Any = None) -> np.ndarray:
        """The distribution of the state at a time, from the initial distribution or another start; time begins at 0."""
        time, distribution = check_count(time, "the time"), self.initial_distribution(start)
        later = max(time - self.order + 1, 0)
        distribution = distribution_after(self.transition, distribution, later)
        others = tuple(axis for axis in range(self.order) if axis != time - later)
        return distribution.sum(axis=others)

    @property
    def step_kind(self) -> StepKind:
        """How rows of a table are read as steps."""
        return StepKind((), self.labels.variable.labels)

    def sequences(self, data: Any, lengths: Any = None) -> Sequences:
        """Data as checked sequences of the codes of states; holes are NaN.

        The states of a `Sequence` are its observations: either fills the holes of the other.
        """
        if self.labels.length > 1:
            raise Unsupported(
                f"sequences are read by the chain of order {self.labels.length}, not by its first-order form"
            )
        code = self.labels.variable.code
        return fill_from_states(as_sequences(data, lengths, state_code=code, symbol_code=code))

    # --- other models ------------------------------------------------------------------------------------------------

    def with_initial(self, initial: Any) -> MarkovChain:
        """The same transitions from another initial distribution, or from a state."""
        return MarkovChain(self.transition, initial, states=self.labels, order=self.order)

    def reversed(self) -> MarkovChain:
        """The time reversal of the stationary chain: π(y) S(y, x) / π(x)."""
        distribution = self.stationary
        if not distribution.all():
            never = shown(self.labels.at(np.flatnonzero(distribution == 0)))
            raise InvalidModel(f"a reversal needs a stationary distribution without zeros; here it is 0 in {never}")
        return MarkovChain(reversal(self.matrix, distribution), distribution, states=self.labels)

    def to_first_order(self) -> MarkovChain:
        """The chain of the last `order` states, whose labels are tuples, the oldest state first."""
        histories = self.num_states**self.order
        check_table_fits((histories, histories), f"a chain of {histories:,} histories", "ask the chain of higher order")
        initial = None if self.initial is None else self.initial.ravel()
        labels = ChainLabels(self.labels.variable, self.labels.length * self.order)
        return MarkovChain(first_order_matrix(self.transition), initial, states=labels)

    def to_bayesian_network(self, length: int) -> BayesianNetwork:
        """A network of state0, state1, …; the parents of a state are the `order` states before it. Tables are tied."""
        length = check_count(length, "the length of a chain", least=1)
        check_steps_fit(length, self.transition.shape, f"a network of {length:,} steps")
        return unroll(self.initial_distribution(), self.transition, self.labels.plain, length)

    def to_hidden_markov_model(self) -> HiddenMarkovModel:
        """A hidden Markov model with the same transitions, in which every state emits itself."""
        from juncture.sequences.hidden_markov.model import HiddenMarkovModel

        check_table_fits((self.num_states,) * 2, f"a model of {self.num_states:,} states", "ask the chain itself")
        return HiddenMarkovModel(
            self.initial_distribution(),
            self.matrix,
            np.eye(self.num_states),
            states=self.labels.plain,
            symbols=self.labels.plain,
        )

    def to_diagram(self) -> StateDiagram:
        """The states, their initial probabilities, and the transitions of probability 0.005 or more."""
        from juncture.sequences.state_diagram import state_diagram

        return state_diagram(self.states, self.matrix, self.initial)

    # --- being a value -----------------------------------------------------------------------------------------------

    @property
    def matrix(self) -> np.ndarray:
        if self.order > 1:
            raise Unsupported(
                f"this is a question to a chain of order 1, and this chain has order {self.order}: ask its"
                f" to_first_order(), whose states are tuples of {self.order} states"
            )
        return self.transition

    def _as_distribution(self, given: Any, what: str) -> np.ndarray:
        return as_distribution(given, self.labels, self.order, what)

    def initial_distribution(self, start: Any = None) -> np.ndarray:
        """The distribution of the first `order` states: of a start, or the chain's own."""
        if start is not None:
            return self._as_distribution(start, "the start")
        if self.initial is None:
            raise InvalidData(
                "this chain has no initial distribution: give a start, or with_initial(…) a distribution or a state"
            )
        return self.initial

    def __repr__(self) -> str:
        states = number_of(self.num_states, "state")
        if self.order > 1:
            return f"MarkovChain({states}, order {self.order})"
        if not self.is_irreducible:
            closed = len(self.closed_classes)
            return f"MarkovChain({states}, {closed} closed class{'es' if closed != 1 else ''})"
        kind = "aperiodic" if self.is_aperiodic else f"of period {self.period()}"
        return f"MarkovChain({states}, irreducible, {kind})"

    def _repr_html_(self) -> str:
        names = [f"{steps} before" for steps in range(self.order, 0, -1)] if self.order > 1 else ["now"]
        scope = Scope(Variable(name, self.labels.plain) for name in [*names, "next"])
        return f"<p><code>{escape(repr(self))}</code></p>{table_html(scope, self.transition)}"
