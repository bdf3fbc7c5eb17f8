"""`choose`: which junction tree answers a question, what a run takes, and why.

The cliques of a junction tree are stored in one of three ways:

- **tables** of all joint states, which is fastest for most models;
- **possible states** alone, where the zeros of the factors leave few of them;
- **factors** and messages, where cliques are too large to be stored: each run multiplies them out, piece by piece.

Two reductions come before that, where a run on the whole model takes long or needs too much memory: to the part of a
Bayesian network that the question needs, and to the entries of the tables that agree with the evidence (they are
reduced first, and the tree is built for what is left). In runs on tables of all joint states the axes of observed
variables are left out as soon as the same ones were observed often enough to pay for it.

Both pay (`benchmarks/choices.py`). Where a fifth of the network barley is observed, reduced tables answer a row in 3 %
of the time and many rows in 6 %. Axes left out halve the time of the network andes, for one row and for many rows that
observe the same variables; on tables of some thousand cells they change nothing.

The numbers that decide are measured: ratios of times on the networks of the repository of Bayesian networks and on the
problems of the UAI competition of 2014. They stand below and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from juncture.errors import TooLarge, Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Cost, format_entries, recall
from juncture.inference.engines.lowering import Lowered, lower, noisy_children
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.exact.clique_search import OPERATIONS_PER_CELL, CliqueTree, PlanningTooLong
from juncture.inference.exact.junction_tree.plan import Structure, find_structure, fits, search_structure

if TYPE_CHECKING:
    from juncture.inference.exact.junction_tree.sparse_plan import SparsePlan
    from juncture.networks.bayesian_network import Network

# --- reductions ------------------------------------------------------------------------------------------------------
LONG_RUN = 6e6  # operations, some milliseconds: from here on a smaller model may be faster, though it is made anew
MOST_VARIABLES = 512  # of a model that is planned as a whole, whatever the question is
OPERATIONS_PER_FACTOR = 24_000  # what it costs to reduce one factor by evidence
SEARCH_PER_FACTOR = (
    200_000  # what it costs for each factor to search for a tree, for rows on the same variables together
)
REDUCED_RUNS = 4  # what it costs to pack the reduced tables, collect and run, in runs on them
# --- possible states -------------------------------------------------------------------------------------------------
LEAST_CELLS = 25_000  # of all cliques: from here on it is looked for zeros
LEAST_ZEROS = 0.02  # ... and the part of the factors' entries that are zero
MOST_KEPT = 0.55  # of all cells: up to here a run on those that can be non-zero is faster
MANY_CELLS, MOST_KEPT_OF_MANY = 5e7, 0.25  # of so many, less: it takes seconds to search for the others
MOST_KEPT_ONCE = 0.06  # ... also if they are searched for one run
LARGE = 2**32  # bytes of all cells: from here on the others are left out at any rate
MOST_LISTED = 2**24  # cells that are listed, which takes seconds
# --- factors ---------------------------------------------------------------------------------------------------------
FACTORED_CELLS, FACTORED_TABLE = 2**20, 2**17  # of all tables and of the largest, from which on none is stored
MUCH_MEMORY, FACTORED_IN_MUCH = 2**30, 2**14  # bytes of all tables, from which on smaller ones are not stored either
# --- observed axes left out ------------------------------------------------------------------------------------------
CUT_CELLS = 1_500  # from which on the tables of one row may be cut down to what is observed
CUT_SAVING = 800  # cells below which a run on cut tables is not faster
CUT_SHARE = 8  # ... for many rows: a cut that leaves out less than one cell in so many
CUT_LAYOUT = 10_000  # what laying out a cut takes beside the cells kept, in cells of a run
# --- best states -----------------------------------------------------------------------------------------------------
MANY_TIED = 16  # nodes: storing cliques that are kept as factors, and searching them, takes about as many runs

MAX_STRUCTURES = 16  # clique trees that are kept with a model
MAX_PARTS = 16  # of a model that are kept for questions with targets
MAX_CHOICES = 256  # kept by what was observed

Kind: TypeAlias = Literal["tables", "possible states", "factors"]
STORED: dict[Kind, str] = {
    "tables": "all joint states of the cliques",
    "possible states": "only the possible joint states of the cliques",
    "factors": "factors and messages, not cliques",
}


@dataclass(frozen=True, eq=False)
class Choice:
    """The junction tree for a question.

    Attributes
    ----------
    kind
        How its cliques are stored.
    cost
        What a run takes.
    why
        The reason, for people.
    structure
        The clique tree that was found.
    sparse
        The plan for possible states, where these are stored.
    reduction
        Where the tables are reduced by the evidence before the tree is built, the words that say so.
    """

    kind: Kind
    cost: Cost
    why: str
    structure: Structure
    sparse: SparsePlan | None = None
    reduction: str = ""

    @property
    def is_reduced(self) -> bool:
        """Whether the tables are reduced by the evidence before the tree is built."""
        return bool(self.reduction)

    @property
    def is_long(self) -> bool:
        """Whether a run takes so long that it is worth looking for a smaller model."""
        return self.cost.operations >= LONG_RUN

    @cached_property
    def explained_cost(self) -> Cost:
        """The cost, whose text says what is stored, and why."""
        return replace(self.cost, plan=f"{self.reduction}stores {STORED[self.kind]}: {self.why}")


def choose(
    model: Network,
    observed: frozenset[str] = frozenset(),
    absent: frozenset[str] = frozenset(),
    *,
    num_rows: int | None = None,
    memory_limit: int | None = None,
    deadline: float | None = None,
) -> Choice:
    """Choose the junction tree that answers one row of evidence on the observed variables.

    `absent` are those observed children of noisy conditionals that are in their lowest state, where the causes fall
    apart. Where the row is one of many, `num_rows` of them share the search for a tree, which has to pay within the
    question; a single row's may come again. A `deadline` is a time of `time.monotonic`; planning that is predicted to
    end later raises `TooLarge`.
    """
    whole = choose_whole(model, deadline)
    is_beyond = bool(observed) and not fits(whole.cost, memory_limit)
    if not observed or not (is_beyond or whole.is_long):
        return whole
    search = 0.0 if num_rows is None else SEARCH_PER_FACTOR / num_rows
    work = (OPERATIONS_PER_FACTOR + search) * (len(whole.structure.scope_starts) - 1)
    if not is_beyond and work >= whole.cost.operations:
        return whole
    find = partial(choose_reduced, model, observed, absent, whole, deadline)
    reduced = recall(model, "choices", (observed, absent), find, MAX_CHOICES)
    pays = work + REDUCED_RUNS * reduced.cost.operations < whole.cost.operations
    return reduced if is_beyond or pays else whole


def choose_whole(model: Network, deadline: float | None = None) -> Choice:
    """The choice for the whole model, made once and kept with it."""
    found: Choice | None = model.derived.get("choice")
    if found is None:
        found = model.derived.setdefault("choice", choose_storage(model, lower(model), deadline=deadline))
    return found


def choose_reduced(
    model: Network, observed: frozenset[str], absent: frozenset[str], whole: Choice, deadline: float | None
) -> Choice:
    """The choice for tables that are reduced by evidence, predicted from what is left of the scopes."""
    noisy = {name: model.variable(name).labels for name in noisy_children(model) & observed}
    lowered = lower(model, {name: labels[0 if name in absent else -1] for name, labels in noisy.items()})
    rest = Lowered(lowered.variables.without(observed), lowered.hidden, reduce_scopes(lowered, observed))
    structure = structure_of(model, rest, deadline)
    kind, cost, why = store_cells(structure)
    without = f"{whole.cost.operations:.2g} operations without that"
    reduction = f"reduces the tables by the evidence on {len(observed)} variables first ({without}), then "
    return Choice(kind, cost, why, structure, reduction=reduction)


def reduce_scopes(lowered: Lowered, observed: frozenset[str]) -> tuple[Factor, ...]:
    """Factors over what is left of each scope once the observed variables are gone; their numbers do not matter."""
    scopes = (factor.scope.without(observed) for factor in lowered.factors)
    return tuple(Factor.trusted(scope, np.empty(0)) for scope in scopes)


def choose_part(model: Network, names: set[str], memory_limit: int | None, deadline: float | None = None) -> Any:
    """The model itself if a question names all variables or a run is short, else the part that the question needs.

    This depends on the question alone, not on earlier ones: the same question gets the same bits.
    """
    if len(names) == len(model.variables) or is_quick(model, memory_limit, deadline):
        return model
    part = relevant_part(model, names)
    return recall(model, "parts", frozenset(part.variables.names), lambda: part, MAX_PARTS)


def is_quick(model: Network, memory_limit: int | None, deadline: float | None = None) -> bool:
    """Whether a run on the whole model takes no longer than some milliseconds, and no more than the limit."""
    if len(model.variables) > MOST_VARIABLES:
        return False
    if "is quick" not in model.derived:
        model.derived["is quick"] = has_short_run(model, deadline)
    return bool(model.derived["is quick"]) and (memory_limit is None or fits(choose_whole(model).cost, memory_limit))


def has_short_run(model: Network, deadline: float | None) -> bool:
    try:
        return not choose_whole(model, deadline).is_long
    except PlanningTooLong:  # of this run, which does not say how long the next may take
        raise
    except (TooLarge, Unsupported):  # the part that the question touches may be answered all the same
        return False


def choose_storage(model: Network, lowered: Lowered, *, once: bool = False, deadline: float | None = None) -> Choice:
    """How the cliques of these factors are stored, which are those of the model or of a part of it.

    Of models with many cells it is looked for those that can be non-zero; for a plan that runs `once` only where few
    are expected to pay.
    """
    dense = choose_dense(model, lowered, deadline)
    cells = cells_of(dense.structure.tree)
    if cells < LEAST_CELLS:
        return dense
    if not has_many_zeros(lowered.factors):
        return replace(dense, why=f"{dense.why}, and few entries of the factors are zero")
    share = share_kept(dense.structure.tree.cost, once=once)
    sparse = plan_sparsely(model, lowered, min(MOST_LISTED, share * cells), deadline)
    if sparse is None:
        return replace(dense, why=f"{dense.why}, and most are possible")
    from juncture.drawing.text import format_percentage

    why = f"{format_percentage(sparse.cost.kept)} of {format_entries(cells)}"
    return replace(dense, kind="possible states", cost=sparse.cost, why=why, sparse=sparse)


def choose_dense(model: Network, lowered: Lowered, deadline: float | None = None) -> Choice:
    """How the cliques of these factors are stored if it is not looked for zeros."""
    structure = structure_of(model, lowered, deadline)
    kind, cost, why = store_cells(structure)
    return Choice(kind, cost, why, structure)


def keep_possible_states(model: Network) -> None:
    """Answer from the joint states that can be non-zero, however many they are; before the model's first question."""
    lowered = lower(model)
    sparse, structure = plan_sparsely(model, lowered, MOST_LISTED, None), structure_of(model, lowered)
    if sparse is not None:
        model.derived["choice"] = Choice("possible states", sparse.cost, "it was asked for", structure, sparse)


