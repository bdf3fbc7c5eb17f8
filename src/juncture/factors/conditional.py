"""`Conditional`, a table that sums to 1 over its child, and what every kind of conditional offers.

`AnyConditional` is the contract: log-probability and sampling of a child given its parents' columns.
`HasTable` is a capability on top, for those that can be written out as a table. A network takes any
object that keeps the contract; an engine that needs tables says which conditional has none.

Columns are arrays by variable name: state codes for variables with states, numbers for real ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from juncture.base.checks import check_iterable, check_kind
from juncture.base.values import Value, content_key
from juncture.errors import InvalidModel
from juncture.factors.factor import Factor
from juncture.factors.scope_tables import (
    by_position,
    check_distinct_labels,
    check_table_size,
    import_pandas,
    state_codes,
    table_index,
    table_keys,
)
from juncture.numerics import stable
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    import pandas as pd

Columns: TypeAlias = Mapping[str, np.ndarray]
ROWS_AT_ONCE = 2**16
SHOWN_PARENTS = 8


@runtime_checkable
class AnyConditional(Protocol):
    """The contract of conditionals p(child | parents), for type annotations and for new kinds of conditionals.

    Attributes
    ----------
    child
        The variable.
    parents
        The variables to condition on.
    num_parameters
        The number of free parameters.
    """

    @property
    def child(self) -> Variable: ...

    @property
    def parents(self) -> Scope: ...

    @property
    def num_parameters(self) -> int:
        """The number of free parameters."""

    def log_prob(self, columns: Columns) -> np.ndarray:
        """Log p(child | parents) for each row of complete columns."""

    def sample(self, columns: Columns, num_rows: int, rng: np.random.Generator) -> np.ndarray:
        """A column for the child, given the parents' columns."""


@runtime_checkable
class HasTable(Protocol):
    """A conditional that can be written out in full."""

    def to_table(self) -> Conditional: ...


class HasScope(Protocol):
    """A family of variables: a conditional, or its statistics."""

    @property
    def child(self) -> Variable: ...
    @property
    def parents(self) -> Scope: ...
    @property
    def scope(self) -> Scope: ...


