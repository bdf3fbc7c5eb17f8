"""Log-densities, moments and sums over rows of numbers."""
