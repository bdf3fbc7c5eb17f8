"""Mixtures as a problem for EM: blocks of rows, the M-step and starts.

The E-step computes the responsibilities r[n, c] = p(component c | row n). The M-step takes the weights from their
column sums, and estimates each component from the rows, each weighed by its responsibility (Bishop 9.3). Hard EM gives
each row wholly to its most probable component, and raises Σ log p(row, its component).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from typing import ClassVar, Literal, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np

from juncture import numerics
from juncture.components.contract import EmissionStatistics, named
from juncture.components.mixture import Mixture, MixtureEmissions, MixturePrior
from juncture.errors import InvalidData, RegularizedWarning
from juncture.latent.mixtures.clustered_start import cluster_rows, distinct_rows
from juncture.latent.mixtures.expectation import (
    Block,
    MixtureStatistics,
    SourceBlocks,
    count_shares,
    expect_block,
    expect_some,
    log_joint,
)
from juncture.learning.em.contract import EMState, Expected

DRAWS = 16  # of which the likeliest is a start at random
EXCERPT = 2**13  # rows among which the likeliest start is chosen
OWN_ROWS = 4  # at most, of each component in a start at random
Start = Literal["given", "random", "k-means"]
MixtureState: TypeAlias = EMState[Mixture, MixtureStatistics]
RowBlocks: TypeAlias = Callable[[], Iterator[Block]]


@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """A mixture to learn by EM: the rows with their weights, the prior, and where to start."""

    template: Mixture
    parts: RowBlocks
    prior: MixturePrior
    kind: Start
    rng: np.random.Generator
    is_hard: bool = False
    models: ClassVar[str] = "mixtures"

    @property
    def is_elsewhere(self) -> bool:
        """Whether the rows lie on a cluster, where each step runs."""
        return isinstance(self.parts, SourceBlocks) and self.parts.is_elsewhere

    def start(self) -> Mixture:
        """The given mixture; at random if that is asked for, or if components are equal: EM would keep them equal."""
        if self.kind == "given" and not has_equal_components(self.template):
            return self.template
        return self.another_start()

    def another_start(self) -> Mixture:
        """From clusters of rows, or the likeliest of several draws, each of which gives components a few rows."""
        found, size = excerpt(self.parts, self.rng), self.template.num_components
        rows, weights = distinct_rows(*found)
        if self.kind == "k-means":
            if len(found[0]) < size:
                raise InvalidData(f"k-means needs a row for each of the {size} components; there are {len(found[0])}")
            labels = cluster_rows(rows, weights, size, self.rng)
            own = (labels[:, None] == np.arange(size)).astype(np.float64)
            return self.share_out(rows, weights, own, 1e-3)
        drawn = [self.draw(rows, weights) for _ in range(DRAWS)]
        return max(drawn, key=lambda model: float(weights @ numerics.log_sum_exp(log_joint(model, rows), axis=1)))

    def draw(self, rows: np.ndarray, weights: np.ndarray) -> Mixture:
        size, num_rows = self.template.num_components, len(rows)
        number = int(np.clip(num_rows // (2 * size), 1, OWN_ROWS))
        own = np.zeros((num_rows, size))
        for component in range(size):
            drawn = self.rng.choice(num_rows, min(number, num_rows), replace=False, p=weights / weights.sum())
            own[drawn, component] = 1.0
        return self.share_out(rows, weights, own, 0.5 * number / num_rows)

    def share_out(self, rows: np.ndarray, weights: np.ndarray, own: np.ndarray, rest: float) -> Mixture:
        """The mixture of rows that belong to components (row, component), with a little of all rows in each."""
        return self.maximize(count_shares(self.template, rows, (rest + own) * weights[:, None]), self.template)

    def blocks(self) -> Iterator[Block]:
        return self.parts()

    def expect(self, model: Mixture, block: Block) -> Expected[MixtureStatistics]:
        return expect_block(model, block, is_hard=self.is_hard)

    def expect_blocks(self, model: Mixture) -> Iterator[Expected[MixtureStatistics]]:
        """The E-step of each block, in order: that of a source on threads, or where its rows are."""
        if not isinstance(self.parts, SourceBlocks):
            return (self.expect(model, block) for block in self.blocks())
        found = self.parts.map(partial(expect_some, model, is_hard=self.is_hard))
        return (part for part in found if part is not None)

    def maximize(self, statistics: MixtureStatistics, model: Mixture) -> Mixture:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RegularizedWarning)
            return estimate_mixture(model, statistics, self.prior)

    def expected_log_joint(self, statistics: MixtureStatistics, model: Mixture) -> float:
        """Σ E[number of rows] log weight, and the expected log-likelihood of the components."""
        return as_emissions(model).log_likelihood(as_emission_statistics(statistics))

    def divide(self, block: Block, number: int) -> list[Block]:
        cuts = np.linspace(0, len(block.rows), min(number, len(block.rows)) + 1).astype(int)
        return [
            Block(block.rows[low:high], block.weights[low:high], block.origin._replace(start=block.origin.start + low))
            for low, high in pairwise(cuts.tolist())
        ]

    def log_prior(self, model: Mixture) -> float:
        return as_emissions(model).log_prior(self.prior)

    def recover(self, state: MixtureState, fall: float) -> Mixture:
        """Where rounding in almost degenerate components lowers the objective, the components stay."""
        moved = self.maximize(state.statistics, state.model)
        return Mixture(moved.weights, state.model.components)


def as_emissions(model: Mixture) -> MixtureEmissions:
    """The mixture as the emissions of one state."""
    return MixtureEmissions(model.weights[None], model.components)


def as_emission_statistics(statistics: MixtureStatistics) -> EmissionStatistics:
    """The statistics as those of the emissions of one state."""
    counts = statistics.counts[None]
    return EmissionStatistics(counts.sum(axis=1), [counts, statistics.components])


def estimate_mixture(model: Mixture, statistics: MixtureStatistics, prior: MixturePrior) -> Mixture:
    """The weights and components of the largest likelihood, or with a prior of the largest posterior density."""
    with named(lambda index, outer: "the mixture"):
        emissions = as_emissions(model).estimate(as_emission_statistics(statistics), prior)
    return Mixture(emissions.weights[0], emissions.components)


def has_equal_components(model: Mixture) -> bool:
    parts = [model.components.take([component]) for component in range(model.num_components)]
    return any(part == earlier for index, part in enumerate(parts) for earlier in parts[:index])


def excerpt(parts: RowBlocks, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random rows that count, at most `EXCERPT` of them, and their weights."""
    seed = int(rng.integers(2**62))  # of generators for the keys: `rng` goes on alike for any number of rows
    if isinstance(parts, SourceBlocks) and parts.is_elsewhere:
        drawn = parts.map(partial(draw_rows, seed))
    else:
        own = np.random.default_rng(seed)
        drawn = (keep_smallest(own.random(len(block.rows)), block) for block in parts())
    kept = reduce(join_drawn, drawn)
    return kept.block.rows, kept.block.weights


class DrawnRows(NamedTuple):
    """Rows with random keys: the rows with the smallest keys of all are a random choice."""

    keys: np.ndarray
    block: Block


def draw_rows(seed: int, block: Block) -> DrawnRows:
    """Random rows of a block on a cluster, by a generator of its own: they do not depend on the number of workers."""
    place = crc32(block.origin.name.encode()), block.origin.start
    return keep_smallest(np.random.default_rng([seed, *place]).random(len(block.rows)), block)


def keep_smallest(keys: np.ndarray, block: Block) -> DrawnRows:
    counted = np.flatnonzero(block.weights > 0)
    own = np.sort(counted[np.argsort(keys[counted], kind="stable")[:EXCERPT]])
    return DrawnRows(keys[own], Block(block.rows[own], block.weights[own]))


def join_drawn(one: DrawnRows, two: DrawnRows) -> DrawnRows:
    rows = np.concatenate([one.block.rows, two.block.rows])
    weights = np.concatenate([one.block.weights, two.block.weights])
    return keep_smallest(np.concatenate([one.keys, two.keys]), Block(rows, weights))
