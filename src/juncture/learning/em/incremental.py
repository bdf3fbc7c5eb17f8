"""Incremental EM: an M-step after the E-step of every block (Neal and Hinton 1998).

The lower bound of the log-likelihood is F = Σ_b [E log p(x_b, z_b | θ) + H(q_b)], where q_b is the posterior of the
hidden parts of block b under the model that the block was last seen with. The E-step of a block raises F over q_b, by
replacing the statistics of the block; the M-step raises F over θ. So F (plus the log prior) never falls, and where
nothing moves any more F is the log-likelihood.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from juncture.errors import ImpossibleEvidence
from juncture.learning.em.contract import Divisible, EMState, Model, Statistics
from juncture.learning.em.steps import EMSteps
from juncture.numerics.iteration import has_fallen


@dataclass(frozen=True, eq=False)
class BlockState(EMState[Model, Statistics]):
    """The state after a pass: the bound as the objective, and of each block its statistics and the entropy of q_b."""

    parts: tuple[Statistics, ...]
    entropies: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class IncrementalSteps(EMSteps[Model, Statistics]):
    """Passes over the blocks, with an M-step after each; the problem is `Bounded`."""

    num_blocks: int = 1

    @cached_property
    def divided(self) -> list[Any] | None:
        """A block in memory cut into pieces; None where the problem has several blocks, or has no pieces."""
        blocks = iter(self.problem.blocks())
        first, is_one = next(blocks), next(blocks, None) is None
        return (
            list(self.problem.divide(first, self.num_blocks))
            if is_one and isinstance(self.problem, Divisible)
            else None
        )

    def blocks(self) -> Iterable[Any]:
        return self.problem.blocks() if self.divided is None else self.divided

    def init(self) -> BlockState[Model, Statistics]:
        return self.refresh(self.first)

    def refresh(self, model: Model) -> BlockState[Model, Statistics]:
        """All blocks under one model: the bound is the log-likelihood."""
        found = [self.expect_block(model, block) for block in self.blocks()]
        return self.state(model, [part for part, _ in found], [entropy for _, entropy in found])

    def expect_block(self, model: Model, block: Any) -> tuple[Statistics, float]:
        """The statistics of a block, and the entropy of its posterior: H(q) = log p(x) - E log p(x, z)."""
        found, problem = self.problem.expect(model, block), self.bounded
        return found.statistics, found.log_likelihood - problem.expected_log_joint(found.statistics, model)

    def step(self, state: EMState[Model, Statistics]) -> EMState[Model, Statistics]:
        """One pass; where rounding lowers the bound, or a block became impossible, a step of EM on all blocks."""
        try:
            moved = self.sweep(state)
        except ImpossibleEvidence:
            return self.refresh(super().step(self.expect(state.model)).model)
        if not has_fallen(state.objective, moved.objective):
            return moved
        return self.refresh(super().step(self.expect(state.model)).model)

    def sweep(self, state: Any) -> BlockState[Model, Statistics]:
        later = list(accumulate(reversed(state.parts), lambda total, part: part + total))[::-1]  # of each block onwards
        model, parts, entropies, before = state.model, [], [], None
        for index, block in enumerate(self.blocks()):
            part, entropy = self.expect_block(model, block)
            before = part if before is None else before + part
            model = self.maximize(before if index + 1 == len(later) else before + later[index + 1], model)
            parts.append(part)
            entropies.append(entropy)
        return self.state(model, parts, entropies)

    def state(self, model: Model, parts: Sequence[Statistics], entropies: Sequence[float]) -> BlockState[Any, Any]:
        total: Any = None
        for part in parts:
            total = part if total is None else total + part
        bound = self.bounded.expected_log_joint(total, model) + sum(entropies)
        objective = bound + self.problem.log_prior(model)
        return BlockState(model, total, bound, objective, tuple(parts), tuple(entropies))

    @property
    def bounded(self) -> Any:
        return self.problem

    def finish(self, state: EMState[Model, Statistics]) -> EMState[Model, Statistics]:
        """The same model with the statistics and the log-likelihood of all blocks under it."""
        return self.expect(state.model)
