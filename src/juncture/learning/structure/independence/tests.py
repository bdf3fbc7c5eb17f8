"""Tests of independence: how surprising the data would be if two variables were independent, given others.

On an oracle (a graph, a joint table, a function) the answer is certain: 1 for independent, 0 for dependent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Protocol

import numpy as np

from juncture.base.checks import shown
from juncture.base.options import resolve
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, Unsupported
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.independence import Oracle
from juncture.graphs.separation_sets import SeparationSets
from juncture.learning.structure.constraints import check_whole
from juncture.learning.structure.data import Rows, check_complete, check_same_kind
from juncture.learning.structure.independence.streamed import StreamedTester
from juncture.learning.structure.scores.discrete import CodedRows, OverCodedRows
from juncture.learning.structure.scores.gaussian import Moments
from juncture.learning.structure.sets import set_of
from juncture.learning.structure.streamed.rows import StreamedRows
from juncture.learning.structure.streamed.sums import SummedRows

KINDS = ("likelihood ratio", "chi squared")  # by the numbers they have in the kernel
NOTHING_LEFT = 1e-10  # a share of the variance that is rounding


class Tester(Protocol):
    """A test on given data: p-values for two variables given each of several sets, all by position."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def num_rows(self) -> int:
        """How many rows a test looks at, while others may test on other cores; 0 for those that cannot."""
        ...

    def p_values(self, pair: tuple[int, int], conditions: Sequence[Sequence[int]]) -> np.ndarray:
        """A p-value for each set; the sets must be equally large. It is 1 where there is nothing to compare."""
        ...

    def rows_for_function(self, given: Sequence[int], child: int) -> float:
        """Where the child is a function of the given in these rows, how many there are for each combination; else 0."""
        ...


# --- tables ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GSquaredTest:
    """G² = 2 n · mutual information, as χ² with a degree of freedom for each cell that can occur."""

    kind = "likelihood ratio"

    def on(self, data: Rows, rng: np.random.Generator) -> Tester:
        if isinstance(data, StreamedRows):
            check_complete(data)
            kind = KINDS.index(self.kind)
            return data.keep(self.kind, lambda: StreamedTester(data, kind, self.on_rows(data.sample)))
        return self.on_rows(data)

    def on_rows(self, data: Dataset | SummedRows) -> TableTester:
        return TableTester(as_coded_rows(data), KINDS.index(self.kind))


@dataclass(frozen=True)
class ChiSquaredTest(GSquaredTest):
    """Pearson's χ² = Σ (n - expected)² / expected, with a degree of freedom for each cell that can occur."""

    kind = "chi squared"


