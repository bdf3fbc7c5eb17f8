"""`LogJoint`: log p(data, θ) = log p(θ) + log p(data | θ), also where floating point cannot hold the likelihood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array
from juncture.errors import InvalidData, InvalidModel
from juncture.families.constraints import InvalidParameter
from juncture.families.statistics.statistics import Statistics

ROWS = 4096  # at a time
NEGLIGIBLE = 46.0  # prior heights below exp(-46) of the highest do not count

Likelihood = Callable[..., Any]


class Members(NamedTuple):
    """Members of a family for those values of θ at which it can be built, and why it cannot at the others."""

    family: Any  # a batch with one member for each value that is built
    is_built: np.ndarray  # (value,)
    is_limit: np.ndarray  # (value,): a parameter overflowed, or was rounded to the end of its range
    error: InvalidModel | None


class LogJoint:
    """The log-density of θ and data together; NaN where the likelihood cannot be built.

    It is not built where the prior is 0.
    """

    def __init__(self, log_prior: Callable[..., Any], likelihood: Likelihood, data: Any) -> None:
        self.log_prior, self.likelihood, self.data = log_prior, likelihood, data

    def __call__(self, *theta: np.ndarray) -> np.ndarray:
        found = np.array(np.broadcast_to(self.log_prior(*theta), theta[0].shape), dtype=float)
        is_possible = ~np.isneginf(found)
        if is_possible.any():
            found[is_possible] += self._log_likelihood(tuple(part[is_possible] for part in theta))
        return found

    def _log_likelihood(self, theta: tuple[np.ndarray, ...]) -> np.ndarray:
        members = build(self.likelihood, theta)
        found = np.full(theta[0].shape, np.nan)
        if members.is_built.any():
            found[members.is_built] = log_likelihood(members.family, self.data)
        return found

    def check_domain(self, theta: tuple[np.ndarray, ...], log_slope: np.ndarray) -> None:
        """Refuse a prior with mass at values for which the likelihood does not exist, not even as a limit."""
        with np.errstate(all="ignore"):
            heights = np.asarray(self.log_prior(*theta)) + log_slope
            counts = heights > np.nanmax(heights) - NEGLIGIBLE
            members = build(self.likelihood, tuple(part[counts] for part in theta))
        is_wrong = ~members.is_built & ~members.is_limit
        if is_wrong.any():
            first = ", ".join(f"{part[counts][is_wrong][0]:.6g}" for part in theta)
            raise InvalidModel(
                f"the prior has mass at {first}, where the likelihood does not exist: {members.error}; "
                "pass the interval on which it does, or another likelihood"
            )


def build(likelihood: Likelihood, theta: tuple[np.ndarray, ...]) -> Members:
    """The likelihood at each value, built once for all of them if that goes."""
    size = theta[0].size
    try:
        return Members(likelihood(*theta), np.ones(size, bool), np.zeros(size, bool), None)
    except InvalidModel as error:
        is_wrong, is_limit = _wrong_members(likelihood, theta, error)
        kept = np.flatnonzero(~is_wrong)
        if not len(kept):
            return Members(None, np.zeros(size, bool), is_limit, error)
        rest = build(likelihood, tuple(part[kept] for part in theta))  # another parameter may be wrong elsewhere
        is_built = np.zeros(size, bool)
        is_built[kept] = rest.is_built
        is_limit[kept] = rest.is_limit
        is_outside = not (is_limit[is_wrong]).all()
        return Members(rest.family, is_built, is_limit, error if is_outside or rest.error is None else rest.error)


def _wrong_members(
    likelihood: Likelihood, theta: tuple[np.ndarray, ...], error: InvalidModel
) -> tuple[np.ndarray, np.ndarray]:
    """Which values of θ the error is about, and which of them it calls limits."""
    if isinstance(error, InvalidParameter) and error.is_wrong.shape == theta[0].shape:
        return error.is_wrong.copy(), error.is_limit.copy()
    is_wrong = ~_build_one_by_one(likelihood, theta)
    return is_wrong, np.zeros(theta[0].size, bool)


def _build_one_by_one(likelihood: Likelihood, theta: tuple[np.ndarray, ...]) -> np.ndarray:
    """At which values the likelihood can be built, by halving what cannot be built at once."""
    try:
        likelihood(*theta)
    except InvalidModel:
        half = theta[0].size // 2
        if not half:
            return np.zeros(1, bool)
        sides = (tuple(part[:half] for part in theta), tuple(part[half:] for part in theta))
        return np.concatenate([_build_one_by_one(likelihood, side) for side in sides])
    return np.ones(theta[0].size, bool)


def log_likelihood(member: Any, data: Any) -> np.ndarray:
    """log p(data) for each member of a batch."""
    if not hasattr(member, "log_prob"):
        raise InvalidData(f"the likelihood makes a family out of parameter values; it made a {type(member).__name__}")
    if isinstance(data, Statistics):
        return np.asarray(member.log_likelihood(data))
    rows = np.atleast_1d(check_array(data, "the data"))
    rows = rows.reshape(len(rows), 1, *rows.shape[1:])
    total = np.zeros(member.batch_shape)
    for start in range(0, len(rows), ROWS):
        total = total + np.asarray(member.log_prob(rows[start : start + ROWS])).sum(axis=0)
    return total