class DiscreteConditional(Value):
    """A conditional between variables with states: all follows from a row of probabilities per parents' states."""

    child: Variable
    parents: Scope
    __iter__ = None  # or Python would try conditional[0], conditional[1], … as labels

    def child_probabilities(self, columns: Columns, num_rows: int) -> np.ndarray:
        """P(child = state | the parents of that row), as (row, state)."""
        raise NotImplementedError

    @property
    def num_parameters(self) -> int:
        raise NotImplementedError

    @cached_property
    def scope(self) -> Scope:
        """The parents, then the child."""
        return Scope((*self.parents, self.child))

    def log_prob(self, columns: Columns) -> np.ndarray:
        codes = columns[self.child.name]
        return stable.log(self.child_probabilities(columns, len(codes))[np.arange(len(codes)), codes])

    def sample(self, columns: Columns, num_rows: int, rng: np.random.Generator) -> np.ndarray:
        return draw_codes(self.child_probabilities(columns, num_rows), rng)

    def to_table(self) -> Conditional:
        values = np.empty(check_table_size(self.scope, repr(self)).shape)
        rows = values.reshape(-1, self.child.num_states)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            block = rows[start : start + ROWS_AT_ONCE]
            block[:] = self._rows(np.arange(start, start + len(block)))
        return Conditional(self.child, self.parents, values)

    def to_factor(self) -> Factor:
        return Factor(self.scope, self.to_table().values)

    def __getitem__(self, states: object) -> float:
        """P(child = state | parents), one label per variable: the parents', then the child's."""
        codes = state_codes(self.scope, states)
        columns = {name: np.array([code]) for name, code in zip(self.parents.names, codes, strict=False)}
        return float(self.child_probabilities(columns, 1)[0, codes[-1]])

    def to_dict(self) -> dict[Any, Any]:
        """Parents' states → state → probability, by the tuple of several; without parents, state → probability.

        >>> smoke, lung = Variable("smoke", ["no", "yes"]), Variable("lung", ["no", "yes"])
        >>> Conditional(lung, [smoke], [[0.99, 0.01], [0.9, 0.1]]).to_dict()
        {'no': {'no': 0.99, 'yes': 0.01}, 'yes': {'no': 0.9, 'yes': 0.1}}
        """
        states = check_distinct_labels(self.child)
        rows = self.to_table().values.reshape(-1, self.child.num_states)
        each = [dict(zip(states, row, strict=True)) for row in rows.tolist()]
        return dict(zip(table_keys(self.parents), each, strict=True)) if self.parents else each[0]

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each joint state of the parents and a column for each state of the child."""
        pandas = import_pandas()
        columns = pandas.Index(check_distinct_labels(self.child), name=self.child.name)
        rows = self.to_table().values.reshape(-1, self.child.num_states)
        return pandas.DataFrame(rows, index=table_index(self.parents), columns=columns)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table: a column for each parent, and one for each state of the child, headed child=state.

        `Conditional.from_csv` reads it again, bit for bit.
        """
        from juncture.factors.csv_tables import write_table

        write_table(self, path)

    def __repr__(self) -> str:
        return signature(self)

    def __str__(self) -> str:
        """The labelled table; only the rows that are shown are computed.

        More than 12 parents have no room, and a real-valued parent has no rows: then the signature alone.
        """
        has_states = not any(parent.is_real for parent in self.parents)
        from juncture.factors.printed_tables import MAX_PARENTS, MAX_SIZE, table_text

        has_room = has_states and len(self.parents) <= MAX_PARENTS and self.parents.size <= MAX_SIZE
        return table_text(repr(self), self.scope, self._rows) if has_room else repr(self)

    def _repr_html_(self) -> str:
        """The signature and the first rows of the table; the signature alone where a parent is real-valued."""
        from juncture.factors.printed_tables import conditional_html

        return conditional_html(repr(self), self.parents, self.child, self._rows)

    def _rows(self, positions: np.ndarray) -> np.ndarray:
        """Rows of the table by their positions, (row, state of the child)."""
        codes = np.unravel_index(positions, self.parents.shape) if self.parents else ()
        return self.child_probabilities(dict(zip(self.parents.names, codes, strict=True)), len(positions))


class Conditional(DiscreteConditional):
    """P(child | parents) as a table.

    Parameters
    ----------
    child
        A variable with states.
    parents
        Variables with states.
    values
        The table: one axis per parent, in order, then the child's, over which it sums to 1. Or by labels, as a mapping:
        parents' states → distribution, by the tuple of several parents' states, where a distribution is a list or
        state → probability. Or what `to_dict` and `to_pandas` give.

    Examples
    --------
    >>> smoke, lung = Variable("smoke", ["no", "yes"]), Variable("lung", ["no", "yes"])
    >>> Conditional(lung, [smoke], [[0.99, 0.01], [0.9, 0.1]])["yes", "no"]
    0.9
    >>> by_labels = Conditional(lung, [smoke], {"yes": {"yes": 0.1, "no": 0.9}, "no": [0.99, 0.01]})
    >>> by_labels == Conditional(lung, [smoke], [[0.99, 0.01], [0.9, 0.1]])
    True
    """

    values: np.ndarray

    def __init__(self, child: Variable, parents: Iterable[Variable], values: Any) -> None:
        parents = as_parents(child, parents)
        self._set(child=child, parents=parents, values=check_table(child, parents, values))

    def check_numbers(self) -> None:
        """Raise unless the constructor takes the table: where it was trusted, and may have overflowed."""
        check_table(self.child, self.parents, self.values)

    @classmethod
    def trusted(cls, like: HasScope, values: np.ndarray) -> Conditional:
        """A table over the variables of another conditional, which sums to 1 over the child and is not checked again.

        The array becomes read-only.
        """
        values.setflags(write=False)
        conditional = cls.__new__(cls)
        conditional.__dict__.update(child=like.child, parents=like.parents, scope=like.scope, values=values)
        return conditional

    @classmethod
    def from_joint(cls, joint: Factor, child: str, parents: Iterable[str] = ()) -> Conditional:
        """p(child | parents) from a joint table; equal probabilities where the parents' states cannot occur.

        >>> rain, wet = Variable("rain", ["no", "yes"]), Variable("wet", ["no", "yes"])
        >>> Conditional.from_joint(Factor([rain, wet], [[7, 1], [1, 1]]), "rain", ["wet"])["yes", "yes"]
        0.5
        """
        check_kind(joint, Factor, "the joint", error=InvalidModel)
        table = joint.marginal(*check_iterable(parents, "the parents", error=InvalidModel), child)
        totals = table.values.sum(axis=-1, keepdims=True)
        possible = totals > 0
        rows = np.where(possible, table.values / np.where(possible, totals, 1.0), 1.0 / table.values.shape[-1])
        return cls(table.scope[-1], table.scope[:-1], rows)

    @classmethod
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        child: Variable | None = None,
        parents: Iterable[Variable] | None = None,
    ) -> Conditional:
        """A table from a CSV file that has a column for each parent, and one for each state of the child.

        Parameters
        ----------
        path
            A file whose columns of probabilities are headed child=state, or only by the state where the child is given.
        child, parents
            The variables, which say their states and the order of these and of the parents; by default all are as in
            the file, where states that are all whole numbers, numbers or truths are such, and else texts.

        Returns
        -------
        Conditional

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> smoke, lung = Variable("smoke", ["no", "yes"]), Variable("lung", ["no", "yes"])
        >>> table = Conditional(lung, [smoke], [[0.99, 0.01], [0.9, 0.1]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "lung.csv")
        ...     table.to_csv(path)
        ...     path.read_text().split(), Conditional.from_csv(path) == table
        (['smoke,lung=no,lung=yes', 'no,0.99,0.01', 'yes,0.9,0.1'], True)
        """
        from juncture.factors.csv_tables import read_conditional

        return cls(*read_conditional(path, child, parents))

    @property
    def num_parameters(self) -> int:
        return self.parents.size * (self.child.num_states - 1)

    def child_probabilities(self, columns: Columns, num_rows: int) -> np.ndarray:
        index = tuple(columns[name] for name in self.parents.names)
        return np.broadcast_to(self.values[index], (num_rows, self.child.num_states))

    def to_table(self) -> Conditional:
        return self


