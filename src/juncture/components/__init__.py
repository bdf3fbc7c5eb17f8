"""p(x | state): one distribution of an observation for each state of a discrete variable, and mixtures of them."""
