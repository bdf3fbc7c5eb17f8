"""`sensitivity`: how an answer changes with every number of a model."""

from __future__ import annotations

from typing import Any

from juncture.base.dispatch import one_path
from juncture.errors import Unsupported
from juncture.inference.engines.real_variables import is_gaussian
from juncture.inference.exact.gaussian.sensitivity import gaussian_sensitivity
from juncture.inference.exact.junction_tree.sensitivity import table_sensitivity
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import State


@one_path
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
    check_all_states(model)
    return table_sensitivity(model, evidence, target)


def check_all_states(model: Any) -> None:
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