def store_cells(structure: Structure) -> tuple[Kind, Cost, str]:
    """Whether cliques are stored as tables of all joint states, or are so large that only their factors are."""
    cost = structure.tree.cost
    least = FACTORED_TABLE if cost.bytes < MUCH_MEMORY else FACTORED_IN_MUCH
    if cost.operations >= FACTORED_CELLS * OPERATIONS_PER_CELL and cost.largest_table >= least:
        return (
            "factors",
            structure.factored_cost,
            f"the largest clique has {format_entries(cost.largest_table)} joint states",
        )
    return "tables", cost, f"{format_entries(cells_of(structure.tree))} in all"


def plan_sparsely(model: Network, lowered: Lowered, most_cells: float, deadline: float | None) -> SparsePlan | None:
    """The plan for possible joint states if there are at most so many, else None."""
    from juncture.inference.exact.junction_tree.sparse_plan import find_supports, plan_possible_cells

    scopes, find_tree = lowered.scopes, partial(tree_for, model, lowered, deadline)
    supports = find_supports(lowered.factors, scopes, lowered.scope.shape)
    tree = find_tree(supports.scopes, tuple(np.maximum(supports.counts, 1).tolist()))
    if cells_of(tree) > most_cells and not supports.restrictive.any():  # then all of these are possible
        return None
    all_cells = cells_of(find_tree(scopes, lowered.scope.shape))
    return plan_possible_cells(supports, scopes, tree, all_cells, most_cells, deadline)


