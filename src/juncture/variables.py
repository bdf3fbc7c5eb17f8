"""Named quantities: `Variable`, the ordered variables of a table (`Scope`), and `Assignment`; and what a `Model` is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, KeysView, Sequence, Set
from dataclasses import FrozenInstanceError
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Protocol, TypeAlias, runtime_checkable

import numpy as np

from juncture.base.checks import check_iterable, check_kind, is_iterable
from juncture.base.intervals import Cuts, as_cuts, check_intervals, find_interval, interval_labels
from juncture.base.values import Value, few, read_only
from juncture.errors import InvalidModel, UnknownState, UnknownVariable, hint
from juncture.runtime.memory import check_num_states, known_length

State: TypeAlias = str | int | bool | float
Assignment: TypeAlias = dict[str, State]
"""A state for each of some variables, by name."""


class Variable(Value):
    """A random variable: with ordered, labelled states, or (without states) real-valued.

    Parameters
    ----------
    name
        The name, a non-empty text.
    states
        The labels of the states in order (text, numbers or booleans), or the number of states, which are then
        0, 1, …; None for a real-valued variable.
    dimension
        The length of a real-valued vector; 1 for a single number.
    cuts
        The increasing numbers between the states, for a quantity that is measured as a number and cut into intervals:
        wherever a state is given, a number stands for the interval that it lies in, and a number that is a cut for the
        upper one. The states are texts that are no numbers; they are left out for labels such as "29.5 – 34.5".

    Examples
    --------
    >>> Variable("smoke", ["no", "yes"]).code("yes")
    1
    >>> Variable("die", 6).states
    (0, 1, 2, 3, 4, 5)
    >>> Variable("height").is_real
    True
    >>> age = Variable("age", cuts=[18, 65])
    >>> age.states, age.code(41.5), age.code("≥ 65")
    (('< 18', '18 – 65', '≥ 65'), 1, 2)
    """

    name: str
    states: tuple[State, ...] | None
    dimension: int
    cuts: Cuts | None

    def __init__(
        self,
        name: str,
        states: Iterable[State] | int | None = None,
        *,
        dimension: int = 1,
        cuts: Iterable[float] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InvalidModel(f"a variable's name must be a non-empty string; got {name!r}")
        if isinstance(states, int | np.integer) and not isinstance(states, bool):
            check_num_states(int(states), name)
            states = range(int(states))
        if isinstance(states, Set) and not isinstance(states, KeysView):
            raise InvalidModel(
                f"the states of {name!r} are a set, which has no order, and the numbers of a table follow the order of"
                " the states: give a list"
            )
        if isinstance(states, str | bool) or not (states is None or is_iterable(states)):
            raise InvalidModel(f"the states of {name!r} must be a list of labels or their number; got {states!r}")
        check_num_states(known_length(states), name)
        between = None if cuts is None else as_cuts(cuts, name, InvalidModel)
        if states is None and between is not None:
            states = interval_labels(between)
        labels = None if states is None else tuple(as_state(state, name) for state in states)
        if labels is not None:
            check_distinct(labels, name)
        if labels is not None and between is not None:
            check_intervals(labels, between, name)
        whole = isinstance(dimension, int | np.integer) and dimension >= 1
        if not whole or (labels is not None and dimension != 1):
            raise InvalidModel(f"variable {name!r}: only a real-valued variable can have a dimension, of at least 1")
        self._set(name=str(name), states=labels, dimension=int(dimension), cuts=between)

    @property
    def is_real(self) -> bool:
        return self.states is None

    @property
    def labels(self) -> tuple[State, ...]:
        """The labels of the states; a real-valued variable has none, and raises an error."""
        if self.states is None:
            raise InvalidModel(f"variable {self.name!r} is real-valued; only a variable with states can be used here")
        return self.states

    @property
    def num_states(self) -> int:
        return len(self.labels)

    @cached_property
    def numbers(self) -> np.ndarray:
        """Each state as a number: its own value where all labels are numeric, else its position."""
        numeric = not any(isinstance(label, str) for label in self.labels)
        return read_only([float(label) for label in self.labels] if numeric else range(self.num_states), dtype=float)

    def code(self, state: object) -> int:
        """The position of the state that `state` matches.

        An equal label of the same kind (numbers, booleans, text) comes first; else the one label
        with the same text, so that "1" finds 1, and 1.0 finds "1". Where the variable has cuts, any other finite
        number, or the text of one, stands for the interval that it lies in.
        """
        code = self.find(state)
        if code is None:
            raise self.unknown_state(as_plain(state))
        return code

    def unknown_state(self, state: object, where: str = "") -> UnknownState:
        """The error of a value that no state matches."""
        if self.cuts is None:
            return UnknownState.of(self.name, state, self.labels, where=where)
        return UnknownState(
            f"variable {self.name!r} takes a finite number or one of its states, not {state!r}{where};"
            f" {hint(state, self.labels)}"
        )

    def find(self, state: object) -> int | None:
        """As `code`, but None where no state matches."""
        plain = as_plain(state)
        code = self._code_by_key.get(state_key(plain))
        if code is not None:
            return code
        return self._find_by_text(plain) if self.cuts is None else find_interval(self.cuts, plain)

    def _find_by_text(self, plain: object) -> int | None:
        found = set(self._codes_by_text.get(str(plain), ()))
        if len(found) != 1:
            found = {code for text in texts(plain) for code in self._codes_by_text.get(text, ())}
        return None if len(found) != 1 or is_missing(plain) else found.pop()

    @cached_property
    def _code_by_key(self) -> dict[Hashable, int]:
        return {state_key(label): code for code, label in enumerate(self.labels)}

    @cached_property
    def _codes_by_text(self) -> dict[str, list[int]]:
        codes: dict[str, list[int]] = {}
        for code, label in enumerate(self.labels):
            for text in texts(label):
                codes.setdefault(text, []).append(code)
        return codes

    def __repr__(self) -> str:
        if self.states is None:
            return f"Variable({self.name!r}{f', dimension={self.dimension}' if self.dimension > 1 else ''})"
        shown = ", ".join(repr(state) for state in self.states[:6])
        cuts = "" if self.cuts is None else f", cuts=[{few(map(repr, self.cuts), most=6)}]"
        return f"Variable({self.name!r}, [{shown}{', …' if len(self.states) > 6 else ''}]{cuts})"


class Scope(tuple[Variable, ...]):  # noqa: SLOT001 (names and shape are kept)
    """The ordered, distinct variables of a table: one axis each."""

    def __new__(cls, variables: Iterable[Variable] = ()) -> Scope:
        if not is_iterable(variables):
            raise InvalidModel(f"a scope is a list of variables; write [{variables!r}] for one")
        scope = super().__new__(cls, variables)
        for item in scope:
            if not isinstance(item, Variable):
                raise InvalidModel(f"a scope is made of variables; got {item!r}")
        names = [variable.name for variable in scope]
        if len(set(names)) < len(names):
            raise InvalidModel(f"the variable {names[first_repeated(names)]!r} appears twice in one scope")
        return scope

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign {name!r}: a Scope does not change; build a new one")

    def __reduce__(self) -> tuple[type[Scope], tuple[tuple[Variable, ...]]]:
        return type(self), (tuple(self),)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(variable.num_states for variable in self)

    @cached_property
    def has_real(self) -> bool:
        """Whether some of the variables are real-valued."""
        return any(variable.is_real for variable in self)

    @property
    def size(self) -> int:
        """The number of joint states, as an exact integer."""
        return math.prod(self.shape)

    def axis(self, name: str) -> int:
        try:
            return self._axes[name]
        except (KeyError, TypeError):
            raise UnknownVariable.among(name, self.names, where="the scope") from None

    @cached_property
    def _axes(self) -> dict[str, int]:
        return {name: axis for axis, name in enumerate(self.names)}

    def variable(self, name: str) -> Variable:
        return self[self.axis(name)]

    def without(self, names: Iterable[str]) -> Scope:
        listed = check_iterable(names, "names", error=InvalidModel)
        removed = {check_kind(name, str, "a name", error=InvalidModel) for name in listed}
        return Scope(variable for variable in self if variable.name not in removed)

    def union(self, *others: Sequence[Variable]) -> Scope:
        """All variables, each once, in the order in which they first appear."""
        return Scope(distinct_variables([self, *map(Scope, others)]))


@runtime_checkable
class Model(Protocol):
    """What every kind of model has.

    Attributes
    ----------
    kind
        What the kind is called, in words.
    variables
        The variables that the model is about, those with states and the real ones.
    num_parameters
        The number of free parameters.
    """

    kind: ClassVar[str]

    @property
    def variables(self) -> Scope: ...

    @property
    def num_parameters(self) -> int: ...


def distinct_variables(scopes: Iterable[Iterable[Variable]]) -> list[Variable]:
    """Each variable once; one name with two sets of states is an error."""
    known: dict[str, Variable] = {}
    for scope in scopes:
        for variable in scope:
            other = known.setdefault(variable.name, variable)
            if other != variable:
                raise InvalidModel(f"the name {variable.name!r} stands for two variables: {other!r} and {variable!r}")
    return list(known.values())


def as_state(value: object, name: str) -> State:
    """A label as plain Python; refuses what cannot be a label."""
    plain = as_plain(value)
    if not isinstance(plain, str | int | float) or is_missing(plain):
        raise InvalidModel(f"a state of {name!r} must be text, a number or a boolean, not None or NaN; got {value!r}")
    return plain


def check_distinct(labels: tuple[State, ...], name: str) -> None:
    if not labels:
        raise InvalidModel(f"variable {name!r} needs at least one state; leave the states out for a real-valued one")
    keys = [state_key(label) for label in labels]
    if len(set(keys)) < len(keys):
        raise InvalidModel(f"variable {name!r} has the state {labels[first_repeated(keys)]!r} twice")


def first_repeated(items: Sequence[Hashable]) -> int:
    """The index of the first item that is repeated later."""
    counts = Counter(items)
    return next(index for index, item in enumerate(items) if counts[item] > 1)


def as_plain(value: object) -> object:
    """NumPy scalars as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def is_missing(value: Any) -> bool:
    """None, NaN, a masked entry, and the missing markers of data frames (unlike themselves, or refusing to say)."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):
        return type(value).__name__ in {"NAType", "NaTType"}


def state_key(state: object) -> Hashable:
    """Equal exactly for states of one kind with one value: text, truth or number."""
    if isinstance(state, bool):
        return ("truth", state)
    if isinstance(state, int | float):
        return ("number", state)  # 1 and 1.0 are equal and hash alike
    return ("text", state) if isinstance(state, str) else ("other", repr(state))


def texts(state: object) -> set[str]:
    """How a state may be written: a whole number also with or without its '.0'."""
    written = {str(state)}
    if (
        isinstance(state, int | float)
        and not isinstance(state, bool)
        and (isinstance(state, int) or state.is_integer())
    ):
        written |= {str(int(state)), f"{int(state)}.0"}
    return written
