"""Markov chain Monte Carlo: Gibbs, Metropolis, Swendsen-Wang, tempering and annealing."""