def share_kept(all_cells: Cost, *, once: bool) -> float:
    """The part of all cells up to which those that can be non-zero are kept alone; of a plan that runs once, less."""
    if all_cells.bytes > LARGE:
        return 1.0
    if once:
        return MOST_KEPT_ONCE
    return MOST_KEPT if all_cells.operations < MANY_CELLS * OPERATIONS_PER_CELL else MOST_KEPT_OF_MANY


def has_many_zeros(factors: Sequence[Factor]) -> bool:
    """Whether it is worth looking for joint states that are impossible."""
    from juncture.inference.exact.junction_tree.sparse_plan import has_zeros

    return has_zeros(factors, LEAST_ZEROS)


def cells_of(tree: CliqueTree) -> float:
    return tree.cost.operations / OPERATIONS_PER_CELL


def structure_of(model: Network, lowered: Lowered, deadline: float | None = None) -> Structure:
    """The clique tree for these factors, searched once and kept with the model."""
    key = (lowered.scope.shape, tuple(map(tuple, lowered.scopes)))

    def search() -> Structure:
        return search_structure(model, lowered, lambda: structure_of(model, lower(model), deadline), deadline)

    return recall(model, "structures", key, search, MAX_STRUCTURES)


def tree_for(
    model: Network, lowered: Lowered, deadline: float | None, scopes: list[list[int]], shape: tuple[int, ...]
) -> CliqueTree:
    """The clique tree for these factors, or for what is left of their scopes."""
    whole = structure_of(model, lowered, deadline).tree
    if shape == lowered.scope.shape and scopes == lowered.scopes:
        return whole

    def search() -> Structure:
        return find_structure(scopes, shape, known=whole.order, deadline=deadline)

    return recall(model, "structures", (shape, tuple(map(tuple, scopes))), search, MAX_STRUCTURES).tree


def may_cut(num_cells: int) -> bool:
    """Whether tables of so many cells may be cut down to what one row observes."""
    return num_cells >= CUT_CELLS


def least_saving(num_cells: int, *, is_row: bool) -> int:
    """How many cells a cut has to leave out, for one row or for many."""
    return CUT_SAVING if is_row else num_cells // CUT_SHARE + 1


def cut_cost(kept: int) -> int:
    """What laying out a cut takes, in cells of a run."""
    return CUT_LAYOUT + kept


def should_store(num_tied: int) -> bool:
    """Whether cliques that are kept as factors are stored to search for the first of the best states of tied nodes."""
    return num_tied > MANY_TIED
