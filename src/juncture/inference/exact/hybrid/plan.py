"""The part of a network that a question needs, and how it is eliminated: real-valued variables first.

Variables that are no ancestors of a target or a finding drop out; so do those that the findings separate from the
targets; observed parents are cut off. The real-valued variables that are left fall into groups that share equations,
and the variables with states that a group depends on form a clique: the strong elimination order. A `Planner` finds one
part for all targets where that is small, else one for each of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from juncture.base.values import few
from juncture.errors import TooLarge, Unsupported
from juncture.factors.conditional import AnyConditional, signature
from juncture.factors.factor import Factor
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.inference.engines.contract import Cost, recall
from juncture.inference.engines.lowering import lower_conditional
from juncture.inference.exact.hybrid.clique_tables import TableTree
from juncture.inference.exact.junction_tree.plan import fits
from juncture.runtime.memory import default_memory_limit, format_bytes
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import BayesianNetwork

SMALL = 2**16  # operations for each target: up to here one run for all of them costs less than a plan for each
MAX_PARTS = 64


@dataclass(frozen=True)
class Planner:
    """The parts of a network for findings on the same variables; parts are kept with the model."""

    model: BayesianNetwork
    observed: frozenset[str]  # whose values are known
    found: frozenset[str]  # of which something is known
    memory_limit: int | None

    def part(self, targets: Sequence[str], *, whole: bool) -> Part:
        """The part that a joint of the targets, or log p(evidence) with the targets, needs."""
        names = frozenset(targets)
        key = (self.observed, self.found, names, whole)
        return recall(
            self.model,
            "strong parts",
            key,
            lambda: make_part(self.model, self.observed, self.found, names, whole=whole),
            MAX_PARTS,
        )

    def checked(self, targets: Sequence[str], *, whole: bool = False) -> Part:
        """The same; `TooLarge` where it does not fit."""
        what = "the probability of the evidence" if whole else f"the posterior of {few(targets)}"
        return check_fits(self.part(targets, whole=whole), what, self.memory_limit)

    def common(self, targets: Sequence[str]) -> Part | None:
        """One part for all targets and for log p(evidence), if that is small."""
        part = self.part(targets, whole=True)
        is_small = part.cost.operations <= SMALL * max(1, len(targets))
        return part if is_small and fits(part.cost, self.memory_limit) else None

    def cost(self, targets: Sequence[str]) -> Cost:
        """What the answers about each of the targets take."""
        common = self.common(targets)
        if common is not None:
            return common.cost
        parts = [self.part((), whole=True), *(self.part((name,), whole=False) for name in targets)]
        costs = [part.cost for part in parts]
        return Cost(
            max(cost.width for cost in costs),
            max(cost.largest_table for cost in costs),
            max(cost.bytes for cost in costs),
            sum(cost.operations for cost in costs),
        )


def check_fits(part: Part, what: str, memory_limit: int | None) -> Part:
    """The part; `TooLarge` where it does not fit."""
    if part.cost.largest_table > BEYOND_ALL or not fits(part.cost, memory_limit):
        limit = default_memory_limit() if memory_limit is None else memory_limit
        raise TooLarge(
            f"{what} would need {format_bytes(part.cost.bytes)} for {part.cost.largest_table:,.3g} configurations"
            f" of variables with states ({part.cost}); the limit is {format_bytes(limit)}: observe more variables,"
            " or raise memory_limit; other targets may be answered"
        )
    return part


BYTES_PER_CELL = 80  # of a clique: its table, its belief, the mixture, and what is between
BYTES_PER_COEFFICIENT = 32
OPERATIONS_PER_CELL = 12
BEYOND_ALL = 2.0**50  # configurations, for which no machine has the memory: their tree is not searched for


class Group(NamedTuple):
    """Real-valued variables that share equations: those to eliminate in this order, then the observed children."""

    families: tuple[AnyConditional, ...]
    hidden: tuple[str, ...]  # in the order of their elimination
    observed: tuple[str, ...]  # children that were observed, the last of the network first
    inputs: tuple[str, ...]  # other observed real-valued variables
    states: tuple[str, ...]  # the unobserved variables with states that the equations depend on
    given: tuple[str, ...]  # the observed ones
    num_coefficients: int  # the most that a step of the elimination holds for one configuration


@dataclass(frozen=True, eq=False)
class Part:
    """The factors and the groups of real-valued variables that answer a question."""

    factors: tuple[Factor, ...]  # of the variables with states
    row_families: tuple[AnyConditional, ...]  # conditionals that the numbers of a row make tables
    groups: tuple[Group, ...]
    tree: TableTree

    @cached_property
    def group_of(self) -> dict[str, Group]:
        return {name: group for group in self.groups for name in group.hidden}

    def joint_states(self, names: Iterable[str]) -> tuple[str, ...]:
        """The variables with states that a joint needs: those named, and those that real-valued ones depend on."""
        listed = [self.group_of[name].states if name in self.group_of else (name,) for name in names]
        return tuple(dict.fromkeys(state for states in listed for state in states))

    def with_clique(self, joint: tuple[str, ...], observed: frozenset[str]) -> Part:
        return replace(self, tree=table_tree(self.factors, self.row_families, self.groups, observed, joint))

    def with_numbers(self, families: Mapping[str, AnyConditional], factors: Iterable[Factor]) -> Part:
        """The same part of another network of the same structure: its conditionals by child, and its factors."""
        groups = tuple(
            group._replace(families=tuple(families[part.child.name] for part in group.families))
            for group in self.groups
        )
        by_row = tuple(families[part.child.name] for part in self.row_families)
        return replace(self, factors=tuple(factors), row_families=by_row, groups=groups)

    @cached_property
    def cost(self) -> Cost:
        """What a run takes for one row of findings."""
        sizes = [self.tree.size(group.states) for group in self.groups]
        numbers = sum(size * group.num_coefficients for size, group in zip(sizes, self.groups, strict=True))
        largest, total = max([1.0, *sizes, *self.tree.sizes]), sum(self.tree.sizes) + sum(sizes)
        return Cost(
            self.tree.width,
            largest,
            BYTES_PER_CELL * total + BYTES_PER_COEFFICIENT * numbers,
            OPERATIONS_PER_CELL * (total + numbers),
        )


def is_linear(part: AnyConditional) -> bool:
    return isinstance(part, LinearGaussian | Constant)


def is_row_family(part: AnyConditional, observed: frozenset[str]) -> bool:
    """Whether a conditional that is not linear is a table of states in each row: its numbers are all observed."""
    real = [variable.name for variable in (part.child, *part.parents) if variable.is_real]
    return bool(real) and not is_linear(part) and observed.issuperset(real)


def factors_of(part: AnyConditional, observed: frozenset[str] | None = None) -> list[Factor]:
    """A conditional of a variable with states as factors; a real-valued variable is refused, where not `observed`."""
    real = [variable.name for variable in part.parents if variable.is_real]
    if real or part.child.is_real:
        hidden = [name for name in real if observed is None or name not in observed]
        why = f"its parent {hidden[0]!r} is real-valued" if hidden else "it is not linear with Gaussian noise"
        where = "" if observed is None else ", and not observed"
        raise Unsupported(
            f"exact inference cannot take {signature(part)}: {why}{where}; methods that draw samples can: jt.sample"
            " draws rows without evidence, and log_prob takes full rows"
        )
    return lower_conditional(part, None)


def make_part(
    model: BayesianNetwork, observed: frozenset[str], found: Collection[str], targets: Collection[str], *, whole: bool
) -> Part:
    """What the targets need, given values of the observed variables, and findings of any kind on the `found` ones.

    A `whole` part also keeps what the findings separate from the targets: it gives log p(evidence). Any other part has
    a clique that holds the joint of its targets.
    """
    found_part = part_of(model, needed_families(model, observed, found, targets, whole), observed)
    joint = found_part.joint_states(name for name in targets if name not in observed)
    return found_part if whole or found_part.tree.holds(joint) else found_part.with_clique(joint, observed)


def part_of(model: BayesianNetwork, families: Sequence[AnyConditional], observed: frozenset[str]) -> Part:
    """The part that has these families."""
    position = {name: at for at, name in enumerate(model.graph.topological_order())}
    by_row = tuple(part for part in families if is_row_family(part, observed))
    others = [part for part in families if not is_linear(part) and part not in by_row]
    factors = [factor for part in others for factor in factors_of(part, observed)]
    linear = [part for part in families if is_linear(part)]
    for part in linear:
        if part.child.dimension > 1:
            raise Unsupported(f"exact inference takes single real numbers; {part.child!r} is a vector")
    groups = tuple(make_group(each, observed, position) for each in connected(linear, observed))
    return Part(tuple(factors), by_row, groups, table_tree(factors, by_row, groups, observed))


def needed_families(
    model: BayesianNetwork, observed: frozenset[str], found: Collection[str], targets: Collection[str], whole: bool
) -> list[AnyConditional]:
    """The conditionals of the targets, the findings and their ancestors, as far as findings do not separate them."""
    names = {*targets, *found}
    keep = names | set(model.graph.ancestors(names))
    families = [part for part in model.conditionals if part.child.name in keep]
    if whole:
        return families
    wanted = set(targets) - observed
    return [part for each in connected(families, observed, real_only=False) if scope_of(each) & wanted for part in each]


def scope_of(families: Iterable[AnyConditional]) -> set[str]:
    return {variable.name for part in families for variable in (part.child, *part.parents)}


def connected(
    families: Sequence[AnyConditional], observed: frozenset[str], *, real_only: bool = True
) -> list[list[AnyConditional]]:
    """The families in sets that share no unobserved (real-valued) variable with each other, in the order given."""
    leader = list(range(len(families)))

    def find(at: int) -> int:
        while leader[at] != at:
            leader[at] = leader[leader[at]]
            at = leader[at]
        return at

    first: dict[str, int] = {}
    for at, part in enumerate(families):
        for variable in (part.child, *part.parents):
            if variable.name not in observed and (variable.is_real or not real_only):
                leader[find(at)] = find(first.setdefault(variable.name, at))
    sets: dict[int, list[AnyConditional]] = {}
    for at, part in enumerate(families):
        sets.setdefault(find(at), []).append(part)
    return list(sets.values())


def make_group(families: Sequence[AnyConditional], observed: frozenset[str], position: dict[str, int]) -> Group:
    scope = {variable.name: variable for part in families for variable in (part.child, *part.parents)}
    children = {part.child.name for part in families}
    real = [name for name, variable in scope.items() if variable.is_real]
    hidden, most = elimination_order(families, [name for name in real if name not in observed], observed)
    seen = sorted((name for name in real if name in observed), key=position.__getitem__, reverse=True)
    states = sorted((name for name, variable in scope.items() if not variable.is_real), key=position.__getitem__)
    return Group(
        tuple(families),
        tuple(hidden),
        tuple(name for name in seen if name in children),
        tuple(name for name in seen if name not in children),
        tuple(name for name in states if name not in observed),
        tuple(name for name in states if name in observed),
        most,
    )


def elimination_order(
    families: Sequence[AnyConditional], hidden: Sequence[str], observed: frozenset[str]
) -> tuple[list[str], int]:
    """Next is the variable whose equations have the fewest configurations and columns; and the largest step."""
    rows = dict(enumerate(split_scope(part, observed) for part in families))
    where = {name: {at for at, (columns, _) in rows.items() if name in columns} for name in hidden}
    joined = {name: join([rows[at] for at in where[name]]) for name in hidden}
    order, most = list[str](), max(len(columns) + 1 for columns, _ in rows.values())
    while joined:
        best = min(joined, key=lambda name: joined[name].size)
        step, gone = joined.pop(best), where.pop(best)
        kept = list(gone)[1:]  # one equation less, and all others over what they have together
        rows |= dict.fromkeys(kept, (step.columns - {best}, step.states))
        for name in step.columns & where.keys():
            where[name] = where[name] - gone | set(kept)
            joined[name] = join([rows[at] for at in where[name]])
        most = max(most, step.num_equations * (len(step.columns) + 1))
        order.append(best)
    return order, most


def split_scope(part: AnyConditional, observed: frozenset[str]) -> tuple[set[str], set[Variable]]:
    """The real-valued variables of a family, and the unobserved ones with states."""
    scope = (part.child, *part.parents)
    return {each.name for each in scope if each.is_real}, {
        each for each in scope if not each.is_real and each.name not in observed
    }


class Step(NamedTuple):
    """What the equations of a variable hold together: columns, variables with states, and how many numbers."""

    columns: set[str]
    states: set[Variable]
    size: float
    num_equations: int


def join(rows: Sequence[tuple[set[str], set[Variable]]]) -> Step:
    columns = set[str]().union(*(row[0] for row in rows))
    states = set[Variable]().union(*(row[1] for row in rows))
    size = math.prod(float(variable.num_states) for variable in states) * len(columns) * len(rows)
    return Step(columns, states, size, len(rows))


def table_scope(part: AnyConditional) -> tuple[Variable, ...]:
    """The variables with states of a family."""
    return tuple(variable for variable in (*part.parents, part.child) if not variable.is_real)


def table_size(states: Mapping[str, int], names: Iterable[str]) -> float:
    return math.prod(float(states[name]) for name in names)


def table_tree(
    factors: Sequence[Factor],
    row_families: Sequence[AnyConditional],
    groups: Sequence[Group],
    observed: frozenset[str],
    joint: tuple[str, ...] = (),
) -> TableTree:
    """The clique tree of all tables over the unobserved variables with states, and of a joint."""
    states: dict[str, int] = {}
    scopes: list[tuple[str, ...]] = []
    for scope in (*(factor.scope for factor in factors), *map(table_scope, row_families)):
        free = [variable for variable in scope if variable.name not in observed]
        states |= {variable.name: variable.num_states for variable in free}
        scopes.append(tuple(variable.name for variable in free))
    largest = max([*(group.states for group in groups), joint], key=lambda names: table_size(states, names))
    if table_size(states, largest) > BEYOND_ALL:
        return TableTree(states, (largest,), (-1,))  # which says its size, and is refused
    return TableTree.of(states, [*scopes, *(group.states for group in groups), joint])
