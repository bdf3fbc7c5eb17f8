"""The density of evidence that deterministic relations tie together.

Where the relations of a network determine some observed variables by earlier ones, the evidence has a density over the
others only, the free coordinates. The elimination leaves these relations as rows W v = 0 among the observed values v.
Integrating them over the determined variables D divides by |det W_D|.
"""

from __future__ import annotations

import numpy as np

from juncture.inference.exact.gaussian.row_plan import RowPlan
from juncture.inference.exact.gaussian.systems import LinearSystem
from juncture.memory import check_memory


def log_free_density(layout: RowPlan, system: LinearSystem, tolerance: float) -> float:
    """What to add to the log-density of the evidence, so that it is one over the free coordinates."""
    tied = find_tied(layout, system)
    observed, size = layout.plan.observed[tied], len(layout.plan.observed)
    memory = 8 * (2 * len(layout.rows) + len(layout.plan.order) + size) * len(observed)
    check_memory(memory, "the deterministic relations among the observed variables", "observe fewer of them")
    unit = np.zeros((size, len(observed)))
    unit[tied, np.arange(len(observed))] = 1.0
    relations = layout.eliminate(layout.numbers_of(system), unit, unit, tolerance).relations
    position = np.full(len(system.names), -1)
    position[system.order] = np.arange(len(system.order))
    substitute_known(relations, layout, system, observed, position)
    columns = np.argsort(-position[observed])  # the last variables first: those that earlier ones determine
    log_determinant, determined = eliminate_columns(relations, columns, tolerance)
    return float(np.log(system.scales[observed[determined]]).sum() - log_determinant)


def find_tied(layout: RowPlan, system: LinearSystem) -> np.ndarray:
    """Which of the observed variables are in an exact row."""
    rows = np.repeat(layout.rows, np.diff(layout.starts))
    places = layout.places[system.is_exact[rows]]
    return np.unique(-1 - places[places < 0])


def substitute_known(
    relations: np.ndarray, layout: RowPlan, system: LinearSystem, observed: np.ndarray, position: np.ndarray
) -> None:
    """Replace each observed variable that its observed parents determine by them, in all relations."""
    number = {int(node): column for column, node in enumerate(observed)}
    known = layout.rows[layout.row_starts[-1] :]
    exact = [int(row) for row in known if system.is_exact[row]]
    for row in sorted(exact, key=lambda row: -position[row]):
        entries = range(system.starts[row], system.starts[row + 1])
        column = relations[:, number[row]].copy()
        for index in entries:
            relations[:, number[int(system.nodes[index])]] -= column * system.entries[index]


def eliminate_columns(relations: np.ndarray, columns: np.ndarray, tolerance: float) -> tuple[float, list[int]]:
    """(log |det|, the columns it is over): each row determines the first of the columns, in order, that it can."""
    rows, sizes = relations.copy(), np.abs(relations)
    total, chosen, done = 0.0, list[int](), 0
    for column in columns.tolist():
        left = np.abs(rows[done:, column])
        if done < len(rows) and left.max() > 0:
            pivot = done + int(np.argmax(left))
            rows[[done, pivot]], sizes[[done, pivot]] = rows[[pivot, done]], sizes[[pivot, done]]
            total += float(np.log(abs(rows[done, column])))
            factors = rows[done + 1 :, [column]] / rows[done, column]
            rows[done + 1 :] -= factors * rows[done]
            sizes[done + 1 :] += np.abs(factors) * sizes[done]
            rows[done + 1 :][np.abs(rows[done + 1 :]) <= tolerance * sizes[done + 1 :]] = 0.0
            chosen.append(column)
            done += 1
    return total, chosen
