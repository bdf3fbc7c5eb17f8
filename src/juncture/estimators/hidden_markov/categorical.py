"""`CategoricalHMM`: hidden states, each with probabilities of symbols."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.independent import IndependentEmissions
from juncture.data.tables.coding import as_coding, warn_unseen
from juncture.data.tables.labels import as_variable, label_array
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.estimators.hidden_markov.estimator import HiddenMarkovEstimator
from juncture.estimators.hidden_markov.sequences import find_labels
from juncture.estimators.tables import default_names
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import HiddenMarkovPrior
from juncture.variables import Variable


@dataclass(eq=False, repr=False)
class CategoricalHMM(HiddenMarkovEstimator):
    """A hidden Markov model with discrete symbols, as a scikit-learn estimator.

    Symbols are text, truth values or numbers. Several columns are independent given the state. Symbols that no row of
    `fit` had are taken as missing, with a warning. The attributes are those of `GaussianHMM`.

    Parameters
    ----------
    symbols
        The number of symbols (0, 1, …) or their labels, for every column; None takes the symbols in X.
    prior
        A pseudo-count for all tables, or a `HiddenMarkovPrior`.
    start
        "random", "left-to-right", or a `HiddenMarkovModel`.
    states, fixed, restarts, tolerance, max_steps, decoder, random_state
        As in `GaussianHMM`.

    Examples
    --------
    >>> import numpy as np
    >>> words = [np.array(["sun", "sun", "rain", "rain", "rain"]), np.array(["rain", None, "sun"])]
    >>> CategoricalHMM(states=2, prior=0.1).fit(words).predict_proba(words)[1].shape
    (3, 2)
    """

    kinds = (CategoricalEmissions, IndependentEmissions)
    cells = None

    symbols: Any = None

    def _first_emissions(self, rows: np.ndarray, num_states: int) -> Emissions:
        columns = [self._symbols(column) for column in rows.T]
        parts = [
            CategoricalEmissions(np.full((num_states, len(labels)), 1.0 / len(labels)), labels) for labels in columns
        ]
        return parts[0] if len(parts) == 1 else IndependentEmissions(parts)

    def _symbols(self, column: np.ndarray) -> tuple[Any, ...]:
        if self.symbols is not None:
            return as_variable("symbol", self.symbols).labels
        found = find_labels(column)
        if not found:
            raise InvalidData(
                "no symbol is observed in a column of X: leave it out, or say which there are in symbols="
            )
        return tuple(found)

    def _check_model(self, model: Any) -> HiddenMarkovModel:
        super()._check_model(model)
        for part in column_emissions(model.emissions):
            if not isinstance(part, CategoricalEmissions):
                raise InvalidData(f"CategoricalHMM has symbols in all columns; one of this model has {part!r}")
        return model

    def _encode(self, rows: np.ndarray, model: HiddenMarkovModel) -> np.ndarray:
        """The code of each symbol; NaN for what is missing, or was never seen."""
        parts, names = column_emissions(model.emissions), default_names(rows.shape[1])
        if len(parts) != len(names):
            raise InvalidData(f"X has {len(names)} columns, the model observes {len(parts)}")
        variables = [Variable(name, part.symbols) for name, part in zip(names, parts, strict=True)]
        table = Table(dict(zip(names, rows.T, strict=True)), len(rows))
        coding = as_coding(variables, None, "missing")
        columns = [coding.column(table, name) for name in names]
        warn_unseen({column.variable.name: column.num_unseen for column in columns if column.num_unseen})
        codes = np.stack([column.values.astype(np.float64) for column in columns], axis=1)
        codes[codes < 0] = np.nan
        return codes.reshape(len(rows), *model.event_shape)

    def _prior(self, model: HiddenMarkovModel) -> Any:
        if isinstance(model.emissions, IndependentEmissions) and isinstance(self.prior, Real):
            return HiddenMarkovPrior(self.prior, self.prior, [self.prior] * len(model.emissions.parts))
        return self.prior

    def _cells(self, observations: np.ndarray) -> np.ndarray:
        if observations.ndim == 1:
            return super()._cells(observations)
        parts = column_emissions(self.model_.emissions)
        pairs = zip(parts, observations.T.astype(int), strict=True)
        columns = [label_array(part.symbols)[codes] for part, codes in pairs]
        kinds = {column.dtype.kind for column in columns}
        return np.stack(columns, axis=1, dtype=None if len(kinds) == 1 else object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def column_emissions(emissions: Any) -> tuple[Any, ...]:
    """The emissions of each column."""
    return emissions.parts if isinstance(emissions, IndependentEmissions) else (emissions,)
