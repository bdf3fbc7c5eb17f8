"""`SupervisedModel`: a distribution of a target given inputs, p(y | x); the base of regressions and of classifiers.

A kind of such models has `inputs` and `target`, and `predict_target`: the log-probabilities of the classes of each row,
or a batch of distributions of a number. The verbs do the rest (`supervised/answers.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from juncture.base.checks import shown
from juncture.base.methods import resolve_method
from juncture.base.values import number_of
from juncture.data.dataset import Dataset
from juncture.data.feature_names import NamedFeatures, Names
from juncture.data.rows import Rows, default_names, find_names
from juncture.data.sources.contract import is_source
from juncture.data.tables.table import Table, as_column
from juncture.errors import InvalidData, InvalidModel, UnknownVariable
from juncture.inference.engines.contract import EXACT, Diagnostics
from juncture.variables import Scope, Variable, is_missing

TARGET = "y"  # what a target is called that has no name


class SupervisedModel(NamedFeatures):
    """A model of a target given inputs: p(y | x).

    `target_name` is the name of the target where it was learned from a table, else None for "y".
    """

    kind: ClassVar[str] = "model of a target given inputs"
    algorithms: ClassVar[tuple[str, ...]] = ("closed-form",)  # how predictions are computed, the usual way first
    random_algorithms: ClassVar[tuple[str, ...]] = ()  # those that draw at random
    has_inputs: ClassVar[bool] = False  # whether it is a joint distribution, of the inputs too
    target_name: str | None = None
    kept_names: ClassVar[tuple[str, ...]] = ("feature_names", "target_name")

    @property
    def num_parameters(self) -> int:
        """The number of free parameters."""
        raise NotImplementedError

    @property
    def inputs(self) -> Scope:
        """The variables that the target is predicted from."""
        names = self.feature_names or default_names(self.num_columns or 0)
        return Scope(Variable(name) for name in names)

    @property
    def target(self) -> Variable:
        """The variable that is predicted: its states are the classes; it is real for a regression."""
        return Variable(self._target_name, self._classes)

    @property
    def variables(self) -> Scope:
        """The inputs, and the target after them."""
        return Scope([*self.inputs, self.target])

    def variable(self, name: str) -> Variable:
        """The variable of this name."""
        return self.variables.variable(name)

    @property
    def _classes(self) -> Sequence[Any] | None:
        """The labels of the classes; None where the target is a number."""
        classes: Sequence[Any] | None = getattr(self, "classes", None)
        return classes

    @property
    def _target_name(self) -> str:
        return free_name(self.target_name or TARGET, self.feature_names or ())

    def predict_target(self, rows: Any, *, method: str, rng: Any = None) -> Any:
        """(row, class): log p(class | row); or of a number, its distribution in each row: a batch of a family."""
        raise NotImplementedError

    def algorithm_of(self, method: Any, verb: str = "infer") -> str:
        """The algorithm that a name stands for."""
        return resolve_method(self, verb, method)

    def take_facts(self, data: Any, options: Any) -> tuple[Any, Any]:
        """The table without the columns that options of predictions name, and the options with these columns."""
        return data, options

    def predict_joint(self, rows: Any, *, method: str, rng: Any = None, **given: Any) -> tuple[Any, np.ndarray]:
        """`predict_target`, and (row,): log p(inputs), 0 for a model that has no distribution of them."""
        predicted = self.predict_target(rows, method=method, rng=rng, **given)
        return predicted, np.zeros(len(predicted))

    def diagnostics_of(self, method: str) -> Diagnostics:
        """How far the predictions of an algorithm can be trusted; they are exact for the model as it is."""
        return EXACT

    def read_inputs(self, data: Any, extra: str = "error") -> tuple[Any, bool]:
        """The rows of a table as `predict_target` takes them, and whether there is one row alone."""
        size = self.num_columns
        if is_one_row(data):
            return Rows.of([data], self.inputs.names, extra=extra).matrix("inputs"), True
        shape = () if size in {None, 1} else (size,)
        rows = Rows.of(data, self.feature_names, extra=extra)
        if rows.is_single(shape):
            return rows.values.reshape(1, -1), True
        return rows.matrix("inputs"), False

    def dataset_of(self, rows: Any, targets: np.ndarray) -> Dataset:
        """Rows of inputs and the codes or numbers of their targets, as columns by name."""
        columns = dict(zip(self.inputs.names, rows.T, strict=True))
        return Dataset.from_codes(self.variables, {**columns, self.target.name: targets})

    def with_target_name(self, name: str | None) -> Self:
        """The same model with a name of its target; None leaves it as "y"."""
        if name is not None and not (isinstance(name, str) and name and name not in (self.feature_names or ())):
            raise InvalidModel(f"the name of a target is a text that is no name of an input; got {shown(name)}")
        copy = object.__new__(type(self))
        state = {key: value for key, value in self.__getstate__().items() if key != "target_name"}
        copy.__setstate__(state if name is None else {**state, "target_name": name})
        return copy

    def _with_names(self, names: Names | None, target: str) -> Self:
        """The same model with names of its columns and of its target."""
        return self._named(names).with_target_name(None if target == TARGET else target)

    def _named(self, names: Names | None) -> Self:
        named = super()._named(names)
        if self.target_name is not None and named is not self:
            named._set(target_name=self.target_name)
        return named

    def _key(self) -> Any:
        return super()._key() if self.target_name is None else (super()._key(), self.target_name)

    def __getstate__(self) -> dict[str, Any]:
        target = {} if self.target_name is None else {"target_name": self.target_name}
        return {**super().__getstate__(), **target}


class Training(NamedTuple):
    """Rows to learn from: the inputs, the target as it was given, and the name of the target."""

    inputs: Rows
    targets: Any
    target_name: str

    @property
    def names(self) -> Names | None:
        return self.inputs.names


def read_training(model: SupervisedModel | type[SupervisedModel], data: Any, y: Any, weights: Any = None) -> Training:
    """The inputs and targets that a model, or the class that stands for its kind, is learned from.

    `y` is one target a row, or the name of the column of the table that has them; left out, it is the column that a
    model learned from. A model takes the columns of its inputs by their names.
    """
    names = None if isinstance(model, type) else model.feature_names
    return split_training(names, data, wanted_column(model, data) if y is None else y, weights)


def split_training(names: Names | None, data: Any, y: Any, weights: Any = None) -> Training:
    """The inputs, by names if there are any, and the targets: one a row, or the column that has this name."""
    if not isinstance(y, str):
        named = target_of_series(y)
        rows = Rows.of(data, names, weights=weights, extra="ignore")
        return Training(rows, y, free_name(named, rows.names or ()))
    table, cells = split_column(data, y, weights)
    return Training(Rows.of(table, names, weights=weights_left(data, weights), extra="ignore"), cells, y)


def is_one_row(data: Any) -> bool:
    """Whether this is one row, a mapping of names to numbers and labels, and no table."""
    if not isinstance(data, Mapping):
        return False
    return all(isinstance(cell, Real | str | np.bool_) or is_missing(cell) for cell in data.values())


def wanted_column(model: SupervisedModel | type[SupervisedModel], data: Any) -> str:
    """The column of a table that holds the target of a model."""
    name = "y" if isinstance(model, type) else model.target.name
    if name in (find_names(Rows.of(data).data) or ()):
        return name
    kind = model.__name__ if isinstance(model, type) else type(model).__name__
    raise InvalidData(
        f"a {kind} is learned from inputs and their targets, and the rows have no column {name!r}: give the targets as"
        " y=, one a row or the name of their column"
    )


def split_column(data: Any, name: str, weights: Any = None, *, option: str = "y") -> tuple[Table, Any]:
    """The table without one of its columns, which an option names, and that column."""
    table = Rows.of(data).cells()
    if name not in table.cells:
        raise UnknownVariable.among(name, table.cells, where=f"the table, of which `{option}` names a column,")
    own = {name, weights} if isinstance(weights, str) else {name}
    rest = table.only(each for each in table.cells if each not in own)
    return rest, table.cells[name]


def take_numbers(data: Any, name: str, *, option: str) -> tuple[Any, Any]:
    """A row or a table without one of its columns, which an option names, and the numbers of that column."""
    if not (is_one_row(data)):
        rest, cells = split_column(data, name, option=option)
        return rest, np.asarray(as_column(cells, name).encode(Variable(name)), np.float64)
    if name not in data:
        raise UnknownVariable.among(name, data, where=f"the row, of which `{option}` names a column,")
    return {key: cell for key, cell in data.items() if key != name}, data[name]


def weights_left(data: Any, weights: Any) -> Any:
    """The weights of rows whose columns were taken apart."""
    if isinstance(weights, str):
        table = Rows.of(data).cells()
        if weights not in table.cells:
            raise UnknownVariable.among(weights, table.cells, where="the table, of which `weights` names a column,")
        return np.asarray(table.column(weights).encode(Variable(weights)), np.float64)
    own = Rows.of(data).given_weights
    return own if weights is None and not is_source(data) else weights


def target_of_series(y: Any) -> str:
    """What the target is called: as its series is, else "y"."""
    name = None if isinstance(y, Mapping) else getattr(y, "name", None)
    return name if isinstance(name, str) and name else TARGET


def free_name(name: str, taken: Sequence[str]) -> str:
    """The name, with underscores after it where an input has it."""
    while name in taken:
        name += "_"
    return name


def check_as_many(num_targets: int, num_rows: int) -> None:
    """Check that there is one target a row."""
    if num_targets != num_rows:
        raise InvalidData(f"there are {number_of(num_rows, 'row')} of inputs, but {number_of(num_targets, 'target')}")
