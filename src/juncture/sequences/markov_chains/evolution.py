"""How a Markov chain evolves: its distribution over time, classes and periods of its states, and where it ends.

The stationary distribution, the spectrum of the transition matrix, and the times and places of first passages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from juncture.base.checks import check_number
from juncture.errors import Unsupported
from juncture.sequences.markov_chains.windows import first_order_matrix


def product(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The product of two stochastic matrices, each row brought to the sum 1: rounding would double at each squaring."""
    both = first @ second
    return both / both.sum(axis=1, keepdims=True)


def power(transition: np.ndarray, steps: int) -> np.ndarray:
    """The transitions of `steps` steps at once, by repeated squaring."""
    result, square = np.eye(len(transition)), transition
    while steps:
        result = product(result, square) if steps % 2 else result
        steps //= 2
        square = product(square, square) if steps else square
    return result


def distribution_after(table: np.ndarray, distribution: np.ndarray, steps: int) -> np.ndarray:
    """The distribution of the last states, (*history), after so many more steps; `table` is (*history, next)."""
    size = distribution.size
    if steps * table.size <= 2 * max(steps, 1).bit_length() * size**3:
        for _ in range(steps):
            distribution = next_distribution(table, distribution)
        return distribution
    return np.asarray(distribution.ravel() @ power(first_order_matrix(table), steps)).reshape(distribution.shape)


def next_distribution(table: np.ndarray, distribution: np.ndarray) -> np.ndarray:
    """The distribution of the last states one step later: the oldest is summed out."""
    moved = np.einsum("a...,a...n->...n", distribution, table)
    return np.asarray(moved / moved.sum())


def distances(transition: np.ndarray, distribution: np.ndarray, stationary: np.ndarray, steps: int) -> np.ndarray:
    """½ Σ |distribution at t - stationary| for t = 0, …, steps."""
    trace = np.empty(steps + 1)
    for step in range(steps + 1):
        trace[step] = total_variation(distribution, stationary)
        distribution = next_distribution(transition, distribution)
    return trace


def worst_distances(transition: np.ndarray, stationary: np.ndarray, steps: int) -> np.ndarray:
    """The largest distance from any starting state, for t = 0, …, steps."""
    trace, distributions = np.empty(steps + 1), np.eye(len(transition))
    for step in range(steps + 1):
        trace[step] = total_variation(distributions, stationary).max()
        distributions = product(distributions, transition)
    return trace


def mixing_time(transition: np.ndarray, stationary: np.ndarray, threshold: float) -> int | None:
    """The first step at which no start is farther than `threshold` from the distribution that all of them tend to."""

    def is_near(distributions: np.ndarray) -> bool:
        return bool(total_variation(distributions, stationary).max() <= threshold)

    return 0 if is_near(np.eye(len(transition))) else first_power(transition, product, is_near)


def total_variation(distributions: np.ndarray, stationary: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * np.abs(distributions - stationary).sum(axis=-1))


LARGE = 1e150
BEYOND_FLOATS = "some states communicate only by probabilities below 1e-308, which floats cannot distinguish from 0"


def stationary_distributions(transition: np.ndarray, structure: ChainStructure) -> np.ndarray:
    """One for each closed class, 0 outside of it: (class, state). Their mixtures are all stationary distributions."""
    distributions = np.zeros((len(structure.closed), len(transition)))
    for distribution, members in zip(distributions, structure.closed, strict=True):
        distribution[members] = stationary_distribution(transition[np.ix_(members, members)])
    return distributions


def stationary_distribution(transition: np.ndarray) -> np.ndarray:
    """The stationary distribution of an irreducible chain.

    The chain is watched only while in its first n states, for n ever smaller: what left for state n comes back as state
    n sends it on. The diagonal is never read: a state is left with what its other entries sum to.
    """
    watched = transition.copy()
    for last in range(len(watched) - 1, 0, -1):
        leaving = check_leaving(watched[last, :last].sum())
        watched[:last, last] /= leaving
        watched[:last, :last] += np.outer(watched[:last, last], watched[last, :last])
    distribution = np.zeros(len(watched))
    distribution[0] = 1.0
    for state in range(1, len(distribution)):
        distribution[state] = distribution[:state] @ watched[:state, state]
        if distribution[state] > LARGE:
            distribution /= distribution[state]
    return np.asarray(distribution / distribution.sum())


def check_leaving(total: float) -> float:
    """The probability of leaving a state, which is positive unless a product of several was too small for a number."""
    if not total > 0:
        raise Unsupported(BEYOND_FLOATS)
    return total


