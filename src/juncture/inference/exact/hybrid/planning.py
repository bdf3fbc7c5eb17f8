"""Which part answers which question: one for all targets where that is small, else one for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from juncture.base.values import few
from juncture.errors import TooLarge
from juncture.inference.engines.contract import Cost
from juncture.inference.engines.memos import recall
from juncture.inference.exact.hybrid.parts import BEYOND_ALL, Part, make_part
from juncture.inference.exact.junction_tree.plan import fits
from juncture.runtime.memory import default_memory_limit, format_bytes

SMALL = 2**16  # operations for each target: up to here one run for all of them costs less than a plan for each
MAX_PARTS = 64


@dataclass(frozen=True)
class Planner:
    """The parts of a network for findings on the same variables; parts are kept with the model."""

    model: Any
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
