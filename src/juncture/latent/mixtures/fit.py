"""`fit` for mixtures: expectation maximisation over the component of each row, which no row shows.

The E-step computes the responsibilities r[n, c] = p(component c | row n). The M-step takes the weights from their
column sums, and estimates each component from the rows, each weighed by its responsibility (Bishop 9.3).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from juncture import numerics
from juncture.checks import check_choice
from juncture.components.contract import Emissions, EmissionStatistics, is_seen, named
from juncture.components.family import suggest_remedy
from juncture.components.mixture import Mixture, MixtureEmissions, MixturePrior
from juncture.components.posterior_point import check_point, prior_for_point
from juncture.data.dataset import Dataset
from juncture.data.sequences.sequences import as_one_sequence
from juncture.data.sources.entries import as_lazy_source
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, RegularizedWarning, warn_user
from juncture.inference.engines.options import check_data
from juncture.iteration import ProgressCallback, check_progress
from juncture.latent.mixtures.rows import rows_of
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.expectation_maximization import resolve_learner
from juncture.learning.fit import Fit
from juncture.options import as_generator
from juncture.values import Value, number_of, read_only

BLOCK = 2**16  # rows of an E-step
DRAWS = 16  # of which the likeliest is a start at random
EXCERPT = 2**13  # rows among which the likeliest start is chosen
OWN_ROWS = 4  # at most, of each component in a start at random
Start = Literal["given", "random"]


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


MixtureState: TypeAlias = EMState[Mixture, MixtureStatistics]
RowParts: TypeAlias = Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]  # rows and weights, part by part
Block: TypeAlias = tuple[int, np.ndarray, np.ndarray]  # the number of earlier rows, rows, their weights


@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """A mixture to learn by EM: the rows with their weights, the prior, and where to start."""

    template: Mixture
    parts: RowParts
    prior: MixturePrior
    kind: Start
    rng: np.random.Generator
    models: ClassVar[str] = "mixtures"

    def start(self) -> Mixture:
        """The given mixture; at random if that is asked for, or if components are equal: EM would keep them equal."""
        return self.another_start() if self.kind == "random" or has_equal_components(self.template) else self.template

    def another_start(self) -> Mixture:
        """The likeliest of several draws, in each of which a component is estimated from a few random rows."""
        rows, weights = excerpt(self.parts, self.rng)
        drawn = [self.draw(rows, weights) for _ in range(DRAWS)]
        return max(drawn, key=lambda model: float(weights @ numerics.log_sum_exp(log_joint(model, rows), axis=1)))

    def draw(self, rows: np.ndarray, weights: np.ndarray) -> Mixture:
        size, num_rows = self.template.num_components, len(rows)
        number = int(np.clip(num_rows // (2 * size), 1, OWN_ROWS))
        own = np.zeros((num_rows, size))
        for component in range(size):
            own[self.rng.choice(num_rows, min(number, num_rows), replace=False), component] = 1.0
        shares = (0.5 * number / num_rows + own) * weights[:, None]  # a little of all rows forbids none of them
        return self.maximize(count_shares(self.template, rows, shares), self.template)

    def blocks(self) -> Iterator[Block]:
        num_before = 0
        for rows, weights in self.parts():
            for start in range(0, len(rows), BLOCK):
                yield num_before + start, rows[start : start + BLOCK], weights[start : start + BLOCK]
            num_before += len(rows)

    def expect(self, model: Mixture, block: Block) -> Expected[MixtureStatistics]:
        _, rows, weights = block
        logs = log_joint(model, rows)
        totals = numerics.log_sum_exp(logs, axis=1)
        check_data(totals, weights, partial(explain_impossible, model.components, block))
        counted = (weights > 0) & is_seen(rows)  # a row without any value says nothing of its component
        shares = np.zeros_like(logs)
        shares[counted] = np.exp(logs[counted] - totals[counted, None]) * weights[counted, None]
        return Expected(count_shares(model, rows, shares), float(weights[counted] @ totals[counted]))

    def maximize(self, statistics: MixtureStatistics, model: Mixture) -> Mixture:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RegularizedWarning)
            return estimate_mixture(model, statistics, self.prior)

    def log_prior(self, model: Mixture) -> float:
        return as_emissions(model).log_prior(self.prior)

    def recover(self, state: MixtureState, fall: float) -> Mixture:
        """Where rounding in almost degenerate components lowers the objective, the components stay."""
        moved = self.maximize(state.statistics, state.model)
        return Mixture(moved.weights, state.model.components)


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


def estimate_mixture(model: Mixture, statistics: MixtureStatistics, prior: MixturePrior) -> Mixture:
    """The weights and components of the largest likelihood, or with a prior of the largest posterior density."""
    counts = statistics.counts[None]
    found = EmissionStatistics(counts.sum(axis=1), [counts, statistics.components])
    with named(lambda index, outer: "the mixture"):
        emissions = as_emissions(model).estimate(found, prior)
    return Mixture(emissions.weights[0], emissions.components)


def has_equal_components(model: Mixture) -> bool:
    parts = [model.components.take([component]) for component in range(model.num_components)]
    return any(part == earlier for index, part in enumerate(parts) for earlier in parts[:index])


def excerpt(parts: RowParts, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random rows that count, at most `EXCERPT` of them, and their weights."""
    kept: tuple[np.ndarray, ...] = ()
    for rows, weights in parts():
        keys = np.where(weights > 0, rng.random(len(rows)), np.inf)  # the smallest keys of all parts are kept
        own = (keys, rows, weights)
        pairs = zip(kept, own, strict=True)
        joint = tuple(np.concatenate(pair) for pair in pairs) if kept else own
        smallest = np.sort(np.argsort(joint[0], kind="stable")[:EXCERPT])
        kept = tuple(array[smallest] for array in joint)
    counted = np.isfinite(kept[0])
    return kept[1][counted], kept[2][counted]


