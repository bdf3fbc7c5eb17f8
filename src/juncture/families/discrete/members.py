"""The discrete families."""

from __future__ import annotations

from juncture.families.discrete.bernoulli import Bernoulli

MEMBERS = (Bernoulli,)
