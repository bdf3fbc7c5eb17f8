"""`Factor`: a non-negative table over a scope, and the algebra of such tables.

Of the distribution proportional to a table: independence within a tolerance, and functions of its states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import compress, product
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_function, check_iterable, check_kind, check_number
from juncture.base.values import Value, content_key, read_only
from juncture.errors import InvalidData, InvalidModel
from juncture.evidence import as_findings
from juncture.factors.scope_tables import (
    by_position,
    check_table_size,
    exp_table,
    state_codes,
    table_keys,
    title_of,
    to_series,
)
from juncture.numerics import stable
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    import pandas as pd

AXES = "one axis per variable"  # of a table, for messages
TOLERANCE = 1e-9
Names = str | Iterable[str]


class Factor(Value):
    """A non-negative table over some variables.

    Parameters
    ----------
    scope
        Variables with states.
    values
        The table: one axis per variable, in this order. Or by labels, as a mapping: the tuple of the variables' states
        → entry, or state of the first variable → the same for the others. Or what `to_dict` and `to_pandas` give.

    Examples
    --------
    >>> rain, wet = Variable("rain", ["no", "yes"]), Variable("wet", ["no", "yes"])
    >>> joint = Factor([rain, wet], [[0.7, 0.1], [0.05, 0.15]])
    >>> round(joint.condition({"wet": "yes"}).normalize()["yes"], 3)
    0.6
    >>> Factor([rain, wet], {("yes", "yes"): 0.15, ("yes", "no"): 0.05, "no": {"no": 0.7, "yes": 0.1}}) == joint
    True
    """

    _fields = ("scope", "values")
    scope: Scope
    holds_logs: bool = False  # whether the table is kept as `log_values`, since no doubles hold its entries

    def __init__(self, scope: Iterable[Variable], values: Any) -> None:
        scope = Scope(scope)
        name = title_of(scope)
        table = stable.as_table(by_position(values, scope, name), scope.shape, name=name, axes=AXES)
        self._set(scope=scope, values=table)

    def check_numbers(self) -> None:
        """Raise unless the constructors take the table: where it was trusted, and may have overflowed."""
        check = stable.as_logs if self.holds_logs else stable.as_table
        table = self.log_values if self.holds_logs else self.values
        check(table, self.scope.shape, name=title_of(self.scope), axes=AXES)

    __iter__ = None  # or Python would try factor[0], factor[1], … as labels

    @classmethod
    def trusted(cls, scope: Scope, values: np.ndarray) -> Factor:
        """A factor from a read-only table that was checked before."""
        factor = cls.__new__(cls)
        factor.__dict__["scope"] = scope
        factor.__dict__["values"] = values
        return factor

    @classmethod
    def from_logs(cls, scope: Iterable[Variable], log_values: Any) -> Factor:
        """A factor from the logarithms of its entries, -inf for 0; they may lie far outside the range of doubles.

        >>> coin = Factor.from_logs([Variable("coin", ["heads", "tails"])], [-2000, -2001])
        >>> round(coin.normalize()["heads"], 3)
        0.731
        """
        scope = Scope(scope)
        logs = stable.as_logs(log_values, scope.shape, name=title_of(scope), axes=AXES)
        if stable.doubles_hold(logs):
            return cls(scope, np.exp(logs))
        factor = cls.__new__(cls)
        factor.__dict__.update(scope=scope, log_values=logs, holds_logs=True)
        return factor

    def __getitem__(self, states: object) -> float:
        """The entry at these states, one label per variable in scope order."""
        codes = state_codes(self.scope, states)
        return float(exp_table(self.log_values[codes], self.scope) if self.holds_logs else self.values[codes])

    @cached_property
    def values(self) -> np.ndarray:
        """The table; of a factor of logarithms, entries below all doubles are 0, and entries above them an error."""
        return read_only(exp_table(self.log_values, self.scope))

    @cached_property
    def log_values(self) -> np.ndarray:
        return read_only(stable.log(self.values))

    @property
    def total(self) -> float:
        """The sum of all entries; infinite where no double holds it."""
        with np.errstate(over="ignore"):
            return float(np.exp(stable.log_sum_exp(self.log_values)) if self.holds_logs else self.values.sum())

    @property
    def _table(self) -> np.ndarray:
        return self.log_values if self.holds_logs else self.values

    def _key(self) -> Hashable:
        return (self.holds_logs, content_key(self.scope), content_key(self._table))

    def __getstate__(self) -> dict[str, Any]:
        kept = {"log_values": self.log_values, "holds_logs": True} if self.holds_logs else {"values": self.values}
        return {"scope": self.scope, **kept}

    def _like(self, scope: Iterable[Variable], table: np.ndarray) -> Factor:
        """A factor of entries that were taken from this one's."""
        return Factor.from_logs(scope, table) if self.holds_logs else Factor(scope, table)

    # --- algebra ---------------------------------------------------------------------------------------------------

    def multiply(self, other: Factor) -> Factor:
        check_kind(other, Factor, "what a factor is multiplied by", error=InvalidModel)
        scope = check_table_size(self.scope.union(other.scope))
        if not (self.holds_logs or other.holds_logs):
            mine, others = align(self, scope), align(other, scope)
            with np.errstate(over="ignore"):
                product = mine * others
            if stable.keeps_entries(product, (mine > 0) & (others > 0)):
                return Factor(scope, product)
        return Factor.from_logs(scope, align(self, scope, self.log_values) + align(other, scope, other.log_values))

    def divide(self, other: Factor) -> Factor:
        """The quotient, with 0 / 0 = 0; anything else divided by 0 is an error."""
        check_kind(other, Factor, "what a factor is divided by", error=InvalidModel)
        scope = check_table_size(self.scope.union(other.scope))
        above, below = align(self, scope, self.log_values), align(other, scope, other.log_values)
        if np.any(np.isneginf(below) & (above > -np.inf)):
            raise InvalidModel(
                "cannot divide a positive entry by zero: the divisor must be positive wherever the dividend is"
            )
        if not (self.holds_logs or other.holds_logs):
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                quotient = np.where(above > -np.inf, align(self, scope) / align(other, scope), 0.0)
            if stable.keeps_entries(quotient, above > -np.inf):
                return Factor(scope, quotient)
        nothing = np.full(scope.shape, -np.inf)
        return Factor.from_logs(scope, np.subtract(above, below, out=nothing, where=above > -np.inf))

    def __mul__(self, other: Factor) -> Factor:
        return self.multiply(other) if isinstance(other, Factor) else NotImplemented

    def __truediv__(self, other: Factor) -> Factor:
        return self.divide(other) if isinstance(other, Factor) else NotImplemented

    def sum_out(self, *names: str | Variable) -> Factor:
        """The factor with these variables summed out."""
        removed, axes = self._split(names)
        rest = self.scope.without(removed.names)
        if not self.holds_logs:
            with np.errstate(over="ignore"):
                sums = self.values.sum(axis=axes)
            if np.isfinite(sums).all():
                return Factor(rest, sums)
        return Factor.from_logs(rest, stable.log_sum_exp(self.log_values, axis=axes))

    def max_out(self, *names: str | Variable) -> Factor:
        """The factor with these variables maximised out."""
        removed, axes = self._split(names)
        return self._like(self.scope.without(removed.names), self._table.max(axis=axes))

    def marginal(self, *names: str | Variable) -> Factor:
        """The factor over these variables, in this order, with all others summed out."""
        keep, _ = self._split(names)
        return self.sum_out(*self.scope.without(keep.names)).reorder(*keep)

    def condition(self, evidence: Mapping[str, Any]) -> Factor:
        """The factor reduced by evidence: observed variables leave the scope, likelihoods are multiplied in."""
        findings = as_findings(evidence, self.scope)
        if not findings.is_single:
            raise InvalidData(f"condition takes one row of evidence; got {findings.num_rows} rows")
        factor = self
        for name, likelihood in findings.likelihoods.items():
            factor = factor.multiply(Factor([self.scope.variable(name)], likelihood[0]))
        index: list[Any] = [slice(None)] * len(self.scope)
        for name, codes in findings.codes.items():
            index[self.scope.axis(name)] = int(codes[0]) if codes[0] >= 0 else slice(None)
        rest = [variable for variable, part in zip(self.scope, index, strict=True) if isinstance(part, slice)]
        return factor._like(rest, factor._table[tuple(index)])

    def normalize(self) -> Factor:
        """The factor divided by its total."""
        if not self.holds_logs:
            if not self.values.max() > 0:
                raise InvalidModel(f"{title_of(self.scope)} is zero everywhere: it has no normal form")
            scaled = self.values if self.total < np.inf else self.values / self.values.max()
            quotient = scaled / scaled.sum()
            if stable.keeps_entries(quotient, self.values > 0):
                return Factor(self.scope, quotient)
        return Factor.from_logs(self.scope, self.log_values - stable.log_sum_exp(self.log_values))

    def reorder(self, *names: str | Variable) -> Factor:
        """The same factor with its axes in this order."""
        named, axes = self._split(names)
        if len(named) != len(self.scope):
            raise InvalidModel(f"an order must name every variable of the scope: {', '.join(self.scope.names)}")
        return self._like(named, self._table.transpose(axes))

    def _split(self, names: Iterable[str | Variable]) -> tuple[Scope, tuple[int, ...]]:
        """The named variables, each once, and their axes."""
        axes = tuple(self.scope.axis(name_of(name)) for name in names)
        return Scope(self.scope[axis] for axis in axes), axes

    # --- moments of the distribution proportional to the table -----------------------------------------------------

    def expectation(self, function: Callable[..., float] | str) -> float:
        """E[f] under the distribution proportional to the table.

        `function` takes one state per variable, in scope order, and is called only where the table is positive;
        a variable's name stands for its own number.

        >>> Factor([Variable("die", [1, 2, 3, 4, 5, 6])], [1, 1, 1, 1, 1, 1]).expectation("die")
        3.5
        """
        weights, (f,) = evaluate_on_support(self, function)
        return float((weights * f).sum())

    def variance(self, function: Callable[..., float] | str) -> float:
        """E[(f - E f)²]."""
        return self.covariance(function, function)

    def covariance(self, first: Callable[..., float] | str, second: Callable[..., float] | str) -> float:
        """E[(f - E f)(g - E g)]."""
        weights, (f, g) = evaluate_on_support(self, first, second)
        return float((weights * ((f - (weights * f).sum()) * (g - (weights * g).sum()))).sum())

    def correlation(self, first: Callable[..., float] | str, second: Callable[..., float] | str) -> float:
        """Covariance over the product of the standard deviations."""
        scale = np.sqrt(self.variance(first)) * np.sqrt(self.variance(second))
        _, quantities = evaluate_on_support(self, first, second)
        if not scale > 0 or any(np.ptp(values) == 0 for values in quantities):
            raise InvalidModel("a correlation needs two quantities that vary; one of these is constant")
        return float(np.clip(self.covariance(first, second) / scale, -1.0, 1.0))

    # --- independence under that distribution ----------------------------------------------------------------------

    def is_independent(self, a: Names, b: Names, given: Names = (), *, tolerance: float = TOLERANCE) -> bool:
        """Whether p(a, b | given) = p(a | given) p(b | given) within the tolerance, wherever `given` can occur."""
        return measure_dependence(self, [a, b], given) <= check_number(tolerance, "tolerance", least=0)

    def is_mutually_independent(
        self, groups: Iterable[Names] | None = None, given: Names = (), *, tolerance: float = TOLERANCE
    ) -> bool:
        """Whether p(all | given) = Π p(group | given) within the tolerance; by default each variable is a group."""
        names = check_iterable(self.scope.names if groups is None else groups, "groups")
        return measure_dependence(self, names, given) <= check_number(tolerance, "tolerance", least=0)

    def is_exchangeable(self, names: Names | None = None, *, tolerance: float = TOLERANCE) -> bool:
        """Whether the distribution of these variables (of all, by default) is the same in any order of them.

        No two probabilities of the same states in two orders may differ by more than the tolerance.

        >>> tosses = [Variable(name, 2) for name in ("first", "second")]
        >>> Factor(tosses, [[0.4, 0.1], [0.1, 0.4]]).is_exchangeable()
        True
        """
        limit = check_number(tolerance, "tolerance", least=0)
        table = self.normalize().marginal(*(self.scope.names if names is None else unique_names(names)))
        if len({variable.labels for variable in table.scope}) > 1:
            raise InvalidModel(f"exchangeable variables have the same states; {', '.join(table.scope.names)} have not")
        return measure_order(table.values) <= limit

    # --- leaving the library ---------------------------------------------------------------------------------------

    def to_dict(self) -> dict[Any, float]:
        """State → entry; of several variables, the tuple of their states → entry."""
        return dict(zip(table_keys(self.scope), self.values.ravel().tolist(), strict=True))

    def to_pandas(self) -> pd.Series:
        """A series indexed by states: one level per variable."""
        return to_series(self.scope, self.values)

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.scope.shape)) or "one number"
        return f"Factor({', '.join(self.scope.names)}; {shape}{' of logarithms' if self.holds_logs else ''})"

    def __str__(self) -> str:
        """The labelled table; the middle of a long table is left out."""
        if not self.scope:
            return f"{self!r}: {float(self._table):g}"
        rows = self._table.reshape(-1, self.scope[-1].num_states)
        from juncture.factors.printed_tables import table_text

        return table_text(repr(self), self.scope, lambda positions: rows[positions])

    def _repr_html_(self) -> str:
        from juncture.factors.printed_tables import table_html

        return table_html(self.scope, self._table) + ("<p>natural logarithms</p>" if self.holds_logs else "")


