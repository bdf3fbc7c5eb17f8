"""`sample`: rows drawn from a model, each variable after its parents; with evidence, from the exact posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture import parallel
from juncture.data.dataset import Dataset
from juncture.data.tables.columns import code_type
from juncture.errors import InvalidData
from juncture.evidence import as_findings
from juncture.factors.conditional import Conditional
from juncture.inference.engines.beliefs import Beliefs, check_possible
from juncture.inference.engines.draws import BYTES_PER_CELL, DRAWS, check_num_rows
from juncture.inference.infer import engine_for
from juncture.kernels.tables.forward import draw_in_order
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.options import as_generator
from juncture.parallel import blocks_of

BLOCK = 2**12  # rows that one child generator draws: fixed, so that rows do not depend on the number of cores
UNREACHABLE = 2.0  # above every uniform


def sample_network(
    model: BayesianNetwork, n: int, *, given: Any = None, rng: Any = None, method: Any = "auto"
) -> Dataset:
    if given is not None:
        return sample_posterior(model, n, given=given, rng=rng, method=method)
    stream, count = as_generator(rng), check_num_rows(n, len(model.variables))
    tables = [part for part in model.conditionals if isinstance(part, Conditional)]
    if len(tables) == len(model.conditionals):
        return sample_tables(model, tables, count, stream)
    columns: dict[str, np.ndarray] = {}
    for name in model.graph.topological_order():
        columns[name] = model[name].sample(columns, count, stream)
    return Dataset.from_codes(model.variables, columns)


def sample_tables(model: BayesianNetwork, tables: list[Conditional], count: int, rng: np.random.Generator) -> Dataset:
    """The same by compiled code, where every conditional is a table."""
    if "forward sampler" not in model.derived:
        model.derived["forward sampler"] = ForwardSampler.of(model, tables)
    columns = model.derived["forward sampler"].draw(count, rng)
    return Dataset.from_codes(model.variables, dict(zip(model.variables.names, columns, strict=True)))


def sample_posterior(model: Any, n: int, *, given: Any = None, rng: Any = None, method: Any = "auto") -> Dataset:
    """Rows from p(all variables | evidence), drawn from the engine's answers."""
    findings = as_findings(given, model.variables)
    if not findings.is_single:
        raise InvalidData("given= takes one row of evidence; sample once for each row")
    names = tuple(model.variables.names)
    beliefs = Beliefs.of(model, engine_for(method, questions=DRAWS, model=model), findings, names, DRAWS)
    check_possible(beliefs)
    columns = beliefs.answers.sample(check_num_rows(n, BYTES_PER_CELL * len(model.variables)), as_generator(rng))
    return Dataset.from_codes(model.variables, columns)


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
