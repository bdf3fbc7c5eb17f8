"""Junction trees that keep only the cells that can be non-zero."""
