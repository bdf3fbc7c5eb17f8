"""Conditionals of a real-valued child: `LinearGaussian`, and `Constant` for one that was set."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import Value, few
from juncture.errors import InvalidModel
from juncture.factors.conditional import Columns, as_parents, signature
from juncture.factors.scope_tables import import_pandas, table_index, table_keys
from juncture.numerics import stable
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    import pandas as pd

AGREEMENT = 1e-9  # relative: how near a determined child must be to its value


class LinearGaussian(Value):
    """p(child | parents) = N(intercept + Σ coefficient · parent, variance).

    Each configuration of the parents with states has parameters of its own: every array below begins with one axis per
    parent with states.

    Parameters
    ----------
    child
        A real-valued variable.
    parents
        Real-valued variables and variables with states.
    coefficients
        (…, real parent): one coefficient per real-valued parent.
    intercept
        (…): the mean where all real-valued parents are 0.
    variance
        (…): the variance of the child given its parents; 0 where the child is determined by them.

    Where the variance is 0, the child has no density of its own: its log-probability is 0 where it agrees with its
    parents, to within 1e-9 of the terms, and -inf elsewhere. So the log-probability of a row is a density over the
    other coordinates, which are free.

    Examples
    --------
    >>> x, y = Variable("x"), Variable("y")
    >>> LinearGaussian(y, [x], [2.0], 1.0, 0.25)
    LinearGaussian(y | x)
    >>> print(LinearGaussian(y, [x], [2.0], 1.0, 0.25))
    LinearGaussian(y | x)
    intercept  x  standard deviation
            1  2                 0.5
    """

    child: Variable
    parents: Scope
    coefficients: np.ndarray
    intercept: np.ndarray
    variance: np.ndarray

    def __init__(
        self,
        child: Variable,
        parents: Iterable[Variable],
        coefficients: Any,
        intercept: Any = 0.0,
        variance: Any = 1.0,
    ) -> None:
        parents = as_parents(child, parents)
        for variable in (child, *parents):
            if variable.dimension > 1 or (variable is child and not child.is_real):
                raise InvalidModel(
                    f"a LinearGaussian's child and real parents are single real numbers; {variable!r} is not"
                )
        shape = Scope(parent for parent in parents if not parent.is_real).shape
        num_real = sum(parent.is_real for parent in parents)
        what = f"of {child.name!r}"
        coefficients = stable.as_numbers(coefficients, (*shape, num_real), name=f"the coefficients {what}")
        intercept = stable.as_numbers(intercept, shape, name=f"the intercept {what}")
        variance = stable.as_numbers(variance, shape, name=f"the variance {what}")
        if not (variance >= 0).all():
            raise InvalidModel(f"the variance {what} must not be negative; got {variance.min():g}")
        self._set(child=child, parents=parents, coefficients=coefficients, intercept=intercept, variance=variance)

    @property
    def num_parameters(self) -> int:
        return self.coefficients.size + self.intercept.size + self.variance.size

    def mean(self, columns: Columns, num_rows: int) -> np.ndarray:
        """The child's mean in each row."""
        real = [columns[parent.name] for parent in self.parents if parent.is_real]
        inputs = np.stack(real, axis=1) if real else np.zeros((num_rows, 0))
        index = self.configuration(columns)
        return self.intercept[index] + (self.coefficients[index] * inputs).sum(axis=-1)

    def log_prob(self, columns: Columns) -> np.ndarray:
        x = columns[self.child.name]
        variance, mean = self.variance[self.configuration(columns)], self.mean(columns, len(x))
        if (self.variance == 0).any():
            return np.where(variance == 0, self._log_agreement(columns, mean), log_density(x, mean, variance))
        return log_density(x, mean, variance)

    def _log_agreement(self, columns: Columns, mean: np.ndarray) -> np.ndarray:
        """0 where the child is what its parents determine, else -inf."""
        x, index = columns[self.child.name], self.configuration(columns)
        sizes = np.abs(x) + np.abs(self.intercept[index])
        real = [columns[parent.name] for parent in self.parents if parent.is_real]
        for position, column in enumerate(real):
            sizes = sizes + np.abs(self.coefficients[(*index, position)] * column)
        return np.where(np.abs(x - mean) <= AGREEMENT * sizes, 0.0, -np.inf)

    def sample(self, columns: Columns, num_rows: int, rng: np.random.Generator) -> np.ndarray:
        deviation = np.sqrt(self.variance[self.configuration(columns)])
        return self.mean(columns, num_rows) + deviation * rng.standard_normal(num_rows)

    def configuration(self, columns: Columns) -> tuple[np.ndarray, ...]:
        """The codes of the parents with states: the index of the parameters of each row."""
        return tuple(columns[parent.name] for parent in self.parents if not parent.is_real)

    @property
    def standard_deviation(self) -> np.ndarray:
        """(…): the square root of the variance."""
        return np.sqrt(self.variance)

    @property
    def discrete_parents(self) -> Scope:
        """The parents with states, of which each configuration has parameters of its own."""
        return Scope(parent for parent in self.parents if not parent.is_real)

    def to_dict(self) -> dict[Any, Any]:
        """The intercept, the coefficients by parent, the variance and its root; below the states of other parents.

        >>> x, y = Variable("x"), Variable("y")
        >>> LinearGaussian(y, [x], [2.0], 1.0, 0.25).to_dict()
        {'intercept': 1.0, 'coefficients': {'x': 2.0}, 'variance': 0.25, 'standard_deviation': 0.5}
        """
        lines = [
            {
                "intercept": intercept,
                "coefficients": dict(zip(self._real_names, coefficients, strict=True)),
                "variance": variance,
                "standard_deviation": deviation,
            }
            for intercept, *coefficients, variance, deviation in self._table(with_variance=True).tolist()
        ]
        return dict(zip(table_keys(self.discrete_parents), lines, strict=True)) if self.discrete_parents else lines[0]

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each configuration of the parents with states, and a column for each number."""
        index, numbers = table_index(self.discrete_parents), self._table(with_variance=True)
        columns = ["intercept", *self._real_names, "variance", "standard_deviation"]
        return import_pandas().DataFrame(numbers, index=index, columns=columns)

    @property
    def _real_names(self) -> list[str]:
        return [parent.name for parent in self.parents if parent.is_real]

    def _table(self, *, with_variance: bool = False) -> np.ndarray:
        """(configuration, number): the intercept, the coefficients, and the standard deviation."""
        parts = [self.intercept[..., None], self.coefficients]
        parts += [self.variance[..., None]] if with_variance else []
        table = np.concatenate([*parts, self.standard_deviation[..., None]], axis=-1)
        return table.reshape(-1, table.shape[-1])

    def __str__(self) -> str:
        """The numbers by name, with a line for each configuration of the parents with states."""
        from juncture.factors.printed_tables import grid_lines

        heads, table = ["intercept", *self._real_names, "standard deviation"], self._table()
        return "\n".join([repr(self), *grid_lines(self.discrete_parents, heads, lambda rows: table[rows])])

    def _repr_html_(self) -> str:
        from juncture.drawing.notebook import html_table
        from juncture.factors.printed_tables import MAX_HTML_COLUMNS, MAX_HTML_ROWS, format_omitted, row_labels

        heads, table = ["intercept", *self._real_names, "standard deviation"], self._table()
        numbers = [[f"{number:.4g}" for number in line[:MAX_HTML_COLUMNS]] for line in table[:MAX_HTML_ROWS].tolist()]
        states = row_labels(self.discrete_parents, range(len(numbers)))
        rows = ((*labels, *line) for labels, line in zip(states, numbers, strict=True))
        note = format_omitted(*table.shape)
        heads = [*self.discrete_parents.names, *heads[:MAX_HTML_COLUMNS]]
        shown = html_table(heads, rows, note, num_labels=len(self.discrete_parents))
        return f"<p><code>{escape(repr(self))}</code></p>{shown}"

    def __repr__(self) -> str:
        return signature(self)


def log_density(x: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """log N(x; mean, variance); a variance of 0 counts as 1."""
    spread = np.where(variance > 0, variance, 1.0)
    return np.asarray(-0.5 * (np.log(2 * np.pi * spread) + (x - mean) ** 2 / spread))


class Constant(Value):
    """A real-valued child that is set to a value, as by `do`; its log-probability is 0 at the value and -inf elsewhere.

    Parameters
    ----------
    child
        A real-valued variable.
    value
        The number, or for a vector the numbers.
    """

    child: Variable
    parents: Scope
    value: np.ndarray

    def __init__(self, child: Variable, value: Any) -> None:
        parents = as_parents(child, ())
        if not child.is_real:
            raise InvalidModel(f"a Constant sets a real-valued variable; {child!r} has states: use a Conditional")
        shape = () if child.dimension == 1 else (child.dimension,)
        value = stable.as_numbers(value, shape, name=f"the value of {child.name!r}")
        self._set(child=child, parents=parents, value=value)

    @property
    def num_parameters(self) -> int:
        return 0

    def log_prob(self, columns: Columns) -> np.ndarray:
        same = columns[self.child.name] == self.value
        return np.where(same if same.ndim == 1 else same.all(axis=1), 0.0, -np.inf)

    def sample(self, columns: Columns, num_rows: int, rng: np.random.Generator) -> np.ndarray:
        return np.broadcast_to(self.value, (num_rows, *self.value.shape)).copy()

    def __repr__(self) -> str:
        value = few(f"{number:.6g}" for number in np.atleast_1d(self.value))
        return f"Constant({self.child.name} = {value})"
