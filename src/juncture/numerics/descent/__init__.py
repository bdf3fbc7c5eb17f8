"""Descent methods with traces: gradient, Newton and stochastic gradient, with rules for the length of a step."""
