"""Joint posteriors as the command line prints them: a row for each combination of states, or numbers and correlations.

Of real-valued variables with states among them, each combination of the states has the means of the numbers in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from juncture.cli.printing.output import bar
from juncture.cli.printing.tables import TextTable, table
from juncture.errors import Unsupported
from juncture.inference.engines.posterior_mixtures import MixedJoint
from juncture.variables import Scope

SPREAD = "standard deviation"


def joint_table(title: str, scope: Scope, joint: Any) -> TextTable:
    """The joint posterior of these variables."""
    if not any(variable.is_real for variable in scope):
        found = table(title, *scope.names, "probability", "", numeric=["probability"], spare=[""])
        for states, p in table_cells(scope, joint.values):
            found.add_row(*map(str, states), f"{p:.6f}", bar(p))
        return found
    if is_mixed(joint):
        heads = [f"{what} of {name}" for name in joint.real for what in ("mean", SPREAD)]
        found = table(title, *joint.discrete.names, "probability", *heads, numeric=["probability", *heads])
        for states, p, mean, covariance in mixed_cells(joint):
            numbers = [number for pair in zip(mean, spreads(covariance), strict=True) for number in pair]
            found.add_row(*map(str, states), f"{p:.6f}", *(f"{number:.6g}" for number in numbers))
        return found
    names, (mean, covariance) = scope.names, moments(joint)
    heads = ["mean", SPREAD, *(f"correlation with {name}" for name in names)]
    found = table(title, "variable", *heads, numeric=heads)
    for name, centre, spread, row in zip(names, mean, spreads(covariance), correlations(covariance), strict=True):
        found.add_row(name, f"{centre:.6g}", f"{spread:.6g}", *(f"{number:.4f}" for number in row))
    return found


def joint_document(scope: Scope, joint: Any) -> Any:
    """The same as plain data: a list of the combinations with their probabilities; of numbers, mean and covariance."""
    if not any(variable.is_real for variable in scope):
        return [
            {"states": dict(zip(scope.names, states, strict=True)), "probability": p}
            for states, p in table_cells(scope, joint.values)
        ]
    if is_mixed(joint):
        return [
            {
                "states": dict(zip(joint.discrete.names, states, strict=True)),
                "probability": p,
                "mean": dict(zip(joint.real, mean.tolist(), strict=True)),
                "covariance": covariance.tolist(),
            }
            for states, p, mean, covariance in mixed_cells(joint)
        ]
    mean, covariance = moments(joint)
    return {"mean": dict(zip(scope.names, mean.tolist(), strict=True)), "covariance": covariance.tolist()}


def is_mixed(joint: Any) -> bool:
    """Whether some of its variables have states and some are numbers."""
    return isinstance(joint, MixedJoint) and bool(joint.discrete)


def table_cells(scope: Scope, values: np.ndarray) -> Iterator[tuple[tuple[Any, ...], float]]:
    """Each combination of states with its probability, the last variable first to change."""
    states = product(*(variable.labels for variable in scope))
    return zip(states, np.asarray(values).reshape(-1).tolist(), strict=True)


def mixed_cells(joint: MixedJoint) -> Iterator[tuple[tuple[Any, ...], float, np.ndarray, np.ndarray]]:
    """Each combination of states that can occur: its probability, and mean and covariance of the numbers in it."""
    for states, p in table_cells(joint.discrete, joint.table.values):
        if p > 0:
            part = joint.given(dict(zip(joint.discrete.names, states, strict=True)))
            yield states, p, part.mean, part.covariance


def moments(joint: Any) -> tuple[np.ndarray, np.ndarray]:
    if not hasattr(joint, "covariance"):
        raise Unsupported("this method has no joint of real-valued variables; leave out --method, or leave out --joint")
    return np.atleast_1d(joint.mean), np.atleast_2d(joint.covariance)


def spreads(covariance: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.diagonal(covariance)))


def correlations(covariance: np.ndarray) -> np.ndarray:
    """The matrix of correlations; 0 with a number that is known, which varies with nothing."""
    deviations = spreads(covariance)
    scale = np.where(deviations > 0, deviations, 1.0)
    return np.asarray(covariance / np.outer(scale, scale))
