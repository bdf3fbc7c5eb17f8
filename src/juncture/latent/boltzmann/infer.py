"""`infer`, `log_prob` and `sample` for restricted Boltzmann machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_choice, check_count, check_number
from juncture.base.options import as_generator
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.inference.engines.contract import EXACT, Diagnostics
from juncture.inference.engines.verb_options import check_num_rows, check_policy
from juncture.latent.boltzmann.beliefs import BoltzmannBeliefs
from juncture.latent.boltzmann.enumeration import is_quick, with_holes
from juncture.latent.boltzmann.gibbs import chain_means, gibbs_step, start
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.boltzmann.rows import as_dataset, rows_of
from juncture.numerics.stable import sigmoid

METHODS = ("auto", "exact", "enumeration", "gibbs")
STEPS = 1000  # of the chain of each row that sample draws


def infer_hidden(
    model: RestrictedBoltzmannMachine,
    evidence: Any,
    *,
    method: str = "auto",
    on_impossible: str = "warn",
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
    on_impossible
        As in `infer`; no row of a machine is impossible.
    rng
        A seed or a `numpy.random.Generator`, for "gibbs".

    Returns
    -------
    BoltzmannBeliefs
    """
    check_choice(method, METHODS, "method")
    check_policy(on_impossible)
    rows, is_single = rows_of(model, evidence)
    has_holes = bool(np.isnan(rows).any())
    if method == "gibbs" or (method == "auto" and has_holes and not is_quick(model, 1 + len(rows))):
        return infer_by_chains(model, rows, is_single, rng)
    log_weight, hidden, visible = answers(model, rows)
    return BoltzmannBeliefs(model, hidden, by_unit(model, visible), log_weight, is_single, "enumeration", EXACT)


def infer_by_chains(model: RestrictedBoltzmannMachine, rows: np.ndarray, is_single: bool, rng: Any) -> BoltzmannBeliefs:
    means = chain_means(model, rows, as_generator(rng))
    errors = {
        variable.name: np.stack([error, error], axis=-1)[0 if is_single else slice(None)]
        for variable, error in zip(model.hidden_variables, means.hidden_errors.T, strict=True)
    }
    diagnostics = Diagnostics(exact=False, steps=500, standard_errors=errors)
    return BoltzmannBeliefs(model, means.hidden, by_unit(model, means.visible), None, is_single, "gibbs", diagnostics)


def by_unit(model: RestrictedBoltzmannMachine, entries: np.ndarray) -> np.ndarray:
    """(row, visible) of entries; (row, visible, state) for softmax units."""
    return entries.reshape(len(entries), *model.visible_bias.shape)


def answers(model: RestrictedBoltzmannMachine, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log Σ exp(-E), E[h] and E[u] of each row, exactly: by a formula for complete rows, by a sum for others."""
    u = model.units.encode(rows)
    log_weight, hidden = model.log_weight(u), sigmoid(model.hidden_input(u))
    holes = np.isnan(rows).any(axis=1)
    if holes.any():
        log_weight[holes], hidden[holes], u[holes] = with_holes(model, rows[holes])
    return log_weight, hidden, u


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
        "auto" or "exact".
    log_partition
        log Z, or an estimate such as `model.annealed_log_partition().log_evidence`; the exact sum by default, which
        raises `TooLarge` where both layers are large.
    """
    check_choice(method, ("auto", "exact", "enumeration"), "method")
    values, is_single = rows_of(model, rows)
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
        One row with holes, NaN: what is seen stays, the holes are drawn.
    rng
        A seed or a `numpy.random.Generator`.
    method
        "auto" or "gibbs".
    steps
        The length of each chain.
    """
    check_choice(method, ("auto", "gibbs"), "method")
    count = check_num_rows(n, 32 * len(model.matrix))
    row, is_single = rows_of(model, np.full(model.num_visible, np.nan) if given is None else given)
    if not is_single:
        raise InvalidData("given= takes one row; sample once for each row")
    generator = as_generator(rng)
    u, seen = start(model, np.repeat(row, count, axis=0), generator)
    for _ in range(check_count(steps, "steps", least=1)):
        u = gibbs_step(model, u, generator, seen)
    return as_dataset(model, u)
