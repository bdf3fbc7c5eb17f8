"""`Decision` and `Utility`: the nodes of a decision network that are no chance variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_kind
from juncture.base.values import Value
from juncture.errors import InvalidModel
from juncture.factors.conditional import as_parents
from juncture.factors.printed_tables import table_text
from juncture.factors.scope_tables import check_table_size, state_codes, table_keys, to_series
from juncture.numerics import stable
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    import pandas as pd


class Decision(Value):
    """A variable that somebody sets, knowing the states of its parents.

    Parameters
    ----------
    variable
        A variable whose states are the actions.
    parents
        What is known when the decision is taken: variables with states.

    Examples
    --------
    >>> Decision(Variable("treat", ["no", "yes"]), [Variable("test", ["negative", "positive"])])
    Decision(treat | test)
    """

    _fields = ("variable", "parents")
    variable: Variable
    parents: Scope

    def __init__(self, variable: Variable, parents: Iterable[Variable] = ()) -> None:
        check_kind(variable, Variable, "what is decided", error=InvalidModel)
        scope = as_parents(variable, parents)
        for each in (variable, *scope):
            if each.is_real:
                raise InvalidModel(
                    f"the decision {variable.name!r} is about variables with states; {each.name!r} is real-valued"
                )
        self._set(variable=variable, parents=scope)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"Decision({self.variable.name}{given})"


class Utility(Value):
    """A number for each joint state of some variables; the utilities of a network are added.

    Parameters
    ----------
    parents
        The variables that the utility depends on, chance variables and decisions.
    values
        The table: one axis per parent, of finite numbers of any sign.
    name
        The name of the node in pictures and files. A network names its utilities itself where there is none.

    Examples
    --------
    >>> treat, ill = Variable("treat", ["no", "yes"]), Variable("ill", ["no", "yes"])
    >>> Utility([treat, ill], [[0, -100], [-10, -20]])["yes", "no"]
    -10.0
    """

    _fields = ("parents", "values", "name")
    parents: Scope
    values: np.ndarray
    name: str | None
    __iter__ = None  # or Python would try utility[0], utility[1], … as labels

    def __init__(self, parents: Iterable[Variable], values: Any, *, name: str | None = None) -> None:
        scope = check_table_size(Scope(parents), "the utility")
        if name is not None and (not isinstance(name, str) or not name):
            raise InvalidModel(f"the name of a utility must be a non-empty string; got {name!r}")
        title = f"the utility of ({', '.join(scope.names)})"
        table = stable.as_numbers(values, scope.shape, name=title, axes="one axis per parent")
        self._set(parents=scope, values=table, name=name)

    def with_name(self, name: str) -> Utility:
        """The same numbers under this name."""
        return Utility(self.parents, self.values, name=name)

    def __getitem__(self, states: object) -> float:
        """The utility of these states, one label per parent in order."""
        return float(self.values[state_codes(self.parents, states)])

    def to_dict(self) -> dict[Any, float]:
        """State → utility; of several parents, the tuple of their states → utility."""
        return dict(zip(table_keys(self.parents), self.values.ravel().tolist(), strict=True))

    def to_pandas(self) -> pd.Series:
        """A series indexed by states: one level per parent."""
        return to_series(self.parents, self.values)

    def __repr__(self) -> str:
        name = "" if self.name is None else f"; {self.name}"
        return f"Utility({', '.join(self.parents.names)}{name})"

    def __str__(self) -> str:
        if not self.parents:
            return f"{self!r}: {float(self.values):g}"
        rows = self.values.reshape(-1, self.parents[-1].num_states)
        return table_text(repr(self), self.parents, lambda positions: rows[positions])

    def _repr_html_(self) -> str:
        from juncture.factors.printed_tables import table_html

        return table_html(self.parents, self.values)
