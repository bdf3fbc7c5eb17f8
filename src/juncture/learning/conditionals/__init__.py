"""How each kind of conditional learns; importing the folder registers all kinds."""

from __future__ import annotations

import juncture.learning.conditionals.linear_gaussian
import juncture.learning.conditionals.logistic
import juncture.learning.conditionals.noisy
import juncture.learning.conditionals.table  # noqa: F401
