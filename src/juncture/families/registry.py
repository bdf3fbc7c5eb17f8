"""Every family by its name, as in files; the tests run their laws over this table, and over the conjugate pairs."""

from __future__ import annotations

import juncture.families.continuous.members as continuous
import juncture.families.discrete.members as discrete
import juncture.families.vectors.members as vectors
from juncture.families.conjugacy import Pair, pairs_of
from juncture.families.family import Family
from juncture.families.vectors.independent import Independent

FAMILIES: dict[str, type[Family]] = {
    family.__name__: family for family in (*discrete.MEMBERS, *continuous.MEMBERS, *vectors.MEMBERS)
}

COMPOSED: dict[str, type[Family]] = {Independent.__name__: Independent}  # of other families, without parameters

PAIRS: tuple[Pair, ...] = tuple(pair for family in FAMILIES.values() for pair in pairs_of(family))
