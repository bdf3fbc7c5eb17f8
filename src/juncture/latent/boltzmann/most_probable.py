"""`most_probable` for restricted Boltzmann machines: the hidden units and holes of a row with the smallest energy.

Given a complete row the hidden units are independent. With holes the best states of all visible units follow from the
hidden ones, so that the best of all 2^M hidden states is exact; beyond 20 hidden units both layers climb in turn
(iterated conditional modes) from random starts, which finds a local maximum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_choice
from juncture.base.options import as_generator
from juncture.inference.engines.contract import EXACT, Diagnostics
from juncture.inference.engines.verb_options import check_policy
from juncture.inference.most_probable import MostProbable, MostProbableRows
from juncture.latent.boltzmann.infer import answers
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.boltzmann.partition_function import ROWS, hidden_states, is_quick
from juncture.latent.boltzmann.visible_rows import units_as_dataset, visible_rows

METHODS = ("auto", "exact", "enumeration", "icm")
STARTS = 20  # random starts of "icm"


class BestUnits(NamedTuple):
    """The best states of each row: h, u, and log of the product of factors there, -E."""

    h: np.ndarray  # (row, hidden)
    u: np.ndarray  # (row, entry)
    log_joint: np.ndarray  # (row,)


def most_probable_units(
    model: RestrictedBoltzmannMachine,
    evidence: Any,
    *,
    method: str = "auto",
    on_impossible: str = "warn",
    rng: Any = None,
) -> MostProbable | MostProbableRows:
    """The most probable hidden units and holes of one row, or of each of many.

    Parameters
    ----------
    model
        The machine.
    evidence
        (row, visible), one row, a frame or a `Dataset`; NaN is a hole.
    method
        "enumeration", exact; "icm", local maxima from random starts; "auto" is exact for complete rows, and for holes
        with up to 20 hidden units.
    on_impossible
        As in `most_probable`; no row of a machine is impossible.
    rng
        A seed or a `numpy.random.Generator`, for "icm".

    Returns
    -------
    MostProbable or MostProbableRows
        `log_joint` is -E, the log of the product of factors; `log_prob` is given the row, unknown (None, or
        NaN of many rows) by "icm".

    Examples
    --------
    >>> import juncture as jt
    >>> machine = jt.RestrictedBoltzmannMachine([[1, -0.5], [-1, 2], [0.5, 0.3]], [0, 0.3, -0.4], [0.2, -0.1])
    >>> jt.most_probable(machine, [1, float("nan"), 1]).assignment
    {'h0': 1, 'h1': 1, 'v1': 1}
    """
    check_choice(method, METHODS, "method")
    check_policy(on_impossible)
    rows, is_single = visible_rows(model, evidence)
    has_holes = bool(np.isnan(rows).any())
    climbs = has_holes and (method == "icm" or (method == "auto" and not is_quick(model, 1 + len(rows))))
    best = climb_units(model, rows, as_generator(rng)) if climbs else find_best(model, rows)
    log_prob = np.full(len(rows), np.nan) if climbs else best.log_joint - answers(model, rows)[0]
    name, diagnostics = ("icm", Diagnostics(exact=False)) if climbs else ("enumeration", EXACT)
    units = units_as_dataset(model, best.h, best.u)
    if not is_single:
        return MostProbableRows(units, log_prob, best.log_joint, (), name, diagnostics)
    known = {f"v{unit}" for unit in np.flatnonzero(~np.isnan(rows[0]))}
    states = {name: units.labels(name)[0] for name in units.columns if name not in known}
    first = None if climbs else float(log_prob[0])
    return MostProbable(states, first, float(best.log_joint[0]), name, diagnostics)


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
