"""`MixtureHMM`: hidden states, each with a mixture of Gaussians as the distribution of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from juncture.checks import check_count
from juncture.components.contract import Emissions
from juncture.components.mixture import MixtureEmissions
from juncture.data.sequences.sequences import Sequences
from juncture.estimators.hidden_markov.estimator import HiddenMarkovEstimator
from juncture.estimators.hidden_markov.gaussian import repeat_gaussian
from juncture.estimators.hidden_markov.initial_mixture import initial_mixture
from juncture.learning.fit import Fit
from juncture.sequences.hidden_markov.model import HiddenMarkovModel


@dataclass(eq=False, repr=False)
class MixtureHMM(HiddenMarkovEstimator):
    """A hidden Markov model whose states each emit rows from a mixture of `num_components` Gaussians.

    The start "k-means" takes clusters as components; clusters that are followed by the same clusters form a state. The
    attributes are those of `GaussianHMM`.

    Parameters
    ----------
    num_components
        The number of Gaussians of each state.
    covariance
        As in `GaussianHMM`; "tied" is one covariance for all components of all states.
    states, start, prior, fixed, restarts, tolerance, max_steps, decoder, random_state
        As in `GaussianHMM`.

    Examples
    --------
    >>> values = [0, 0, 5, 5, 0, 5, 5, 0, 20, 20, 25, 25, 20, 25, 25, 20, 0, 0, 5, 5]
    >>> rows = [[value + position % 3] for position, value in enumerate(values)]
    >>> MixtureHMM(states=2, num_components=2).fit(rows).predict(rows).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    """

    kinds = (MixtureEmissions,)

    num_components: int = 2
    covariance: str = "diagonal"
    start: Any = field(default="k-means", kw_only=True)

    def _first_emissions(self, rows: np.ndarray, num_states: int) -> Emissions:
        size = check_count(self.num_components, "num_components", least=1)
        weights = np.full((num_states, size), 1.0 / size)
        return MixtureEmissions(weights, repeat_gaussian(rows, self.covariance, num_states * size))

    def _learn(self, model: HiddenMarkovModel, sequences: Sequences, start: str, seed: int) -> Fit[HiddenMarkovModel]:
        if start == "given":
            return super()._learn(model, sequences, start, seed)
        first = initial_mixture(sequences, model.num_states, self.num_components, self.covariance, start, seed)
        named = HiddenMarkovModel(first.initial, first.transition, first.emissions, states=model.states)
        return super()._learn(named, sequences, "given", seed)
