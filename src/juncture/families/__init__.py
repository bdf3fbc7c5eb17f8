"""Distributions, one per file; their statistics; conjugate priors; `jt.families` beyond those that `jt` holds."""

from juncture.names import face

face(__name__)
