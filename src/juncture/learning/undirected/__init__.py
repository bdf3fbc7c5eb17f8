"""Learning undirected models: the tables of the factors of a Markov network or a factor graph."""
