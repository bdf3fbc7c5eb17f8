"""Junction trees: their tables in memory, and propagation."""
