"""What the verbs do with hidden Markov models."""

from __future__ import annotations

from juncture import verbs
from juncture.sequences.hidden_markov.fit import fit_hidden_markov
from juncture.sequences.hidden_markov.infer import infer_chain, log_prob_chain
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.most_probable import most_probable_path
from juncture.sequences.hidden_markov.online_filter import begin_filter
from juncture.sequences.hidden_markov.sample import sample_chain
from juncture.sequences.hidden_markov.statistics import estimate_hidden_markov, labelled_statistics

verbs.infer.register(HiddenMarkovModel, infer_chain)
verbs.most_probable.register(HiddenMarkovModel, most_probable_path)
verbs.sample.register(HiddenMarkovModel, sample_chain)
verbs.log_prob.register(HiddenMarkovModel, log_prob_chain)
verbs.online_filter.register(HiddenMarkovModel, begin_filter)
verbs.fit.register(HiddenMarkovModel, fit_hidden_markov)
verbs.statistics.register(HiddenMarkovModel, labelled_statistics)
verbs.estimate.register(HiddenMarkovModel, estimate_hidden_markov)
