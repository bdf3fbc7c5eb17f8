"""Models as table factors: conditionals lower themselves, noisy ones and functions to a chain of small factors.

A noisy maximum of n causes is Y = max(leak, Z1, …, Zn). With hidden variables A1 = max(leak, Z1), A2 = max(A1, Z2), …,
Y = max(An-1, Zn), every factor has two or three variables: the cost grows with the number of causes, not with the
product of their states. A finding that Y is in its lowest state needs no chain: every cause was absent, each alone.

A function y = f(x1, …, xn) is an ordered decision diagram, read from left to right, where that is smaller than its
table. Two beginnings (x1, …, xk) are in the same class if f goes on from both in the same way; the class after k
variables follows from that after k - 1 and from xk (Bryant 1986). Sums, parities, maxima and constraints like "all
equal" have few classes, whatever the number of variables; a function without any regularity has as many as there are
beginnings.

Models with real-valued variables have no tables: `is_gaussian` and `has_real_variables` send them to other engines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, singledispatch
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from juncture.base.values import read_only
from juncture.errors import Unsupported
from juncture.factors.conditional import AnyConditional
from juncture.factors.deterministic import Deterministic
from juncture.factors.factor import Factor
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.factors.gaussian_factor import GaussianFactor
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.networks.bayesian_network import BayesianNetwork, Network, to_factor
from juncture.networks.factor_product import FactorProduct
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.variables import Scope, State, Variable

SMALL_TABLE = 64  # entries up to which a noisy conditional is simply written out, unless its child is observed
SMALL_FUNCTION = 512  # entries up to which a function is written out
MOST_OF_TABLE = 0.25  # ... and the part of the entries of the table up to which a chain takes its place


@dataclass(frozen=True)
class Lowered:
    """The variables of a model, hidden ones, and factors over both; their product summed over the hidden is p."""

    variables: Scope
    hidden: tuple[Variable, ...]
    factors: tuple[Factor, ...]
    groups: Mapping[str, slice] = field(default_factory=dict)  # child → the factors that its conditional became

    @cached_property
    def scope(self) -> Scope:
        return Scope((*self.variables, *self.hidden))

    @cached_property
    def scopes(self) -> list[list[int]]:
        """Each factor's variables by number."""
        nodes = {name: node for node, name in enumerate(self.scope.names)}
        return [[nodes[name] for name in factor.scope.names] for factor in self.factors]

    def condition(self, states: Mapping[str, State]) -> Lowered:
        """The factors reduced by the states of some variables."""
        seen = [{name: states[name] for name in factor.scope.names if name in states} for factor in self.factors]
        pairs = zip(self.factors, seen, strict=True)
        factors = tuple(factor.condition(some) if some else factor for factor, some in pairs)
        return Lowered(self.variables.without(states), self.hidden, factors)

    def scale(self, likelihoods: Mapping[str, np.ndarray], codes: Mapping[str, int]) -> Lowered:
        """Multiplied by the likelihoods of the observed states, where a variable has soft evidence too."""
        both = [Factor([], likelihoods[name][0, code]) for name, code in codes.items() if name in likelihoods]
        return Lowered(self.variables, self.hidden, (*self.factors, *both))


def check_factors(model: Network, what: str) -> None:
    """Raise `Unsupported` for a model that is no product of factors."""
    if not isinstance(model, BayesianNetwork | FactorProduct):
        raise Unsupported(f"{what} takes a network or a factor graph; got {type(model).__name__}")


def check_tables(model: FactorProduct) -> None:
    """Raise `Unsupported` for Gaussian factors, with the name of one."""
    if any(isinstance(part, GaussianFactor) for part in model.factors[:1]):
        _ = model.factors[0].values


@singledispatch
def lower(model: Network, observed: Mapping[str, State] | None = None) -> Lowered:
    """The model as factors; where a noisy child is `observed` in its lowest state, as one factor per cause.

    The causes of other observed children are linked in the order of the model's variables: an elimination in that order
    meets one link of each child at a time.
    """
    raise Unsupported(f"exact inference takes a network or a factor graph; got {type(model).__name__}")


@lower.register
def _(model: FactorProduct, observed: Mapping[str, State] | None = None) -> Lowered:
    check_tables(model)
    return Lowered(model.variables, (), model.factors)


@lower.register
def _(model: BayesianNetwork, observed: Mapping[str, State] | None = None) -> Lowered:
    if observed is not None:
        return lower_network(model, observed)
    if "factors" not in model.derived:
        model.derived["factors"] = lower_network(model, None)
    found: Lowered = model.derived["factors"]
    return found


