"""`CutPlan`: a clique plan without the axes of observed variables, for sets of them that come again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.inference.exact.junction_tree.plan import CliquePlan
from juncture.kernels.junction_tree.cut import count_kept, fill_picks, plan_cuts
from juncture.kernels.junction_tree.layout import MARGINAL, PARENT, build_clique_table, fill_indices, place_nodes

MAX_SETS = 64
MAX_BYTES = 2**23
LAYOUT_CELLS = 10_000  # what laying out takes beside the cells kept, in cells of a run


@dataclass(frozen=True, eq=False, repr=False)
class CutPlan:
    """The arrays of a plan for one set of observed nodes, and which cells of the whole tables they keep."""

    table: np.ndarray  # (clique, column), as of a `CliquePlan`
    indices: np.ndarray
    node_table: np.ndarray  # (node, column)
    cuts: np.ndarray  # (clique, column): `kernels.junction_tree.cut` names the columns
    picks: np.ndarray  # the positions of kept cells and entries
    axes: np.ndarray  # (observed axis, column)
    seen: np.ndarray  # (observed node, column)
    num_cells: int
    num_entries: int

    @classmethod
    def of(cls, plan: CliquePlan, observed: np.ndarray) -> CutPlan:
        starts, nodes, shared, states = plan.starts, plan.nodes, plan.shared, plan.num_states
        kept = keep_one_state(plan, observed)
        slots = np.full(len(states), -1)
        slots[observed] = np.arange(len(observed))
        parents = np.ascontiguousarray(plan.table[:, PARENT])
        table, num_cells, num_entries, num_indices = build_clique_table(parents, starts, nodes, shared, states, kept)
        indices = np.empty(num_indices, plan.indices.dtype)
        fill_indices(table, starts, nodes, shared, kept, indices)
        node_table = plan.node_table.copy()
        place_nodes(table, starts, nodes, kept, node_table)
        cuts, axes, num_picks = plan_cuts(plan.table, table, starts, nodes, shared, states, slots, node_table, observed)
        picks = np.empty(num_picks, np.int32 if plan.num_cells < 2**31 else np.int64)
        fill_picks(table, starts, nodes, shared, states, kept, cuts, picks)
        seen = np.stack([plan.node_table[observed, MARGINAL], states[observed], np.arange(len(observed))], axis=1)
        return cls(table, indices, node_table, cuts, picks, axes, seen, int(num_cells), int(num_entries))

    @cached_property
    def buffer_size(self) -> int:
        """The entries of a run's buffer, as of a `CliquePlan`."""
        return self.num_cells + 3 * self.num_entries + len(self.table)

    @cached_property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        return sum(array.nbytes for array in vars(self).values() if isinstance(array, np.ndarray))


def keep_one_state(plan: CliquePlan, observed: np.ndarray) -> np.ndarray:
    """(node,): the numbers of states, 1 for the observed nodes."""
    kept = plan.num_states.copy()
    kept[observed] = 1
    return kept


def kept_cells(plan: CliquePlan, observed: np.ndarray) -> int:
    """How many cells agree with codes of these nodes."""
    return int(count_kept(plan.starts, plan.nodes, keep_one_state(plan, observed)))


@dataclass(eq=False)
class ObservedSet:
    """What is known of a set of observed nodes: the cells that a cut saves a run, and would have saved so far."""

    saving: int
    cost: int  # of laying a cut plan out, in cells
    last_use: int
    missed: int = 0
    plan: CutPlan | None = None

    def is_due(self, times: int) -> bool:
        """Whether, with so many more runs, laying out a plan would have paid."""
        self.missed += times * self.saving
        return self.missed >= self.cost


class CutPlans:
    """Cut plans by observed set, made when the runs without one have cost as much as laying it out.

    Answers are the same with and without one, so it does not matter when that is, nor that threads miss each other's
    counts. Entries go into a copy that replaces the dictionary: threads never read one that changes, and no lock is
    held across a fork. Beyond `MAX_SETS` sets or `MAX_BYTES` of plans, the half that was not used for longest is
    dropped.
    """

    def __init__(self) -> None:
        self.known: dict[bytes, ObservedSet] = {}
        self.clock = 0
        self.num_bytes = 0

    def find(self, plan: CliquePlan, observed: np.ndarray, times: int, least: int) -> CutPlan | None:
        """The plan for these nodes, in the order given, if it saves at least so many cells a run, and has paid."""
        entry = self.known.get(observed.tobytes())
        if entry is None:
            entry = self.add(plan, observed)
        if entry.saving < least:
            return None
        cut = entry.plan
        if cut is None:
            if not entry.is_due(times):
                return None
            cut = entry.plan = CutPlan.of(plan, observed)
            self.num_bytes += cut.nbytes
            if self.num_bytes > MAX_BYTES:
                self.shrink()
        entry.last_use = self.clock
        return cut

    def add(self, plan: CliquePlan, observed: np.ndarray) -> ObservedSet:
        self.clock += 1
        kept = kept_cells(plan, observed)
        entry = ObservedSet(plan.num_cells - kept, LAYOUT_CELLS + kept, self.clock)
        if len(self.known) >= MAX_SETS:
            self.shrink()
        self.known = {**self.known, observed.tobytes(): entry}
        return entry

    def shrink(self) -> None:
        """Keep the sets used last: half of `MAX_SETS`, and half of `MAX_BYTES` of their plans."""
        recent = sorted(self.known.items(), key=lambda item: -item[1].last_use)[: MAX_SETS // 2]
        total = 0
        for _, entry in recent:
            size = entry.plan.nbytes if entry.plan else 0
            if total + size > MAX_BYTES // 2:
                entry.plan, entry.missed, size = None, 0, 0
            total += size
        self.known, self.num_bytes = dict(recent), total
