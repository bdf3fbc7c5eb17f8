"""Penalties on the parameters of undirected models: what is subtracted from the log-likelihood of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_number, shown
from juncture.errors import InvalidData


@dataclass(frozen=True)
class L2:
    """½ · strength · Σ θ², as a Gaussian prior with mean 0 and variance 1 / strength on each parameter.

    Parameters
    ----------
    strength
        A positive number.
    """

    strength: float = 1.0

    def __post_init__(self) -> None:
        check_strength(self.strength, "L2")

    @property
    def absolute(self) -> float:
        return 0.0

    @property
    def squared(self) -> float:
        return float(self.strength)


@dataclass(frozen=True)
class L1:
    """strength · Σ |θ|, as a Laplace prior around 0: many parameters become exactly 0, which leaves entries of 1.

    Parameters
    ----------
    strength
        A positive number.
    """

    strength: float = 1.0

    def __post_init__(self) -> None:
        check_strength(self.strength, "L1")

    @property
    def absolute(self) -> float:
        return float(self.strength)

    @property
    def squared(self) -> float:
        return 0.0


Penalty = L1 | L2


def check_strength(strength: Any, name: str) -> None:
    if not check_number(strength, f"the strength of {name}", least=0, finite=True) > 0:
        raise InvalidData(f"the strength of {name} is a positive number; leave the penalty out for none")


def check_penalty(penalty: Any) -> Penalty | None:
    """The penalty, None for none; a number is the strength of `L2`."""
    if isinstance(penalty, int | float) and not isinstance(penalty, bool):
        return L2(penalty)
    if penalty is not None and not isinstance(penalty, L1 | L2):
        raise InvalidData(
            f"a penalty is jt.L1(strength), jt.L2(strength), or a number, the strength of jt.L2; got {shown(penalty)}"
        )
    return penalty


def penalize(penalty: Penalty | None, vector: np.ndarray) -> float:
    """What the penalty subtracts at these parameters."""
    if penalty is None:
        return 0.0
    return float(penalty.absolute * np.abs(vector).sum() + 0.5 * penalty.squared * vector @ vector)
