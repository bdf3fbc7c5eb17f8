"""How much distributions tell: entropies, divergences, projections onto families, maximum entropy."""
