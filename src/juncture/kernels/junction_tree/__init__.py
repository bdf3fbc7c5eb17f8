"""Junction trees: elimination orders, clique trees, their tables in memory, and propagation."""
