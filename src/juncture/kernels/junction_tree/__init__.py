"""Orders, clique trees, and messages on them."""
