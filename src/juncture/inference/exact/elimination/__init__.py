"""Variable elimination, and what else sums out one variable after another."""
