"""Networks of variables with states: Bayesian networks, Markov networks, factor graphs, and how one becomes another."""
