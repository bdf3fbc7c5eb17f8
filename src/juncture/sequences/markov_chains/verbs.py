"""What the verbs do with Markov chains."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.learning.options import PointEstimate
from juncture.sequences.markov_chains.fit import MarkovChainOptions, chain_statistics, estimate_chain, fit_chain
from juncture.sequences.markov_chains.infer import infer_missing, log_prob_chain, most_probable_missing, sample_chain
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.sequences.options import SequenceOptions

register(verbs.infer, MarkovChain, infer_missing)
register(verbs.most_probable, MarkovChain, most_probable_missing)
register(verbs.sample, MarkovChain, sample_chain)
register(verbs.log_prob, MarkovChain, log_prob_chain)
register(verbs.fit, MarkovChain, fit_chain, MarkovChainOptions)
register(verbs.statistics, MarkovChain, chain_statistics, SequenceOptions)
register(verbs.estimate, MarkovChain, estimate_chain, PointEstimate)
