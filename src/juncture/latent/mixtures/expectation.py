"""The E-step of mixtures on a block of rows: the responsibilities r[n, c] = p(component c | row n), and their sums.

Components of any kind take a few rows at a time. Three passes are quicker. That of Gaussian vectors is in
`gaussian_pass`. Independent Bernoulli columns over complete rows take products of matrices: with the log odds θ of each
column, log p(row, component) = θ·row + Σ log(1 - p) + log weight, and the expected number of ones is the product of
responsibilities and rows. Independent Bernoulli and categorical columns with holes take one compiled pass over codes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from juncture.base.values import Value, number_of, read_only
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, EmissionStatistics, is_seen
from juncture.components.densities import column_moments
from juncture.components.family import FamilyEmissions, suggest_remedy
from juncture.components.gaussian import GaussianEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture
from juncture.data.rows import SourceRows
from juncture.data.sequences import as_one_sequence
from juncture.data.sources.contract import Origin, is_elsewhere
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.statistics.long_data import as_buffer
from juncture.families.statistics.statistics import Moments
from juncture.inference.engines.verb_options import check_data
from juncture.latent.mixtures import gaussian_pass
from juncture.latent.mixtures.gaussian_pass import PatternRows, group_rows
from juncture.learning.em.contract import Expected
from juncture.numerics import stable
from juncture.runtime.parallel import map_blocks, one_thread

BLOCK = 2**16  # rows of an E-step whose numbers for each row are kept
NOWHERE = Origin()  # of rows in memory
Result = TypeVar("Result")
TASK_ROWS = 2**14  # of one thread
ROWS_AT_ONCE = 2**11  # whose numbers stay in the cache


class MixtureStatistics(Value):
    """The expected number of rows of each component, and the expected statistics of the components; they add."""

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
        return largest_codes(self.rows)

    @cached_property
    def is_binary(self) -> bool:
        """Whether every cell is 0 or 1, and none a hole."""
        return self.rows.ndim == 2 and self.rows.size > 0 and bool(((self.rows == 0) | (self.rows == 1)).all())

    def pieces(self) -> Iterator[Block]:
        """The same rows, a few at a time."""
        for first in range(0, len(self.rows), BLOCK):
            own = slice(first, first + BLOCK)
            yield Block(self.rows[own], self.weights[own], self.origin._replace(start=self.origin.start + first))


def same(block: Block) -> Block:
    return block


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


def compiled_pass(model: Mixture, block: Block) -> tuple[EmissionStatistics, float] | None:
    """Statistics and log-likelihood by a compiled pass; None where there is none, or a row needs a closer look."""
    components, size = model.components, block.rows.size
    if isinstance(components, GaussianEmissions) and not components.is_diagonal:
        if not gaussian_pass.is_fast(size, model.num_components) or not block.patterns:
            return None
        log_weights = stable.log(model.weights)
        return gaussian_pass.gaussian_pass(components.full, log_weights, block.patterns, block.columns)
    odds = log_odds(model) if block.is_binary else None
    if odds is not None:
        return binary_pass(model, *odds, block.rows, block.weights)
    if is_code_pass_fast(model, size):
        return code_pass(model, block.rows, block.weights, block.largest_codes)
    return None


def binary_pass(
    model: Mixture, odds: np.ndarray, rest: np.ndarray, rows: np.ndarray, weights: np.ndarray
) -> tuple[EmissionStatistics, float]:
    """The expected statistics of the components and the log-likelihood, from `log_odds` and rows of zeros and ones."""
    with one_thread(len(rows) > TASK_ROWS):
        found = map_blocks(lambda own: add_rows(odds, rest, rows[own], weights[own]), len(rows), TASK_ROWS)
    ones, totals = np.sum([part[0] for part in found], axis=0), np.sum([part[1] for part in found], axis=0)
    parts: Any = model.components
    counts = zip(parts.parts, ones.T, np.maximum(totals - ones.T, 0.0), strict=True)  # no rounding makes them negative
    statistics = [part.statistics(np.array([0.0, 1.0]), np.stack([zeros, own])) for part, own, zeros in counts]
    return EmissionStatistics(totals, statistics), float(sum(part[2] for part in found))


def log_odds(model: Mixture) -> tuple[np.ndarray, np.ndarray] | None:
    """θ, (component, column), and the rest, (component,); None where a column is no Bernoulli, or is certain."""
    components = model.components
    if not isinstance(components, IndependentEmissions) or not all(map(is_bernoulli, components.parts)):
        return None
    parts: tuple[Any, ...] = tuple(components.parts)
    shares = np.stack([np.broadcast_to(part.family.probability, (part.num_states,)) for part in parts], axis=1)
    if not ((shares > 0) & (shares < 1)).all() or not (model.weights > 0).all():
        return None
    others = np.log1p(-shares)
    return np.log(shares) - others, others.sum(axis=1) + np.log(model.weights)


def is_bernoulli(part: Any) -> bool:
    return isinstance(part, FamilyEmissions) and isinstance(part.family, Bernoulli)


def add_rows(
    odds: np.ndarray, rest: np.ndarray, rows: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """The expected numbers of ones (component, column), the weight of each component, and the log-likelihood."""
    ones, totals, log_likelihood = np.zeros_like(odds), np.zeros(len(odds)), 0.0
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some, heavy = rows[start : start + ROWS_AT_ONCE], weights[start : start + ROWS_AT_ONCE]
        shares = odds @ some.T
        shares += rest[:, None]
        top = shares.max(axis=0)
        shares -= top
        np.exp(shares, out=shares)
        total = shares.sum(axis=0)
        log_likelihood += float(heavy @ (top + np.log(total)))
        shares *= heavy / total
        totals += shares.sum(axis=1)
        ones += shares @ some
    return ones, totals, log_likelihood


def code_pass(
    model: Mixture, rows: np.ndarray, weights: np.ndarray, largest: np.ndarray | None
) -> tuple[EmissionStatistics, float] | None:
    """The expected statistics of the components and the log-likelihood; None if a row is impossible.

    `largest` has the largest code of each column.
    """
    from juncture.kernels.densities.mixtures import code_mixture_pass

    parts: Any = model.components
    tables = [table_of(part) for part in parts.parts]  # (code, component) each
    ends = list(accumulate((len(table) for table in tables), initial=0))
    log_tables, log_weights = as_buffer(stable.log(np.concatenate(tables))), as_buffer(stable.log(model.weights))
    offsets = np.array(ends[:-1], np.int64)
    if largest is None or (largest >= np.diff(ends)).any():
        return None

    def run(own: slice) -> tuple[np.ndarray, Any, Any, Any]:
        counts = np.zeros_like(log_tables)
        found = code_mixture_pass(
            as_buffer(rows[own]), as_buffer(weights[own]), offsets, log_tables, log_weights, counts
        )
        return counts, *found

    found = map_blocks(run, len(rows), TASK_ROWS)
    if any(part[3] for part in found):
        return None
    counts = sum(part[0] for part in found)
    columns = zip(parts.parts, np.split(counts, ends[1:-1]), strict=True)
    statistics = [column_statistics(part, own) for part, own in columns]
    return EmissionStatistics(sum(part[1] for part in found), statistics), float(sum(part[2] for part in found))


def is_code_pass_fast(model: Mixture, num_values: int) -> bool:
    """Whether all columns are tables of codes, and the compiled pass is faster than NumPy."""
    components = model.components
    if not isinstance(components, IndependentEmissions) or not all(map(is_coded, components.parts)):
        return False
    from juncture.kernels.densities.mixtures import code_mixture_pass

    return bool(code_mixture_pass.outruns_numpy(num_values * model.num_components))


def is_coded(part: Emissions) -> bool:
    return isinstance(part, CategoricalEmissions) or (
        isinstance(part, FamilyEmissions) and isinstance(part.family, Bernoulli)
    )


def table_of(part: Any) -> np.ndarray:
    """p(code | component), (code, component)."""
    if isinstance(part, CategoricalEmissions):
        return part.probabilities.T
    share = np.broadcast_to(part.family.probability, (part.num_states,))
    return np.stack([1.0 - share, share])


def column_statistics(part: Any, counts: np.ndarray) -> EmissionStatistics:
    """The statistics of one column from its expected counts (code, component): each code stands for its rows."""
    return part.statistics(np.arange(len(counts), dtype=np.float64), counts)


def largest_codes(rows: np.ndarray) -> np.ndarray | None:
    """The largest code of each column, -1 where all cells are holes; None if a cell is no code."""
    if rows.ndim != 2 or ((rows < 0) | (rows != np.floor(rows))).any(where=~np.isnan(rows)):
        return None
    return np.fmax.reduce(rows, axis=0, initial=-1.0)
