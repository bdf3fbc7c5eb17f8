"""`sensitivity`: how an answer changes with every number of a model, and the derivatives for Gaussian networks.

Of tables, messages in a junction tree give the derivatives (`exact/junction_tree/sensitivity.py`). In a Gaussian
network, with r = y - Σ b x - intercept and its variance s², the derivative of the log-density of a whole row is r / s²
by the intercept, r x / s² by a coefficient and (r² / s² - 1) / 2s² by the variance. The derivative of log p(evidence)
is the posterior mean of these (Fisher's identity); that of the posterior mean of a variable is its covariance with
these, and that of its variance the third cumulant, all of which follow from the moments of a family and the target.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.dispatch import one_path
from juncture.errors import InvalidData, Unsupported
from juncture.evidence import as_findings
from juncture.factors.gaussian import LinearGaussian
from juncture.inference.engines.beliefs import Beliefs, check_possible
from juncture.inference.engines.contract import Query
from juncture.inference.engines.lowering import is_gaussian
from juncture.inference.exact.gaussian.engine import GaussianElimination
from juncture.inference.exact.junction_tree.sensitivity import table_sensitivity
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.variables import State

MOMENTS = ("mean", "variance")


@one_path
def sensitivity(model: Network, evidence: Any = None, *, target: tuple[str, State] | None = None) -> dict[Any, Any]:
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
    check_all_states(model)
    return table_sensitivity(model, evidence, target)


def check_all_states(model: Network) -> None:
    """Raise `Unsupported` for real variables beside variables with states, and for those of Gaussian factors."""
    variables = getattr(model, "variables", ())
    real = next((variable.name for variable in variables if variable.is_real), None)
    if real is None:
        return
    other = next((variable.name for variable in variables if not variable.is_real), None)
    if other is None:
        raise Unsupported(
            f"sensitivity takes tables and networks of jt.LinearGaussian conditionals; the factors of {real!r} are"
            " neither"
        )
    raise Unsupported(
        f"sensitivity takes networks whose variables all have states or are all real; {other!r} has states and {real!r}"
        " is real: change a number by model.with_conditional(…), and compare the answers of infer"
    )


def gaussian_sensitivity(model: BayesianNetwork, evidence: Any, target: Any) -> dict[str, dict[str, np.ndarray]]:
    """Child → "coefficients", "intercept" and "variance" → the derivative by them; what was set has none."""
    findings = as_findings(evidence, model.variables)
    if not findings.is_single:
        raise InvalidData("sensitivity takes one row of evidence; call it for each row")
    name, moment = check_target(model, target)
    beliefs = Beliefs.of(model, GaussianElimination(), Query(findings, model.variables.names))
    check_possible(beliefs)
    parts = [part for part in model.conditionals if isinstance(part, LinearGaussian)]
    for part in parts:
        if part.variance == 0:
            raise Unsupported(
                f"{part!r} has the variance 0: a density has no derivative there; sensitivity needs positive variances"
            )
    return {part.child.name: slopes_of(part, beliefs.answers, name, moment) for part in parts}


def check_target(model: BayesianNetwork, target: Any) -> tuple[str | None, str]:
    if target is None:
        return None, ""
    if not isinstance(target, tuple | list) or len(target) != 2 or target[1] not in MOMENTS:
        raise InvalidData(f"the target of a Gaussian network is a pair such as ('x', 'mean'); got {target!r}")
    return model.variable(target[0]).name, target[1]


def slopes_of(part: LinearGaussian, answers: Any, name: str | None, moment: str) -> dict[str, np.ndarray]:
    """The derivatives by the numbers of one conditional."""
    family = [part.child.name, *part.parents.names]
    names = [*family, *([] if name is None or name in family else [name])]
    mean, covariance = answers.means(names)[0], answers.covariances(names)[0]
    weights = np.zeros(len(names))  # of the residual
    weights[: len(family)] = [1.0, *(-part.coefficients)]
    parents, spread = slice(1, len(family)), float(part.variance)
    residual = float(weights @ mean - part.intercept)
    shared = covariance @ weights  # of each variable with the residual
    if name is None:
        by_coefficients = residual * mean[parents] + shared[parents]
        by_variance = ((residual**2 + weights @ shared) / spread - 1) / 2
        return as_slopes(by_coefficients / spread, residual / spread, by_variance / spread)
    place = names.index(name)
    with_residual, with_parents = shared[place], covariance[place, parents]
    if moment == "mean":
        by_coefficients = residual * with_parents + mean[parents] * with_residual
        return as_slopes(by_coefficients / spread, with_residual / spread, residual * with_residual / spread**2)
    return as_slopes(2 * with_residual * with_parents / spread, 0.0, (with_residual / spread) ** 2)


def as_slopes(coefficients: np.ndarray, intercept: float, variance: float) -> dict[str, np.ndarray]:
    return {"coefficients": coefficients, "intercept": np.asarray(intercept), "variance": np.asarray(variance)}