def lower_network(model: BayesianNetwork, observed: Mapping[str, State] | None) -> Lowered:
    factors: list[Factor] = []
    groups: dict[str, slice] = {}
    places = None if observed is None else {name: place for place, name in enumerate(model.variables.names)}
    for part in model.conditionals:
        start = len(factors)
        factors.extend(lower_conditional(part, (observed or {}).get(part.child.name), places))
        groups[part.child.name] = slice(start, len(factors))
    found = {variable.name: variable for factor in factors for variable in factor.scope}
    hidden = tuple(variable for name, variable in found.items() if name.startswith(HIDDEN))
    return Lowered(model.variables, hidden, tuple(factors), groups)


HIDDEN = "\0hidden "  # what the names of auxiliary variables start with; no name that a user gives does
MAXIMUM, CLASS = f"{HIDDEN}maximum ", f"{HIDDEN}class "  # ... those of noisy conditionals and of functions
Places: TypeAlias = Mapping[str, int] | None
"""Name → where the variable stands among all, to link causes in this order; None: in the order of the parents."""


@singledispatch
def lower_conditional(part: AnyConditional, state: State | None, places: Places = None) -> list[Factor]:
    return [to_factor(part)]


@lower_conditional.register
def _(part: NoisyOr, state: State | None, places: Places = None) -> list[Factor]:
    tables = [np.array([[1.0, 0.0], [1.0 - p, p]]) for p in part.probabilities]
    return noisy_factors(part, tables, np.array([1.0 - part.leak, part.leak]), state, places)


@lower_conditional.register
def _(part: NoisyMax, state: State | None, places: Places = None) -> list[Factor]:
    return noisy_factors(part, list(part.tables), part.leak, state, places)


@lower_conditional.register
def _(part: Deterministic, state: State | None, places: Places = None) -> list[Factor]:
    if part.scope.size <= SMALL_FUNCTION or len(part.parents) < 3:
        return [part.to_factor()]
    if "chain" not in part.derived:
        part.derived["chain"] = function_factors(part)
    chain: list[Factor] | None = part.derived["chain"]
    return [part.to_factor()] if chain is None else chain


def function_factors(part: Deterministic) -> list[Factor] | None:
    """The chain of a function's classes, a factor for each parent; None if it is not much smaller than the table."""
    child, steps = part.child, chain_of(part.codes)
    if chain_size(steps, child.num_states) > MOST_OF_TABLE * part.scope.size:
        return None
    names = [f"{CLASS}{child.name} {index}" for index in range(1, len(steps))]
    classes = [Variable(name, len(step)) for name, step in zip(names, steps[1:], strict=True)]
    tables = step_tables(steps, child.num_states)
    later = zip(classes, part.parents[1:], [*classes[1:], child], tables[1:], strict=True)
    first = new_factor([part.parents[0], (*classes, child)[0]], tables[0])
    return [first, *(new_factor([before, parent, after], table) for before, parent, after, table in later)]


def noisy_factors(
    part: NoisyOr | NoisyMax, tables: list[np.ndarray], leak: np.ndarray, state: State | None, places: Places
) -> list[Factor]:
    causes = list(zip(part.parents, tables, strict=True))
    if len(causes) > 1 and state is not None and part.child.code(state) == 0:
        lowest = np.eye(part.child.num_states)[0]
        return [new_factor([part.child], leak * lowest), *(new_factor([cause], table[:, 0]) for cause, table in causes)]
    if len(causes) <= 2 or (state is None and part.scope.size <= SMALL_TABLE):
        return [part.to_factor()]
    if places is not None:
        causes.sort(key=lambda cause: places[cause[0].name])
    return chain_factors(part.child, causes, leak)


def determined_nodes(names: Sequence[str]) -> frozenset[int]:
    """The nodes that are functions of the others by construction: whoever maximises may maximise over them too."""
    return frozenset(node for node, name in enumerate(names) if name.startswith(CLASS))


def noisy_children(model: Network) -> frozenset[str]:
    """The children of noisy conditionals, found once."""
    if "noisy children" not in model.derived:
        parts = getattr(model, "conditionals", ())
        names = (part.child.name for part in parts if isinstance(part, NoisyOr | NoisyMax))
        model.derived["noisy children"] = frozenset(names)
    found: frozenset[str] = model.derived["noisy children"]
    return found


def chain_factors(child: Variable, causes: Sequence[tuple[Variable, np.ndarray]], leak: np.ndarray) -> list[Factor]:
    """P(A1 | x1), P(A2 | A1, x2), …, P(Y | An-1, xn)."""
    names = [f"{MAXIMUM}{child.name} {index}" for index in range(len(causes) - 1)]
    links = [*(Variable(name, child.num_states) for name in names), child]
    steps = [max_step(table) for _, table in causes]
    factors = [new_factor([causes[0][0], links[0]], np.einsum("a,axb->xb", leak, steps[0]))]
    later = zip(links, causes[1:], links[1:], steps[1:], strict=False)
    return [*factors, *(new_factor([before, cause, after], step) for before, (cause, _), after, step in later)]


