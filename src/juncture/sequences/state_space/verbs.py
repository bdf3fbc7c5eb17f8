"""What the verbs do with linear-Gaussian state-space models."""

from __future__ import annotations

from juncture import verbs
from juncture.sequences.state_space.fit import fit_state_space
from juncture.sequences.state_space.infer import infer_states, log_prob_sequences, most_probable_states
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.online_filter import start_kalman_filter
from juncture.sequences.state_space.sample import sample_state_space

verbs.infer.register(LinearGaussianStateSpace, infer_states)
verbs.most_probable.register(LinearGaussianStateSpace, most_probable_states)
verbs.sample.register(LinearGaussianStateSpace, sample_state_space)
verbs.log_prob.register(LinearGaussianStateSpace, log_prob_sequences)
verbs.online_filter.register(LinearGaussianStateSpace, start_kalman_filter)
verbs.fit.register(LinearGaussianStateSpace, fit_state_space)
