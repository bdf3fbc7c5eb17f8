"""`MarkovChain`: a sequence of states in which the next state depends on the last one, or on the last few."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.base.values import Value, number_of, read_only
from juncture.data.sequences import Sequences, as_sequences
from juncture.data.sources.sequence_source import StepKind
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.factors.printed_tables import table_html
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics.stable import as_numbers, as_probabilities
from juncture.runtime.memory import check_steps_fit, check_table_fits
from juncture.sequences.markov_chains import evolution
from juncture.sequences.markov_chains.evolution import (
    ChainStructure,
    distribution_after,
    first_positive_power,
    power,
    reversal,
)
from juncture.sequences.markov_chains.labels import ChainLabels, Label, as_distribution, as_labels, as_order, shown
from juncture.sequences.markov_chains.windows import fill_from_states, first_order_matrix
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    from juncture.drawing.states import StateDiagram
    from juncture.sequences.hidden_markov.model import HiddenMarkovModel


class ChainQuestions(Value):
    """Classes, stationary distributions, passages and mixing; distributions are in the order of the states."""

    _fields: ClassVar[tuple[str, ...]] = ()  # the labels are among the fields of a chain
    labels: ChainLabels

    @property
    def matrix(self) -> np.ndarray:
        """The transitions between all states: (now, next)."""
        raise NotImplementedError

    def initial_distribution(self, start: Any = None) -> np.ndarray:
        raise NotImplementedError

    @cached_property
    def _structure(self) -> ChainStructure:
        return ChainStructure.of(self.matrix)

    def _marked(self, targets: Any) -> np.ndarray:
        """Which states are targets: (state,)."""
        codes = self.labels.codes(targets)
        if not codes:
            raise InvalidData("a passage needs a target: give a state, or several in a list")
        marked = np.zeros(self.labels.num_states, dtype=bool)
        marked[codes] = True
        return marked

    # --- classes -----------------------------------------------------------------------------------------------------

    @property
    def classes(self) -> tuple[tuple[Label, ...], ...]:
        """The communicating classes: states that can be reached from one another."""
        return tuple(self.labels.at(members) for members in self._structure.members)

    @property
    def closed_classes(self) -> tuple[tuple[Label, ...], ...]:
        """The communicating classes that the chain cannot leave."""
        return tuple(self.labels.at(members) for members in self._structure.closed)

    @property
    def transient_states(self) -> tuple[Label, ...]:
        """The transient states: those outside all closed classes."""
        return self.labels.at(np.flatnonzero(~self._structure.is_recurrent))

    @property
    def absorbing_states(self) -> tuple[Label, ...]:
        """The absorbing states: those that the chain cannot leave."""
        return tuple(members[0] for members in self.closed_classes if len(members) == 1)

    @property
    def is_irreducible(self) -> bool:
        """Whether every state can be reached from every state."""
        return len(self._structure.is_closed) == 1

    def period(self, state: Any = None) -> int:
        """The gcd of the numbers of steps after which a state can return to itself; 0 if it never can.

        Without a state, the period of the chain: the number of steps after which its distribution repeats in the long
        run, the least common multiple of the periods of its closed classes.
        """
        structure = self._structure
        if state is None:
            return int(np.lcm.reduce(structure.periods[structure.is_closed]))
        return int(structure.periods[structure.class_of[self.labels.code(state)]])

    @property
    def is_aperiodic(self) -> bool:
        """Whether every state that can return to itself has the period 1."""
        return bool((self._structure.periods <= 1).all())

    @property
    def is_positive(self) -> bool:
        """Whether the transition matrix has no zero; some texts call only such a chain regular."""
        return bool((self.matrix > 0).all())

    @property
    def is_regular(self) -> bool:
        """Whether some power of the transition matrix has no zero: the chain is irreducible and aperiodic."""
        return self.is_irreducible and self.is_aperiodic

    @property
    def positive_power(self) -> int | None:
        """The smallest power of the transition matrix without zeros; None if every power has zeros."""
        return first_positive_power(self.matrix > 0) if self.is_regular else None

    @property
    def has_unique_limit(self) -> bool:
        """Whether the limiting distribution is the same from every start; the chain need not be regular."""
        closed = self._structure.is_closed
        return bool(closed.sum() == 1 and (self._structure.periods[closed] == 1).all())

    # --- stationary distributions ------------------------------------------------------------------------------------

    @cached_property
    def stationary_distributions(self) -> np.ndarray:
        """The stationary distribution of each of `closed_classes`: (class, state). All others are mixtures of these."""
        return read_only(evolution.stationary_distributions(self.matrix, self._structure))

    @property
    def stationary(self) -> np.ndarray:
        """The stationary distribution π = πS, if it is unique; each closed class has one."""
        if len(self.stationary_distributions) > 1:
            sets = " and ".join(shown(members) for members in self.closed_classes[:3])
            more = ", …" if len(self.closed_classes) > 3 else ""
            raise InvalidModel(
                f"the stationary distribution is not unique: there are {len(self.closed_classes)} closed classes,"
                f" {sets}{more}; stationary_distributions has one for each, and"
                " limiting_distribution(start) the limit from a start"
            )
        return np.asarray(self.stationary_distributions[0])

    def is_stationary(self, distribution: Any, tolerance: float = 1e-9) -> bool:
        """Whether this distribution is stationary: Σ_x π(x) S(x, y) = π(y)."""
        given = as_distribution(distribution, self.labels, 1, "the distribution")
        return bool(np.abs(given @ self.matrix - given).max() <= check_number(tolerance, "tolerance", least=0))

    def limiting_distribution(self, start: Any = None) -> np.ndarray:
        """The distribution that the chain tends to from its initial distribution, or another start."""
        shares = self.initial_distribution(start) @ self.absorption_probabilities()
        periods = self._structure.periods[self._structure.is_closed]
        for share, members, period in zip(shares, self.closed_classes, periods, strict=True):
            if share > 0 and period > 1:
                raise InvalidModel(
                    f"the distribution does not converge: it cycles through {shown(members)} with the period {period}"
                )
        return np.asarray(shares @ self.stationary_distributions)

    def satisfies_detailed_balance(self, distribution: Any = None, tolerance: float = 1e-9) -> bool:
        """Whether π(x) S(x, y) = π(y) S(y, x), each to a relative tolerance; by default for all stationary π."""
        distributions = (
            self.stationary_distributions
            if distribution is None
            else [as_distribution(distribution, self.labels, 1, "the distribution")]
        )
        return all(evolution.satisfies_detailed_balance(self.matrix, each, tolerance) for each in distributions)

    @property
    def is_reversible(self) -> bool:
        """Whether the stationary chain equals its time reversal: detailed balance holds."""
        return self.satisfies_detailed_balance()

    # --- passages ----------------------------------------------------------------------------------------------------

    def hitting_probabilities(self, targets: Any) -> np.ndarray:
        """The probability of ever reaching a target (a state, or several), from each state."""
        return evolution.hitting_probabilities(self.matrix, self._marked(targets))

    def hitting_times(self, targets: Any) -> np.ndarray:
        """The mean number of steps until a target, from each state; infinite where it may never be reached."""
        return evolution.hitting_times(self.matrix, self._marked(targets))

    def absorption_probabilities(self) -> np.ndarray:
        """The probability of ending in each closed class, from each state: (state, class)."""
        return evolution.absorption_probabilities(self.matrix, self._structure)

    def absorption_times(self) -> np.ndarray:
        """The mean number of steps until the chain is in a closed class, from each state."""
        return evolution.hitting_times(self.matrix, self._structure.is_recurrent)

    # --- mixing ------------------------------------------------------------------------------------------------------

    def distance_to_stationary(self, steps: int, start: Any = None) -> np.ndarray:
        """½ Σ |distribution at t - stationary| for t = 0, …, steps, from the initial distribution or another start."""
        distribution, steps = self.initial_distribution(start), check_count(steps, "the number of steps")
        return evolution.distances(self.matrix, distribution, self.stationary, steps)

    def worst_distance(self, steps: int) -> np.ndarray:
        """The distance to the stationary distribution for t = 0, …, steps, from the state that is farthest from it."""
        return evolution.worst_distances(self.matrix, self.stationary, check_count(steps, "the number of steps"))

    def mixing_time(self, threshold: float = 0.25) -> int | float:
        """The first time at which all starts are within `threshold` of the stationary distribution, or infinity."""
        check_number(threshold, "the threshold of the mixing time", least=SMALLEST_THRESHOLD, below=1)
        in_the_end = 1.0 - 1.0 / self.period()  # a distribution that goes round stays that far away
        if threshold < in_the_end + SMALLEST_THRESHOLD and self.worst_distance(0)[0] > threshold:
            return math.inf
        found = evolution.mixing_time(self.matrix, self.stationary, float(threshold))
        return math.inf if found is None else found

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of the transition matrix, the largest in modulus first; real numbers if all are real."""
        return read_only(evolution.eigenvalues(self.matrix, self._structure))

    @property
    def second_eigenvalue_modulus(self) -> float:
        """|λ₂|: how fast distances to the stationary distribution shrink in the long run; 0 for a single state."""
        return float(abs(self.eigenvalues[1])) if self.labels.num_states > 1 else 0.0

    @property
    def spectral_gap(self) -> float:
        """1 - |λ₂|, precise also where it is tiny; 1 for a single state."""
        return evolution.spectral_gap(self.matrix, self._structure, self.second_eigenvalue_modulus)


