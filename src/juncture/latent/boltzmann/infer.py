"""`infer`, `log_prob` and `sample` for restricted Boltzmann machines: exact answers, or block Gibbs sampling.

`BoltzmannBeliefs` holds the posterior of the hidden units given the visible ones, and of missing visible units. A step
of block Gibbs sampling draws all hidden units given the visible ones, then all visible units given the hidden ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.base.methods import register_methods, register_names, resolve_method
from juncture.base.options import as_generator, as_seed
from juncture.base.values import number_of
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, Unsupported
from juncture.inference.engines.contract import EXACT, Cost, Diagnostics
from juncture.inference.engines.verb_options import check_limits, check_num_rows, check_policy
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.boltzmann.partition_function import is_quick, with_holes
from juncture.latent.boltzmann.unit_beliefs import UnitBeliefs
from juncture.latent.boltzmann.visible_rows import name_units, units_as_dataset, visible_rows
from juncture.numerics.stable import sigmoid
from juncture.variables import Variable

STEPS = 1000  # of the chain of each row that sample draws


def infer_hidden(
    model: RestrictedBoltzmannMachine,
    evidence: Any,
    *,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
    rng: Any = None,
) -> BoltzmannBeliefs:
    """The beliefs about the hidden units of one row, or of each of many, and about holes in the rows.

    Parameters
    ----------
    model
        The machine.
    evidence
        (row, visible), one row, a frame or a `Dataset`; NaN is a hole.
    method
        "enumeration", which is exact and sums over all hidden states where a row has holes; "gibbs", chains for each
        row; "auto" is exact for complete rows, and for holes where the sum is quick: up to 20 hidden units.
    on_impossible, budget, memory_limit
        As in `infer`; no row of a machine is impossible.
    rng
        A seed or a `numpy.random.Generator`, for "gibbs".

    Returns
    -------
    BoltzmannBeliefs
    """
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    rows, is_single = visible_rows(model, evidence)
    has_holes = bool(np.isnan(rows).any())
    if algorithm == "gibbs" or (algorithm == "auto" and has_holes and not is_quick(model, 1 + len(rows))):
        return infer_by_chains(model, rows, is_single, rng)
    if budget is not None or memory_limit is not None:
        check_cost(model, rows, budget, memory_limit)
    log_weight, hidden, visible = answers(model, rows)
    return BoltzmannBeliefs(
        model, hidden, by_unit(model, visible), log_weight, is_single, "enumeration", EXACT, rows=rows
    )


def check_cost(model: RestrictedBoltzmannMachine, rows: np.ndarray, budget: Any, memory_limit: Any) -> None:
    """Raise `TooLarge` for a run beyond the limits: with holes it is a sum over all states of the hidden units."""
    states = 2.0**model.num_hidden if np.isnan(rows).any() else 1.0
    numbers = float(len(rows) * (model.num_hidden + len(model.matrix)))
    cost = Cost(0, states, 8 * numbers, len(rows) * model.matrix.size * states)
    check_limits(cost, f"the hidden units of {number_of(len(rows), 'row')}", budget, memory_limit)


def answers(model: RestrictedBoltzmannMachine, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log Σ exp(-E), E[h] and E[u] of each row, exactly: by a formula for complete rows, by a sum for others."""
    u = model.units.encode(rows)
    log_weight, hidden = model.log_weight(u), sigmoid(model.hidden_input(u))
    holes = np.isnan(rows).any(axis=1)
    if holes.any():
        log_weight[holes], hidden[holes], u[holes] = with_holes(model, rows[holes])
    return log_weight, hidden, u


def by_unit(model: RestrictedBoltzmannMachine, entries: np.ndarray) -> np.ndarray:
    """(row, visible) of entries; (row, visible, state) for softmax units."""
    return entries.reshape(len(entries), *model.visible_bias.shape)


