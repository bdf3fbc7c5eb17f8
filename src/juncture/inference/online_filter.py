"""`start_filter`: beliefs about a hidden state that grow by one observation at a time."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from juncture.errors import Unsupported
from juncture.verbs import taught_by


@taught_by(
    {
        "HiddenMarkovModel": "juncture.sequences.hidden_markov.online_filter",
        "LinearGaussianStateSpace": "juncture.sequences.state_space.online_filter",
    }
)
@singledispatch
def start_filter(model: Any, *, lag: int = 0) -> Any:
    """A filter of a model in time order, before its first observation; `filter.step(observation)` gives the next one.

    It has `log_evidence` and `num_steps`, and laws of the state: `filtered`, `predicted`, and `lagged`, of `lag` steps
    ago; of a state space their means and covariances, as `filtered_mean` and `filtered_covariance`.
    """
    raise Unsupported(
        f"start_filter takes a HiddenMarkovModel or a LinearGaussianStateSpace; got {type(model).__name__}"
    )
