"""The common batch shape of several families."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.families.cumulative import Cumulative


def common_shape(*families: Any) -> tuple[int, ...]:
    """The batch that the families broadcast to."""
    for family in families:
        if not isinstance(family, Cumulative):
            raise InvalidData(f"a distribution is compared with another; got {family!r}")
    shapes = [family.batch_shape for family in families]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise InvalidData(f"batches of the shapes {' and '.join(map(str, shapes))} do not broadcast") from None
