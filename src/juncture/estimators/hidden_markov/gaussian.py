"""`GaussianHMM`: hidden states, each with a Gaussian distribution of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from juncture.components.contract import Emissions
from juncture.components.gaussian import STRUCTURES, GaussianEmissions
from juncture.data.sequences.sequences import as_one_sequence
from juncture.errors import InvalidData, hint
from juncture.estimators.hidden_markov.estimator import HiddenMarkovEstimator
from juncture.sequences.hidden_markov.initial_model import first_gaussian, repeat_for_states


@dataclass(eq=False, repr=False)
class GaussianHMM(HiddenMarkovEstimator):
    """A hidden Markov model with Gaussian emissions, as a scikit-learn estimator.

    X is a table, which is one sequence or, with `lengths`, several; or a list of sequences. NaN is a missing cell.

    Parameters
    ----------
    states
        The number of states, or their labels; None takes the labels in `y`, or two states.
    covariance
        "full", "diagonal", "spherical", or "tied": one covariance for all states.
    start
        "k-means", "random", "left-to-right", or a `HiddenMarkovModel`, which then gives states and covariance.
    prior
        A pseudo-count for initial and transition probabilities, or a `HiddenMarkovPrior`.
    fixed
        The names of parts that stay as they are: "initial", "transition", "emissions".
    restarts
        The number of further random starts of EM; the best model is kept.
    tolerance, max_steps
        EM ends when a step gains less than `tolerance` of the log-likelihood, or after `max_steps`.
    decoder
        The states that `predict` gives: "viterbi" for the most probable path, or "posterior" for the most probable
        state of each step.
    random_state
        The seed of random starts.

    Attributes
    ----------
    model_
        The `HiddenMarkovModel`.
    fit_
        The `Fit`.
    classes_
        The states.
    n_features_in_
        The number of columns.

    Examples
    --------
    >>> rows = [[0.1], [0.2], [5.1], [4.9], [float("nan")], [5.2], [0.0]]
    >>> GaussianHMM(states=2).fit(rows).predict(rows).tolist()
    [0, 0, 1, 1, 1, 1, 0]
    """

    kinds: ClassVar[tuple[type[Emissions], ...]] = (GaussianEmissions,)

    covariance: str = "diagonal"
    start: Any = field(default="k-means", kw_only=True)

    def _first_emissions(self, rows: np.ndarray, num_states: int) -> Emissions:
        return repeat_gaussian(rows, self.covariance, num_states)


def repeat_gaussian(rows: np.ndarray, covariance: str, number: int) -> GaussianEmissions:
    """The Gaussian of all rows, `number` times."""
    if not isinstance(covariance, str) or covariance not in STRUCTURES:
        raise InvalidData(f"there is no covariance {covariance!r}; {hint(covariance, STRUCTURES)}")
    return repeat_for_states(first_gaussian(as_one_sequence(rows), covariance), number)
