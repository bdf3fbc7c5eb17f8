"""What each kind of conditional learns from; importing the folder registers them all."""

from __future__ import annotations

import juncture.learning.kinds.linear_gaussian
import juncture.learning.kinds.logistic
import juncture.learning.kinds.noisy
import juncture.learning.kinds.table  # noqa: F401
