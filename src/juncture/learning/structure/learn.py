"""`learn_structure` and `search`: a graph learned from data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any

import numpy as np

from juncture.base.dispatch import one_path
from juncture.base.options import as_generator, as_seed, resolve, used_seed
from juncture.data.column_kinds import warn_identifiers
from juncture.data.dataset import Dataset
from juncture.data.sources.entries import with_kinds
from juncture.errors import InvalidData, LongSearchWarning, NotConvergedWarning, Unsupported, hint, warn_user
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.independence import HasIndependence, HasSeparation, as_oracle
from juncture.learning.structure.data import Cases, read_cases
from juncture.learning.structure.forecast import forecast
from juncture.learning.structure.independence import OracleTester, SeparationTester
from juncture.learning.structure.scores.scores import takes_holes
from juncture.learning.structure.searches.combined import CombinedSearch, SearchResult
from juncture.learning.structure.searches.exact import ExactSearch
from juncture.learning.structure.searches.ges import GES
from juncture.learning.structure.searches.hill_climbing import HillClimbing
from juncture.learning.structure.searches.interruption import SearchInterrupted
from juncture.learning.structure.searches.mmhc import MMHC
from juncture.learning.structure.searches.pc import PC
from juncture.learning.structure.searches.structural_em import StructuralEM
from juncture.learning.structure.searches.trees import ChowLiu, TreeAugmented
from juncture.learning.structure.streamed.streamed_rows import StreamedRows
from juncture.numerics.iteration import ProgressCallback, check_progress
from juncture.variables import Scope, Variable

SEARCHES: dict[str, Callable[..., Any]] = {
    "hill-climbing": HillClimbing,
    "chow-liu": ChowLiu,
    "tree-augmented": TreeAugmented,
    "pc": PC,
    "ges": GES,
    "exact": ExactSearch,
    "mmhc": MMHC,
    "structural-em": StructuralEM,
    "combined": CombinedSearch,
}


@one_path
def learn_structure(
    data: Any,
    method: Any = "auto",
    *,
    variables: Iterable[Variable] | None = None,
    weights: Any = None,
    real: Iterable[str] = (),
    states: Iterable[str] = (),
    rng: Any = None,
    progress: ProgressCallback | None = None,
    **options: Any,
) -> Any:
    """Learn a graph from data.

    Ctrl-C keeps the best graph so far, which a `NotConvergedWarning` says, where the search climbs: hill climbing,
    GES, the combined search, structural EM.

    Parameters
    ----------
    data
        What `Dataset` takes, or a source of rows: past memory, tables are counted in passes over the distinct rows, and
        real columns are summed up. Columns may have states, be real, or both; an edge never leads from a real column to
        one with states. PC also learns from an oracle: a graph, whose separations answer the tests, or a joint table.
    method
        The name of a search, or a search such as `HillClimbing(score="bdeu", tabu=10)`. "auto" is `CombinedSearch`, the
        best of hill climbing and GES, structural EM where rows have missing cells, and `TreeAugmented` where a `target`
        is given.
    variables
        Variables whose states are declared, also those that no row shows.
    weights
        The weight of each row.
    real, states
        The columns that are real-valued, and those whose different values are states, as of a `Dataset`.
    rng
        A seed or a generator: the same seed gives the same graph.
    progress
        A function of the step and the score, called after each step; past memory, when all tables are counted. Where
        it is given, a `LongSearchWarning` says beforehand that a search will take longer than half a minute.
    **options
        The options of the search, such as `score`, `required`, `forbidden`, `tiers` and `max_parents`.

    Returns
    -------
    DirectedGraph or PartiallyDirectedGraph
        PC and GES give a `PartiallyDirectedGraph`, the equivalence class, unless `directed=True`.

    Examples
    --------
    >>> data = {"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9, "c": [0, 1, 0, 1] * 9}
    >>> learn_structure(data)
    DirectedGraph('a -> b; c')
    >>> learn_structure(data, "chow-liu", root="c").edges
    (('c', 'a'), ('a', 'b'))
    """
    found = search(
        data,
        method,
        variables=variables,
        weights=weights,
        real=real,
        states=states,
        rng=rng,
        progress=progress,
        **options,
    )
    return found.graph


def search(
    data: Any,
    method: Any = "auto",
    *,
    variables: Iterable[Variable] | None = None,
    weights: Any = None,
    real: Iterable[str] = (),
    states: Iterable[str] = (),
    rng: Any = None,
    progress: ProgressCallback | None = None,
    **options: Any,
) -> SearchResult:
    """Learn a graph from data as `learn_structure` does, and report which search found the graph.

    Parameters
    ----------
    data, method, variables, weights, real, states, rng, progress, **options
        As in `learn_structure`.

    Returns
    -------
    SearchResult
        The graph, the name of the search that found it, and the scores that the searches reached.

    Examples
    --------
    >>> data = {"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9, "c": [0, 1, 0, 1] * 9}
    >>> found = search(data)
    >>> found.graph, found.method, list(found.scores)
    (DirectedGraph('a -> b; c'), 'hill-climbing', ['hill-climbing', 'ges', 'restarts'])
    """
    check_progress(progress)
    declared = None if variables is None else Scope(variables)
    oracle = as_oracle_tester(data, declared)
    if oracle is None:
        data = with_kinds(data, real, states, declared.names if declared else ())
    source = oracle or read_cases(data, declared, weights)
    if isinstance(source, Dataset):
        warn_identifiers(source, declared.names if declared else ())
    search = resolve_search(resolve_method(method, source, options), options)
    if isinstance(source, OracleTester) and not isinstance(search, PC):
        raise Unsupported(f"{type(search).__name__} scores rows; only PC can learn from an oracle")
    if progress is not None and (ahead := forecast(search, source)) is not None:
        warn_user(ahead.text("score='node-average'"), LongSearchWarning)
    seed = as_seed(rng)
    generator = as_generator(seed)
    if isinstance(source, StreamedRows):
        found = run_in_passes(search, source, generator, progress)
    else:
        try:
            found = run_search(search, source, generator, progress)
        except SearchInterrupted as stop:
            warn_user(f"{stop.text}; the graph is the best so far", NotConvergedWarning)
            found = SearchResult(stop.graph, name_of(search))
    return found.with_seed(used_seed(seed, generator))


def run_in_passes(
    search: Any, rows: StreamedRows, rng: np.random.Generator, progress: ProgressCallback | None
) -> SearchResult:
    """The result of the run that saw counts of all rows alone, and its steps: earlier runs leave no trace."""
    start = rng.bit_generator.state
    steps: list[tuple[int, float]] = []

    def run() -> SearchResult:
        rng.bit_generator.state = start
        steps.clear()
        return run_search(search, rows, rng, lambda *step: steps.append(step))

    found = rows.settle(run)
    if progress is not None:
        for step in steps:
            progress(*step)
    return found


def run_search(
    search: Any, source: Cases | OracleTester, rng: np.random.Generator, progress: ProgressCallback | None
) -> SearchResult:
    if isinstance(search, CombinedSearch):
        return search.compare(source, rng=rng, progress=progress)  # type: ignore[arg-type]
    return SearchResult(search.run(source, rng=rng, progress=progress), name_of(search))


def name_of(search: Any) -> str:
    return next(name for name, kind in SEARCHES.items() if type(search) is kind)


def resolve_method(
    method: Any, source: Cases | OracleTester, options: Mapping[str, Any], default: str = "combined"
) -> Any:
    """The method that "auto" stands for; a target asks for its classifier, and a score that takes holes needs no EM."""
    if not isinstance(method, str) or method != "auto":
        return method
    if isinstance(source, OracleTester):
        return "pc"
    if options.get("target") is not None:
        return "tree-augmented"
    if source.is_complete:
        return default
    return "hill-climbing" if takes_holes(options.get("score")) else "structural-em"


def resolve_search(method: Any, options: dict[str, Any]) -> Any:
    """The search that a name and options, or an object, stand for."""
    kind = SEARCHES.get(method, method) if isinstance(method, str) else method
    if isinstance(kind, type) and kind in SEARCHES.values():
        check_options(kind, options)
        for field in fields(kind):
            if field.default is MISSING and field.name not in options:
                raise Unsupported(f"{kind.__name__} needs {field.name}: give {field.name}=…")
        return kind(**options)
    search = resolve(kind, SEARCHES, what="method")
    if type(search) not in SEARCHES.values():
        raise Unsupported(f"a method is a name or a search such as HillClimbing(); got {method!r}")
    check_options(type(search), options)
    return replace(search, **options)


def check_options(kind: Any, options: dict[str, Any]) -> None:
    known = [field.name for field in fields(kind)]
    for name in options:
        if name not in known:
            raise Unsupported(f"{kind.__name__} has no option {name!r}; {hint(name, known)}")


def as_oracle_tester(source: Any, variables: Iterable[Variable] | None) -> OracleTester | None:
    """An oracle with the names that it knows; None for data."""
    if isinstance(source, DirectedGraph):
        return SeparationTester.of(source)
    is_oracle = callable(source) or isinstance(source, HasSeparation | HasIndependence)
    if isinstance(source, Dataset) or not is_oracle:
        return None
    named = getattr(source, "nodes", None) or getattr(getattr(source, "scope", None), "names", None)
    names = named or tuple(variable.name for variable in Scope(() if variables is None else variables))
    if not names:
        raise InvalidData("an oracle that is a function has no names of variables: give variables=[…]")
    return OracleTester(tuple(names), as_oracle(source))
