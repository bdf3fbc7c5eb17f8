"""What is known of a Markov chain, as functions of its table: classes, stationary laws, passages, powers, spectrum."""
