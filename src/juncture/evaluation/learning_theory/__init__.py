"""Learning theory: concentration bounds, sample complexity, VC dimension, empirical risk minimisation."""
