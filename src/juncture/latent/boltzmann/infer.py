"""`infer`, `log_prob` and `sample` for restricted Boltzmann machines: exact answers, or block Gibbs sampling.

`BoltzmannBeliefs` holds the posterior of the hidden units given the visible ones, and of missing visible units. A step
of block Gibbs sampling draws all hidden units given the visible ones, then all visible units given the hidden ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.base.checks import check_choice, check_count, check_number
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, UnknownVariable, Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import EXACT, Diagnosed, Diagnostics
from juncture.inference.engines.row_factors import RowFactors, marginals_frame
from juncture.inference.engines.verb_options import check_num_rows, check_policy
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.boltzmann.partition_function import is_quick, with_holes
from juncture.latent.boltzmann.visible_rows import name_units, visible_rows
from juncture.numerics.stable import sigmoid
from juncture.variables import Scope, State

if TYPE_CHECKING:
    import pandas as pd

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
    rows, is_single = visible_rows(model, evidence)
    has_holes = bool(np.isnan(rows).any())
    if method == "gibbs" or (method == "auto" and has_holes and not is_quick(model, 1 + len(rows))):
        return infer_by_chains(model, rows, is_single, rng)
    log_weight, hidden, visible = answers(model, rows)
    return BoltzmannBeliefs(model, hidden, by_unit(model, visible), log_weight, is_single, "enumeration", EXACT)


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
class BoltzmannBeliefs(Diagnosed):
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
    """

    model: RestrictedBoltzmannMachine
    hidden_means: np.ndarray
    visible_means: np.ndarray
    log_weight: np.ndarray | None
    is_single: bool
    method: str = "enumeration"
    diagnostics: Diagnostics = EXACT
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

    def __iter__(self) -> Iterator[str]:
        return (variable.name for variable in self.model.hidden_variables)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in list(self)

    def __len__(self) -> int:
        return len(self.hidden_means)

    def __getitem__(self, name: str) -> Any:
        """p(unit | row) of one hidden unit: a `Factor`, or one row of it per row."""
        if name not in self:
            raise UnknownVariable.among(name, list(self))
        index = list(self).index(name)
        on = self.hidden_means[:, index]
        values, scope = np.stack([1 - on, on], axis=1), Scope([self.model.hidden_variables[index]])
        return Factor(scope, values[0]) if self.is_single else RowFactors(scope, values)

    def to_dict(self) -> dict[str, dict[State, Any]]:
        """Name → state → probability (one number, or one a row)."""
        return {name: self[name].to_dict() for name in self}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of variable, state and probability, with the row first when there are many."""
        return marginals_frame(self.to_dict(), None if self.is_single else "row")

    def __repr__(self) -> str:
        how = "exact" if self.exact else "approximate"
        units, rows = number_of(self.model.num_hidden, "hidden unit"), number_of(len(self), "row")
        return f"BoltzmannBeliefs({units}; {rows}; {how}, by {self.method})"

    def _repr_html_(self) -> str:
        return f"<p><code>{escape(repr(self))}</code></p>"


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
    row, is_single = visible_rows(model, np.full(model.num_visible, np.nan) if given is None else given)
    if not is_single:
        raise InvalidData("given= takes one row; sample once for each row")
    generator = as_generator(rng)
    u, seen = start(model, np.repeat(row, count, axis=0), generator)
    for _ in range(check_count(steps, "steps", least=1)):
        u = gibbs_step(model, u, generator, seen)
    return name_units(model, u)


def infer_by_chains(model: RestrictedBoltzmannMachine, rows: np.ndarray, is_single: bool, rng: Any) -> BoltzmannBeliefs:
    means = chain_means(model, rows, as_generator(rng))
    errors = {
        variable.name: np.stack([error, error], axis=-1)[0 if is_single else slice(None)]
        for variable, error in zip(model.hidden_variables, means.hidden_errors.T, strict=True)
    }
    diagnostics = Diagnostics(exact=False, steps=500, standard_errors=errors)
    return BoltzmannBeliefs(model, means.hidden, by_unit(model, means.visible), None, is_single, "gibbs", diagnostics)


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