def new_factor(variables: Sequence[Variable], values: np.ndarray) -> Factor:
    return Factor.trusted(Scope(variables), read_only(values))


def max_step(table: np.ndarray) -> np.ndarray:
    """P(max(a, Z) = b | x) as (a, x, b), where Z given x has the distribution `table[x]`."""
    num_parents, num_states = table.shape
    step = np.zeros((num_states, num_parents, num_states))
    cumulative = np.cumsum(table, axis=1)
    for before in range(num_states):
        step[before, :, before] = cumulative[:, before]
        step[before, :, before + 1 :] = table[:, before + 1 :]
    return step


def chain_of(codes: np.ndarray) -> list[np.ndarray]:
    """Steps (class before, state of a variable) → class after; the last gives the values of the function.

    `codes` has an axis for each variable, at least one. There is one class before the first step.

    >>> [step.tolist() for step in chain_of(np.indices((2, 2, 2)).sum(axis=0) % 2)]
    [[[0, 1]], [[0, 1], [1, 0]], [[0, 1], [1, 0]]]
    """
    steps = []
    numbers = np.asarray(codes, np.int64)
    for num_states in reversed(codes.shape):
        rows = numbers.reshape(-1, num_states)
        numbers, first = number_rows(rows, [int(rows.max()) + 1] * num_states)
        steps.append(rows[first])
    return steps[::-1]


def chain_size(steps: list[np.ndarray], num_values: int) -> int:
    """The entries of all steps as tables over the class before, the variable and the class after."""
    counts = [*(len(step) for step in steps), num_values]
    return sum(step.size * after for step, (_, after) in zip(steps, pairwise(counts), strict=True))


def step_tables(steps: list[np.ndarray], num_values: int) -> list[np.ndarray]:
    """Each step as a table of zeros and ones: (class before, state, class after), the first without a class before."""
    counts = [*(len(step) for step in steps[1:]), num_values]
    tables = [np.eye(count)[step] for step, count in zip(steps, counts, strict=True)]
    return [tables[0][0], *tables[1:]]


MOST_UNUSED = 4  # so many times as many possible keys as keys are marked in an array, not sorted


def number_rows(rows: np.ndarray, sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(the number of each row among the different ones, where each of these comes first), in this order.

    `rows` (row, column) hold numbers from 0 to the column's size less 1.

    >>> [part.tolist() for part in number_rows(np.array([[1, 2], [0, 2], [1, 2]]), [2, 3])]
    [[0, 1, 0], [0, 1]]
    """
    numbers, count = np.zeros(len(rows), np.int64), min(len(rows), 1)
    for column, size in zip(rows.T, sizes, strict=True):
        numbers, count = number_keys(numbers * size + column, count * size)
    first = np.empty(count, np.int64)
    first[numbers[::-1]] = np.arange(len(rows))[::-1]
    order = np.argsort(first)
    ranks = np.empty(count, np.int64)
    ranks[order] = np.arange(count)
    return ranks[numbers], first[order]


def number_keys(keys: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """Keys below `size` numbered without gaps, and how many different ones there are."""
    if size > MOST_UNUSED * len(keys):
        found, numbers = np.unique(keys, return_inverse=True)
        return numbers.reshape(-1), len(found)
    is_used = np.zeros(size, np.bool_)
    is_used[keys] = True
    numbers = np.cumsum(is_used) - 1
    return numbers[keys], int(is_used.sum())


def is_linear(part: AnyConditional) -> bool:
    """Whether a conditional is linear and Gaussian in real numbers only."""
    if isinstance(part, LinearGaussian):
        return all(parent.is_real for parent in part.parents)
    return isinstance(part, Constant) and part.child.dimension == 1


def is_gaussian(model: Network) -> bool:
    """Whether a model is a Bayesian network of linear conditionals, or has Gaussian factors; found once."""
    known = model.derived.get("is gaussian")
    if known is None:
        if isinstance(model, PairwiseNetwork):  # whose factors are not made for this
            known = False
        elif isinstance(model, BayesianNetwork):
            known = bool(model.conditionals) and all(map(is_linear, model.conditionals))
        else:
            known = any(isinstance(part, GaussianFactor) for part in getattr(model, "factors", ()))
        model.derived["is gaussian"] = known
    return bool(known)


def has_real_variables(model: Network) -> bool:
    """Whether a model of factors has real-valued variables; found once and kept with it."""
    derived = getattr(model, "derived", None)
    if type(derived) is not dict:  # a class, or no value
        return False
    if "has real variables" not in derived:
        variables = () if isinstance(model, PairwiseNetwork) else getattr(model, "variables", ())
        derived["has real variables"] = any(variable.is_real for variable in variables)
    return bool(derived["has real variables"])
