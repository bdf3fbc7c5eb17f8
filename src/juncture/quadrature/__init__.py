"""Numerical integrals of densities of one or two numbers: the one home of nodes, panels and changes of variable."""
