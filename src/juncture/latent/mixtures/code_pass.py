"""The E-step of mixtures of independent Bernoulli and categorical columns, in one compiled pass over the rows."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, EmissionStatistics
from juncture.components.family import FamilyEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.statistics.long_data import as_buffer
from juncture.numerics import stable
from juncture.runtime.parallel import map_blocks

TASK_ROWS = 2**14  # of one call of the kernel


def is_fast(model: Mixture, num_values: int) -> bool:
    """Whether all columns are tables of codes, and the compiled pass is faster than NumPy."""
    components = model.components
    if not isinstance(components, IndependentEmissions) or not all(map(is_coded, components.parts)):
        return False
    from juncture.kernels.densities.mixtures import code_mixture_pass

    return bool(code_mixture_pass.outruns_numpy(num_values * model.num_components))


def is_coded(part: Emissions) -> bool:
    return isinstance(part, CategoricalEmissions) or (
        isinstance(part, FamilyEmissions) and isinstance(part.family, Bernoulli)
    )


def code_pass(
    model: Mixture, rows: np.ndarray, weights: np.ndarray, largest: np.ndarray | None
) -> tuple[EmissionStatistics, float] | None:
    """The expected statistics of the components and the log-likelihood; None if a row is impossible.

    `largest` has the largest code of each column.
    """
    from juncture.kernels.densities.mixtures import code_mixture_pass

    parts: Any = model.components
    tables = [table_of(part) for part in parts.parts]  # (code, component) each
    ends = list(accumulate((len(table) for table in tables), initial=0))
    log_tables, log_weights = as_buffer(stable.log(np.concatenate(tables))), as_buffer(stable.log(model.weights))
    offsets = np.array(ends[:-1], np.int64)
    if largest is None or (largest >= np.diff(ends)).any():
        return None

    def run(own: slice) -> tuple[np.ndarray, Any, Any, Any]:
        counts = np.zeros_like(log_tables)
        found = code_mixture_pass(
            as_buffer(rows[own]), as_buffer(weights[own]), offsets, log_tables, log_weights, counts
        )
        return counts, *found

    found = map_blocks(run, len(rows), TASK_ROWS)
    if any(part[3] for part in found):
        return None
    counts = sum(part[0] for part in found)
    columns = zip(parts.parts, np.split(counts, ends[1:-1]), strict=True)
    statistics = [column_statistics(part, own) for part, own in columns]
    return EmissionStatistics(sum(part[1] for part in found), statistics), float(sum(part[2] for part in found))


def largest_codes(rows: np.ndarray) -> np.ndarray | None:
    """The largest code of each column, -1 where all cells are holes; None if a cell is no code."""
    if rows.ndim != 2 or ((rows < 0) | (rows != np.floor(rows))).any(where=~np.isnan(rows)):
        return None
    return np.fmax.reduce(rows, axis=0, initial=-1.0)


def table_of(part: Any) -> np.ndarray:
    """p(code | component), (code, component)."""
    if isinstance(part, CategoricalEmissions):
        return part.probabilities.T
    share = np.broadcast_to(part.family.probability, (part.num_states,))
    return np.stack([1.0 - share, share])


def column_statistics(part: Any, counts: np.ndarray) -> EmissionStatistics:
    """The statistics of one column from its expected counts (code, component): each code stands for its rows."""
    return part.statistics(np.arange(len(counts), dtype=np.float64), counts)
