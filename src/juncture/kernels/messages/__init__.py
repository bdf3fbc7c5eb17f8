"""Messages between the factors and nodes of any factor graph, on flat arrays."""
