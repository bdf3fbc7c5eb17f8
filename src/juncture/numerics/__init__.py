"""Numerical methods that know no model: stable elementary functions, iteration, Newton, descent, quadrature."""
