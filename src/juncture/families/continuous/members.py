"""The continuous families of single numbers."""

from __future__ import annotations

from juncture.families.continuous.beta import Beta
from juncture.families.continuous.gaussian import Gaussian

MEMBERS = (Beta, Gaussian)
