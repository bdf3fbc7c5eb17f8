"""`Factor`: a non-negative table over a scope, and the algebra of such tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import compress, product
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture import numerics
from juncture.checks import check_function, check_iterable, check_kind, check_number
from juncture.errors import InvalidData, InvalidModel, MissingExtra, TooLarge
from juncture.evidence import as_findings
from juncture.factors.html import table_html
from juncture.factors.independence import TOLERANCE, Names, dependence
from juncture.values import Value, read_only
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    import pandas as pd

MAX_TABLE_CELLS = 2**26


class Factor(Value):
    """A non-negative table with one axis per variable of its scope, in scope order.

    >>> rain, wet = Variable("rain", ["no", "yes"]), Variable("wet", ["no", "yes"])
    >>> joint = Factor([rain, wet], [[0.7, 0.1], [0.05, 0.15]])
    >>> round(joint.condition({"wet": "yes"}).normalize()["yes"], 3)
    0.6
    """

    _fields = ("scope", "values")
    scope: Scope
    values: np.ndarray

    def __init__(self, scope: Iterable[Variable], values: Any) -> None:
        scope = Scope(scope)
        title = f"the factor over ({', '.join(scope.names)})"
        self._set(scope=scope, values=numerics.as_table(values, scope.shape, name=title))

    __iter__ = None  # or Python would try factor[0], factor[1], … as labels

    @classmethod
    def trusted(cls, scope: Scope, values: np.ndarray) -> Factor:
        """A factor from a read-only table that was checked before."""
        factor = cls.__new__(cls)
        factor.__dict__["scope"] = scope
        factor.__dict__["values"] = values
        return factor

    def __getitem__(self, states: object) -> float:
        """The entry at these states, one label per variable in scope order."""
        return float(self.values[state_codes(self.scope, states)])

    @cached_property
    def log_values(self) -> np.ndarray:
        return read_only(numerics.log(self.values))

    @property
    def total(self) -> float:
        """The sum of all entries."""
        with np.errstate(over="ignore"):
            return float(self.values.sum())

    # --- algebra ---------------------------------------------------------------------------------------------------

    def multiply(self, other: Factor) -> Factor:
        check_kind(other, Factor, "what a factor is multiplied by", error=InvalidModel)
        scope = checked_size(self.scope.union(other.scope))
        return Factor(scope, aligned(self, scope) * aligned(other, scope))

    def divide(self, other: Factor) -> Factor:
        """The quotient, with 0 / 0 = 0; anything else divided by 0 is an error."""
        check_kind(other, Factor, "what a factor is divided by", error=InvalidModel)
        scope = checked_size(self.scope.union(other.scope))
        above, below = np.broadcast_arrays(aligned(self, scope), aligned(other, scope))
        if np.any((below == 0) & (above != 0)):
            raise InvalidModel(
                "cannot divide a positive entry by zero: the divisor must be positive wherever the dividend is"
            )
        return Factor(scope, np.divide(above, below, out=np.zeros(scope.shape), where=below != 0))

    def __mul__(self, other: Factor) -> Factor:
        return self.multiply(other) if isinstance(other, Factor) else NotImplemented

    def __truediv__(self, other: Factor) -> Factor:
        return self.divide(other) if isinstance(other, Factor) else NotImplemented

    def sum_out(self, *names: str | Variable) -> Factor:
        """The factor with these variables summed away."""
        gone, axes = self._split(names)
        return Factor(self.scope.without(gone.names), self.values.sum(axis=axes))

    def max_out(self, *names: str | Variable) -> Factor:
        """The factor with these variables maximised away."""
        gone, axes = self._split(names)
        return Factor(self.scope.without(gone.names), self.values.max(axis=axes))

    def marginal(self, *names: str | Variable) -> Factor:
        """The factor over these variables, in this order, all others summed away."""
        keep, _ = self._split(names)
        return self.sum_out(*self.scope.without(keep.names)).reorder(*keep)

    def condition(self, evidence: Mapping[str, Any]) -> Factor:
        """The factor where the evidence holds: observed variables leave the scope, likelihoods multiply in."""
        findings = as_findings(evidence, self.scope)
        if not findings.is_single:
            raise InvalidData(f"condition takes one row of evidence; got {findings.num_rows} rows")
        values = self.values
        for name, likelihood in findings.likelihoods.items():
            values = values * spread(likelihood[0], self.scope, name)
        index: list[Any] = [slice(None)] * len(self.scope)
        for name, codes in findings.codes.items():
            if codes[0] >= 0:
                index[self.scope.axis(name)] = int(codes[0])
        rest = [variable for variable, place in zip(self.scope, index, strict=True) if isinstance(place, slice)]
        return Factor(rest, values[tuple(index)])

    def normalize(self) -> Factor:
        """The factor divided by its total."""
        total = self.total
        if not total > 0:
            raise InvalidModel(
                f"the factor over ({', '.join(self.scope.names)}) is zero everywhere: it has no normal form"
            )
        if np.isinf(total):
            return Factor(self.scope, self.values / self.values.max()).normalize()
        return Factor(self.scope, self.values / total)

    def reorder(self, *names: str | Variable) -> Factor:
        """The same factor with its axes in this order."""
        named, axes = self._split(names)
        if len(named) != len(self.scope):
            raise InvalidModel(f"an order must name every variable of the scope: {', '.join(self.scope.names)}")
        return Factor(named, self.values.transpose(axes))

    def _split(self, names: Iterable[str | Variable]) -> tuple[Scope, tuple[int, ...]]:
        """The named variables, each once, and their axes."""
        axes = tuple(self.scope.axis(name_of(name)) for name in names)
        return Scope(self.scope[axis] for axis in axes), axes

    # --- moments of the distribution proportional to the table -----------------------------------------------------

    def expectation(self, function: Callable[..., float] | str) -> float:
        """E[f] under the distribution proportional to the table.

        `function` takes one state per variable, in scope order, and is asked only where the table is positive;
        a variable's name stands for its own number.

        >>> Factor([Variable("die", [1, 2, 3, 4, 5, 6])], [1, 1, 1, 1, 1, 1]).expectation("die")
        3.5
        """
        weights, (f,) = self._on_support(function)
        return float((weights * f).sum())

    def variance(self, function: Callable[..., float] | str) -> float:
        """E[(f - E f)²]."""
        return self.covariance(function, function)

    def covariance(self, first: Callable[..., float] | str, second: Callable[..., float] | str) -> float:
        """E[(f - E f)(g - E g)]."""
        weights, (f, g) = self._on_support(first, second)
        return float((weights * ((f - (weights * f).sum()) * (g - (weights * g).sum()))).sum())

    def correlation(self, first: Callable[..., float] | str, second: Callable[..., float] | str) -> float:
        """Covariance over the product of the standard deviations."""
        scale = np.sqrt(self.variance(first)) * np.sqrt(self.variance(second))
        _, quantities = self._on_support(first, second)
        if not scale > 0 or any(np.ptp(values) == 0 for values in quantities):
            raise InvalidModel("a correlation needs two quantities that vary; one of these is constant")
        return float(np.clip(self.covariance(first, second) / scale, -1.0, 1.0))

    def _on_support(self, *functions: Callable[..., float] | str) -> tuple[np.ndarray, list[np.ndarray]]:
        """The positive probabilities, and each function at their states."""
        weights = self.normalize().values.reshape(-1)
        possible = weights > 0
        return weights[possible], [self._evaluate(function, possible) for function in functions]

    def _evaluate(self, function: Callable[..., float] | str, possible: np.ndarray) -> np.ndarray:
        if isinstance(function, str):
            variable = self.scope.variable(function)
            if any(isinstance(label, str) for label in variable.labels):
                raise InvalidModel(f"the states of {function!r} are not numbers; give a function of the states instead")
            numbers = np.broadcast_to(spread(variable.numbers, self.scope, function), self.values.shape)
            return np.asarray(numbers.reshape(-1)[possible])
        check_function(function, "a quantity is the name of a variable or a function of the states, and")
        states = compress(product(*(variable.labels for variable in self.scope)), possible)
        answers = [function(*labels) for labels in states]
        return numerics.as_numbers(answers, (len(answers),), name="the answer of the function")

    # --- independence under that distribution ----------------------------------------------------------------------

    def is_independent(self, a: Names, b: Names, given: Names = (), *, tolerance: float = TOLERANCE) -> bool:
        """Whether p(a, b | given) = p(a | given) p(b | given) within the tolerance, wherever `given` can occur."""
        return dependence(self, [a, b], given) <= check_number(tolerance, "tolerance", least=0)

    def is_mutually_independent(
        self, groups: Iterable[Names] | None = None, given: Names = (), *, tolerance: float = TOLERANCE
    ) -> bool:
        """Whether p(all | given) = Π p(group | given) within the tolerance; by default each variable is a group."""
        names = check_iterable(self.scope.names if groups is None else groups, "groups")
        return dependence(self, names, given) <= check_number(tolerance, "tolerance", least=0)

    # --- leaving the library ---------------------------------------------------------------------------------------

    def to_dict(self) -> dict[State, float]:
        """State → entry, for a factor over one variable."""
        if len(self.scope) != 1:
            raise InvalidModel(f"to_dict is for one variable; this factor is over ({', '.join(self.scope.names)})")
        return dict(zip(distinct_keys(self.scope[0]), self.values.tolist(), strict=True))

    def to_pandas(self) -> pd.Series:
        """A series indexed by states: one level per variable."""
        return labelled_series(self.scope, self.values)

    def __repr__(self) -> str:
        return f"Factor({', '.join(self.scope.names)}; {' × '.join(map(str, self.values.shape)) or 'one number'})"

    def _repr_html_(self) -> str:
        return table_html(self.scope, self.values)


def state_codes(scope: Scope, states: object) -> tuple[int, ...]:
    """The index of a cell, from labels in scope order; one variable's label may stand alone."""
    labels = states if isinstance(states, tuple) else (states,)
    if len(labels) != len(scope):
        raise InvalidModel(f"give one state for each of ({', '.join(scope.names)}); got {len(labels)}")
    return tuple(variable.code(label) for variable, label in zip(scope, labels, strict=True))


