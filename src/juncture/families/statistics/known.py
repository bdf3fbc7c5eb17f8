"""What is known of a family and not estimated: the trials of a binomial, a variance that is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.errors import InvalidData, hint
from juncture.families.constraints import Constraint

if TYPE_CHECKING:
    from juncture.families.family import Family

Known = Mapping[str, np.ndarray]


def rules_of(family: type[Family]) -> dict[str, Constraint]:
    """The parameters that may be known of a family, with their constraints."""
    return {**family.required, **family.optional, **family.fixed}


def check_known(family: type[Family], known: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The known parameters as arrays; InvalidData names one that the family does not have."""
    rules = rules_of(family)
    for key in known:
        if key not in rules:
            raise InvalidData(f"{family.__name__}.statistics knows nothing of {key!r}; {hint(key, rules)}")
    return {key: rules[key].check(value, name=f"the {key} of {family.__name__}") for key, value in known.items()}


def known_of_members(family: type[Family], known: Known, batch_shape: tuple[int, ...], index: Any) -> dict[str, Any]:
    """What is known of these members of a batch."""
    rules, found = rules_of(family), {}
    for name, array in known.items():
        event = array.shape[array.ndim - rules[name].axes :]
        found[name] = np.broadcast_to(array, batch_shape + event)[index] if array.shape != event else array
    return found
