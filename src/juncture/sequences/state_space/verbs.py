"""What the verbs do with linear-Gaussian state-space models."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.sequences.state_space.fit import StateSpaceFitOptions, fit_state_space
from juncture.sequences.state_space.infer import (
    infer_states,
    log_prob_sequences,
    most_probable_states,
    sample_state_space,
)
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.online_filter import start_kalman_filter

register(verbs.infer, LinearGaussianStateSpace, infer_states)
register(verbs.most_probable, LinearGaussianStateSpace, most_probable_states)
register(verbs.sample, LinearGaussianStateSpace, sample_state_space)
register(verbs.log_prob, LinearGaussianStateSpace, log_prob_sequences)
register(verbs.online_filter, LinearGaussianStateSpace, start_kalman_filter)
register(verbs.fit, LinearGaussianStateSpace, fit_state_space, StateSpaceFitOptions)
