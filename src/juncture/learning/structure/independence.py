"""Tests of independence: how surprising the data would be if two variables were independent, given others.

`independence_test` runs a single test; PC and MMHC run many. On an oracle (a graph, a joint table, a function) the
answer is certain: 1 for independent, 0 for dependent.

On rows past memory the G² and χ² tests are computed from tables that passes over the rows count (`StreamedRows`). Where
there is no table yet, a sample of the rows answers: it leads a search on to the tests that it will ask for; see
`StreamedRows.settle`.

Where a variable is a function of others in the rows, tests say little. It is independent of all others given the
variables that determine it, whatever its neighbours are. So such a set separates the variable from another one only
where every member of the set is adjacent to that other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import sqrt
from typing import Any, Protocol

import numpy as np

from juncture.base.checks import check_iterable, check_kind, shown
from juncture.base.dispatch import one_path
from juncture.base.options import as_generator, resolve
from juncture.data.dataset import Dataset
from juncture.data.sources.entries import as_lazy_source
from juncture.errors import DeterministicRelationWarning, InvalidData, Unsupported, warn_user
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.independence import Oracle
from juncture.graphs.separation import SeparationSets
from juncture.learning.structure.constraints import check_whole, index_of
from juncture.learning.structure.data import (
    Cases,
    cases_in_memory,
    check_complete,
    check_same_kind,
    read_cases,
    settle,
)
from juncture.learning.structure.scores.discrete import CodedRows, OverCodedRows
from juncture.learning.structure.scores.gaussian import Moments
from juncture.learning.structure.sets import set_of
from juncture.learning.structure.streamed.counting import arrange_table
from juncture.learning.structure.streamed.streamed_rows import StreamedRows
from juncture.learning.structure.streamed.sums import SummedRows

KINDS = ("likelihood ratio", "chi squared")  # by the numbers they have in the kernel
NOTHING_LEFT = 1e-10  # a share of the variance that is rounding
SHOWN = 3  # functions that the warning names
MOST = 3  # parents of a function that is looked for
ENOUGH = 10.0  # rows for each combination of states, before chance is no explanation
Question = tuple[int, ...]  # the pair, then what is given


@one_path
def independence_test(
    data: Any,
    a: str,
    b: str,
    given: str | Iterable[str] | None = (),
    *,
    test: Any = "auto",
    weights: Any = None,
    rng: Any = None,
) -> float:
    """The p-value of a test that two columns are independent given others: small where rows contradict independence.

    Parameters
    ----------
    data
        What `Dataset` takes, or a source of rows past memory, as in `learn_structure`.
    a, b, given
        The names of the two columns, and of the columns to condition on.
    test
        The name of a test, or a test such as `PermutationTest(1000)`. "auto" is "g2" for columns with states and
        "fisher-z" for numbers.
    weights
        The weight of each row.
    rng
        A seed or a generator, for permutation tests.

    Returns
    -------
    float
        The p-value; 1 where one of the two columns is constant, or a function of the given columns.

    Examples
    --------
    >>> rows = {"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9, "c": [0, 1, 0, 1] * 9}
    >>> independence_test(rows, "a", "c"), independence_test(rows, "a", "b") < 0.001
    (1.0, True)
    """
    others = () if given is None else [given] if isinstance(given, str) else check_iterable(given, "given")
    asked = [check_kind(name, str, "the name of a column") for name in (a, b, *others)]
    if len(set(asked)) < len(asked):
        raise InvalidData(f"a, b and given must be different columns; got {', '.join(map(repr, asked))}")
    rows = read_case_columns(data, asked, weights)
    tester = as_tester(rows, test, as_generator(rng))
    first, second, *rest = (tester.names.index(name) for name in asked)
    return settle(rows, lambda: float(tester.p_values((first, second), [rest])[0]))


def read_case_columns(data: Any, names: Sequence[str], weights: Any) -> Cases:
    """These columns of the rows; of a source, no others are read."""
    source = as_lazy_source(data)
    if source is not None:
        name = weights if isinstance(weights, str) else None
        check_names(names, [column for column in source.names if column != name])
        return read_cases(source.only([*names, *(column for column in source.names if column == name)]), None, weights)
    rows = cases_in_memory(data, None, weights, "a test")
    check_names(names, rows.columns)
    return rows.only(names)


def check_names(names: Sequence[str], known: Iterable[str]) -> None:
    indices = {name: index for index, name in enumerate(known)}
    for name in names:
        index_of(name, indices)


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

    def on(self, data: Cases, rng: np.random.Generator) -> Tester:
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

    def on(self, data: Cases, rng: np.random.Generator) -> Tester:
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


# --- tables of rows past memory --------------------------------------------------------------------------------------


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


# --- real variables --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FisherZTest:
    """The partial correlation, brought to a normal scale: √(n - |given| - 3) · artanh r (Fisher 1921)."""

    def on(self, data: Cases, rng: np.random.Generator) -> Tester:
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


# --- by name ---------------------------------------------------------------------------------------------------------


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
        raise Unsupported(
            f"a test is a name such as 'g2', or an object such as jt.structure.GSquaredTest(); got {shown(test)}"
        )
    tester: Tester = wanted.on(source, rng)
    return tester


# --- variables that are functions of others --------------------------------------------------------------------------


def warn_of_functions(tester: Tester, adjacent: np.ndarray) -> None:
    """Warn of variables that are functions of their neighbours."""
    found = list(find_functions(tester, adjacent))
    if found:
        names = tester.names
        named = [
            f"{names[child]!r} of {', '.join(repr(names[one]) for one in given)}" for child, given in found[:SHOWN]
        ]
        warn_user(
            f"in these rows some variables are functions of others: {'; '.join(named)}{'; …' if found[SHOWN:] else ''};"
            " tests cannot tell which of them an edge belongs to, so that edges may be missing or superfluous:"
            " a score can (method='ges' or 'hill-climbing')",
            DeterministicRelationWarning,
        )


def find_functions(tester: Tester, adjacent: np.ndarray) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(child, given): for each such child, the first of the smallest sets of neighbours that determine the child."""
    for child, around in enumerate(adjacent):
        near = np.flatnonzero(around).tolist()
        if near and tester.rows_for_function(near, child):  # else the child is no function of a subset either
            sets = (given for size in range(1, MOST + 1) for given in combinations(near, size))
            found = next((given for given in sets if tester.rows_for_function(given, child) >= ENOUGH), None)
            if found is not None:
                yield child, found


def determined_by(tester: Tester, children: Sequence[int], given: Sequence[int]) -> list[int]:
    """The children that are functions of the given: a test of such a child given these says nothing."""
    return [one for one in children if given and tester.rows_for_function(given, one) >= ENOUGH]
