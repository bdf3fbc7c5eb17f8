"""`most_probable` for restricted Boltzmann machines: the hidden units and holes of a row with the smallest energy.

Given a complete row the hidden units are independent. With holes the best states of all visible units follow from the
hidden ones, so that the best of all 2^M hidden states is exact; beyond 20 hidden units both layers climb in turn
(iterated conditional modes) from random starts, which finds a local maximum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.base.methods import resolve_method
from juncture.base.options import as_generator
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, TooLarge
from juncture.inference.engines.contract import EXACT, Diagnostics
from juncture.inference.engines.ranked import RankedAnswers
from juncture.inference.engines.verb_options import check_policy
from juncture.inference.most_probable import MostProbable, MostProbableRows
from juncture.latent.boltzmann.infer import answers, check_cost
from juncture.latent.boltzmann.layers import visible_variables
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.boltzmann.partition_function import MAX_BITS, ROWS, hidden_states, is_quick
from juncture.latent.boltzmann.visible_rows import units_as_dataset, visible_rows
from juncture.verbs import most_probable

STARTS = 20  # random starts of "icm"
SOON = 1e9  # multiplications of a sum for log Z that an answer waits for


class BestUnits(NamedTuple):
    """The best states of each row: h, u, and log of the product of factors there, -E."""

    h: np.ndarray  # (row, hidden)
    u: np.ndarray  # (row, entry)
    log_joint: np.ndarray  # (row,)


def most_probable_units(  # noqa: PLR0913 (one verb, many options)
    model: RestrictedBoltzmannMachine,
    evidence: Any,
    *,
    k: int | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    log_partition: float | None = None,
    budget: float | None = None,
    memory_limit: int | None = None,
    rng: Any = None,
) -> MostProbable | MostProbableRows | list[MostProbable]:
    """The most probable hidden units and holes of one row, or of each of many; with `k` a list of the k best of one.

    Parameters
    ----------
    model
        The machine.
    evidence
        (row, visible), one row, a frame or a `Dataset`; NaN is a hole.
    method
        "enumeration", exact; "icm", local maxima from random starts; "auto" is exact for complete rows, and for holes
        with up to 20 hidden units.
    on_impossible, k, budget, memory_limit
        As in `most_probable`; no row of a machine is impossible. Among the k best each state of the hidden units has
        its best real holes.
    log_partition
        log Z, or an estimate; the exact sum by default.
    rng
        A seed or a `numpy.random.Generator`, for "icm".

    Returns
    -------
    MostProbable or MostProbableRows
        `log_joint` is log p(units, row) = -E - log Z, unknown (NaN) where the sum for log Z takes long; with
        `log_partition=0` it is -E. `log_prob` is given the row, unknown (None, or NaN of many rows) by "icm".

    Examples
    --------
    >>> import juncture as jt
    >>> machine = jt.RestrictedBoltzmannMachine([[1, -0.5], [-1, 2], [0.5, 0.3]], [0, 0.3, -0.4], [0.2, -0.1])
    >>> jt.most_probable(machine, [1, float("nan"), 1]).assignment
    {'h0': 1, 'h1': 1, 'v1': 1}
    """
    algorithm = resolve_method(model, "most_probable", method)
    check_policy(on_impossible)
    rows, is_single = visible_rows(model, evidence)
    log_z = find_log_partition(model, log_partition)
    has_holes = bool(np.isnan(rows).any())
    climbs = has_holes and (algorithm == "icm" or (algorithm == "auto" and not is_quick(model, 1 + len(rows))))
    if not climbs and (budget is not None or memory_limit is not None):
        check_cost(model, rows, budget, memory_limit)
    if k is not None:
        return best_units(model, rows, check_count(k, "k", least=1), log_z, is_single and not climbs)
    best = climb_units(model, rows, as_generator(rng)) if climbs else find_best(model, rows)
    log_prob = np.full(len(rows), np.nan) if climbs else best.log_joint - answers(model, rows)[0]
    name, diagnostics = ("icm", Diagnostics(exact=False)) if climbs else ("enumeration", EXACT)
    units = units_as_dataset(model, best.h, best.u)
    if not is_single:
        return MostProbableRows(units, log_prob, best.log_joint - log_z, (), name, diagnostics)
    first = None if climbs else float(log_prob[0])
    states = unknown_states(model, units, rows[0], 0)
    return MostProbable(states, first, float(best.log_joint[0]) - log_z, name, diagnostics)


def find_log_partition(model: RestrictedBoltzmannMachine, given: float | None) -> float:
    """log Z as given, or its exact sum where that is quick; NaN where it takes long."""
    if given is not None:
        return check_number(given, "log_partition")
    return model.log_partition if is_quick(model, most=SOON) else np.nan


def unknown_states(model: RestrictedBoltzmannMachine, units: Dataset, row: np.ndarray, at: int) -> dict[str, Any]:
    """The states of the hidden units and of the holes in a row, by name."""
    visible = visible_variables(model.units, model.feature_names)
    known = {visible[unit].name for unit in np.flatnonzero(~np.isnan(row))}
    return {name: units.labels(name)[at] for name in units.columns if name not in known}


def best_units(
    model: RestrictedBoltzmannMachine, rows: np.ndarray, k: int, log_z: float, is_ranked: bool
) -> list[MostProbable]:
    """The k best states of one row, the best first: a product of tables ranks them, or all hidden states are tried."""
    if not is_ranked:
        raise InvalidData("k goes with one row, and with an exact method; ask for the k best of each row alone")
    log_weight = float(answers(model, rows)[0][0])
    if np.isnan(rows).any() and model.units.num_states:
        return rank_tables(model, rows[0], k, log_weight, log_z)
    if model.num_hidden > MAX_BITS:
        raise TooLarge(f"the k best of 2^{model.num_hidden} hidden states are searched among at most 2^{MAX_BITS}")
    h = np.concatenate(list(hidden_states(model)))
    u = fill_best(model, np.repeat(rows, len(h), axis=0), h)
    logs = log_product(model, u, h)
    order = np.argsort(-logs, kind="stable")[:k]
    units = units_as_dataset(model, h[order], u[order])
    return RankedAnswers(
        MostProbable(unknown_states(model, units, rows[0], rank), log - log_weight, log - log_z, "enumeration", EXACT)
        for rank, log in enumerate(logs[order].tolist())
    )


def rank_tables(
    model: RestrictedBoltzmannMachine, row: np.ndarray, k: int, log_weight: float, log_z: float
) -> list[MostProbable]:
    """The k best states of hidden units and holes, by the Markov network of the machine."""
    plain, names = visible_variables(model.units), visible_variables(model.units, model.feature_names)
    own = {old.name: new.name for old, new in zip(plain, names, strict=True)}
    seen = {plain[unit].name: int(row[unit]) for unit in np.flatnonzero(~np.isnan(row))}
    found = most_probable(model.to_markov_network(), seen, k=k)
    return RankedAnswers(
        MostProbable(
            {own.get(name, name): state for name, state in each.assignment.items()},
            each.log_joint - log_weight, each.log_joint - log_z, "enumeration", EXACT,
        )
        for each in found
    )  # fmt: skip


def find_best(model: RestrictedBoltzmannMachine, rows: np.ndarray) -> BestUnits:
    """The exact maxima: by a formula for complete rows, by all hidden states for others."""
    holes = np.isnan(rows).any(axis=1)
    u = model.units.encode(rows)
    h = (model.hidden_input(u) > 0).astype(float)
    for first in range(0, int(holes.sum()), ROWS):
        block = np.flatnonzero(holes)[first : first + ROWS]
        h[block] = best_hidden(model, rows[block])
    u = fill_best(model, rows, h)
    return BestUnits(h, u, log_product(model, u, h))


def best_hidden(model: RestrictedBoltzmannMachine, rows: np.ndarray) -> np.ndarray:
    """The hidden states with the largest product of factors, each hole in its best state given them."""
    u, is_hole = model.units.encode(rows), np.isnan(rows).astype(float)
    top, best = np.full(len(rows), -np.inf), np.zeros((len(rows), model.num_hidden))
    for h in hidden_states(model):
        theta = model.visible_input(h)
        scores = u @ theta.T + is_hole @ model.units.peak(theta).T + h @ model.hidden_bias
        found = scores.argmax(axis=1)
        value = scores[np.arange(len(rows)), found]
        best[value > top] = h[found[value > top]]
        top = np.maximum(top, value)
    return best


def fill_best(model: RestrictedBoltzmannMachine, rows: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Statistics of the rows with each hole in its best state given the hidden units."""
    u = model.units.encode(rows)
    seen = np.repeat(~np.isnan(rows), u.shape[1] // rows.shape[1], axis=1)
    return np.where(seen, u, model.units.mode(model.visible_input(h)))


def log_product(model: RestrictedBoltzmannMachine, u: np.ndarray, h: np.ndarray) -> np.ndarray:
    """-E of statistics and hidden states, (row,)."""
    visible = u @ model.visible_bias.ravel() + model.units.log_base(u)
    return np.asarray(visible + (h * model.hidden_input(u)).sum(axis=1))


def climb_units(model: RestrictedBoltzmannMachine, rows: np.ndarray, rng: np.random.Generator) -> BestUnits:
    """The best local maxima of -E over random starts: each layer in its best states given the other."""
    tops: list[BestUnits] = []
    for _ in range(STARTS):
        h, old = rng.integers(0, 2, (len(rows), model.num_hidden)).astype(float), None
        while old is None or (h != old).any():
            u, old = fill_best(model, rows, h), h
            h = (model.hidden_input(u) > 0).astype(float)
        tops.append(BestUnits(h, u, log_product(model, u, h)))
    which = np.argmax([each.log_joint for each in tops], axis=0)
    return BestUnits(*(np.stack(part)[which, np.arange(len(rows))] for part in zip(*tops, strict=True)))