def explain_impossible(components: Emissions, block: Block, index: int) -> str:
    start, rows, _ = block
    return (
        f"row {start + index} holds {rows[index].tolist()!r}, which no component of the mixture can make"
        f"{suggest_remedy(components, rows[index])}"
    )


def fit_mixture(  # noqa: PLR0913 (one verb, many options)
    model: Mixture,
    data: Any,
    prior: Any = None,
    *,
    weights: Any = None,
    point: Literal["mean", "mode"] = "mean",
    start: Start = "given",
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
        Rows as `infer` takes them; missing numbers (NaN) are summed out.
    prior
        A pseudo-count for each weight, or a `MixturePrior(weights=…, components=…)`: a number or a `Dirichlet` for the
        weights, a conjugate prior of their family for the components.
    weights
        The weight of each row.
    point
        "mean": a number or a `Dirichlet` adds its counts to those of the data, as for networks. "mode": each adds 1
        less. Of conjugate priors of other families the mode is learned in either case.
    start
        "given", or "random": the likeliest of several draws, in each of which random rows belong to a component.
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
    check_choice(start, ("given", "random"), "start")
    check_progress(progress)
    problem = MixtureProblem(model, as_parts(model, data, weights), as_prior(prior, point), start, as_generator(rng))
    found, trace = learner.run(problem, progress)
    report_regularized(found, problem.prior)
    return Fit(found.model, found.log_likelihood, trace, found.statistics)


def as_parts(model: Mixture, data: Any, weights: Any) -> RowParts:
    """A function that gives the rows and their weights: all in one part, or in the blocks of a source."""
    source = as_lazy_source(data)
    if source is None:
        part = as_rows(model, data, weights)
        return lambda: iter([part])
    kept = source if weights is None else source.coded(source.variables, weights)
    return lambda: (as_rows(model, block.rows, block.rows.weights) for block in kept.blocks())


def as_rows(model: Mixture, data: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their weights, of which some must count."""
    rows, is_single = rows_of(model, data)
    if is_single:
        raise InvalidData("a mixture is learned from many rows; got one")
    own = data.weights if weights is None and isinstance(data, Dataset) else weights
    given = as_weights(own, len(rows))
    counted = np.ones(len(rows)) if given is None else given
    if not (counted > 0).any():
        raise InvalidData("there is no row to learn from: there are none, or they weigh nothing")
    if rows.dtype.kind == "f" and np.isnan(rows[counted > 0]).all():
        raise InvalidData("nothing was observed: all values of all rows are missing, so there is nothing to learn from")
    return model.components.check(as_one_sequence(rows)).observations, counted


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
