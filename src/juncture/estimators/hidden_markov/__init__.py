"""Hidden Markov models with the interface of scikit-learn."""
