"""A hidden Markov model written out over time: as a Bayesian network, and as a factor graph of one sequence."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.data.sequences import UNKNOWN, Sequences
from juncture.errors import InvalidData, Unsupported
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph
from juncture.runtime.memory import check_steps_fit
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.sequences.hidden_markov.model import HiddenMarkovModel

MAX_LOG = 708.0  # of a likelihood: beyond, it is no normal double


def unroll_network(model: HiddenMarkovModel, length: int) -> BayesianNetwork:
    """One variable for the state and one for the observation of each step."""
    emissions = model.emissions
    if not isinstance(emissions, CategoricalEmissions):
        raise Unsupported(
            f"only emissions that are a table make a Bayesian network; these are {type(emissions).__name__}: "
            "to_factor_graph takes any, with the observations entered"
        )
    if not isinstance(length, int | np.integer) or length < 1:
        raise InvalidData(f"a chain has at least one step; got {length!r}")
    check_steps_fit(
        length, (model.num_states, model.num_states + emissions.num_symbols), f"a network of {length:,} steps"
    )
    states = [Variable(f"state{step}", model.states) for step in range(length)]
    seen = [Variable(f"observation{step}", emissions.symbols) for step in range(length)]
    conditionals = []
    for step, (state, observation) in enumerate(zip(states, seen, strict=True)):
        before, table = ([states[step - 1]], model.transition) if step else ([], model.initial)
        conditionals += [Conditional(state, before, table), Conditional(observation, [state], emissions.probabilities)]
    groups = [[state.name for state in states[1:]], [observation.name for observation in seen]]
    return BayesianNetwork(conditionals, tied=[group for group in groups if len(group) > 1])


def unroll_factors(model: HiddenMarkovModel, sequences: Sequences) -> FactorGraph:
    """A factor for the first state, one for each transition and one for each observation."""
    if sequences.num != 1:
        raise InvalidData(f"a factor graph is of one sequence; got {sequences.num}: convert them one by one")
    likelihoods = likelihoods_of(model, sequences)
    states = [Variable(f"state{step}", model.states) for step in range(sequences.num_steps)]
    factors: list[Any] = [Factor([states[0]], model.initial)] if states else []
    factors += [Factor([before, after], model.transition) for before, after in pairwise(states)]
    factors += [Factor([state], row) for state, row in zip(states, likelihoods, strict=True)]
    return FactorGraph(factors, states)


def likelihoods_of(model: HiddenMarkovModel, sequences: Sequences) -> np.ndarray:
    """p(observation | state) of each step, 0 for all states but the one that a label names."""
    log_prob = model.emissions.log_prob(sequences.observations)
    if sequences.states is not None:
        others = (sequences.states[:, None] != np.arange(model.num_states)) & (sequences.states != UNKNOWN)[:, None]
        log_prob = np.where(others, -np.inf, log_prob)
    most = log_prob.max(axis=1, initial=-np.inf)
    wrong = (np.abs(most) > MAX_LOG) & (most > -np.inf)
    if wrong.any():
        step = int(np.argmax(wrong))
        raise InvalidData(
            f"{sequences.describe_step(step)} has the log-likelihood {most[step]:.6g},"
            " which is no likelihood in a double"
            f"{'; infer takes it as it is' if most[step] < np.inf else ''}"
        )
    return np.asarray(np.exp(log_prob))
