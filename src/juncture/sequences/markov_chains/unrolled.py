"""A stretch of a Markov chain as a Bayesian network."""

from __future__ import annotations

import numpy as np

from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, State, Variable


def unroll(initial: np.ndarray, transition: np.ndarray, labels: tuple[State, ...], length: int) -> BayesianNetwork:
    """state0, state1, …: the first ones by the chain rule from their distribution, the later ones by one tied table."""
    order = initial.ndim
    steps = Scope(Variable(f"state{step}", labels) for step in range(max(length, order)))
    first = Factor(steps[:order], initial)
    early = [Conditional.from_joint(first, steps[step].name, steps.names[:step]) for step in range(min(order, length))]
    late = [Conditional(steps[step], steps[step - order : step], transition) for step in range(order, length)]
    tied = [[part.child.name for part in late]] if len(late) > 1 else []
    return BayesianNetwork([*early, *late], tied=tied)
