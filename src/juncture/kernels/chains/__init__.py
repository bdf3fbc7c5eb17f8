"""Hidden Markov chains: forward and backward passes, Viterbi's algorithm, sampling of paths."""
