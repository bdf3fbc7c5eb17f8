"""`independence_test`: a single test, as PC and MMHC run many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from juncture.base.checks import check_iterable, check_kind
from juncture.base.dispatch import one_path
from juncture.base.options import as_generator
from juncture.data.sources.entries import as_lazy_source
from juncture.errors import InvalidData
from juncture.learning.structure.constraints import index_of
from juncture.learning.structure.data import Rows, as_dataset, as_rows, settle
from juncture.learning.structure.independence.tests import as_tester


@one_path
def independence_test(
    data: Any,
    a: str,
    b: str,
    given: str | Iterable[str] | None = (),
    *,
    test: Any = "auto",
    weights: Any = None,
    rng: Any = 0,
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
    rows = read_columns(data, asked, weights)
    tester = as_tester(rows, test, as_generator(rng))
    first, second, *rest = (tester.names.index(name) for name in asked)
    return settle(rows, lambda: float(tester.p_values((first, second), [rest])[0]))


def read_columns(data: Any, names: Sequence[str], weights: Any) -> Rows:
    """These columns of the rows; of a source, no others are read."""
    source = as_lazy_source(data)
    if source is not None:
        name = weights if isinstance(weights, str) else None
        check_names(names, [column for column in source.names if column != name])
        return as_rows(source.only([*names, *(column for column in source.names if column == name)]), None, weights)
    rows = as_dataset(data, None, weights, "a test")
    check_names(names, rows.columns)
    return rows.only(names)


def check_names(names: Sequence[str], known: Iterable[str]) -> None:
    indices = {name: index for index, name in enumerate(known)}
    for name in names:
        index_of(name, indices)