def check_table(child: Variable, parents: Scope, values: Any) -> np.ndarray:
    """A table of p(child | parents), as users give it."""
    axes = "one axis per parent, then one for the child" if parents else "one entry per state"
    scope, name = Scope((*parents, child)), f"the conditional of {child.name!r}"
    return stable.as_probabilities(by_position(values, scope, name), scope.shape, name=name, axes=axes)


def as_parents(child: Variable, parents: Iterable[Variable]) -> Scope:
    """The parents as a scope; raises if the child is no variable, or one of them."""
    scope = Scope(parents)
    Scope((*scope, child))
    return scope


def draw_codes(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One state code per row of (row, state) probabilities, by inverting each row's cumulative sum."""
    cumulative = np.cumsum(probabilities, axis=-1)
    cumulative = cumulative / cumulative[:, -1:]  # ends in exactly 1, so a state of probability 0 is never drawn
    uniforms = rng.random(len(probabilities))
    return (cumulative <= uniforms[:, None]).sum(axis=-1)


def parameters_key(conditional: AnyConditional) -> object:
    """Equal for two conditionals of one kind, with the same numbers of states and the same parameters."""
    variables = chain(conditional.parents, [conditional.child])
    sizes = tuple(None if variable.is_real else variable.num_states for variable in variables)
    fields = getattr(conditional, "_fields", None)
    if fields is None:
        return conditional  # of an unknown kind: only equal to itself
    numbers = tuple(content_key(getattr(conditional, name)) for name in fields if name not in {"child", "parents"})
    return (type(conditional), sizes, numbers)


def signature(conditional: AnyConditional) -> str:
    """The text of a conditional, such as `NoisyOr(fever | cold, flu)`."""
    names = conditional.parents.names
    given = f" | {', '.join(names[:SHOWN_PARENTS])}{', …' if len(names) > SHOWN_PARENTS else ''}" if names else ""
    return f"{type(conditional).__name__}({conditional.child.name}{given})"


def check_binary(variables: Iterable[Variable], kind: str) -> None:
    for variable in variables:
        if variable.is_real or variable.num_states != 2:
            raise InvalidModel(f"a {kind} takes variables with two states; {variable!r} has not two")
