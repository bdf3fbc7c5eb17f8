"""Numerical integrals of densities of one or two numbers: nodes, panels and changes of variable."""
