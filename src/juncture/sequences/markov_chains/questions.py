"""`ChainQuestions`: the questions about a chain's transition matrix, in the labels of its states."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from juncture.checks import check_count, check_number
from juncture.errors import InvalidData, InvalidModel
from juncture.sequences.markov_chains import evolution, passage, spectrum, stationary
from juncture.sequences.markov_chains.checks import as_distribution
from juncture.sequences.markov_chains.labels import ChainLabels, Label, shown
from juncture.sequences.markov_chains.structure import ChainStructure, first_positive_power
from juncture.values import Value, read_only

SMALLEST_THRESHOLD = 1e-10  # rounding hides smaller distances


class ChainQuestions(Value):
    """Classes, stationary distributions, passages and mixing; distributions are in the order of the states."""

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
        return read_only(stationary.stationary_distributions(self.matrix, self._structure))

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
        return all(stationary.satisfies_detailed_balance(self.matrix, each, tolerance) for each in distributions)

    @property
    def is_reversible(self) -> bool:
        """Whether the stationary chain equals its time reversal: detailed balance holds."""
        return self.satisfies_detailed_balance()

    # --- passages ----------------------------------------------------------------------------------------------------

    def hitting_probabilities(self, targets: Any) -> np.ndarray:
        """The probability of ever reaching a target (a state, or several), from each state."""
        return passage.hitting_probabilities(self.matrix, self._marked(targets))

    def hitting_times(self, targets: Any) -> np.ndarray:
        """The mean number of steps until a target, from each state; infinite where it may never be reached."""
        return passage.hitting_times(self.matrix, self._marked(targets))

    def absorption_probabilities(self) -> np.ndarray:
        """The probability of ending in each closed class, from each state: (state, class)."""
        return passage.absorption_probabilities(self.matrix, self._structure)

    def absorption_times(self) -> np.ndarray:
        """The mean number of steps until the chain is in a closed class, from each state."""
        return passage.hitting_times(self.matrix, self._structure.is_recurrent)

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
        return read_only(spectrum.eigenvalues(self.matrix, self._structure))

    @property
    def second_eigenvalue_modulus(self) -> float:
        """|λ₂|: how fast distances to the stationary distribution shrink in the long run; 0 for a single state."""
        return float(abs(self.eigenvalues[1])) if self.labels.num_states > 1 else 0.0

    @property
    def spectral_gap(self) -> float:
        """1 - |λ₂|, precise also where it is tiny; 1 for a single state."""
        return spectrum.spectral_gap(self.matrix, self._structure, self.second_eigenvalue_modulus)
