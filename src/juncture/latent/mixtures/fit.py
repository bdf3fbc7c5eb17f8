"""`fit` for mixtures: expectation maximisation over the component of each row, which no row shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice, pairwise
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np

from juncture.base.checks import check_choice, check_count, check_flag, check_iterable
from juncture.base.notes import Notes
from juncture.base.options import Options, as_generator, as_seed, used_seed
from juncture.base.values import number_of
from juncture.components.contract import EmissionStatistics
from juncture.components.convert import concatenate_components
from juncture.components.mixture import Mixture, MixtureEmissions, MixturePrior
from juncture.components.posterior_point import check_point, prior_for_point
from juncture.data.rows import Rows, SourceRows, keep_names
from juncture.data.sources.contract import Origin
from juncture.errors import InvalidData, Unsupported
from juncture.latent.mixtures.expectation import (
    NOWHERE,
    Block,
    MixtureStatistics,
    SourceBlocks,
    count_shares,
    expect_block,
    expect_some,
    log_joint,
)
from juncture.latent.mixtures.starts import cluster_rows, distinct_rows, weak_prior
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.expectation_maximization import ExpectationMaximization, has_full_m_step
from juncture.learning.fit import Fit
from juncture.numerics import stable
from juncture.numerics.iteration import ProgressCallback, check_progress

Start = Literal["given", "random", "k-means"]


@dataclass(frozen=True)
class MixtureOptions(Options):
    """How a mixture is learned: expectation maximisation over the component of each row, which no row shows.

    Parameters
    ----------
    point
        "mean": a number or a `Dirichlet` adds its counts to those of the data, as for networks. "mode": each adds 1
        less. Of conjugate priors of other families the mode is learned in either case.
    start
        "given"; "random": the likeliest of several draws, in each of which random rows belong to a component; or
        "k-means": clusters of the rows, found by scikit-learn.
    hard
        Whether each row belongs wholly to its most probable component (hard EM): the objective is then
        Σ log p(row, its component).
    fixed
        The positions of components whose distributions stay as they are given; their weights are learned.
    method
        "em", or an `ExpectationMaximization` with its options, such as restarts.
    """

    point: Literal["mean", "mode"] = "mean"
    start: Start = "given"
    hard: bool = False
    fixed: Collection[int] = ()
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"em": ExpectationMaximization}

    def __post_init__(self) -> None:
        check_point(self.point)
        check_choice(self.start, ("given", "random", "k-means"), "start")
        check_flag(self.hard, "hard")
        listed = check_iterable(self.fixed, "fixed")
        object.__setattr__(self, "fixed", tuple(check_count(each, "a fixed component", least=0) for each in listed))


@keep_names
def fit_mixture(
    model: Mixture,
    data: Any,
    *,
    prior: Any = None,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: MixtureOptions,
) -> Fit[Mixture]:
    """Learn the weights and the components of a mixture from rows, by expectation maximisation.

    Parameters
    ----------
    model
        The number and the families of the components, and with `start="given"` the mixture that EM starts from.
        Components that are equal are drawn at random, since EM would keep them equal.
    data
        Rows as `infer` takes them; missing numbers (NaN) are summed out. Large files, sources, and functions that give
        frames are read block by block in each step.
    prior
        A pseudo-count for each weight, or a `MixturePrior(weights=…, components=…)`: a number or a `Dirichlet` for the
        weights, a conjugate prior of their family for the components. "weak" is a prior of Gaussian components made
        from the data, with which no component shrinks to a point.
    weights
        The weight of each row, or the name of the column that holds it.
    rng, progress
        A seed or a `numpy.random.Generator` for starts; a function that is called after each step.
    options
        Where and how EM runs.

    Returns
    -------
    Fit
        The mixture, its log-likelihood, the trace of the objective and the expected statistics.
    """
    check_progress(progress)
    if isinstance(prior, str):
        check_choice(prior, ("weak",), "a prior by name")
    parts, seed = as_blocks(model, data, weights), as_seed(rng)
    generator = as_generator(seed)
    found = learn_mixture(model, parts, prior, generator, options, progress)
    return found._with_seed(used_seed(seed, generator))


def learn_mixture(
    model: Mixture,
    parts: RowBlocks,
    prior: Any,
    generator: np.random.Generator,
    options: MixtureOptions,
    progress: ProgressCallback | None = None,
) -> Fit[Mixture]:
    """The mixture learned from blocks of rows; starts are drawn from the generator."""
    own = weak_prior_of(model, parts, generator) if isinstance(prior, str) else as_prior(prior, options.point)
    check_fixed(model, options.fixed)
    problem = MixtureProblem(model, parts, own, options.start, generator, options.hard, tuple(options.fixed))
    found, trace = options.method.run(problem, progress)
    if has_full_m_step(options.method):
        estimate_mixture(found.model, found.statistics, problem.prior)[1].warn(lambda index: "the mixture")
    return Fit(found.model, found.log_likelihood, trace, found.statistics)


def check_fixed(model: Mixture, fixed: Collection[int]) -> None:
    """Refuse positions of components that there are not, and components that share parameters with others."""
    wrong = next((each for each in fixed if each >= model.num_components), None)
    if wrong is not None:
        raise InvalidData(
            f"fixed names the component {wrong}; there are {number_of(model.num_components, 'component')},"
            f" 0 to {model.num_components - 1}"
        )
    if fixed and getattr(model.components, "structure", None) == "tied":
        raise Unsupported(
            "components that share a covariance cannot stay alone: give each its own, or leave out fixed="
        )


def as_blocks(model: Mixture, data: Any, weights: Any) -> RowBlocks:
    """A function that gives the rows and their weights: all in one block, or in the blocks of a source."""
    read = Rows.of(data, model.feature_names, weights=weights, extra="ignore")
    if read.source is None:
        rows, own = read.many(model.event_shape)
        check_some_seen([see_rows(rows, own)])
        whole = Block(model.components.check(rows), own)
        return lambda: iter([whole])
    parts = SourceRows(read, model.event_shape)
    check_some_seen(parts.map(see_rows))
    return SourceBlocks(parts, model.components)


class SeenPart(NamedTuple):
    """Of some rows, whether one counts, and whether something is seen of a row that counts."""

    has_rows: bool
    has_values: bool


def see_rows(rows: np.ndarray, weights: np.ndarray, origin: Origin = NOWHERE) -> SeenPart:
    counted = rows[weights > 0]
    return SeenPart(len(counted) > 0, len(counted) > 0 and not (rows.dtype.kind == "f" and np.isnan(counted).all()))


def check_some_seen(parts: Iterable[SeenPart]) -> None:
    """Raise unless some row counts, and something is seen of such a row."""
    has_rows = False
    for part in parts:
        if part.has_values:
            return
        has_rows |= part.has_rows
    if not has_rows:
        raise InvalidData("there is no row to learn from: there are none, or they weigh nothing")
    raise InvalidData("nothing was observed: all values of all rows are missing, so there is nothing to learn from")


def weak_prior_of(model: Mixture, parts: RowBlocks, rng: np.random.Generator) -> MixturePrior:
    """The weak prior from all rows; from some of them, at random, where they come in several blocks."""
    if not has_one_block(parts):  # a pass ends before the next begins: some sources have one at a time
        return weak_prior(model, *excerpt(parts, rng))
    (whole,) = parts()
    return weak_prior(model, whole.rows, whole.weights)


def has_one_block(parts: RowBlocks) -> bool:
    """Whether all rows are in one block; the rows of a cluster stay there."""
    lengths = parts.map(length_of) if isinstance(parts, SourceBlocks) else map(length_of, parts())
    return len(list(islice(filter(None, lengths), 2))) == 1


def length_of(block: Block) -> int:
    return len(block.rows)


def as_prior(prior: Any, point: Any) -> MixturePrior:
    own = prior if isinstance(prior, MixturePrior) else MixturePrior(weights=prior)
    found: MixturePrior = prior_for_point(own, point)
    return found


DRAWS = 16  # of which the likeliest is a start at random
EXCERPT = 2**13  # rows among which the likeliest start is chosen
OWN_ROWS = 4  # at most, of each component in a start at random
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
    fixed: tuple[int, ...] = ()
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
        return max(drawn, key=lambda model: float(weights @ stable.log_sum_exp(log_joint(model, rows), axis=1)))

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
        best = estimate_mixture(model, statistics, self.prior)[0]
        if not self.fixed:
            return best
        places = range(best.num_components)
        origins = [(self.template if each in self.fixed else best).components for each in places]
        return Mixture(best.weights, concatenate_components(origins, [[each] for each in places]))

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


def estimate_mixture(model: Mixture, statistics: MixtureStatistics, prior: MixturePrior) -> tuple[Mixture, Notes]:
    """The weights and components of the largest likelihood, or with a prior of the largest posterior density.

    The notes are about the components that regularisation keeps from their data.
    """
    emissions, notes = as_emissions(model).estimate_with_notes(as_emission_statistics(statistics), prior)
    return Mixture(emissions.weights[0], emissions.components), notes


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
