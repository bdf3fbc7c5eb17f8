"""What each kind of conditional learns from; importing the folder registers them all."""

from __future__ import annotations

import juncture.learning.conditionals.linear_gaussian
import juncture.learning.conditionals.logistic
import juncture.learning.conditionals.noisy
import juncture.learning.conditionals.table  # noqa: F401
