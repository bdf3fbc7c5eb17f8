"""Junction trees whose large cliques stay products of factors and messages."""
