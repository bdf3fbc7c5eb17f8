"""The E-step of mixtures on a block of rows: the responsibilities r[n, c] = p(component c | row n), and their sums."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any, TypeVar

import numpy as np

from juncture.base.values import Value, number_of, read_only
from juncture.components.contract import Emissions, EmissionStatistics, is_seen
from juncture.components.densities import column_moments
from juncture.components.family import suggest_remedy
from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import Mixture
from juncture.data.rows import SourceRows
from juncture.data.sequences import as_one_sequence
from juncture.data.sources.contract import Origin, is_elsewhere
from juncture.families.statistics.statistics import Moments
from juncture.inference.engines.verb_options import check_data
from juncture.latent.mixtures import binary_pass, code_pass, gaussian_pass
from juncture.latent.mixtures.gaussian_pass import PatternRows, group_rows
from juncture.learning.em.contract import Expected
from juncture.numerics import stable

BLOCK = 2**16  # rows of an E-step whose numbers for each row are kept
NOWHERE = Origin()  # of rows in memory
Result = TypeVar("Result")


class MixtureStatistics(Value):
    """The expected number of rows of each component, and the expected statistics of the components; they add."""

    _fields = ("counts", "components")
    counts: np.ndarray  # (component,)
    components: EmissionStatistics

    def __init__(self, counts: Any, components: EmissionStatistics) -> None:
        self._set(counts=read_only(counts, np.float64), components=components)

    def __add__(self, other: object) -> MixtureStatistics:
        if not isinstance(other, MixtureStatistics):
            return NotImplemented
        return MixtureStatistics(self.counts + other.counts, self.components + other.components)

    def __repr__(self) -> str:
        return f"MixtureStatistics({number_of(len(self.counts), 'component')}, {number_of(self.counts.sum(), 'row')})"


@dataclass(frozen=True, eq=False)
class Block:
    """Rows with their weights, and where they come from."""

    rows: np.ndarray
    weights: np.ndarray
    origin: Origin = NOWHERE

    @cached_property
    def patterns(self) -> list[PatternRows]:
        """The vectors by their pattern of holes."""
        return group_rows(self.rows.reshape(len(self.rows), -1), self.weights)

    @cached_property
    def columns(self) -> Moments:
        """The moments of what is seen of each coordinate of the vectors."""
        return column_moments(self.rows.reshape(len(self.rows), -1), self.weights)

    @cached_property
    def largest_codes(self) -> np.ndarray | None:
        """The largest code of each column; None if some cells are no codes."""
        return code_pass.largest_codes(self.rows)

    @cached_property
    def is_binary(self) -> bool:
        """Whether every cell is 0 or 1, and none a hole."""
        return self.rows.ndim == 2 and self.rows.size > 0 and bool(((self.rows == 0) | (self.rows == 1)).all())

    def pieces(self) -> Iterator[Block]:
        """The same rows, a few at a time."""
        for first in range(0, len(self.rows), BLOCK):
            own = slice(first, first + BLOCK)
            yield Block(self.rows[own], self.weights[own], self.origin._replace(start=self.origin.start + first))


@dataclass(frozen=True, eq=False)
class SourceBlocks:
    """The blocks of a source as the components of a mixture take them; a call reads them anew."""

    rows: SourceRows
    components: Emissions

    @property
    def is_elsewhere(self) -> bool:
        """Whether the rows lie on a cluster."""
        return is_elsewhere(self.rows.source)

    def __call__(self) -> Iterator[Block]:
        return (block for block in self.map(same) if len(block.rows))

    def map(self, function: Callable[[Block], Result]) -> Iterator[Result]:
        """`function` of each block, in order, on threads or where the rows are."""
        return self.rows.map(partial(apply_to_block, function, self.components))


def apply_to_block(
    function: Callable[[Block], Result],
    components: Emissions,
    rows: np.ndarray,
    weights: np.ndarray,
    origin: Origin,
) -> Result:
    return function(Block(as_observations(components, rows), weights, origin))


def same(block: Block) -> Block:
    return block


def as_observations(components: Emissions, rows: np.ndarray) -> np.ndarray:
    """Rows as the components take them."""
    return components.check(as_one_sequence(rows)).observations


def expect_some(model: Mixture, block: Block, *, is_hard: bool) -> Expected[MixtureStatistics] | None:
    """The E-step on a block; None of a block without rows."""
    return expect_block(model, block, is_hard=is_hard) if len(block.rows) else None


def expect_block(model: Mixture, block: Block, *, is_hard: bool) -> Expected[MixtureStatistics]:
    """The E-step on a block: by a compiled pass, or a few rows at a time."""
    found = None if is_hard else compiled_pass(model, block)
    if found is not None:
        return Expected(MixtureStatistics(found[0].weight, found[0]), found[1])
    return reduce(operator.add, (expect_piece(model, piece, is_hard=is_hard) for piece in block.pieces()))


def expect_piece(model: Mixture, block: Block, *, is_hard: bool) -> Expected[MixtureStatistics]:
    """The E-step with the responsibilities of all rows at once."""
    rows, weights = block.rows, block.weights
    logs = log_joint(model, rows)
    totals = logs.max(axis=1) if is_hard else stable.log_sum_exp(logs, axis=1)
    check_data(totals, weights, partial(explain_impossible, model.components, block))
    counted = (weights > 0) & is_seen(rows)  # a row without any value says nothing of its component
    shares = np.zeros_like(logs)
    if is_hard:
        shares[np.flatnonzero(counted), logs[counted].argmax(axis=1)] = weights[counted]
    else:
        shares[counted] = np.exp(logs[counted] - totals[counted, None]) * weights[counted, None]
    return Expected(count_shares(model, rows, shares), float(weights[counted] @ totals[counted]))


def compiled_pass(model: Mixture, block: Block) -> tuple[EmissionStatistics, float] | None:
    """Statistics and log-likelihood by a compiled pass; None where there is none, or a row needs a closer look."""
    components, size = model.components, block.rows.size
    if isinstance(components, GaussianEmissions) and not components.is_diagonal:
        if not gaussian_pass.is_fast(size, model.num_components) or not block.patterns:
            return None
        log_weights = stable.log(model.weights)
        return gaussian_pass.gaussian_pass(components.full, log_weights, block.patterns, block.columns)
    odds = binary_pass.log_odds(model) if block.is_binary else None
    if odds is not None:
        return binary_pass.binary_pass(model, *odds, block.rows, block.weights)
    if code_pass.is_fast(model, size):
        return code_pass.code_pass(model, block.rows, block.weights, block.largest_codes)
    return None


def log_joint(model: Mixture, rows: np.ndarray) -> np.ndarray:
    """log p(row, component): (row, component)."""
    return model.components.log_prob(rows) + stable.log(model.weights)


def count_shares(model: Mixture, rows: np.ndarray, shares: np.ndarray) -> MixtureStatistics:
    """The statistics of rows that belong to the components in shares (row, component).

    What is missing within a row is expected under the components of the model.
    """
    return MixtureStatistics(shares.sum(axis=0), model.components.statistics(rows, shares))


def explain_impossible(components: Emissions, block: Block, index: int) -> str:
    row = block.rows[index]
    return (
        f"{block.origin.describe_row(index)} holds {row.tolist()!r}, which no component of the mixture can make"
        f"{suggest_remedy(components, row)}"
    )