@dataclass(frozen=True, eq=False)
class TableTester(OverCodedRows):
    kind: int

    def p_values(self, pair: tuple[int, int], conditions: Sequence[Sequence[int]]) -> np.ndarray:
        from scipy.special import chdtrc

        statistics, degrees = self.statistics(pair, conditions)
        return np.where(degrees > 0, chdtrc(np.maximum(degrees, 1.0), statistics), 1.0)

    def rows_for_function(self, given: Sequence[int], child: int) -> float:
        from juncture.kernels.structure.local_scores import number_parents

        self.rows.check_table([child], given)
        numbers, size = np.empty(self.num_rows, np.int64), self.rows.sizes[child]
        count = number_parents(self.rows.codes, self.rows.sizes, np.array(given, dtype=np.int64), numbers)
        cells = numbers * size + self.rows.codes[child]
        shown = np.bincount(cells, self.rows.weights, minlength=count * size).reshape(count, size) > 0
        is_function = (shown.sum(axis=1) <= 1).all() and shown.any(axis=0).sum() > 1
        return float(self.rows.weights.sum() / shown.any(axis=1).sum()) if is_function else 0.0

    def statistics(self, pair: tuple[int, int], conditions: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
        from juncture.kernels.structure.contingency import test_pair

        if not self.rows.has_small_tables:
            for one in conditions:
                self.rows.check_table(pair, one)
        given = np.array(conditions, dtype=np.int64).reshape(len(conditions), -1)
        statistics, degrees = np.empty(len(given)), np.empty(len(given))
        rows = (self.rows.codes, self.rows.weights, self.rows.sizes)
        test_pair(*rows, np.array(pair, dtype=np.int64), given, self.kind, statistics, degrees)
        return np.maximum(statistics, 0.0), degrees


def as_coded_rows(data: Dataset | SummedRows) -> CodedRows:
    if isinstance(data, SummedRows) or any(variable.is_real for variable in data.variables):
        raise Unsupported("G² and χ² are tests of variables with states; for real ones there is test='fisher-z'")
    return CodedRows.of(data)


@dataclass(frozen=True)
class PermutationTest:
    """G² compared with G² after shuffling one variable among rows with equal given values: exact in small samples."""

    num_shuffles: int = 1000

    def __post_init__(self) -> None:
        check_whole(self.num_shuffles, "num_shuffles", least=1)

    def on(self, data: Rows, rng: np.random.Generator) -> Tester:
        if not isinstance(data, Dataset):
            raise Unsupported("rows past memory cannot be shuffled; take another test, as 'auto' does")
        if data.weights is not None:
            raise Unsupported("rows with weights cannot be shuffled; take test='g2'")
        rows = as_coded_rows(data)
        codes = np.array(data.arrays, dtype=rows.codes.dtype).reshape(len(rows.names), len(data))
        return PermutationTester(rows, codes, self.num_shuffles, int(rng.integers(2**62)))


@dataclass(frozen=True, eq=False)
class PermutationTester(OverCodedRows):
    codes: np.ndarray  # of all rows, not only of different ones
    num_shuffles: int
    seed: int

    def p_values(self, pair: tuple[int, int], conditions: Sequence[Sequence[int]]) -> np.ndarray:
        observed, _ = TableTester(self.rows, 0).statistics(pair, conditions)
        return np.array([self._p_value(pair, given, one) for given, one in zip(conditions, observed, strict=True)])

    def rows_for_function(self, given: Sequence[int], child: int) -> float:
        return TableTester(self.rows, 0).rows_for_function(given, child)

    def _p_value(self, pair: tuple[int, int], given: Sequence[int], observed: float) -> float:
        """(1 + shuffles that depart as far) / (1 + shuffles); the stream depends on the question alone."""
        from juncture.kernels.structure.contingency import permuted_statistics
        from juncture.kernels.structure.local_scores import number_parents

        first, second = sorted(pair)
        numbers = np.empty(self.codes.shape[1], np.int64)
        count = number_parents(self.codes, self.rows.sizes, np.array(sorted(given), dtype=np.int64), numbers)
        rng = np.random.default_rng([self.seed, first, second, *sorted(given)])
        uniforms = rng.random((self.num_shuffles, len(numbers)))
        sizes = (self.rows.sizes[first], self.rows.sizes[second])
        columns = (self.codes[first], self.codes[second], *sizes, numbers, count)
        found = permuted_statistics(*columns, np.argsort(numbers, kind="stable"), 0, uniforms)
        return float((1 + np.sum(found >= observed - 1e-9 * max(observed, 1.0))) / (1 + self.num_shuffles))


# --- real variables --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FisherZTest:
    """The partial correlation, brought to a normal scale: √(n - |given| - 3) · artanh r (Fisher 1921)."""

    def on(self, data: Rows, rng: np.random.Generator) -> Tester:
        if isinstance(data, StreamedRows) or not all(variable.is_real for variable in data.variables):
            raise Unsupported("Fisher's z is a test of real variables; for those with states there is test='g2'")
        return CorrelationTester(Moments.of(data))


@dataclass(frozen=True, eq=False)
class CorrelationTester:
    moments: Moments
    num_rows = 0

    @property
    def names(self) -> tuple[str, ...]:
        return self.moments.names

    def p_values(self, pair: tuple[int, int], conditions: Sequence[Sequence[int]]) -> np.ndarray:
        return np.array([self._p_value([*pair, *given]) for given in conditions])

    def _p_value(self, positions: list[int]) -> float:
        from scipy.special import erfc

        freedom = self.moments.weight - len(positions) - 1
        if freedom <= 0:
            raise InvalidData(f"Fisher's z needs more than {len(positions) + 1} rows to test {len(positions)} columns")
        left = self._left(positions[:2], positions[2:])
        if min(left[0, 0], left[1, 1]) < NOTHING_LEFT:
            return 1.0
        correlation = min(abs(left[0, 1]) / sqrt(left[0, 0] * left[1, 1]), 1.0 - 1e-15)
        return float(erfc(sqrt(freedom) * np.arctanh(correlation) / sqrt(2.0)))

    def _left(self, positions: Sequence[int], given: Sequence[int]) -> np.ndarray:
        """The covariances of standardised columns that lines through the given leave."""
        everyone = [*positions, *given]
        scatter = self.moments.scatter[np.ix_(everyone, everyone)]
        scale = np.sqrt(scatter.diagonal())
        scale[scale == 0.0] = 1.0
        standard = scatter / np.outer(scale, scale)
        own, rest = slice(len(positions)), slice(len(positions), None)
        slopes = standard[own, rest] @ np.linalg.pinv(standard[rest, rest], hermitian=True)
        return standard[own, own] - slopes @ standard[rest, own]

    def rows_for_function(self, given: Sequence[int], child: int) -> float:
        is_function = self.moments.scatter[child, child] > 0 and self._left([child], given)[0, 0] < NOTHING_LEFT
        return max(self.moments.weight - len(given), 0.0) if is_function else 0.0


# --- certainty -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OracleTester:
    """p-values of 1 and 0, by the separations of a graph or the independencies of a joint table."""

    names: tuple[str, ...]
    oracle: Oracle
    num_rows = 0

    def p_values(self, pair: tuple[int, int], conditions: Sequence[Sequence[int]]) -> np.ndarray:
        a, b = ({self.names[index]} for index in pair)
        return np.array([float(self.oracle(a, b, {self.names[index] for index in given})) for given in conditions])

    def rows_for_function(self, given: Sequence[int], child: int) -> float:
        return 0.0


@dataclass(frozen=True, eq=False)
class SeparationTester(OracleTester):
    """The same for the separations of a directed graph, computed many at a time."""

    separations: SeparationSets

    @classmethod
    def of(cls, graph: DirectedGraph) -> SeparationTester:
        return cls(graph.nodes, graph.is_separated, SeparationSets(graph))

    def p_values(self, pair: tuple[int, int], conditions: Sequence[Sequence[int]]) -> np.ndarray:
        sets = [set_of(given) for given in conditions]
        return np.array([float(self.separations.is_separated(*pair, given)) for given in sets])


TESTS: dict[str, Callable[[], Any]] = {
    "g2": GSquaredTest,
    "mutual-information": GSquaredTest,
    "chi2": ChiSquaredTest,
    "permutation": PermutationTest,
    "fisher-z": FisherZTest,
}


def as_tester(source: Any, test: Any, rng: np.random.Generator) -> Tester:
    """The test on the data, by itself one that fits their kind; an oracle answers by itself."""
    if isinstance(source, OracleTester):
        return source
    check_same_kind(source)
    if isinstance(test, str) and test == "auto":
        test = "fisher-z" if any(variable.is_real for variable in source.variables) else "g2"
    wanted = None if test is None else resolve(test, TESTS, what="test")
    if wanted is None or type(wanted) not in TESTS.values():
        raise Unsupported(f"a test is a name such as 'g2', or an object such as GSquaredTest(); got {shown(test)}")
    tester: Tester = wanted.on(source, rng)
    return tester
