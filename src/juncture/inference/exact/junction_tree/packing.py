"""A model's factors packed into the tables of a clique plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture import numerics
from juncture.factors.factor import Factor
from juncture.inference.exact.junction_tree.plan import CliquePlan
from juncture.kernels.junction_tree.packing import pack


def pack_tables(plan: CliquePlan, tables: Sequence[np.ndarray], base: np.ndarray, bounds: np.ndarray) -> bool:
    """Fill `base` and `bounds`; False when a product of positive entries might have vanished."""
    starts = np.cumsum([0, *(len(values) for values in tables)], dtype=np.int64)
    factors = np.argsort(plan.factor_cliques, kind="stable")  # those without variables first
    clique_starts = np.searchsorted(plan.factor_cliques[factors], np.arange(plan.num_cliques + 1))
    is_safe: bool = pack(
        plan.table, plan.starts, plan.nodes, plan.num_states, factors, clique_starts, plan.scope_starts,
        plan.scope_nodes, starts, np.concatenate([np.empty(0), *tables]), base, bounds,
    )  # fmt: skip
    return is_safe


def scale_table(factor: Factor) -> tuple[np.ndarray, float, bool]:
    """(the entries, over the largest if that is far from 1; its logarithm; whether no positive entry vanished)."""
    if factor.holds_logs:
        logs = factor.log_values.reshape(-1) - factor.log_values.max()
        return np.exp(logs), float(factor.log_values.max()), numerics.doubles_hold(logs)
    values = np.ascontiguousarray(factor.values, dtype=np.float64).reshape(-1)
    largest = scale_of(values)
    if largest == 1.0:
        return values, 0.0, True
    scaled = values / largest
    return scaled, float(np.log(largest)), numerics.keeps_entries(scaled, values > 0)


def scale_of(values: np.ndarray) -> float:
    """The largest entry if it is far from 1, else 1: dividing by what need not be divided by costs digits."""
    largest = float(values.max())
    return largest if largest > 1e3 or 0.0 < largest < 1e-3 else 1.0


def log_tables(factors: Sequence[Factor], log_tops: Sequence[float]) -> list[np.ndarray]:
    """The logarithms of every factor's entries, less what was divided out of it, one axis a variable."""
    pairs = zip(factors, log_tops, strict=True)
    return [(part.log_values if part.holds_logs else numerics.log(part.values)) - top for part, top in pairs]


def pack_logs(plan: CliquePlan, log_factors: Sequence[np.ndarray]) -> np.ndarray:
    """The slow way, for factors whose products no double can hold: logarithms added up, clique by clique."""
    log_base = np.zeros(plan.num_cells)
    offsets = np.concatenate([[0], np.cumsum(plan.table[:, 1])])
    for factor, logs in enumerate(log_factors):
        clique = plan.factor_cliques[factor]
        if clique < 0:
            continue
        axes = plan.nodes[plan.starts[clique] : plan.starts[clique + 1]].tolist()
        scope = plan.scope_nodes[plan.scope_starts[factor] : plan.scope_starts[factor + 1]].tolist()
        order = [scope.index(node) for node in axes if node in scope]
        shape = [plan.num_states[node] if node in scope else 1 for node in axes]
        cells = log_base[offsets[clique] : offsets[clique + 1]].reshape([plan.num_states[node] for node in axes])
        cells += logs.transpose(order).reshape(shape)
    return log_base