def satisfies_detailed_balance(transition: np.ndarray, distribution: np.ndarray, tolerance: float) -> bool:
    """π(x) S(x, y) = π(y) S(y, x) for all x and y, each to a relative tolerance."""
    check_number(tolerance, "tolerance", least=0)
    flow = distribution[:, None] * transition
    return bool((np.abs(flow - flow.T) <= tolerance * (flow + flow.T)).all())


def reversal(transition: np.ndarray, distribution: np.ndarray) -> np.ndarray:
    """π(y) S(y, x) / π(x): what was before x, in a chain of this stationary distribution."""
    flow = distribution[:, None] * transition
    return np.asarray((flow / flow.sum(axis=0)).T)


ROUNDING = 1e-9
NEAR_ONE = 0.9
SMALLEST_GAP = 1e-15  # that eigenvalues show
MOST_STEPS = 2**900


def eigenvalues(transition: np.ndarray, structure: ChainStructure) -> np.ndarray:
    """All of them, the largest in modulus first; real numbers where all are.

    They are those of the classes, since no way leads back from one class to another.
    """
    parts = [
        eigenvalues_within(transition[np.ix_(members, members)], bool(closed))
        for members, closed in zip(structure.members, structure.is_closed, strict=True)
    ]
    found = np.concatenate(parts)
    order = np.lexsort((-found.imag, -found.real, -np.round(np.abs(found), 12)))
    return found[order]


def eigenvalues_within(transition: np.ndarray, is_closed: bool) -> np.ndarray:
    """The eigenvalues of one class. A closed class has 1; those of a reversible one are all real."""
    if not is_closed:
        return np.linalg.eigvals(transition)
    if satisfies_detailed_balance(transition, stationary_distribution(transition), ROUNDING):
        roots = np.sqrt(transition)
        found = np.linalg.eigvalsh(roots * roots.T)
    else:
        found = np.linalg.eigvals(transition)
    found[np.argmin(np.abs(found - 1.0))] = 1.0
    return np.asarray(found)


def spectral_gap(transition: np.ndarray, structure: ChainStructure, modulus: float) -> float:
    """1 - |λ₂| to nearly full relative precision, from |λ₂| as far as it is known.

    Near 1 the difference would be lost; it is read off a power in which |λ₂| has become smaller.
    """
    if structure.periods[structure.is_closed].sum() > 1:
        return 0.0  # as many eigenvalues have the modulus 1
    steps = 1
    while modulus > NEAR_ONE and steps < MOST_STEPS:
        for _ in range(int(-math.log2(max(1.0 - modulus, SMALLEST_GAP)))):
            transition, steps = product(transition, transition), 2 * steps
        modulus = float(np.sort(np.abs(np.linalg.eigvals(transition)))[-2])
    return max(-math.expm1(math.log(modulus) / steps), 0.0) if modulus > 0 else 1.0


