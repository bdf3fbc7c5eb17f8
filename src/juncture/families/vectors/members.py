"""The families of vectors and matrices."""

from __future__ import annotations

from juncture.families.family import Family

MEMBERS: tuple[type[Family], ...] = ()
