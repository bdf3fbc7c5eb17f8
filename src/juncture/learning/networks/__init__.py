"""Learning the parameters of Bayesian networks."""