@dataclass(frozen=True, eq=False, repr=False)
class BoltzmannBeliefs(UnitBeliefs):
    """The posterior of the hidden units of each row: `beliefs["h0"]` is p(h0 | row).

    Attributes
    ----------
    model
        The machine.
    hidden_means
        p(h = 1 | row), (row, hidden).
    visible_means
        The expected visible units, (row, visible), or their probabilities (row, visible, state) for softmax units:
        what is seen as it is, holes as the machine fills them.
    log_weight
        log Σ_h exp(-E), (row,), with holes summed out; None where it was not computed.
    is_single
        Whether there is one row.
    method
        The name of the algorithm.
    diagnostics
        Whether the answers are exact, and their standard errors.
    rows
        (row, visible), NaN for holes.
    seed
        The seed of the chains: `rng=beliefs.seed` repeats them. None where nothing was drawn at random.
    """

    model: RestrictedBoltzmannMachine
    hidden_means: np.ndarray
    visible_means: np.ndarray
    log_weight: np.ndarray | None
    is_single: bool
    method: str = "enumeration"
    diagnostics: Diagnostics = EXACT
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    seed: int | None = None
    impossible: tuple[int, ...] = ()

    @property
    def hidden(self) -> np.ndarray:
        """p(h = 1 | row): (hidden,) of one row, (row, hidden) of many."""
        return self.hidden_means[0] if self.is_single else self.hidden_means

    @property
    def visible(self) -> np.ndarray:
        """The expected visible units, with the holes filled in: of one row without the axis of rows."""
        return self.visible_means[0] if self.is_single else self.visible_means

    @property
    def log_evidence(self) -> Any:
        """log p(row), which needs log Z: a float of one row, (row,) of many."""
        if self.log_weight is None:
            raise Unsupported("Gibbs sampling gives no log-probability of rows with holes")
        found = self.log_weight - self.model.log_partition
        return float(found[0]) if self.is_single else found

    @property
    def hidden_units(self) -> list[Variable]:
        return self.model.hidden_variables

    @property
    def unit_means(self) -> np.ndarray:
        return self.hidden_means

    def _draw(self, count: int, rng: np.random.Generator) -> Dataset:
        return draw_given(self.model, self.rows, count, rng)


def log_prob_machine(
    model: RestrictedBoltzmannMachine, rows: Any, *, method: str = "auto", log_partition: float | None = None
) -> Any:
    """log p(row), with holes summed out: a number for one, an array for many.

    Parameters
    ----------
    model
        The machine.
    rows
        As in `infer`.
    method
        "auto", "exact" or "enumeration", which are the same.
    log_partition
        log Z, or an estimate such as `model.annealed_log_partition().log_evidence`; the exact sum by default, which
        raises `TooLarge` where both layers are large.
    """
    resolve_method(model, "log_prob", method)
    values, is_single = visible_rows(model, rows)
    log_z = model.log_partition if log_partition is None else check_number(log_partition, "log_partition")
    found = answers(model, values)[0] - log_z
    return float(found[0]) if is_single else found


def sample_machine(
    model: RestrictedBoltzmannMachine,
    n: Any,
    *,
    given: Any = None,
    rng: Any = None,
    method: str = "auto",
    steps: int = STEPS,
) -> Dataset:
    """`n` rows of visible units v0, v1, …, each the end of its own chain of block Gibbs steps.

    Parameters
    ----------
    model
        The machine.
    n
        The number of rows.
    given
        One row, with NaN for holes: draws of the hidden units h0, h1, … and of the holes; what is seen stays.
    rng
        A seed or a `numpy.random.Generator`.
    method
        "auto" or "gibbs".
    steps
        The length of each chain.
    """
    resolve_method(model, "sample", method)
    count = check_num_rows(n, 32 * len(model.matrix))
    length, generator = check_count(steps, "steps", least=1), as_generator(rng)
    if given is None:
        return name_units(model, run_chains(model, np.full((count, model.num_visible), np.nan), length, generator))
    row, is_single = visible_rows(model, given)
    if not is_single:
        raise InvalidData("given= takes one row; sample once for each row")
    return draw_given(model, row, count, generator, length)


def run_chains(
    model: RestrictedBoltzmannMachine, rows: np.ndarray, length: int, rng: np.random.Generator
) -> np.ndarray:
    """Statistics of the rows after so many Gibbs steps of their holes."""
    u, seen = start(model, rows, rng)
    for _ in range(length):
        u = gibbs_step(model, u, rng, seen)
    return u