def unroll(initial: np.ndarray, transition: np.ndarray, labels: tuple[State, ...], length: int) -> BayesianNetwork:
    """state0, state1, …: the first ones by the chain rule from their distribution, the later ones by one tied table."""
    order = initial.ndim
    steps = Scope(Variable(f"state{step}", labels) for step in range(max(length, order)))
    first = Factor(steps[:order], initial)
    early = [Conditional.from_joint(first, steps[step].name, steps.names[:step]) for step in range(min(order, length))]
    late = [Conditional(steps[step], steps[step - order : step], transition) for step in range(order, length)]
    tied = [[part.child.name for part in late]] if len(late) > 1 else []
    return BayesianNetwork([*early, *late], tied=tied)


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

    kind: ClassVar[str] = "Markov chain"

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

    @classmethod
    def metropolis(
        cls,
        target: Any,
        proposal: Any,
        initial: Any = None,
        *,
        states: Iterable[State] | ChainLabels | int | None = None,
    ) -> MarkovChain:
        """Return the exact chain of Metropolis-Hastings: S(x, z) = T(x, z) min(1, π(z) T(z, x) / (π(x) T(x, z))).

        What is refused stays where it is. Detailed balance holds, so that the target is stationary; it is the limit
        where the chain `is_regular`.

        Parameters
        ----------
        target
            π up to a constant: a positive number for each state.
        proposal
            T: a transition table, or a Markov chain, whose states the chain then has. What it proposes, it must be able
            to propose back.
        initial
            The distribution of the first state, or that state.
        states
            The labels of the states, or their number; by default 0, 1, …, or those of the proposal.

        Examples
        --------
        >>> chain = MarkovChain.metropolis([1, 3], [[0.5, 0.5], [0.5, 0.5]])
        >>> chain.matrix.round(4).tolist(), chain.stationary.round(4).tolist()
        ([[0.5, 0.5], [0.1667, 0.8333]], [0.25, 0.75])
        """
        from juncture.inference.sampling.markov_chains.transition_matrix import accept

        if isinstance(proposal, MarkovChain):
            states = proposal.labels if states is None else states
            proposal = proposal.matrix
        proposed = cls(proposal, states=states)
        weights = as_numbers(target, (proposed.num_states,), name="the target", axes="one entry per state")
        if not weights.min() > 0:
            never = proposed.labels.at(np.flatnonzero(weights <= 0)[:1])[0]
            raise InvalidModel(
                f"the target of Metropolis-Hastings is positive in every state; in {never!r} it is"
                f" {weights.min():g}: leave such states out"
            )
        matrix = accept(proposed.matrix, np.log(weights), proposed.states)
        return cls(matrix, initial, states=proposed.labels)

    @property
    def states(self) -> tuple[Label, ...]:
        return self.labels.labels

    @property
    def num_states(self) -> int:
        return self.labels.num_states

    @cached_property
    def variables(self) -> Scope:
        """The state."""
        return Scope([Variable("state", self.labels.variable.labels)])

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


SMALLEST_THRESHOLD = 1e-10  # rounding hides smaller distances
