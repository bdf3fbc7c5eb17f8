"""The E-step of networks: expected statistics of rows with missing cells, by any engine that answers for them.

Rows that are equal are counted once, with the sum of their weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from juncture.base.options import as_generator
from juncture.base.values import finding_text
from juncture.data.dataset import Dataset
from juncture.data.findings import Findings
from juncture.data.sources.contract import Block, RowSource, map_blocks
from juncture.data.sources.groups import groups_rows
from juncture.data.tables.distinct import Numbering, distinct_rows
from juncture.evidence import as_findings
from juncture.inference.engines.contract import EnginePlan, Query, Question
from juncture.inference.engines.verb_options import check_data
from juncture.inference.infer import engine_for
from juncture.learning.conditionals.contract import summarise_expected
from juncture.learning.em.contract import Expected
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.networks.bayesian_network import BayesianNetwork

EXPECTED = frozenset({Question.EXPECTED})
MAX_DISTINCT = 2**20  # rows of a source that are kept in memory
FEW_DISTINCT = 2**16  # rows of a cluster that are brought here: an E-step on more of them is its work


def merge_equal_rows(data: Dataset) -> tuple[Dataset, np.ndarray]:
    """(each distinct row once, the total weight of its copies), in order of first appearance."""
    weights = np.ones(len(data)) if data.weights is None else data.weights
    if not len(data):
        return data, weights
    group, first = number_rows(data)
    return data.take(first), np.bincount(group, weights=weights, minlength=len(first))


def collect_distinct(source: RowSource, most: int = MAX_DISTINCT) -> Dataset | None:
    """The distinct rows of a source with their total weights, in memory; None if there are more than `most`."""
    merged: Dataset | None = None
    grouped = next(source.group_rows([source.names], most)) if groups_rows(source) else None
    if grouped is not None:
        return merge_parts([merge_equal_rows(grouped.rows)])
    for part in map_blocks(partial(merge_block, most), source):
        if part is None:
            return None
        merged = merge_parts([part] if merged is None else [(merged, np.asarray(merged.weights)), part])
        if len(merged) > most:
            return None
    return merged


def merge_parts(parts: Sequence[tuple[Dataset, np.ndarray]]) -> Dataset:
    """The distinct rows of several parts, each rows and their weights, with total weights."""
    variables = parts[0][0].variables
    names = [variable.name for variable in variables]
    columns = {name: np.concatenate([rows.columns[name] for rows, _ in parts]) for name in names}
    together = Dataset.from_codes(variables, columns, np.concatenate([weights for _, weights in parts]))
    rows, weights = merge_equal_rows(together)
    return Dataset.from_codes(variables, rows.columns, weights)


def merge_block(most: int, block: Block) -> tuple[Dataset, np.ndarray] | None:
    """The distinct rows of a block with their total weights; None if there are more than `most`."""
    found = merge_equal_rows(block.rows)
    return found if len(found[0]) <= most else None


def number_rows(data: Dataset) -> Numbering:
    """The number of each row among the distinct rows, and the first index of each distinct row."""
    return distinct_rows(np.stack(data.arrays, axis=1) if data.arrays else np.zeros((len(data), 0), np.int8))


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The distinct rows of a block of data, as evidence, and the total weight of the copies of each."""

    data: Dataset
    weights: np.ndarray  # (distinct row,)
    findings: Findings

    @classmethod
    def of(cls, model: BayesianNetwork, data: Dataset) -> RowBlock:
        rows, weights = merge_equal_rows(data)
        return cls(rows, weights, as_findings(rows, model.variables))


@dataclass(frozen=True, eq=False)
class NetworkExpectation:
    """The E-step for one structure by one engine: a plan that serves every setting of the parameters."""

    plan: EnginePlan
    seed: Any = None  # of an engine that draws: every step has the same random numbers; None for another engine

    @property
    def is_random(self) -> bool:
        """Whether the engine draws at random."""
        return self.seed is not None

    @classmethod
    def of(cls, template: BayesianNetwork, method: Any = "auto", rng: Any = None) -> NetworkExpectation:
        engine = engine_for(method, questions=EXPECTED, model=template)
        plan = engine.compile(template, template.variables.names, ())
        return cls(plan, as_generator(rng).spawn(1)[0].bit_generator.seed_seq if engine.draws_itself else None)

    def run(self, model: BayesianNetwork, block: RowBlock) -> Expected[NetworkStatistics]:
        """The expected statistics of the rows of a block, and their log-likelihood."""
        rng = np.random.default_rng(self.seed) if self.is_random else None
        answers = self.plan.run(model, Query(block.findings, questions=EXPECTED, rng=rng))
        tables = answers.expected(model.conditionals, block.weights)
        check_data(answers.log_evidence, block.weights, partial(explain_impossible, block))
        parts: dict[str, Any] = {
            part.child.name: summarise_expected(part, own) for part, own in zip(model.conditionals, tables, strict=True)
        }
        log_likelihood = block.weights @ np.where(block.weights > 0, answers.log_evidence, 0.0)
        return Expected(NetworkStatistics(parts, float(block.weights.sum())), float(log_likelihood))


def expect_block(expectation: NetworkExpectation, model: BayesianNetwork, block: Block) -> Expected[NetworkStatistics]:
    """The E-step on a block of a source, wherever its rows are."""
    return expectation.run(model, RowBlock.of(model, block.rows))


def explain_impossible(block: RowBlock, index: int) -> str:
    row = {name: cells[0] for name, cells in block.data.take([index]).to_dict().items()}
    seen = ", ".join(finding_text(name, value) for name, value in row.items() if value is not None)
    return (
        f"the model that learning starts from gives a row probability zero ({seen}); "
        "start from a model without zeros, or from the graph"
    )
