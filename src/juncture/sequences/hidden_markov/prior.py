"""`HiddenMarkovPrior`: what is believed of a hidden Markov model before the data."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.values import Value


class HiddenMarkovPrior(Value):
    """A prior for each part of a hidden Markov model; None where the data alone shall tell.

    For `initial` and `transition` a number or an array of such counts each cell as if it had been seen so often; a
    `Dirichlet` (one for all rows, or a batch with one a row) leads to the mode of its posterior, so it must have
    concentrations of at least 1. What the model forbids stays forbidden. `emissions` is what the emissions take: a
    conjugate prior of their family, or counts for tables.
    """

    _fields = ("initial", "transition", "emissions")
    initial: Any
    transition: Any
    emissions: Any

    def __init__(self, initial: Any = None, transition: Any = None, emissions: Any = None) -> None:
        self._set(initial=initial, transition=transition, emissions=emissions)

    def __repr__(self) -> str:
        told = (f"{name}={value!r}" for name in self._fields if (value := self.__dict__[name]) is not None)
        return f"HiddenMarkovPrior({', '.join(told)})"


def as_prior(prior: Any, *, has_tables: bool) -> HiddenMarkovPrior:
    """The prior that is meant: a number counts in all tables, those of the emissions too if they have some."""
    if prior is None or isinstance(prior, HiddenMarkovPrior):
        return prior or HiddenMarkovPrior()
    if isinstance(prior, Real):
        return HiddenMarkovPrior(prior, prior, prior if has_tables else None)
    raise InvalidData(
        "the prior of a hidden Markov model is a pseudo-count for its tables, or"
        f" jt.HiddenMarkovPrior(initial=…, transition=…, emissions=…); got {prior!r}"
    )


def added_counts(prior: Any, allowed: np.ndarray, what: str) -> np.ndarray:
    """The prior's counts in each cell of a table, none where the model forbids it."""
    if prior is None:
        return np.zeros(allowed.shape)
    is_density = isinstance(prior, Dirichlet)
    try:
        given = np.asarray(prior.concentration if is_density else prior, dtype=np.float64)
        counts = np.broadcast_to(given, allowed.shape) - (1.0 if is_density else 0.0)
    except (TypeError, ValueError):
        raise InvalidData(
            f"the prior of {what} is a number, an array that broadcasts to the shape {allowed.shape}, or a Dirichlet;"
            f" got {prior!r}"
        ) from None
    if not (np.isfinite(counts) & (counts >= 0)).all():
        rule = "concentrations of at least 1, or the mode need not exist" if is_density else "counts of at least 0"
        raise InvalidData(f"the prior of {what} must have finite {rule}; got {prior!r}")
    return np.asarray(np.where(allowed, counts, 0.0))