def hitting_probabilities(transition: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The probability of ever being in a target, from each state; `targets` are marked: (state,)."""
    lost, open_ = fates(transition, targets)
    chances = np.where(lost, 0.0, 1.0)
    if open_.any():
        exits = np.stack([transition[np.ix_(open_, goal)].sum(axis=1) for goal in (~open_ & ~lost, lost)], axis=1)
        chances[open_] = first_exits(transition[np.ix_(open_, open_)], exits)[0][:, 0]
    return chances


def hitting_times(transition: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The mean number of steps until a target, 0 in a target; infinite where it is not certain to be reached."""
    lost, open_ = fates(transition, targets)
    times = np.where(lost | open_, np.inf, 0.0)
    waiting = ~(lost | open_ | targets)
    if waiting.any():
        exits = transition[np.ix_(waiting, targets)].sum(axis=1, keepdims=True)
        times[waiting] = first_exits(transition[np.ix_(waiting, waiting)], exits)[1]
    return times


def absorption_probabilities(transition: np.ndarray, structure: ChainStructure) -> np.ndarray:
    """The probability of ending in each closed class, from each state: (state, class)."""
    chances = np.zeros((len(transition), len(structure.closed)))
    for position, members in enumerate(structure.closed):
        chances[members, position] = 1.0
    transient = ~structure.is_recurrent
    if transient.any():
        exits = np.stack([transition[np.ix_(transient, members)].sum(axis=1) for members in structure.closed], axis=1)
        chances[transient] = first_exits(transition[np.ix_(transient, transient)], exits)[0]
    return chances


def fates(transition: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states from which no target can be reached, and those from which it can but need not be."""
    links = transition > 0
    lost = ~can_reach(links, targets)
    before = links & ~targets[:, None]  # ways that have met no target yet
    return lost, can_reach(before, lost) & ~lost


def first_exits(within: np.ndarray, exits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By which exit a set of states is left, and after how many steps on average: (state, exit) and (state,).

    `within` are the probabilities of steps inside the set, `exits` of steps out of it: (state, exit); every state must
    have a way out. States are left out of view one after the other, the last first, and then found again.
    """
    within, exits, waits = within.copy(), exits.copy(), np.ones(len(within))
    leaving = np.empty(len(within))
    for last in range(len(within) - 1, -1, -1):
        leaving[last] = check_leaving(within[last, :last].sum() + exits[last].sum())
        share = within[:last, last] / leaving[last]
        within[:last, :last] += np.outer(share, within[last, :last])
        exits[:last] += np.outer(share, exits[last])
        waits[:last] += share * waits[last]
    for state in range(len(within)):
        exits[state] = (exits[state] + within[state, :state] @ exits[:state]) / leaving[state]
        with np.errstate(over="ignore"):
            waits[state] = (waits[state] + within[state, :state] @ waits[:state]) / leaving[state]
        if not np.isfinite(waits[state]):
            raise Unsupported(BEYOND_FLOATS)
    return exits, waits


MOST_SQUARINGS = 1024


@dataclass(frozen=True, eq=False)
class ChainStructure:
    """The communicating classes, in the order of their first states."""

    class_of: np.ndarray  # (state,)
    is_closed: np.ndarray  # (class,): no way leads out
    periods: np.ndarray  # (class,): 0 where a state never comes back

    @classmethod
    def of(cls, transition: np.ndarray) -> ChainStructure:
        links = transition > 0
        class_of = communicating_classes(links)
        is_closed = np.ones(class_of.max() + 1, dtype=bool)
        leaves = (links & (class_of[:, None] != class_of)).any(axis=1)
        is_closed[class_of[leaves]] = False
        periods = [period_within(links[np.ix_(members, members)]) for members in members_of(class_of)]
        return cls(class_of, is_closed, np.array(periods))

    @property
    def members(self) -> list[np.ndarray]:
        """The states of each class."""
        return members_of(self.class_of)

    @property
    def closed(self) -> list[np.ndarray]:
        """The states of each closed class."""
        return [members for members, closed in zip(self.members, self.is_closed, strict=True) if closed]

    @property
    def is_recurrent(self) -> np.ndarray:
        """Whether each state is in a closed class, and so is visited again and again."""
        return self.is_closed[self.class_of]


def communicating_classes(links: np.ndarray) -> np.ndarray:
    """The class of each state: two are in one if each can be reached from the other; numbered as they first come."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, found = connected_components(csr_array(links), directed=True, connection="strong")
    _, first, class_of = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[class_of]


def members_of(class_of: np.ndarray) -> list[np.ndarray]:
    ends = np.cumsum(np.bincount(class_of))
    return np.split(np.argsort(class_of, kind="stable"), ends[:-1])


def period_within(links: np.ndarray) -> int:
    """gcd of the lengths of all ways back: of level(i) + 1 - level(j) over the links i → j, by distance from a root."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    tails, heads = np.nonzero(links)
    if len(links) == 1:
        return len(tails)
    levels = shortest_path(csr_array(links), unweighted=True, indices=0).astype(np.int64)
    return int(np.gcd.reduce(np.abs(levels[tails] + 1 - levels[heads])))


def can_reach(links: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """The states from which a way leads to one of the goals, the goals among them."""
    found, frontier = goals.copy(), goals
    while frontier.any():
        frontier = links[:, frontier].any(axis=1) & ~found
        found |= frontier
    return found


def first_power(
    matrix: np.ndarray,
    multiply: Callable[[np.ndarray, np.ndarray], np.ndarray],
    is_reached: Callable[[np.ndarray], bool],
) -> int | None:
    """The smallest number of steps whose power has reached what, once reached, stays: by squaring, then bisection.

    None if it takes more steps than any float can count.
    """
    powers = [matrix]
    while not is_reached(powers[-1]):
        if len(powers) > MOST_SQUARINGS:
            return None
        powers.append(multiply(powers[-1], powers[-1]))
    before, steps = np.eye(len(matrix)), 0
    for exponent in range(len(powers) - 2, -1, -1):
        further = multiply(before, powers[exponent])
        if not is_reached(further):
            before, steps = further, steps + 2**exponent
    return steps + 1


def first_positive_power(links: np.ndarray) -> int | None:
    """The smallest power of an irreducible aperiodic chain without a zero: at most (n - 1)² + 1 (Wielandt)."""
    return first_power(links.astype(float), lambda a, b: np.minimum(a @ b, 1.0), lambda power: bool((power > 0).all()))
