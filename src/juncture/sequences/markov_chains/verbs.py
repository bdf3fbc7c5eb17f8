"""What the verbs do with Markov chains."""

from __future__ import annotations

from juncture import verbs
from juncture.sequences.markov_chains.fit import chain_statistics, estimate_chain, fit_chain
from juncture.sequences.markov_chains.infer import infer_missing, log_prob_chain, most_probable_missing
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.sequences.markov_chains.sample import sample_chain

verbs.infer.register(MarkovChain, infer_missing)
verbs.most_probable.register(MarkovChain, most_probable_missing)
verbs.sample.register(MarkovChain, sample_chain)
verbs.log_prob.register(MarkovChain, log_prob_chain)
verbs.fit.register(MarkovChain, fit_chain)
verbs.statistics.register(MarkovChain, chain_statistics)
verbs.estimate.register(MarkovChain, estimate_chain)
