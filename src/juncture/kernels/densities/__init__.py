"""Log-densities and moments of rows of numbers."""
