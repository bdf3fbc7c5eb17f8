"""`fit` for mixtures: expectation maximisation over the component of each row, which no row shows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from juncture.checks import check_choice, check_flag
from juncture.components.mixture import Mixture, MixturePrior
from juncture.components.posterior_point import check_point, prior_for_point
from juncture.data.feature_names import keep_names
from juncture.data.sources.contract import Origin
from juncture.data.sources.entries import as_lazy_source
from juncture.errors import InvalidData, RegularizedWarning, warn_user
from juncture.iteration import ProgressCallback, check_progress
from juncture.latent.mixtures.expectation import NOWHERE, Block, SourceBlocks, as_observations
from juncture.latent.mixtures.problem import (
    MixtureProblem,
    MixtureState,
    RowBlocks,
    Start,
    estimate_mixture,
    excerpt,
)
from juncture.latent.mixtures.weak_prior import weak_prior
from juncture.latent.rows import SourceRows, weighted_rows
from juncture.learning.em.expectation_maximization import has_full_m_step, resolve_learner
from juncture.learning.fit import Fit
from juncture.options import as_generator


@keep_names
def fit_mixture(  # noqa: PLR0913 (one verb, many options)
    model: Mixture,
    data: Any,
    prior: Any = None,
    *,
    weights: Any = None,
    point: Literal["mean", "mode"] = "mean",
    start: Start = "given",
    hard: bool = False,
    method: Any = "em",
    rng: Any = 0,
    progress: ProgressCallback | None = None,
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
    point
        "mean": a number or a `Dirichlet` adds its counts to those of the data, as for networks. "mode": each adds 1
        less. Of conjugate priors of other families the mode is learned in either case.
    start
        "given"; "random": the likeliest of several draws, in each of which random rows belong to a component; or
        "k-means": clusters of the rows, found by scikit-learn.
    hard
        Whether each row belongs wholly to its most probable component (hard EM): the objective is then
        Σ log p(row, its component).
    method
        "em", or an `ExpectationMaximization` with restarts.
    rng, progress
        The source of random numbers for starts; a function that is called after each step.

    Returns
    -------
    Fit
        The mixture, its log-likelihood, the trace of the objective and the expected statistics.
    """
    learner = resolve_learner(method, MixtureProblem.models)
    check_choice(start, ("given", "random", "k-means"), "start")
    check_flag(hard, "hard")
    check_progress(progress)
    if isinstance(prior, str):
        check_choice(prior, ("weak",), "a prior by name")
    parts = as_blocks(model, data, weights)
    generator = as_generator(rng)
    own = weak_prior_of(model, parts, generator) if isinstance(prior, str) else as_prior(prior, point)
    problem = MixtureProblem(model, parts, own, start, generator, hard)
    found, trace = learner.run(problem, progress)
    if has_full_m_step(learner):
        report_regularized(found, problem.prior)
    return Fit(found.model, found.log_likelihood, trace, found.statistics)


def as_blocks(model: Mixture, data: Any, weights: Any) -> RowBlocks:
    """A function that gives the rows and their weights: all in one block, or in the blocks of a source."""
    source = as_lazy_source(data)
    if source is None:
        rows, own = weighted_rows(data, weights, model.event_shape, model.feature_names)
        check_some_seen([see_rows(rows, own)])
        whole = Block(as_observations(model.components, rows), own)
        return lambda: iter([whole])
    parts = SourceRows.of(source, weights, model.event_shape, model.feature_names)
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
    found: MixturePrior = prior_for_point(own, check_point(point))
    return found


def report_regularized(found: MixtureState, prior: MixturePrior) -> None:
    """One warning for each component of the learned mixture that regularisation keeps from its data."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RegularizedWarning)
        estimate_mixture(found.model, found.statistics, prior)
    for message in dict.fromkeys(str(each.message) for each in caught if each.category is RegularizedWarning):
        warn_user(message, RegularizedWarning)
