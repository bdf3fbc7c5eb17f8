"""Draws: diagnostics of chains, samplers of one number, Monte Carlo estimates, particle filters; `jt.sampling`."""

from juncture.names import face

face(__name__)
