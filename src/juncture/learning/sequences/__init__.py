"""Learning hidden Markov models: Baum-Welch, labelled sequences, and where to start."""
