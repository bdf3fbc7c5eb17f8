"""Forward sampling: rows drawn from tables by compiled code, each variable after its parents."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juncture.data.tables.columns import code_type
from juncture.factors.conditional import Conditional
from juncture.kernels.forward_sampling import draw_in_order
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.runtime import parallel
from juncture.runtime.parallel import blocks_of

BLOCK = 2**12  # rows that one child generator draws: fixed, so that rows do not depend on the number of cores
UNREACHABLE = 2.0  # above every uniform


@dataclass(frozen=True, eq=False)
class ForwardSampler:
    """The tables of a network as running sums, one after the other, and how parents' codes lead into them."""

    order: np.ndarray
    starts: np.ndarray
    nodes: np.ndarray
    strides: np.ndarray
    offsets: np.ndarray
    num_states: np.ndarray
    cumulative: np.ndarray

    @classmethod
    def of(cls, model: BayesianNetwork, tables: list[Conditional]) -> ForwardSampler:
        indices = {name: index for index, name in enumerate(model.variables.names)}
        scopes = [[indices[name] for name in table.scope.names] for table in tables]
        order = [indices[name] for name in model.graph.topological_order()]
        return cls.from_tables(model.variables.shape, order, scopes, [table.values for table in tables])

    @classmethod
    def from_tables(
        cls,
        num_states: Sequence[int],
        order: Sequence[int],
        scopes: Sequence[Sequence[int]],
        tables: Sequence[np.ndarray],
    ) -> ForwardSampler:
        """Each node has a table over its scope, itself last; a node that is not in the order may have an empty one."""
        sums = [running_sums(values).reshape(-1) for values in tables]
        strides = [row_major_strides(values.shape)[:-1] for values in tables]
        return cls(
            order=np.array(order, np.int64),
            starts=np.cumsum([0, *(max(len(scope) - 1, 0) for scope in scopes)], dtype=np.int64),
            nodes=np.array([node for scope in scopes for node in scope[:-1]], np.int64),
            strides=np.concatenate([np.empty(0, np.int64), *strides]),
            offsets=np.cumsum([0, *(len(part) for part in sums)], dtype=np.int64)[:-1],
            num_states=np.array(num_states, np.int64),
            cumulative=np.concatenate([np.empty(0), *sums]),
        )

    def draw(self, num_rows: int, rng: np.random.Generator) -> list[np.ndarray]:
        """A column of codes for every variable."""
        columns = [np.empty(num_rows, code_type(int(states))) for states in self.num_states]
        blocks = blocks_of(num_rows, BLOCK)
        unused: deque[tuple[np.ndarray, np.ndarray]] = deque()  # arrays of finished blocks: fresh ones cost page faults

        def fill(part: tuple[slice, np.random.Generator]) -> None:
            block, child = part
            shape = (len(columns), block.stop - block.start)
            try:
                codes, uniforms = unused.pop()
            except IndexError:
                codes, uniforms = np.empty(shape, np.int64), np.empty(shape)
            if codes.shape != shape:  # the last block is shorter
                codes, uniforms = np.empty(shape, np.int64), np.empty(shape)
            child.random(out=uniforms)
            self.fill(codes, uniforms)
            for column, drawn in zip(columns, codes, strict=True):
                column[block] = drawn
            unused.append((codes, uniforms))

        parallel.map(fill, list(zip(blocks, rng.spawn(len(blocks)), strict=True)))
        return columns

    def fill(self, codes: np.ndarray, uniforms: np.ndarray) -> None:
        """Draw the nodes of the order, from uniforms of the same shape (node, row)."""
        draw_in_order(
            self.order, self.starts, self.nodes, self.strides, self.offsets, self.num_states, self.cumulative,
            uniforms, codes,
        )  # fmt: skip


def row_major_strides(shape: Sequence[int]) -> np.ndarray:
    """How many entries of a table in C order lie between two states of each axis."""
    return np.cumprod([1, *shape[:0:-1]], dtype=np.int64)[::-1] if len(shape) else np.empty(0, np.int64)


def running_sums(values: np.ndarray) -> np.ndarray:
    """Sums along the last axis, divided by the last; from the last state that has any probability on, out of reach."""
    if not values.size:
        return values
    sums = np.cumsum(values, axis=-1)
    sums = sums / sums[..., -1:]
    return np.where(sums == 1.0, UNREACHABLE, sums)
