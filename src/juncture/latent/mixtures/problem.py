"""Mixtures as a problem for EM: blocks of rows, the E-step, the M-step and starts.

The E-step computes the responsibilities r[n, c] = p(component c | row n). The M-step takes the weights from their
column sums, and estimates each component from the rows, each weighed by its responsibility (Bishop 9.3). Hard EM gives
each row wholly to its most probable component, and raises Σ log p(row, its component).
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from juncture import numerics
from juncture.components.contract import Emissions, EmissionStatistics, is_seen, named
from juncture.components.family import suggest_remedy
from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import Mixture, MixtureEmissions, MixturePrior
from juncture.errors import RegularizedWarning
from juncture.inference.engines.options import check_data
from juncture.latent.mixtures import code_pass, gaussian_pass
from juncture.latent.mixtures.clustered_start import cluster_rows
from juncture.latent.mixtures.gaussian_pass import PatternRows, group_rows
from juncture.learning.em.contract import EMState, Expected
from juncture.values import Value, number_of, read_only

BLOCK = 2**16  # rows of an E-step whose numbers for each row are kept
DRAWS = 16  # of which the likeliest is a start at random
EXCERPT = 2**13  # rows among which the likeliest start is chosen
OWN_ROWS = 4  # at most, of each component in a start at random
Start = Literal["given", "random", "k-means"]


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
    """Rows with their weights, and the number of earlier rows."""

    start: int
    rows: np.ndarray
    weights: np.ndarray

    @cached_property
    def patterns(self) -> list[PatternRows]:
        """The vectors by their pattern of holes."""
        return group_rows(self.rows.reshape(len(self.rows), -1), self.weights)

    @cached_property
    def largest_codes(self) -> np.ndarray | None:
        """The largest code of each column; None if some cells are no codes."""
        return code_pass.largest_codes(self.rows)

    def pieces(self) -> Iterator[Block]:
        """The same rows, a few at a time."""
        for first in range(0, len(self.rows), BLOCK):
            own = slice(first, first + BLOCK)
            yield Block(self.start + first, self.rows[own], self.weights[own])


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

    def start(self) -> Mixture:
        """The given mixture; at random if that is asked for, or if components are equal: EM would keep them equal."""
        if self.kind == "given" and not has_equal_components(self.template):
            return self.template
        return self.another_start()

    def another_start(self) -> Mixture:
        """From clusters of rows, or the likeliest of several draws, each of which gives components a few rows."""
        rows, weights = excerpt(self.parts, self.rng)
        if self.kind == "k-means":
            labels = cluster_rows(rows, weights, self.template.num_components, self.rng)
            own = (labels[:, None] == np.arange(self.template.num_components)).astype(np.float64)
            return self.share_out(rows, weights, own, 1e-3)
        drawn = [self.draw(rows, weights) for _ in range(DRAWS)]
        return max(drawn, key=lambda model: float(weights @ numerics.log_sum_exp(log_joint(model, rows), axis=1)))

    def draw(self, rows: np.ndarray, weights: np.ndarray) -> Mixture:
        size, num_rows = self.template.num_components, len(rows)
        number = int(np.clip(num_rows // (2 * size), 1, OWN_ROWS))
        own = np.zeros((num_rows, size))
        for component in range(size):
            own[self.rng.choice(num_rows, min(number, num_rows), replace=False), component] = 1.0
        return self.share_out(rows, weights, own, 0.5 * number / num_rows)

    def share_out(self, rows: np.ndarray, weights: np.ndarray, own: np.ndarray, rest: float) -> Mixture:
        """The mixture of rows that belong to components (row, component), with a little of all rows in each."""
        return self.maximize(count_shares(self.template, rows, (rest + own) * weights[:, None]), self.template)

    def blocks(self) -> Iterator[Block]:
        return self.parts()

    def expect(self, model: Mixture, block: Block) -> Expected[MixtureStatistics]:
        found = None if self.is_hard else compiled_pass(model, block)
        if found is not None:
            return Expected(MixtureStatistics(found[0].weight, found[0]), found[1])
        return reduce(operator.add, (self.expect_piece(model, piece) for piece in block.pieces()))

    def expect_piece(self, model: Mixture, block: Block) -> Expected[MixtureStatistics]:
        """The E-step with the responsibilities of all rows at once."""
        rows, weights = block.rows, block.weights
        logs = log_joint(model, rows)
        totals = logs.max(axis=1) if self.is_hard else numerics.log_sum_exp(logs, axis=1)
        check_data(totals, weights, partial(explain_impossible, model.components, block))
        counted = (weights > 0) & is_seen(rows)  # a row without any value says nothing of its component
        shares = np.zeros_like(logs)
        if self.is_hard:
            shares[np.flatnonzero(counted), logs[counted].argmax(axis=1)] = weights[counted]
        else:
            shares[counted] = np.exp(logs[counted] - totals[counted, None]) * weights[counted, None]
        return Expected(count_shares(model, rows, shares), float(weights[counted] @ totals[counted]))

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
            Block(block.start + int(low), block.rows[low:high], block.weights[low:high]) for low, high in pairwise(cuts)
        ]

    def log_prior(self, model: Mixture) -> float:
        return as_emissions(model).log_prior(self.prior)

    def recover(self, state: MixtureState, fall: float) -> Mixture:
        """Where rounding in almost degenerate components lowers the objective, the components stay."""
        moved = self.maximize(state.statistics, state.model)
        return Mixture(moved.weights, state.model.components)


def compiled_pass(model: Mixture, block: Block) -> tuple[EmissionStatistics, float] | None:
    """Statistics and log-likelihood by a compiled pass; None where there is none, or a row needs a closer look."""
    components, size = model.components, block.rows.size
    if isinstance(components, GaussianEmissions) and not components.is_diagonal:
        if not gaussian_pass.is_fast(size, model.num_components) or not block.patterns:
            return None
        return gaussian_pass.gaussian_pass(components.full, numerics.log(model.weights), block.patterns)
    if code_pass.is_fast(model, size):
        return code_pass.code_pass(model, block.rows, block.weights, block.largest_codes)
    return None


def log_joint(model: Mixture, rows: np.ndarray) -> np.ndarray:
    """log p(row, component): (row, component)."""
    return model.components.log_prob(rows) + numerics.log(model.weights)


def count_shares(model: Mixture, rows: np.ndarray, shares: np.ndarray) -> MixtureStatistics:
    """The statistics of rows that belong to the components in shares (row, component).

    What is missing within a row is expected under the components of the model.
    """
    return MixtureStatistics(shares.sum(axis=0), model.components.statistics(rows, shares))


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
    kept: tuple[np.ndarray, ...] = ()
    for block in parts():
        rows, weights = block.rows, block.weights
        keys = np.where(weights > 0, rng.random(len(rows)), np.inf)  # the smallest keys of all parts are kept
        own = (keys, rows, weights)
        pairs = zip(kept, own, strict=True)
        joint = tuple(np.concatenate(pair) for pair in pairs) if kept else own
        smallest = np.sort(np.argsort(joint[0], kind="stable")[:EXCERPT])
        kept = tuple(array[smallest] for array in joint)
    counted = np.isfinite(kept[0])
    return kept[1][counted], kept[2][counted]


def explain_impossible(components: Emissions, block: Block, index: int) -> str:
    row = block.rows[index]
    return (
        f"row {block.start + index} holds {row.tolist()!r}, which no component of the mixture can make"
        f"{suggest_remedy(components, row)}"
    )
