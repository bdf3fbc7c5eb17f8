"""A hidden Markov model as the arrays that kernels take, and the likelihoods of the steps of its sequences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property, singledispatch
from typing import Any, NamedTuple

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.data.sequences import Sequences
from juncture.errors import InvalidData
from juncture.kernels.chains.bounded_passes import LEAST_PRODUCT, WEAK
from juncture.kernels.chains.encoded_numbers import FARTHEST, LOG_SMALLEST, encode, replace_small, subtract_tops
from juncture.numerics import stable
from juncture.runtime.parallel import block_rows, blocks_of
from juncture.sequences.hidden_markov.model import HiddenMarkovModel

# With every transition at least this probable, a mass that vanishes beside the others can never matter again.
FORGETFUL = 1e-100
# A pair of steps counts 1 / transition at most; below this that is no ordinary number unless it is scaled.
LEAST_LINK = 1e-280
PAIR_SCALE = 2.0**-100

# A matrix; where the sources of each target begin; the sources of its positive entries, target by target; their logs.
SparseTransition = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
# The matrix without its weakest entries; for each target a bound of these; the smallest mass that is kept.
BoundedTransition = tuple[np.ndarray, np.ndarray, float]

KEPT = 2**23  # numbers: more likelihoods than that are computed again for the second pass


@dataclass(frozen=True, eq=False)
class Chain:
    """Initial distribution, transitions forward and backward, and emissions of a model, as contiguous arrays."""

    initial: np.ndarray  # (state,)
    forward: SparseTransition
    backward: SparseTransition
    log_initial: np.ndarray  # (state,)
    log_transition: np.ndarray  # (from, to)
    log_backward: np.ndarray  # (to, from)
    emissions: Emissions
    is_exact: bool  # whether tiny masses must be kept
    pair_scale: float  # what pairs of steps are counted times, before they are multiplied by the transitions

    @classmethod
    def of(cls, model: HiddenMarkovModel) -> Chain:
        found: Chain | None = model.derived.get("chain")
        if found is None:
            found = model.derived["chain"] = cls._build(model)
        return found

    @classmethod
    def _build(cls, model: HiddenMarkovModel) -> Chain:
        is_minute = bool(((model.transition > 0) & (model.transition < LEAST_LINK)).any())
        return cls(
            model.initial.copy(),
            sparse_transition(model.transition),
            sparse_transition(model.transition.T),
            stable.log(model.initial),
            stable.log(model.transition),
            np.ascontiguousarray(stable.log(model.transition).T),
            model.emissions,
            bool((model.transition < FORGETFUL).any()),
            PAIR_SCALE if is_minute else 1.0,
        )

    @property
    def num_states(self) -> int:
        return len(self.initial)

    @property
    def transition(self) -> np.ndarray:
        return self.forward[0]

    @property
    def form(self) -> Form:
        """The numbers that passes over the chain try first."""
        return Form.BOUNDED if self.is_exact else Form.SCALED

    @cached_property
    def bounded_forward(self) -> BoundedTransition:
        return bound_transition(self.forward[0])

    @cached_property
    def bounded_backward(self) -> BoundedTransition:
        return bound_transition(self.backward[0])


def sparse_transition(matrix: np.ndarray) -> SparseTransition:
    targets, sources = np.nonzero(matrix.T)
    starts = np.searchsorted(targets, np.arange(len(matrix) + 1)).astype(np.int64)
    return np.array(matrix, order="C"), starts, sources.astype(np.int64), np.log(matrix[sources, targets])


def bound_transition(matrix: np.ndarray) -> BoundedTransition:
    """The transitions of `kernels.chains.bounded_passes`."""
    is_weak = (matrix > 0.0) & (matrix < WEAK)
    kept = np.where(is_weak, 0.0, matrix)
    return kept, np.where(is_weak.any(axis=0), WEAK, 0.0), LEAST_PRODUCT / float(kept[kept > 0.0].min())


class Form(Enum):
    """The numbers of a pass.

    Numbers that may vanish beside 1; the same with bounds of what vanished (see `kernels.chains.bounded_passes`);
    numbers that never vanish (see `kernels.chains.encoded_numbers`); logarithms.
    """

    SCALED = "scaled"
    BOUNDED = "bounded"
    EXACT = "exact"
    LOG = "log"


class Likelihoods(NamedTuple):
    """Step t has the likelihoods values[rows[t]], each times exp(tops[rows[t]])."""

    values: np.ndarray  # (row, state)
    tops: np.ndarray  # (row,)
    rows: np.ndarray  # (step,)


@singledispatch
def likelihoods(emissions: Any, rows: np.ndarray, labels: np.ndarray | None, form: Form) -> Likelihoods:
    """The likelihoods of steps with these observations, and labels where some states are known."""
    values = np.require(emissions.log_prob(rows), np.float64, ["C", "W"])
    tops = np.empty(len(values))
    known = np.empty(0, np.int64) if labels is None else np.require(labels, np.int64, ["C", "W"])
    step = subtract_tops(values, known, tops)
    check_finite(rows, tops, step)
    farthest = convert_to_form(values, form)
    if form in (Form.BOUNDED, Form.EXACT):
        check_comparable(rows, farthest)
    return Likelihoods(values, tops, np.arange(len(values)))


@likelihoods.register
def _(emissions: CategoricalEmissions, rows: np.ndarray, labels: np.ndarray | None, form: Form) -> Likelihoods:
    """Symbols are looked up in a table, unless labels make steps of the same symbol differ."""
    if labels is not None:
        return likelihoods.dispatch(object)(emissions, rows, labels, form)
    table: Likelihoods | None = emissions.derived.get(form.value)
    if table is None:
        values, tops = emissions.log_lookup.copy(), np.empty(emissions.num_symbols + 1)
        subtract_tops(values, np.empty(0, np.int64), tops)
        convert_to_form(values, form)
        table = emissions.derived[form.value] = Likelihoods(values, tops, np.empty(0, np.int64))
    return table._replace(rows=np.require(emissions.codes(rows), np.int64, ["C", "W"]))


def check_finite(rows: np.ndarray, tops: np.ndarray, step: int) -> None:
    """Raise where a density is infinite, at `step` or where the largest likelihood is: nothing compares with it."""
    is_infinite = np.isposinf(tops[: step if step >= 0 else None])
    first = int(np.argmax(is_infinite)) if is_infinite.any() else step
    if first >= 0:
        raise InvalidData(
            f"the observation {rows[first].tolist()!r} has no finite density in some state, so that the states cannot"
            " be compared: move it off the edge, replace it by None, or take other distributions"
        )


def check_comparable(rows: np.ndarray, step: int) -> None:
    """Raise where, at `step`, logarithms differ by so much that their sums along a path would have no digits left."""
    if step >= 0:
        raise InvalidData(
            f"the log-likelihoods of the observation {rows[step].tolist()!r} differ by more than {FARTHEST:g} between"
            " states, too much to compare paths of a chain with zeros: take wider distributions, or replace it by None"
        )


def convert_to_form(log_values: np.ndarray, form: Form) -> int:
    """Turn logarithms into the numbers that a form has, in place; the first step with one beyond FARTHEST, or -1."""
    if form is Form.LOG:
        return -1
    if form is Form.EXACT:
        return int(encode(log_values))
    farthest = replace_small(log_values, LOG_SMALLEST if form is Form.BOUNDED else -np.inf)
    np.exp(log_values, out=log_values)
    return int(farthest)


class LikelihoodBlocks:
    """The likelihoods of a long sequence, block by block; kept for the second pass, unless there are too many."""

    def __init__(self, chain: Chain, sequence: Sequences, form: Form) -> None:
        self.chain, self.sequence, self.form = chain, sequence, form
        size, num_steps = block_rows((chain.num_states,)), sequence.num_steps
        self.steps = blocks_of(num_steps, size)
        self._is_kept = num_steps * chain.num_states <= KEPT
        self._kept: dict[int, Likelihoods] = {}

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, position: int) -> Likelihoods:
        found = self._kept.get(position)
        if found is None:
            part, labels = self.steps[position], self.sequence.states
            own = None if labels is None else labels[part]
            found = likelihoods(self.chain.emissions, self.sequence.observations[part], own, self.form)
            if self._is_kept:
                self._kept[position] = found
        return found
