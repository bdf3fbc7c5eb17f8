"""`fit` for restricted Boltzmann machines: the gradient of the likelihood, with its negative phase by chains.

The gradient by W is the mean of E[u hᵀ | x] over the data less E[u hᵀ] under the machine. Contrastive divergence takes
the second from chains that start at the data, persistent contrastive divergence from chains that never start again.

An epoch of gradient steps runs on buffers that are made once. The biases are the last row and the last column of one
matrix, joined to a 1 at the end of u and of h: a product gives log odds with their biases, and the product of the
statistics is the gradient by weights and biases at once. The rows and the chains are stacked, so that one product
serves both phases. Units with states are computed in single precision (their statistics are exact, and the
probabilities of draws have 24 bits); parameters are added up in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from juncture.base.options import Options, as_generator, as_seed
from juncture.data.rows import keep_names
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, Unsupported
from juncture.latent.boltzmann.infer import answers, draw_hidden, gibbs_step, start
from juncture.latent.boltzmann.layers import BernoulliUnits, BoltzmannParameters, VisibleUnits
from juncture.latent.boltzmann.learners import ContrastiveDivergence, ExactGradient, with_defaults
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.boltzmann.partition_function import MAX_BITS, MAX_WORK, Moments, is_quick, model_moments
from juncture.latent.boltzmann.visible_rows import visible_rows
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, check_progress, iterate
from juncture.numerics.stable import sigmoid

QUICK = 1e8  # multiplications of an exact objective after each epoch; beyond it is annealed
NOISE = 2**17  # random numbers at a time


@dataclass(frozen=True)
class BoltzmannOptions(Options):
    """How a restricted Boltzmann machine, or each layer of a deep belief network, is learned.

    Parameters
    ----------
    method
        "contrastive-divergence", or a `ContrastiveDivergence` with its options; or "exact", an `ExactGradient`, for
        small machines.
    """

    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {
        "contrastive-divergence": ContrastiveDivergence,
        "exact": ExactGradient,
    }


@keep_names
def fit_machine(
    model: RestrictedBoltzmannMachine,
    data: Any,
    *,
    prior: None = None,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: BoltzmannOptions,
) -> Fit[RestrictedBoltzmannMachine]:
    """A machine learned by stochastic gradient ascent, from the given one on.

    Parameters
    ----------
    model
        Where learning starts: `RestrictedBoltzmannMachine.random`.
    data
        (row, visible), a frame or a `Dataset`; NaN is a hole, drawn anew by a Gibbs step whenever its row is used.
    prior
        None; a penalty of the learner holds the weights small.
    weights
        Of the rows, (row,).
    rng, progress
        A seed or a `numpy.random.Generator`; a function that is called after each epoch.
    options
        The learner.

    Returns
    -------
    Fit
        Its `trace` need not rise. `log_likelihood` is exact for small machines, else an annealed estimate;
        `statistics` is a `LikelihoodEstimate`, with its standard error.
    """
    if prior is not None:
        raise Unsupported("a restricted Boltzmann machine has no conjugate prior: leave prior out, give a penalty")
    seed = as_seed(rng)
    return learn_machine(model, data, weights, options.method, as_generator(seed), progress)._with_seed(seed)


def learn_machine(
    model: RestrictedBoltzmannMachine,
    data: Any,
    weights: Any,
    learner: ContrastiveDivergence | ExactGradient,
    generator: np.random.Generator,
    progress: ProgressCallback | None = None,
) -> Fit[RestrictedBoltzmannMachine]:
    """The machine after all epochs; batches and chains are drawn from the generator."""
    check_progress(progress)
    algorithm = gradient_steps(model, data, weights, learner, generator)
    limits: dict[str, Any] = {"tolerance": learner.tolerance, "max_steps": learner.epochs, "progress": progress}
    state, trace = iterate(algorithm, is_monotone=False, **limits)
    found = estimate_likelihood(state.model, algorithm.data, algorithm.weights, generator)
    return Fit(state.model, found.log_likelihood, trace, found)


def gradient_steps(
    model: RestrictedBoltzmannMachine,
    data: Any,
    weights: Any,
    learner: ContrastiveDivergence | ExactGradient,
    generator: np.random.Generator,
) -> GradientSteps:
    """The algorithm, with the rows and weights that `fit_machine` takes, checked."""
    rows, _ = visible_rows(model, data, extra="ignore")
    complete = check_rows(model, rows)
    return GradientSteps(model, complete, row_weights(weights, len(rows)), with_defaults(learner), generator)


def check_rows(model: RestrictedBoltzmannMachine, rows: np.ndarray) -> np.ndarray:
    if not len(rows):
        raise InvalidData("there are no rows to learn from")
    if np.isnan(rows).any() and model.num_hidden > MAX_BITS:
        raise Unsupported(
            f"rows with holes are learned from with at most {MAX_BITS} hidden units, whose likelihood is a sum over all"
            f" their states; this machine has {model.num_hidden}: fill the holes by infer, or take fewer"
        )
    return rows


def row_weights(weights: Any, num_rows: int) -> np.ndarray:
    """Weights of the rows, 1 by default."""
    found = as_weights(weights, num_rows)
    if found is not None and not found.sum() > 0:
        raise InvalidData(f"the weights of the {num_rows} rows are all 0, so that nothing is learned from")
    return np.ones(num_rows) if found is None else found


@dataclass(frozen=True, eq=False)
class GradientSteps:
    """An epoch of gradient steps over batches of rows, as one step of `iterate`."""

    model: RestrictedBoltzmannMachine
    data: np.ndarray  # (row, visible), NaN for holes
    weights: np.ndarray  # (row,)
    learner: ContrastiveDivergence | ExactGradient
    rng: np.random.Generator

    def init(self) -> State:
        encoded = self.model.units.encode(self.data)
        rows = start(self.model, self.data, self.rng)[0] if self.has_holes else encoded
        visible, _ = start(self.model, np.full((self.num_chains, self.model.num_visible), np.nan), self.rng)
        chains = draw_hidden(self.model, visible, self.rng)
        return State(self.model, chains, rows.astype(working_type(self.model.units)))

    def run(self) -> RestrictedBoltzmannMachine:
        """The machine after all epochs, without its likelihood after each."""
        state = self.init()
        for _ in range(self.learner.epochs):
            state = self.step(state)
        return state.model

    @property
    def num_chains(self) -> int:
        """The number of chains that go on; a sum needs none, and has those of a default."""
        learner = self.learner
        return learner.chains if isinstance(learner, ContrastiveDivergence) else ContrastiveDivergence.chains

    def step(self, state: State) -> State:
        """One pass over the rows in random order; the rate falls to 0 over the second half of all passes."""
        rate = falling_rate(self.learner, state.epoch)
        rows = state.rows.copy() if self.has_holes else state.rows
        if isinstance(self.learner, ContrastiveDivergence):
            model, chains = self.ascend_by_chains(state, rows, rate, self.learner)
        else:
            model, chains = self.ascend_exactly(state.model, rows, rate), state.chains
        return State(model, chains, rows, state.epoch + 1)

    def ascend_by_chains(
        self, state: State, rows: np.ndarray, rate: float, learner: ContrastiveDivergence
    ) -> tuple[RestrictedBoltzmannMachine, np.ndarray]:
        """The machine and the hidden states of the chains after an epoch."""
        size, is_persistent, chain_steps = min(learner.batch_size, len(rows)), learner.persistent, learner.steps or 1
        first = state.chains if is_persistent else np.zeros((size, self.model.num_hidden))
        num_draws = chain_steps + (not is_persistent)
        steps = BatchSteps.begin(join_biases(state.model), self.model.units, size, first, num_draws, self.rng)
        move = steps.ascend if is_persistent else steps.diverge
        with np.errstate(over="ignore", invalid="ignore"):
            for batch, weights in self.batches():
                if self.has_holes:
                    self.fill_holes(split_biases(steps.matrix, state.model), rows, batch)
                move(rows[batch], weights, chain_steps, rate, learner.decay)
        return split_biases(steps.matrix, state.model), steps.chains[:, :-1] if is_persistent else state.chains

    def ascend_exactly(
        self, model: RestrictedBoltzmannMachine, rows: np.ndarray, rate: float
    ) -> RestrictedBoltzmannMachine:
        """The machine after an epoch whose negative phase is enumerated."""
        for batch, weights in self.batches():
            self.fill_holes(model, rows, batch)
            gradient = difference(moments_of(model, rows[batch], weights), model_moments(model))
            model = moved_by(model, gradient, rate, self.learner.decay)
        return model

    @cached_property
    def has_holes(self) -> bool:
        return bool(np.isnan(self.data).any())

    @cached_property
    def is_even(self) -> bool:
        """Whether all rows have the same weight, above 0."""
        return bool(self.weights[0] > 0 and (self.weights == self.weights[0]).all())

    def batches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Positions of rows in random order, with weights that sum to 1; batches of weight 0 are left out."""
        order = self.rng.permutation(len(self.data))
        size = self.learner.batch_size
        even = np.full(min(size, len(order)), 1 / min(size, len(order)))
        for first in range(0, len(order), size):
            batch = order[first : first + size]
            if self.is_even and len(batch) == len(even):
                yield batch, even
                continue
            weights = self.weights[batch]
            total = weights.sum()
            if total > 0:
                yield batch, weights / total

    def fill_holes(self, model: RestrictedBoltzmannMachine, rows: np.ndarray, batch: np.ndarray) -> None:
        """Draw the holes of a batch anew by one Gibbs step; the rows are changed in place."""
        holes = np.isnan(self.data[batch])
        if holes.any():
            seen = np.repeat(~holes, rows.shape[1] // holes.shape[1], axis=1)
            rows[batch] = gibbs_step(model, rows[batch], self.rng, seen)

    def objective(self, state: State) -> float:
        return estimate_likelihood(state.model, self.data, self.weights, self.rng, most=QUICK).log_likelihood


def falling_rate(learner: Any, epoch: int) -> float:
    """The rate of an epoch, which falls to 0 over the second half of all epochs."""
    return float(learner.learning_rate * min(1.0, 2 * (1 - epoch / learner.epochs)))


@dataclass(frozen=True, eq=False)
class State:
    """A machine with the chains of its negative phase, and the rows with the last draws of their holes."""

    model: RestrictedBoltzmannMachine
    chains: np.ndarray  # (chain, hidden)
    rows: np.ndarray  # (row, entry)
    epoch: int = 0


@dataclass(frozen=True, eq=False)
class BatchSteps:
    """Gradient steps from batches and chains of fixed numbers; the arrays are changed in place."""

    units: VisibleUnits
    matrix: np.ndarray  # (entry + 1, hidden + 1), double
    minus: np.ndarray  # minus the matrix, in the working type
    both: np.ndarray  # (batch + chain, entry + 1): u of rows, then of chains, with a 1 at the end
    expected: np.ndarray  # (batch + chain, hidden + 1): E[h | u] times signed weights
    signs: np.ndarray  # (batch + chain, 1): those weights, times the rate
    chains: np.ndarray  # (chain, hidden + 1): h of the chains, with a 1 at the end
    noise: Iterator[np.ndarray]  # (draw, chain, unit), visible units before hidden ones
    rng: np.random.Generator

    @classmethod
    def begin(
        cls,
        matrix: np.ndarray,
        units: VisibleUnits,
        batch: int,
        chains: np.ndarray,
        num_draws: int,
        rng: np.random.Generator,
    ) -> BatchSteps:
        """With so many draws of the units of all chains in each step."""
        kind, (entries, hidden) = working_type(units), matrix.shape
        total = batch + len(chains)
        joined = np.ones((len(chains), hidden), kind)
        joined[:, :-1] = chains
        both, expected, signs = (np.ones((total, width), kind) for width in (entries, hidden, 1))
        noise = logistic_noise((num_draws, len(chains), entries + hidden - 2), kind, rng)
        return cls(units, matrix, -matrix.astype(kind), both, expected, signs, joined, noise, rng)

    def ascend(self, u: np.ndarray, weights: np.ndarray, steps: int, rate: float, decay: float) -> None:
        """One step from statistics of rows and their weights, which sum to 1; the chains go on."""
        self.both[: len(u), :-1] = u
        self.signs[len(u) : len(u) + len(self.chains)] = -rate / len(self.chains)
        self.move(len(u), len(self.chains), next(self.noise), weights, steps, rate, decay)

    def diverge(self, u: np.ndarray, weights: np.ndarray, steps: int, rate: float, decay: float) -> None:
        """One step with chains that start at the rows."""
        rows, noise = len(u), next(self.noise)
        self.both[:rows, :-1] = u
        self.draw_hidden(self.minus_odds(0, rows), noise[steps], rows)
        np.multiply(weights, -rate, out=self.signs[rows : 2 * rows, 0], casting="same_kind")
        self.move(rows, rows, noise, weights, steps, rate, decay)

    def move(
        self, rows: int, chains: int, noise: np.ndarray, weights: np.ndarray, steps: int, rate: float, decay: float
    ) -> None:
        total = rows + chains
        for step in range(steps):
            self.draw_visible(noise[step], rows, chains)
            if step + 1 < steps:
                self.draw_hidden(self.minus_odds(rows, total), noise[step], chains)
        raised = self.minus_odds(0, total)
        self.draw_hidden(raised[rows:], noise[steps - 1], chains)
        np.exp(raised, out=raised)
        raised += 1  # the inverse of the probability of a 1, infinite where that is 0
        raised[:, -1] = 1
        np.multiply(weights, rate, out=self.signs[:rows, 0], casting="same_kind")
        np.divide(self.signs[:total], raised, out=raised)
        if decay:
            self.matrix[:-1, :-1] *= 1 - rate * decay
        np.add(self.matrix, self.both[:total].T @ raised, out=self.matrix)
        np.negative(self.matrix, out=self.minus, casting="same_kind")

    def minus_odds(self, first: int, end: int) -> np.ndarray:
        """Minus the log odds of the hidden units given some rows of `both`, and a column that means nothing."""
        return np.matmul(self.both[first:end], self.minus, out=self.expected[first:end])

    def draw_visible(self, noise: np.ndarray, rows: int, chains: int) -> None:
        """The visible states of the first chains, given their hidden ones."""
        minus_theta = self.chains[:chains] @ self.minus[:-1].T
        drawn = self.both[rows : rows + chains, :-1]
        if isinstance(self.units, BernoulliUnits):
            np.less(minus_theta, noise[:chains, : drawn.shape[1]], out=drawn)
        else:
            drawn[:] = self.units.draw(-minus_theta, self.rng)

    def draw_hidden(self, minus_odds: np.ndarray, noise: np.ndarray, chains: int) -> None:
        """The hidden states of the first chains."""
        hidden = self.chains.shape[1] - 1
        np.less(minus_odds[:, :-1], noise[:chains, -hidden:], out=self.chains[:chains, :-1])


def join_biases(model: BoltzmannParameters) -> np.ndarray:
    """(entry + 1, hidden + 1): the weights, with the visible biases as last column and the hidden ones as last row."""
    matrix = np.zeros((len(model.matrix) + 1, model.num_hidden + 1))
    matrix[:-1, :-1], matrix[:-1, -1], matrix[-1, :-1] = model.matrix, model.visible_bias.ravel(), model.hidden_bias
    return matrix


def split_biases(matrix: np.ndarray, model: RestrictedBoltzmannMachine) -> RestrictedBoltzmannMachine:
    """A machine like `model` with the parameters of a joined matrix."""
    weights, bias = matrix[:-1, :-1].reshape(model.weights.shape), matrix[:-1, -1].reshape(model.visible_bias.shape)
    return RestrictedBoltzmannMachine(weights.copy(), bias.copy(), matrix[-1, :-1].copy(), model.visible)


def working_type(units: VisibleUnits) -> type[np.floating]:
    """Single precision for units with states, whose statistics are 0 or 1; double for real units."""
    return np.float32 if units.num_states else np.float64


def logistic_noise(shape: tuple[int, ...], kind: Any, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Numbers log (1 - u) / u of uniform u, many arrays at a time: a unit of log odds o is 1 where -o is below one."""
    number = max(1, NOISE // max(1, prod(shape)))
    while True:
        noise = rng.random((number, *shape), dtype=kind)
        with np.errstate(divide="ignore"):  # of u = 0 it is infinite, and every unit is 1
            np.divide(1 - noise, noise, out=noise)
        yield from np.log(noise, out=noise)


def moments_of(model: RestrictedBoltzmannMachine, u: np.ndarray, weights: np.ndarray) -> Moments:
    """The weighted means of u E[h | u]ᵀ, u and E[h | u]."""
    hidden = sigmoid(model.hidden_input(u)) * weights[:, None]
    return Moments(u.T @ hidden, weights @ u, hidden.sum(axis=0))


def difference(positive: Moments, negative: Moments) -> Moments:
    return Moments(*(mine - other for mine, other in zip(positive, negative, strict=True)))


def moved_by(
    model: RestrictedBoltzmannMachine, gradient: Moments, rate: float, decay: float
) -> RestrictedBoltzmannMachine:
    """The machine after a step of this rate, with the weights pulled towards 0."""
    weights = model.weights + rate * (gradient.products.reshape(model.weights.shape) - decay * model.weights)
    visible = model.visible_bias + rate * gradient.visible.reshape(model.visible_bias.shape)
    return RestrictedBoltzmannMachine(weights, visible, model.hidden_bias + rate * gradient.hidden, model.visible)


def exact_gradient(model: RestrictedBoltzmannMachine, rows: Any) -> Moments:
    """The gradient of the mean log-likelihood of complete rows by W, b and a, for small machines."""
    values, _ = visible_rows(model, rows)
    u = model.units.encode(values)
    return difference(moments_of(model, u, np.full(len(u), 1 / len(u))), model_moments(model))


def estimate_likelihood(
    model: RestrictedBoltzmannMachine, rows: np.ndarray, weights: np.ndarray, rng: Any, most: float = MAX_WORK
) -> LikelihoodEstimate:
    """The weighted sum of log p(row), exact where log Z is, else with its standard error."""
    total = float(weights @ answers(model, rows)[0])
    count = float(weights.sum())
    if is_quick(model, most=most):
        return LikelihoodEstimate(total - count * model.log_partition, 0.0, True)
    log_z = model.annealed_log_partition(temperatures=1000 if most > QUICK else 200, rng=rng)
    return LikelihoodEstimate(total - count * log_z.log_evidence, count * log_z.standard_error, False)


class LikelihoodEstimate(NamedTuple):
    """The log-likelihood of rows: exact, with the error 0, or with log Z from annealed importance sampling."""

    log_likelihood: float
    standard_error: float
    exact: bool
