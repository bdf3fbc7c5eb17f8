"""Information theory: entropies, divergences, projections onto families, maximum entropy."""