def name_of(variable: str | Variable) -> str:
    return variable.name if isinstance(variable, Variable) else variable


def align(factor: Factor, scope: Scope, table: np.ndarray | None = None) -> np.ndarray:
    """The values (or another table) with one axis per variable of a larger scope, of length 1 for those it lacks."""
    sizes = dict(zip(factor.scope.names, factor.scope.shape, strict=True))
    order = [factor.scope.axis(name) for name in scope.names if name in sizes]
    table = factor.values if table is None else table
    return table.transpose(order).reshape([sizes.get(name, 1) for name in scope.names])


def product_of(factors: Iterable[Factor]) -> Factor:
    """All factors multiplied; the empty product is the number 1."""
    result = Factor([], 1.0)
    for factor in factors:
        result = result * factor
    return result


def measure_dependence(joint: Factor, groups: Sequence[Names], given: Names = ()) -> float:
    """The largest |p(groups | c) - Π p(group | c)|, where c is any combination of given states that can occur.

    Names that are also given are left out of their groups: given, they are constant.
    """
    known = unique_names(given)
    parts = [tuple(name for name in unique_names(group) if name not in known) for group in groups]
    names = [name for part in parts for name in part]
    if len(set(names)) < len(names):
        raise InvalidModel(f"independent groups share no name; got {parts}")
    table = joint.normalize().marginal(*known, *names)
    rows = table.values.reshape(-1, *(joint.scope.variable(name).num_states for name in names))
    totals = rows.reshape(len(rows), -1).sum(axis=1)
    conditionals = (rows[totals > 0].T / totals[totals > 0]).T
    return float(np.abs(conditionals - product_of_margins(conditionals, [len(part) for part in parts])).max())


