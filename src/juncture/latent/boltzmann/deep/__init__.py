"""Deep belief networks and deep Boltzmann machines: several layers of hidden units that are 0 or 1."""
