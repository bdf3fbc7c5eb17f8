"""G² and χ² tests on rows past memory, from tables that passes over the rows count (`StreamedRows`).

Where there is no table yet, a sample of the rows answers: it leads a search on to the tests that it will ask for; see
`StreamedRows.settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from juncture.learning.structure.sets import set_of
from juncture.learning.structure.streamed.counting import arrange_table
from juncture.learning.structure.streamed.rows import StreamedRows

Question = tuple[int, ...]  # the pair, then what is given


class SampleTester(Protocol):
    """The same test on the sample."""

    @property
    def num_rows(self) -> int: ...

    def statistics(
        self, pair: tuple[int, int], conditions: Sequence[Sequence[int]]
    ) -> tuple[np.ndarray, np.ndarray]: ...

    def rows_for_function(self, given: Sequence[int], child: int) -> float: ...


@dataclass(frozen=True, eq=False)
class StreamedTester:
    """As `TableTester`: each test from the table of the pair and the given, or from the sample while there is none."""

    rows: StreamedRows
    kind: int
    sample: SampleTester
    _found: dict[Question, tuple[float, float]] = field(default_factory=dict)
    _functions: dict[Question, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return self.rows.names

    @property
    def num_rows(self) -> int:
        return self.sample.num_rows

    def p_values(self, pair: tuple[int, int], conditions: Sequence[Sequence[int]]) -> np.ndarray:
        from scipy.special import chdtrc

        found = [self._test(pair, given) for given in conditions]
        unknown = [given for given, one in zip(conditions, found, strict=True) if one is None]
        estimates = zip(*self.sample.statistics(pair, unknown), strict=True) if unknown else iter(())
        answers = np.array([next(estimates) if one is None else one for one in found], dtype=float).reshape(-1, 2)
        statistics, degrees = np.maximum(answers[:, 0], 0.0), answers[:, 1]
        return np.where(degrees > 0, chdtrc(np.maximum(degrees, 1.0), statistics), 1.0)

    def _test(self, pair: tuple[int, int], given: Sequence[int]) -> tuple[float, float] | None:
        """The statistic and its degrees of freedom; None where there is no table yet."""
        from juncture.kernels.structure.contingency import add_layers

        key = (*pair, *given)
        if key not in self._found:
            table, sizes = self.rows.table(set_of(key)), self.rows.sizes
            if table is None:
                return None
            layers = arrange_table(table, set_of(key), given, pair, sizes)
            shape = (len(layers), int(sizes[pair[0]]), int(sizes[pair[1]]))
            self._found[key] = add_layers(layers.reshape(shape), self.kind)
        return self._found[key]

    def rows_for_function(self, given: Sequence[int], child: int) -> float:
        key = (child, *sorted(given))
        if key not in self._functions:
            table = self.rows.table(set_of(key))
            if table is None:
                return self.sample.rows_for_function(given, child)
            shown = arrange_table(table, set_of(key), given, [child], self.rows.sizes) > 0
            is_function = (shown.sum(axis=1) <= 1).all() and shown.any(axis=0).sum() > 1
            self._functions[key] = self.rows.weight / shown.any(axis=1).sum() if is_function else 0.0
        return self._functions[key]