def name_of(variable: str | Variable) -> str:
    return variable.name if isinstance(variable, Variable) else variable


def checked_size(scope: Scope, what: str = "the product") -> Scope:
    """The scope, unless a table over it would not fit."""
    if scope.size > MAX_TABLE_CELLS:
        raise TooLarge(f"{what} written out would have {scope.size:,} entries; the limit is {MAX_TABLE_CELLS:,}")
    return scope


def distinct_keys(variable: Variable) -> tuple[State, ...]:
    """The labels, unless Python takes two of them for one key, as it does 1 and True."""
    if len(set(variable.labels)) < variable.num_states:
        raise InvalidModel(f"{variable!r} has states that are equal as keys, as 1 and True are; use `values` instead")
    return variable.labels


def aligned(factor: Factor, scope: Scope) -> np.ndarray:
    """The table with one axis per variable of a larger scope, of length 1 where the factor has none."""
    sizes = dict(zip(factor.scope.names, factor.values.shape, strict=True))
    order = [factor.scope.axis(name) for name in scope.names if name in sizes]
    return factor.values.transpose(order).reshape([sizes.get(name, 1) for name in scope.names])


def spread(vector: np.ndarray, scope: Scope, name: str) -> np.ndarray:
    """A vector over one variable's states, shaped to broadcast over the whole scope."""
    return vector.reshape([-1 if other == name else 1 for other in scope.names])


def product_of(factors: Iterable[Factor]) -> Factor:
    """All factors multiplied; the empty product is the number 1."""
    result = Factor([], 1.0)
    for factor in factors:
        result = result * factor
    return result


def labelled_series(scope: Scope, values: np.ndarray) -> pd.Series:
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra.named("pandas", "pandas") from None
    levels = [distinct_keys(variable) for variable in scope]
    index = pd.MultiIndex.from_product(levels, names=scope.names) if levels else pd.RangeIndex(1)
    return pd.Series(values.reshape(-1), index=index, name="value")
