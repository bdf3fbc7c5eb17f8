"""`sensitivity`: how an answer changes with every number of a model."""

from __future__ import annotations

from typing import Any

from juncture.inference.exact.gaussian.sensitivity import gaussian_sensitivity
from juncture.inference.exact.gaussian.systems import is_gaussian
from juncture.inference.exact.junction_tree.sensitivity import table_sensitivity
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import State


def sensitivity(model: Any, evidence: Any = None, *, target: tuple[str, State] | None = None) -> dict[Any, Any]:
    """The derivative of an answer by each number of the model; without a target, of log p(evidence).

    Each number is varied alone: rows of tables are not kept at a sum of 1.

    Parameters
    ----------
    model
        A Bayesian network, a Markov network or a factor graph.
    evidence
        One row, as in `infer`.
    target
        A pair of variable and state, for p(state | evidence). In a Gaussian network a pair of variable and "mean" or
        "variance", those of its posterior.

    Returns
    -------
    dict
        For each table an array of its shape: by the child's name in a Bayesian network, else by the position of the
        factor. In a Gaussian network, for each child the derivatives by its "coefficients", "intercept" and "variance".

    Examples
    --------
    >>> import juncture as jt
    >>> slopes = jt.sensitivity(jt.example("asia"), {"xray": "yes"}, target=("lung", "yes"))
    >>> slopes["smoke"].round(4)
    array([ 0.2163, -0.2163])
    """
    if isinstance(model, BayesianNetwork) and is_gaussian(model):
        return gaussian_sensitivity(model, evidence, target)
    return table_sensitivity(model, evidence, target)
