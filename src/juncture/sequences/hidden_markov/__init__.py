"""Hidden Markov models: the model, its inference (forward-backward, Viterbi) and its learning (Baum-Welch)."""