def measure_order(table: np.ndarray) -> float:
    """The largest difference of two entries whose positions are the same numbers in two orders."""
    if table.ndim < 2:
        return 0.0
    positions = np.sort(np.indices(table.shape).reshape(table.ndim, -1), axis=0)
    ordered = np.ravel_multi_index(tuple(positions), table.shape)
    largest, smallest = np.zeros(table.size), np.full(table.size, np.inf)
    np.maximum.at(largest, ordered, table.ravel())
    np.minimum.at(smallest, ordered, table.ravel())
    return float((largest - smallest)[ordered].max())


def product_of_margins(rows: np.ndarray, lengths: Sequence[int]) -> np.ndarray:
    """For each row the product of its margins over successive runs of so many axes."""
    product, start = np.ones((1,) * rows.ndim), 1
    for length in lengths:
        others = tuple(axis for axis in range(1, rows.ndim) if not start <= axis < start + length)
        product = product * rows.sum(axis=others, keepdims=True)
        start += length
    return product


def unique_names(names: Names) -> tuple[str, ...]:
    """Each name once; text is one name."""
    several = [names] if isinstance(names, str) else check_iterable(names, "a group of names")
    return tuple(dict.fromkeys(check_kind(name, str, "a name in a group") for name in several))


def evaluate_on_support(factor: Factor, *functions: Callable[..., float] | str) -> tuple[np.ndarray, list[np.ndarray]]:
    """The positive probabilities, and each function at their states."""
    weights = factor.normalize().values.reshape(-1)
    possible = weights > 0
    return weights[possible], [evaluate(factor, function, possible) for function in functions]


def evaluate(factor: Factor, function: Callable[..., float] | str, possible: np.ndarray) -> np.ndarray:
    """A function of the states, or a variable's own numbers, at the possible cells of the table, one after another."""
    if isinstance(function, str):
        variable, axis = factor.scope.variable(function), factor.scope.axis(function)
        if any(isinstance(label, str) for label in variable.labels):
            raise InvalidModel(f"the states of {function!r} are not numbers; give a function of the states instead")
        codes = np.unravel_index(np.flatnonzero(possible), factor.scope.shape)[axis]
        return np.asarray(variable.numbers)[codes]
    check_function(function, "a quantity is the name of a variable or a function of the states, and")
    states = compress(product(*(variable.labels for variable in factor.scope)), possible)
    answers = [function(*labels) for labels in states]
    return stable.as_numbers(answers, (len(answers),), name="the answer of the function")
