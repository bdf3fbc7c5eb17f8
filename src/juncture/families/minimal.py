"""Minimal forms: the same distributions with statistics of which none is an affine function of the others.

Over-complete statistics are u = C t + b with minimal t, so η·u - A = (Cᵀη)·t - (A - η·b).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.values import Value
from juncture.errors import Unsupported
from juncture.families.exponential_family import ExponentialFamily, dot
from juncture.families.family import Real, plain


class MinimalForm(Value):
    """An exponential family by as few statistics as there can be: p(x) = h(x) exp(η·t(x) - A).

    A family whose statistics depend on each other says how: `_minimal_map` is (C, b), with b for each of a batch.
    """

    family: ExponentialFamily

    def __init__(self, family: ExponentialFamily) -> None:
        self._set(family=family)

    def _map(self) -> tuple[np.ndarray, np.ndarray]:
        own = getattr(self.family, "_minimal_map", None)
        size = self.family.mean_parameters.shape[-1]
        return own() if own is not None else (np.eye(size), np.zeros(size))

    @property
    def num_statistics(self) -> int:
        return int(self._map()[0].shape[-1])

    @property
    def natural_parameters(self) -> np.ndarray:
        """Cᵀη."""
        matrix, _ = self._map()
        return self._check_exists(dot(matrix.T, self.family.natural_parameters[..., None, :]))

    @property
    def mean_parameters(self) -> np.ndarray:
        """E t(X)."""
        return self._reduce(self.family.mean_parameters)

    def log_partition(self) -> Real:
        """A - η·b."""
        _, shift = self._map()
        return plain(self._check_exists(self.family.log_partition() - dot(shift, self.family.natural_parameters)))

    def sufficient_statistics(self, x: Any) -> np.ndarray:
        """t(x), along a new last axis."""
        return self._reduce(self.family.sufficient_statistics(x))

    def fisher_information(self) -> np.ndarray:
        """Cov t(X): positive definite inside the parameter space."""
        inverse = left_inverse(self._map()[0])
        return inverse @ self.family.fisher_information() @ inverse.T

    def _reduce(self, statistics: np.ndarray) -> np.ndarray:
        """t with u = C t + b."""
        matrix, shift = self._map()
        return (statistics - shift) @ left_inverse(matrix).T

    def _check_exists(self, found: np.ndarray) -> np.ndarray:
        if np.isnan(found).any():
            raise Unsupported(f"{self.family!r} has no minimal form: its first state has probability 0")
        return found


def minimal_form(family: ExponentialFamily) -> MinimalForm:
    """The minimal form of an exponential family; of a minimal one, itself in other words.

    Parameters
    ----------
    family
        A member of an exponential family.

    Returns
    -------
    MinimalForm
        Its natural and mean parameters without linear dependencies.

    Examples
    --------
    >>> from juncture.families.discrete.categorical import Categorical
    >>> minimal_form(Categorical([0.5, 0.25, 0.25])).mean_parameters.round(12)
    array([0.25, 0.25])
    """
    if not isinstance(family, ExponentialFamily):
        raise Unsupported(f"{type(family).__name__} is not an exponential family: it has no minimal form")
    return MinimalForm(family)


def left_inverse(matrix: np.ndarray) -> np.ndarray:
    """L with L C = 1; where some u are copies of each t, their average, so that what is 0 stays exactly 0."""
    copies = (matrix != 0) & ((matrix != 0).sum(axis=1, keepdims=True) == 1)
    if not copies.any(axis=0).all():
        return np.linalg.pinv(matrix)
    return (np.where(copies, 1 / np.where(copies, matrix, 1.0), 0.0) / copies.sum(axis=0)).T


def is_minimal(family: ExponentialFamily) -> bool:
    """Whether no statistic is an affine function of the others: Cov u(X) has full rank, for each of a batch."""
    if not isinstance(family, ExponentialFamily):
        raise Unsupported(f"{type(family).__name__} is not an exponential family: it has no statistics to be minimal")
    covariance = family.fisher_information()
    scale = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    if not (scale > 0).all():
        return False
    correlation = covariance / scale[..., :, None] / scale[..., None, :]
    return bool((np.linalg.matrix_rank(correlation) == covariance.shape[-1]).all())
