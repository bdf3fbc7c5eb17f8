"""The elimination order of a model: kept with the model, searched for it, or taken over for its reduced tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from juncture.checks import check_number
from juncture.inference.exact.junction_tree.plan import Structure, find_structure
from juncture.inference.exact.lowering import HIDDEN, Lowered, lower

SLICED_EFFORT = 0.125  # of the usual work: the order for the whole model is a good start, and the plan serves few runs
MAX_EFFORT = 1e6


def search_structure(
    model: Any, lowered: Lowered, find_whole: Callable[[], Structure], deadline: float | None = None
) -> Structure:
    """A clique tree for these factors.

    That of the whole model has the model's elimination order, if there is one, unless a heuristic gives smaller
    tables. The search for reduced factors starts from the order for the whole model, which `find_whole` finds; there is
    none where some variables are real.
    """
    if len(lowered.variables) == len(model.variables):
        return search_from(model.elimination_order, lowered, 0.0 if model.elimination_order else 1.0, deadline)
    if any(variable.is_real for variable in model.variables):
        return search_from((), lowered, 1.0, deadline)
    return search_from(names_in_order(lower(model), find_whole()), lowered, SLICED_EFFORT, deadline)


def find_order(model: Any, effort: float) -> tuple[str, ...]:
    """An elimination order of the model's variables, searched from the one that it has."""
    effort = check_number(effort, "the effort", least=0.0, most=MAX_EFFORT)
    lowered = lower(model)
    order = names_in_order(lowered, search_from(model.elimination_order, lowered, effort))
    return tuple(name for name in order if not name.startswith(HIDDEN))


def search_from(names: Sequence[str], lowered: Lowered, effort: float, deadline: float | None = None) -> Structure:
    scopes = lowered.scopes
    known = complete_order(names, lowered.scope.names, scopes) if names else None
    return find_structure(scopes, lowered.scope.shape, known=known, effort=effort, deadline=deadline)


def names_in_order(lowered: Lowered, structure: Structure) -> tuple[str, ...]:
    """The variables in the order of elimination, hidden ones too."""
    names = lowered.scope.names
    return tuple(names[node] for node in structure.tree.order.tolist())


def complete_order(names: Sequence[str], all_names: Sequence[str], scopes: Sequence[Sequence[int]]) -> np.ndarray:
    """All nodes in the order of these names; a node without one goes right after the first of its neighbours."""
    places = {name: float(place) for place, name in enumerate(names)}
    steps = np.array([places.get(name, np.inf) for name in all_names])
    is_named = np.isfinite(steps)
    for scope in scopes:
        first = min((steps[node] for node in scope if is_named[node]), default=np.inf)
        for node in scope:
            if not is_named[node]:
                steps[node] = min(steps[node], first + 0.5)
    return np.argsort(steps, kind="stable")
