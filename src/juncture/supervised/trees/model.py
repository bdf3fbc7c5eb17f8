"""`TreeModel`: what a tree and a forest share as models of a target given inputs; and their distributions of a number.

Inputs are of mixed kinds and may have holes. The classes of a row have the shares of the leaves that it reaches. A
number has a Gaussian in each leaf; of a row that reaches several leaves, or the leaves of several trees, it is the
Gaussian with the mean and the variance of their mixture.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from juncture.base.values import Value
from juncture.data.dataset import Dataset
from juncture.data.feature_names import Names
from juncture.data.rows import Rows, find_names
from juncture.errors import Unsupported
from juncture.families.continuous.gaussian import Gaussian
from juncture.numerics import stable
from juncture.supervised.model import SupervisedModel, is_one_row
from juncture.supervised.trees.training_rows import input_values
from juncture.variables import Scope, State, Variable


class TreeModel(SupervisedModel):
    """A decision tree, or a forest: inputs and target are variables, with states or real."""

    inputs: Scope = Scope()
    target: Variable = Variable("y")

    @property
    def classes(self) -> tuple[State, ...] | None:
        """The classes, in the order of `predict_proba`; None for regression."""
        return None if self.target.is_real else self.target.labels

    @property
    def feature_names(self) -> Names:  # type: ignore[override]
        """The names of the inputs, by which tables are taken."""
        return self.inputs.names

    @property
    def num_columns(self) -> int:
        """The number of inputs."""
        return len(self.inputs)

    def read(self, X: Any) -> np.ndarray:
        """(row, input): numbers, codes of categories, NaN for holes."""
        return input_values(self.inputs, X)

    def read_inputs(self, data: Any, extra: str = "error") -> tuple[np.ndarray, bool]:
        """The rows as `read` gives them, and whether there is one alone; of one by name, inputs may be left out."""
        names = self.inputs.names
        if is_one_row(data):
            row = dict.fromkeys(names) | dict(data)
            return self.read(Rows.of([row], names, extra=extra).cells()), True
        if find_names(Rows.of(data).data) is not None:
            return self.read(Rows.of(data, names, extra=extra).cells()), False
        array = data if isinstance(data, np.ndarray) else np.array(data, dtype=object)
        if array.ndim != 1:
            return self.read(data), False
        is_single = len(names) > 1
        return self.read(array[np.newaxis] if is_single else array[:, np.newaxis]), is_single

    def predict_target(self, rows: np.ndarray, *, method: str = "closed-form", rng: Any = None) -> Any:
        """(row, class): log p(class | row); or a `Gaussian` for each row."""
        if self.target.is_real:
            return Gaussian(*self.read_moments(rows))
        return stable.log(self.read_values(rows))

    def predict_proba(self, X: Any) -> np.ndarray:
        """(row, class): p(class | row), in the order of `classes`."""
        if self.target.is_real:
            raise Unsupported(
                f"this {self.kind} predicts numbers, which have no probabilities here; call predict, or jt.infer for"
                " the distribution of each"
            )
        return self.predict_values(X)

    def predict_values(self, X: Any) -> np.ndarray:
        """(row, class), or (row, 1) for regression: the shares of the classes, or the mean."""
        return self.read_values(self.read(X))

    def read_values(self, table: np.ndarray) -> np.ndarray:
        """`predict_values` of rows that are read."""
        raise NotImplementedError

    def read_moments(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(row,) each: the mean and the variance of the number, of rows that are read."""
        raise NotImplementedError

    def dataset_of(self, rows: np.ndarray, targets: np.ndarray) -> Dataset:
        """Rows as they are read and the codes or numbers of their targets, as columns by name."""
        columns: dict[str, np.ndarray] = {self.target.name: targets}
        for variable, column in zip(self.inputs, rows.T, strict=True):
            codes = column if variable.is_real else np.where(np.isnan(column), -1, column).astype(np.int64)
            columns[variable.name] = codes
        return Dataset.from_codes(self.variables, columns)

    def with_target_name(self, name: str | None) -> Self:
        """The same model with another name of its target; None leaves it as it is."""
        return self if name is None else self.renamed(self.inputs, Variable(name, self.classes))

    def _named(self, names: Names | None) -> Self:
        if names is None or names == self.inputs.names:
            return self
        pairs = zip(names, self.inputs, strict=True)
        return self.renamed(Scope(Variable(name, one.states, cuts=one.cuts) for name, one in pairs), self.target)

    def renamed(self, inputs: Scope, target: Variable) -> Self:
        """The same model of variables with other names."""
        raise NotImplementedError

    def _key(self) -> Any:
        return Value._key(self)

    def __getstate__(self) -> dict[str, Any]:
        return Value.__getstate__(self)
