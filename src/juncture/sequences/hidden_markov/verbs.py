"""What the verbs do with hidden Markov models."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.sequences.hidden_markov.fit import HiddenMarkovOptions, fit_hidden_markov
from juncture.sequences.hidden_markov.infer import infer_chain, log_prob_chain, sample_chain
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.most_probable import most_probable_path
from juncture.sequences.hidden_markov.online_filter import begin_filter
from juncture.sequences.hidden_markov.options import HiddenMarkovEstimate
from juncture.sequences.hidden_markov.statistics import estimate_hidden_markov, labelled_statistics
from juncture.sequences.options import LabelledSequences

register(verbs.infer, HiddenMarkovModel, infer_chain)
register(verbs.most_probable, HiddenMarkovModel, most_probable_path)
register(verbs.sample, HiddenMarkovModel, sample_chain)
register(verbs.log_prob, HiddenMarkovModel, log_prob_chain)
register(verbs.online_filter, HiddenMarkovModel, begin_filter)
register(verbs.fit, HiddenMarkovModel, fit_hidden_markov, HiddenMarkovOptions)
register(verbs.statistics, HiddenMarkovModel, labelled_statistics, LabelledSequences)
register(verbs.estimate, HiddenMarkovModel, estimate_hidden_markov, HiddenMarkovEstimate)
