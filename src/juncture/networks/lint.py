"""`lint`: what an expert would ask about a network before trusting it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from juncture.base.values import finding_text
from juncture.errors import Unsupported
from juncture.factors.conditional import AnyConditional, HasTable
from juncture.networks.bayesian_network import BayesianNetwork

MAX_EXAMINED_CELLS = 2**22


def lint(model: BayesianNetwork) -> list[str]:
    """Warnings about zero probabilities and about states that can never occur, as sentences.

    No evidence can change a probability of zero: for an event that is very rare, a small probability is better.

    Parameters
    ----------
    model
        A Bayesian network.

    Returns
    -------
    list of str
        One sentence a finding.

    Examples
    --------
    >>> import juncture as jt
    >>> jt.evaluation.lint(jt.example("sprinkler"))
    ['wet_grass has 1 zero entry']
    """
    if not isinstance(model, BayesianNetwork):
        raise Unsupported(f"lint takes a BayesianNetwork; got {type(model).__name__}")
    tables = {part.child.name: table_of(part) for part in model.conditionals if not part.child.is_real}
    zeros = [remark for part in model.conditionals for remark in remarks_on(part, tables.get(part.child.name))]
    possible: dict[str, np.ndarray] = {}
    never = []
    for name in model.graph.topological_order():
        if name in tables:
            labels = model.variable(name).labels
            possible[name] = possible_states(model[name], tables[name], possible)
            never += [f"{finding_text(name, labels[code])} can never occur" for code in np.flatnonzero(~possible[name])]
    return zeros + never


def table_of(part: AnyConditional) -> np.ndarray | None:
    """The conditional written out, where that can be done and is not too large."""
    if not isinstance(part, HasTable) or num_cells(part) > MAX_EXAMINED_CELLS:
        return None
    return None if any(parent.is_real for parent in part.parents) else part.to_table().values


def num_cells(part: AnyConditional) -> int:
    return part.child.num_states * math.prod(parent.num_states for parent in part.parents if not parent.is_real)


def remarks_on(part: AnyConditional, values: np.ndarray | None) -> Iterator[str]:
    """What is odd about a table; a deterministic conditional (it has no parameters) is meant to have zeros."""
    name = part.child.name
    if values is not None and part.num_parameters > 0 and (count := int((values == 0).sum())):
        yield f"{name} has {count} zero {'entry' if count == 1 else 'entries'}"
    if values is None and not part.child.is_real and num_cells(part) > MAX_EXAMINED_CELLS:
        yield f"{name} was not examined: written out it would have {num_cells(part):,} entries"


def possible_states(part: AnyConditional, values: np.ndarray | None, possible: dict[str, np.ndarray]) -> np.ndarray:
    """Which states have a positive entry for some possible states of the parents; all, where there is no table."""
    if values is None:
        return np.ones(part.child.num_states, dtype=bool)
    for axis, parent in enumerate(part.parents):
        values = values.compress(possible[parent.name], axis=axis)
    return np.asarray((values > 0).any(axis=tuple(range(values.ndim - 1))))
