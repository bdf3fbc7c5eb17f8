"""What a model declares: Bayesian networks, Markov networks, factor graphs, and how one becomes another."""
