"""`sample`: rows drawn from a model, each variable after its parents; with evidence, from the exact posterior."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.checks import check_count
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.evidence import as_findings
from juncture.factors.conditional import Conditional
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.impossible import check_possible
from juncture.inference.methods import engine_for
from juncture.memory import check_memory
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.options import as_generator
from juncture.values import format_count


def sample_network(
    model: BayesianNetwork, n: int, *, given: Any = None, rng: Any = None, method: Any = "auto"
) -> Dataset:
    if given is not None:
        return sample_posterior(model, n, given=given, rng=rng, method=method)
    stream, count = as_generator(rng), checked_count(n, len(model.variables))
    tables = [part for part in model.conditionals if isinstance(part, Conditional)]
    if len(tables) == len(model.conditionals):
        return sample_tables(model, tables, count, stream)
    columns: dict[str, np.ndarray] = {}
    for name in model.graph.topological_order():
        columns[name] = model[name].sample(columns, count, stream)
    return Dataset.from_codes(model.variables, columns)


def sample_tables(model: BayesianNetwork, tables: list[Conditional], count: int, rng: np.random.Generator) -> Dataset:
    """The same by compiled code, where every conditional is a table."""
    from juncture.inference.sampling.tables import Drawer

    if "drawer" not in model.derived:
        model.derived["drawer"] = Drawer.of(model, tables)
    columns = model.derived["drawer"].draw(count, rng)
    return Dataset.from_codes(model.variables, dict(zip(model.variables.names, columns, strict=True)))


def sample_posterior(model: Any, n: int, *, given: Any = None, rng: Any = None, method: Any = "auto") -> Dataset:
    """Rows from p(all variables | evidence), drawn from the engine's answers."""
    findings = as_findings(given, model.variables)
    if not findings.is_single:
        raise InvalidData("given= takes one row of evidence; sample once for each row")
    beliefs = Beliefs.of(model, engine_for(method), findings, tuple(model.variables.names))
    check_possible(beliefs)
    columns = beliefs.answers.sample(checked_count(n, 16 * len(model.variables)), as_generator(rng))
    return Dataset.from_codes(model.variables, columns)


def checked_count(n: Any, bytes_per_row: int = 8) -> int:
    """A whole number of rows, which fit in memory."""
    count = check_count(n, "the number of rows")
    check_memory(count * bytes_per_row, f"{format_count(count)} rows", "sample fewer at a time")
    return count
