"""Forward sampling: rows drawn from tables by compiled code, each variable after its parents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture import parallel
from juncture.data.tables.columns import code_type
from juncture.factors.conditional import Conditional
from juncture.kernels.tables.forward import draw_in_order
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.parallel import blocks_of

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
        sums = [running_sums(table.values).reshape(-1) for table in tables]
        strides = [np.array(table.values.strides[:-1], np.int64) // table.values.itemsize for table in tables]
        return cls(
            order=np.array([indices[name] for name in model.graph.topological_order()], np.int64),
            starts=np.cumsum([0, *(len(table.parents) for table in tables)], dtype=np.int64),
            nodes=np.array([indices[name] for table in tables for name in table.parents.names], np.int64),
            strides=np.concatenate([np.empty(0, np.int64), *strides]),
            offsets=np.cumsum([0, *(len(part) for part in sums)], dtype=np.int64)[:-1],
            num_states=np.array(model.variables.shape, np.int64),
            cumulative=np.concatenate([np.empty(0), *sums]),
        )

    def draw(self, num_rows: int, rng: np.random.Generator) -> list[np.ndarray]:
        """A column of codes for every variable."""
        columns = [np.empty(num_rows, code_type(int(states))) for states in self.num_states]
        blocks = blocks_of(num_rows, BLOCK)

        def fill(part: tuple[slice, np.random.Generator]) -> None:
            block, child = part
            codes = np.empty((len(columns), block.stop - block.start), np.int64)
            uniforms = child.random(codes.shape)
            draw_in_order(
                self.order, self.starts, self.nodes, self.strides, self.offsets, self.num_states, self.cumulative,
                uniforms, codes,
            )  # fmt: skip
            for column, drawn in zip(columns, codes, strict=True):
                column[block] = drawn

        parallel.map(fill, list(zip(blocks, rng.spawn(len(blocks)), strict=True)))
        return columns


def running_sums(values: np.ndarray) -> np.ndarray:
    """Sums along the last axis, divided by the last; from the last state that has any probability on, out of reach."""
    sums = np.cumsum(values, axis=-1)
    sums = sums / sums[..., -1:]
    return np.where(sums == 1.0, UNREACHABLE, sums)
