"""`do`: the network after an intervention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from juncture.base.checks import check_mapping
from juncture.errors import Unsupported
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.factors.gaussian import Constant
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.decision_network import DecisionNetwork
from juncture.variables import Variable

Network = TypeVar("Network", BayesianNetwork, DecisionNetwork)


def do(model: Network, values: Mapping[str, Any]) -> Network:
    """The mutilated network after an intervention: each named variable loses its parents and has its value for certain.

    Parameters
    ----------
    model
        A Bayesian network whose edges point from causes to effects, or a decision network.
    values
        Variable → the state, or the number, that it is set to.

    Returns
    -------
    BayesianNetwork or DecisionNetwork
        A decision that was set is a decision no longer.

    Examples
    --------
    >>> from juncture.variables import Variable
    >>> rain, wet = Variable("rain", 2), Variable("wet", 2)
    >>> model = BayesianNetwork([Conditional(rain, [], [0.8, 0.2]), Conditional(wet, [rain], [[1, 0], [0, 1]])])
    >>> do(model, {"wet": 1}).graph.edges
    ()
    """
    if isinstance(model, DecisionNetwork):
        given = check_mapping(values, "the values that do sets")
        set_to_values = (point_mass(model.variable(name), value) for name, value in given.items())
        return model.with_part(*set_to_values)  # type: ignore[return-value]  # no network is of both kinds
    if not isinstance(model, BayesianNetwork):
        raise Unsupported(f"do takes a Bayesian network, whose arrows say what causes what; got {type(model).__name__}")
    set_to = {
        name: point_mass(model.variable(name), value)
        for name, value in check_mapping(values, "the values that do sets").items()
    }
    parts = [set_to.get(part.child.name, part) for part in model.conditionals]
    tied = [[name for name in group if name not in set_to] for group in model.tied]
    return BayesianNetwork(parts, tied=[group for group in tied if len(group) > 1], plates=model.plates)


def point_mass(variable: Variable, value: Any) -> AnyConditional:
    if variable.is_real:
        return Constant(variable, value)
    return Conditional(variable, [], np.eye(variable.num_states)[variable.code(value)])
