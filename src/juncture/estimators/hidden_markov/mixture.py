"""`MixtureHMM`: hidden states, each with a mixture of Gaussians as the distribution of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.checks import check_count
from juncture.components.contract import Emissions
from juncture.components.mixture import MixtureEmissions
from juncture.data.sequences.sequences import Sequences
from juncture.estimators.hidden_markov.gaussian import GaussianHMM
from juncture.estimators.hidden_markov.mixture_start import mixture_start
from juncture.learning.fit import Fit
from juncture.sequences.hidden_markov.model import HiddenMarkovModel


class MixtureHMM(GaussianHMM):
    """A hidden Markov model whose states emit from mixtures of Gaussians, as a scikit-learn estimator.

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

    def __init__(  # noqa: PLR0913 (one estimator, many options)
        self,
        states: Any = None,
        num_components: int = 2,
        covariance: str = "diagonal",
        *,
        start: Any = "k-means",
        prior: Any = None,
        fixed: Any = (),
        restarts: int = 0,
        tolerance: float = 1e-8,
        max_steps: int = 1000,
        decoder: str = "viterbi",
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            states,
            covariance,
            start=start,
            prior=prior,
            fixed=fixed,
            restarts=restarts,
            tolerance=tolerance,
            max_steps=max_steps,
            decoder=decoder,
            random_state=random_state,
        )
        self.num_components = num_components

    def _first_emissions(self, rows: np.ndarray, num_states: int) -> Emissions:
        size = checked_number(self.num_components)
        weights = np.full((num_states, size), 1.0 / size)
        return MixtureEmissions(weights, super()._first_emissions(rows, num_states * size))

    def _learned(self, model: HiddenMarkovModel, sequences: Sequences, start: str, seed: int) -> Fit[HiddenMarkovModel]:
        if start == "given":
            return super()._learned(model, sequences, start, seed)
        first = mixture_start(sequences, model.num_states, self.num_components, self.covariance, start, seed)
        named = HiddenMarkovModel(first.initial, first.transition, first.emissions, states=model.states)
        return super()._learned(named, sequences, "given", seed)


def checked_number(num_components: Any) -> int:
    return check_count(num_components, "num_components", least=1)
