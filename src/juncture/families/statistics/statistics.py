"""Sufficient statistics: additive summaries of data, from which `estimate` computes the parameters.

They hold Σ w u(x) over the rows, the weight Σ w, and Σ w log h(x), the part of the log-likelihood that does not depend
on the parameters. Counts add bit for bit. `Moments` are kept centred, and merged by Chan's formula.

`Known` is what is known of a family and not estimated: the trials of a binomial, a variance that is given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from juncture.base.checks import check_array, check_mapping, shown
from juncture.base.values import Value, content_key, read_only
from juncture.errors import InvalidData, hint
from juncture.families.constraints import Constraint
from juncture.families.statistics.sums import add_sums, plain_sums, scale_sum

if TYPE_CHECKING:
    from juncture.families.family import Family

Known = Mapping[str, np.ndarray]


class Statistics(Value):
    """Summed sufficient statistics Σ w u(x) of one family, or of a batch; `a + b` are those of both data sets.

    `Family.statistics(data)` makes them.

    Parameters
    ----------
    family
        The class of the family.
    weight
        Σ w, the total weight of the observations.
    total
        Σ w u(x), one entry for each sufficient statistic.
    log_base
        Σ w log h(x), the logarithm of the base measure.
    log_base_rest
        The rounding error of `log_base`.
    known
        The parameters that are not estimated, such as the trials of a binomial.
    """

    family: type[Family]
    weight: np.ndarray  # (*batch)
    total: np.ndarray  # (*batch, statistic)
    log_base: np.ndarray  # (*batch)
    log_base_rest: np.ndarray  # (*batch), what rounding took from it
    known: dict[str, np.ndarray]

    def __init__(
        self,
        family: type[Family],
        *,
        weight: Any,
        total: Any,
        log_base: Any = 0.0,
        log_base_rest: Any = None,
        known: Known | None = None,
    ) -> None:
        if not isinstance(family, type) or not hasattr(family, "statistics"):
            raise InvalidData(f"statistics are those of a family, such as Poisson; got {shown(family)}")
        given = {} if known is None else check_mapping(known, "what is known")
        held = {name: read_only(value, float) for name, value in given.items()}
        base = check_array(log_base, "log_base")
        rest = np.zeros(np.shape(base)) if log_base_rest is None else check_array(log_base_rest, "log_base_rest")
        self._set(
            family=family, weight=read_only(check_array(weight, "the weight")),
            total=read_only(check_array(total, "the total")), log_base=read_only(base),
            log_base_rest=read_only(rest), known=held,
        )  # fmt: skip

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.weight.shape

    @property
    def mean(self) -> np.ndarray:
        """The average of u(x): the mean parameters of the maximum likelihood estimate."""
        if not (self.weight > 0).all():
            raise InvalidData(f"an average needs data; the weight of {self!r} is 0")
        return self.total / self.weight[..., None]

    def __add__(self, other: object) -> Self:
        if not isinstance(other, Statistics):
            return NotImplemented
        self._check_addable(other)
        return self._merge(other)

    def __radd__(self, other: object) -> Self:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum([...]) starts from 0

    def scaled(self, factor: Any) -> Self:
        """The statistics of the same data with every weight multiplied by `factor`."""
        try:
            factor = np.asarray(factor, float)
        except (TypeError, ValueError) as error:
            raise InvalidData(f"statistics are scaled by a number; got {factor!r}") from error
        if not (np.isfinite(factor) & (factor >= 0)).all():
            raise InvalidData(f"statistics are scaled by a finite number of at least 0; got {factor}")
        return self._scale(factor)

    def _merge(self, other: Any) -> Self:
        combine = add_sums if self.family.counts else plain_sums
        log_base, rest = combine((self.log_base, self.log_base_rest), (other.log_base, other.log_base_rest))
        weight, total = self.weight + other.weight, self.total + other.total
        return self._with(weight=weight, total=total, log_base=log_base, log_base_rest=rest)

    def _scale(self, factor: np.ndarray) -> Self:
        log_base, rest = self.log_base * factor, self.log_base_rest * factor
        if self.family.counts:
            log_base, rest = scale_sum((self.log_base, self.log_base_rest), factor)
        weight, total = self.weight * factor, self.total * factor[..., None]
        return self._with(weight=weight, total=total, log_base=log_base, log_base_rest=rest)

    def _with(self, **changed: Any) -> Self:
        fields = {name: self.__dict__[name] for name in self._fields if name != "family"}
        return type(self)(self.family, **(fields | changed))

    def _check_addable(self, other: Statistics) -> None:
        if self.family is not other.family:
            raise InvalidData(f"statistics of {self.family.__name__} and {other.family.__name__} do not add")
        if content_key(self.known) != content_key(other.known):
            raise InvalidData(
                "statistics add when the same is known; "
                f"here {_format_known(self.known)} meets {_format_known(other.known)}"
            )
        if self.batch_shape != other.batch_shape:
            raise InvalidData(f"batches of shape {self.batch_shape} and {other.batch_shape} do not add")

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, from which `statistics_from_dict` makes an equal value."""
        arrays = {name: self.__dict__[name].tolist() for name in self._fields if name not in {"family", "known"}}
        known = {name: value.tolist() for name, value in self.known.items()}
        return {"kind": type(self).__name__, "family": self.family.__name__, **arrays, "known": known}

    def to_json(self) -> str:
        """One JSON object, from which `statistics_from_json` makes an equal value."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def __repr__(self) -> str:
        known = f", {_format_known(self.known)}" if self.known else ""
        weight = f"weight={float(self.weight):.12g}" if not self.batch_shape else f"batch={self.batch_shape}"
        return f"{type(self).__name__}({self.family.__name__}, {weight}{known})"


class Moments(Statistics):
    """Weight, mean (value) and scatter Σ w (x - mean)(x - mean)ᵀ of real values: kept centred, so nothing cancels.

    For scalars (`axes` 0) mean and scatter have the batch's shape; for vectors (*batch, d) and (*batch, d, d). The mean
    is `center`, to the last digit `center + residual`: far from zero, what rounds away would cost the scatter digits.
    """

    _fields = ("family", "weight", "center", "residual", "scatter", "known")
    center: np.ndarray
    residual: np.ndarray
    scatter: np.ndarray

    def __init__(
        self,
        family: type[Family],
        *,
        weight: Any,
        center: Any,
        scatter: Any,
        residual: Any = None,
        known: Known | None = None,
    ) -> None:
        held = {name: read_only(value, float) for name, value in (known or {}).items()}
        rest = np.zeros(np.shape(center)) if residual is None else residual
        self._set(
            family=family, weight=read_only(weight, float), center=read_only(center, float),
            residual=read_only(rest, float), scatter=read_only(scatter, float), known=held,
            log_base=np.zeros(np.shape(weight)),
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._set(log_base=np.zeros(self.weight.shape))

    @property
    def axes(self) -> int:
        return self.center.ndim - self.weight.ndim

    @property
    def total(self) -> np.ndarray:  # type: ignore[override]
        """Σ w u(x) with u(x) = (x, vec x xᵀ)."""
        weight, center = self.weight, self.center
        if not self.axes:
            return np.stack([weight * center, self.scatter + weight * center**2], axis=-1)
        second = self.scatter + weight[..., None, None] * center[..., :, None] * center[..., None, :]
        return np.concatenate([weight[..., None] * center, second.reshape(*weight.shape, -1)], axis=-1)

    def scatter_about(self, point: Any) -> np.ndarray:
        """Σ w (x - point)(x - point)ᵀ."""
        shift, weight = (self.center - np.asarray(point, float)) + self.residual, self.weight
        if not self.axes:
            return np.asarray(self.scatter + weight * shift**2)
        return self.scatter + weight[..., None, None] * shift[..., :, None] * shift[..., None, :]

    def _merge(self, other: Any) -> Self:
        """Chan's formula: the mean moves from that of the heavier part by the lighter one's share of the way."""
        wide = (...,) + (None,) * self.axes
        is_base = self.weight >= other.weight
        center, away = choose(is_base[wide], self.center, other.center)
        residual, away_residual = choose(is_base[wide], self.residual, other.residual)
        weight = self.weight + other.weight
        heavier, lighter = choose(is_base, self.weight, other.weight)
        share = np.divide(lighter, weight, out=np.zeros_like(weight), where=weight > 0)
        shift = (away - center) + (away_residual - residual)
        step = share[wide] * shift
        squares = shift**2 if not self.axes else shift[..., :, None] * shift[..., None, :]
        return self._with(
            weight=weight,
            center=center + step,
            residual=residual + (step - ((center + step) - center)),
            scatter=self.scatter + other.scatter + (heavier * share)[(...,) + (None,) * (2 * self.axes)] * squares,
        )

    def _scale(self, factor: np.ndarray) -> Self:
        widened = factor[(...,) + (None,) * (2 * self.axes)]
        return self._with(weight=self.weight * factor, scatter=self.scatter * widened)


def choose(is_first: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the chosen, the others), entry by entry."""
    return np.where(is_first, first, second), np.where(is_first, second, first)


def _format_known(known: Known) -> str:
    return ", ".join(f"{name}={value.tolist()}" for name, value in known.items()) or "nothing known"


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