def draw_given(
    model: RestrictedBoltzmannMachine, row: np.ndarray, count: int, rng: np.random.Generator, length: int = STEPS
) -> Dataset:
    """Draws of the hidden units given one row, (1, visible), and of its holes, each by a chain of its own."""
    rows = np.repeat(row, count, axis=0)
    u = run_chains(model, rows, length, rng) if np.isnan(row).any() else model.units.encode(rows)
    return units_as_dataset(model, draw_hidden(model, u, rng), u)


def infer_by_chains(model: RestrictedBoltzmannMachine, rows: np.ndarray, is_single: bool, rng: Any) -> BoltzmannBeliefs:
    seed = as_seed(rng)
    means = chain_means(model, rows, as_generator(seed))
    errors = {
        variable.name: np.stack([error, error], axis=-1)[0 if is_single else slice(None)]
        for variable, error in zip(model.hidden_variables, means.hidden_errors.T, strict=True)
    }
    diagnostics = Diagnostics(exact=False, steps=500, standard_errors=errors)
    return BoltzmannBeliefs(
        model, means.hidden, by_unit(model, means.visible), None, is_single, "gibbs", diagnostics, rows, seed
    )


def chain_means(
    model: RestrictedBoltzmannMachine,
    rows: np.ndarray,
    rng: np.random.Generator,
    *,
    draws: int = 500,
    warmup: int = 100,
    chains: int = 8,
) -> ChainMeans:
    """Expectations of h and u given the entries that are seen, by chains for each row."""
    u, seen = start(model, np.tile(rows, (chains, 1)), rng)
    hidden, visible = np.zeros((len(u), model.num_hidden)), np.zeros_like(u)
    for step in range(warmup + draws):
        theta = model.visible_input(draw_hidden(model, u, rng))
        u = np.where(seen, u, model.units.draw(theta, rng))
        if step >= warmup:
            hidden += sigmoid(model.hidden_input(u)) / draws
            visible += np.where(seen, u, model.units.mean(theta)) / draws
    by_chain = hidden.reshape(chains, len(rows), -1)
    errors = by_chain.std(axis=0, ddof=1) / np.sqrt(chains)
    return ChainMeans(by_chain.mean(axis=0), visible.reshape(chains, len(rows), -1).mean(axis=0), errors)


class ChainMeans(NamedTuple):
    """Means over the draws of chains, with standard errors from the spread of the chains."""

    hidden: np.ndarray  # (row, hidden)
    visible: np.ndarray  # (row, entry)
    hidden_errors: np.ndarray  # (row, hidden)


def start(
    model: RestrictedBoltzmannMachine, rows: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Statistics of rows whose holes are drawn with no hidden unit on, and which entries are seen."""
    u = model.units.encode(rows)
    seen = np.repeat(~np.isnan(rows), u.shape[1] // rows.shape[1], axis=1)
    bias = np.broadcast_to(model.visible_bias.ravel(), u.shape)
    return np.where(seen, u, model.units.draw(bias, rng)), seen


def gibbs_step(
    model: RestrictedBoltzmannMachine, u: np.ndarray, rng: np.random.Generator, seen: np.ndarray | None = None
) -> np.ndarray:
    """Statistics of the visible units after one step of each row; entries that are seen stay."""
    drawn = model.units.draw(model.visible_input(draw_hidden(model, u, rng)), rng)
    return drawn if seen is None else np.where(seen, u, drawn)


def draw_hidden(model: RestrictedBoltzmannMachine, u: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """h given statistics of the visible units, (row, hidden)."""
    odds = model.hidden_input(u)
    return (rng.random(odds.shape) < sigmoid(odds)).astype(float)


EXACTLY = {"exact": "enumeration", "enumeration": "enumeration"}
register_names(RestrictedBoltzmannMachine, "infer", {"auto": "auto", **EXACTLY, "gibbs": "gibbs"})
register_methods(RestrictedBoltzmannMachine, "log_prob", "enumeration")
register_names(RestrictedBoltzmannMachine, "sample", {"auto": "gibbs", "gibbs": "gibbs"})
register_names(RestrictedBoltzmannMachine, "most_probable", {"auto": "auto", **EXACTLY, "icm": "icm"})
