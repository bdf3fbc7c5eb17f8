"""`juncture learn`: a network, its structure and its parameters, learned from rows.

Unknown names of searches, scores and tests and numbers out of range are wrong usage. The edges are printed, with
their strengths if they are asked for.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, TextIO

import typer

from juncture.base.values import few
from juncture.cli.fitted_blocks import is_streamed
from juncture.cli.printing.output import WrongUsage, check_target, console, print_json, print_note, save
from juncture.cli.printing.progress import show_progress
from juncture.cli.printing.tables import table
from juncture.cli.reading.arguments import AsJson, real_number, split_names, whole_number
from juncture.cli.reading.completion import complete_score, complete_search, complete_test
from juncture.cli.reading.row_files import (
    Decimal,
    Ignore,
    KeepColumn,
    Missing,
    Real,
    RowsFile,
    States,
    as_decimal,
    quiet,
)
from juncture.cli.training_rows import Training, read_blocks, read_training_rows
from juncture.errors import LongSearchWarning, hint
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.graph import Edge
from juncture.graphs.text import parse_chains, quote_name
from juncture.learning.structure.data import Cases, names_of
from juncture.learning.structure.independence import TESTS
from juncture.learning.structure.learn import SEARCHES, resolve_method
from juncture.learning.structure.scores.scores import SCORES
from juncture.learning.structure.strength import EdgeStrengths, strengths
from juncture.variables import Variable

Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help=(
            "The file to write; its suffix gives the format; - writes JSON to standard output. Without it, the edges"
            " are printed and no file is written."
        ),
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        autocompletion=complete_search,
        help=(
            "The search: combined (the default: the better of the next two), hill-climbing, ges, pc, exact, mmhc,"
            " chow-liu, tree-augmented (the default with --target), structural-em (the default if values are missing)."
        ),
    ),
]
Score = Annotated[
    str | None,
    typer.Option(
        "--score",
        metavar="NAME",
        autocompletion=complete_score,
        help=(
            "The score to maximise: bic, aic, log-likelihood; where all columns have states also bdeu, bds, k2,"
            " node-average; where all are numbers also bge."
        ),
    ),
]
Test = Annotated[
    str | None,
    typer.Option(
        "--test",
        metavar="NAME",
        autocompletion=complete_test,
        help="The independence test of pc and mmhc: g2, chi2, permutation; for real-valued data fisher-z.",
    ),
]
Level = Annotated[
    float | None,
    typer.Option(
        "--level",
        parser=real_number(),
        metavar="NUMBER",
        help="Significance level of the tests: two variables with a larger p-value count as independent.",
    ),
]
Tabu = Annotated[
    int | None,
    typer.Option(
        "--tabu",
        parser=whole_number(),
        metavar="NUMBER",
        help="Tabu search: stop after this many steps without a better graph.",
    ),
]
Restarts = Annotated[
    int | None,
    typer.Option(
        "--restarts",
        parser=whole_number(),
        metavar="NUMBER",
        help="Random restarts: perturb the best graph and climb again.",
    ),
]
Bins = Annotated[
    int | None,
    typer.Option(
        "--bins",
        parser=whole_number(2),
        metavar="NUMBER",
        help="Cut columns of numbers into this many intervals of equal frequency; few whole numbers stay as they are.",
    ),
]
MaxParents = Annotated[
    int | None,
    typer.Option(
        "--max-parents",
        parser=whole_number(),
        metavar="NUMBER",
        help="The largest number of parents that a variable may have.",
    ),
]
Required = Annotated[
    list[str], typer.Option("--require", metavar="A->B", help="An edge that the graph must have; may be repeated.")
]
Forbidden = Annotated[
    list[str], typer.Option("--forbid", metavar="A->B", help="An edge that the graph must not have; may be repeated.")
]
Tiers = Annotated[
    list[str],
    typer.Option(
        "--tier", metavar="A,B,…", help="A tier: no edge leads from a later tier to an earlier one; may be repeated."
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME",
        help="The variable to predict: the network is a tree-augmented naive Bayes classifier.",
    ),
]
Prior = Annotated[
    float | None,
    typer.Option(
        "--prior",
        parser=real_number(0),
        metavar="NUMBER",
        help="Dirichlet pseudo-count of each table entry; 1 by default.",
    ),
]
Bootstrap = Annotated[
    int | None,
    typer.Option(
        "--bootstrap",
        parser=whole_number(1),
        metavar="NUMBER",
        help="Print the strength of each edge: the share of this many bootstrap samples in which it is learned.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", parser=whole_number(), metavar="NUMBER", help="The same seed gives the same network.")
]
CLASSES = {"pc", "ges"}  # methods that leave directions open unless directed=True
PSEUDO_COUNT = 1.0


def learn(  # noqa: PLR0913, PLR0917 (one command, many options)
    rows: RowsFile,
    out: Out = None,
    score: Score = None,
    method: Method = "auto",
    test: Test = None,
    level: Level = None,
    tabu: Tabu = None,
    restarts: Restarts = None,
    bins: Bins = None,
    real: Real = [],  # noqa: B006
    states: States = [],  # noqa: B006
    keep: KeepColumn = [],  # noqa: B006
    max_parents: MaxParents = None,
    require: Required = [],  # noqa: B006
    forbid: Forbidden = [],  # noqa: B006
    tier: Tiers = [],  # noqa: B006
    target: Target = None,
    prior: Prior = None,
    bootstrap: Bootstrap = None,
    seed: Seed = 0,
    missing: Missing = [],  # noqa: B006
    ignore: Ignore = [],  # noqa: B006
    decimal: Decimal = ".",
    json: AsJson = False,
) -> None:
    """Learn a network from data: first its graph, then its parameters.

    Example: juncture learn rows.csv --score bic --out learned.bif
    """
    if out is not None:
        check_target(out)
    check_choices(method, score, test, level)
    edges = [name for text in (*require, *forbid) for name in as_edge(text)]
    named = [*([] if target is None else [target]), *edges]
    kinds: dict[str, Any] = {"real": real, "states": states, "keep": keep, "named": named}
    if is_streamed(rows, None, decimal):
        training = read_blocks(rows, ignore, bins, missing, **kinds)
    else:
        cells: dict[str, Any] = {"missing": missing or None, "decimal": as_decimal(decimal)}
        training = Training(rows, read_training_rows(rows, ignore, bins, **kinds, **cells))
    data = training.rows
    given = {"score": score, "test": test, "level": level, "tabu": tabu, "restarts": restarts, "target": target}
    search_options = {name: value for name, value in given.items() if value is not None}
    search = str(resolve_method(method, data, search_options))
    check_options(search, search_options)
    options: dict[str, Any] = {
        "required": [as_edge(text) for text in require],
        "forbidden": [as_edge(text) for text in forbid],
        "tiers": [split_names(text, names_of(data)) for text in tier],
        "max_parents": max_parents,
        **({"directed": True} if search in CLASSES else {}),
        **search_options,
    }
    with quiet():  # notes have named the columns
        warnings.simplefilter("ignore", LongSearchWarning)  # a note has said it, with the option
        found = training.search(search, seed, options)
        fitted = training.fit(found.graph, prior_for(data, prior))
    shares = None if bootstrap is None else find_strengths(data, search, bootstrap, seed, options)
    if out is not None:
        save(fitted.model, out)
    facts = {
        "data": rows,
        "rows": training.num_rows,
        "method": found.method,
        "score": score or getattr(SEARCHES[search], "score", None),
        "scores": found.scores,
        "edges": [list(edge) for edge in found.graph.edges],
        "cuts": {variable.name: list(variable.cuts) for variable in data.variables if variable.cuts is not None},
        **({} if shares is None else {"strengths": list_strengths(found.graph, shares)}),
        "log_likelihood": fitted.log_likelihood,
        "written_to": out,
    }
    if json and out != "-":
        print_json(facts)
    else:
        print_facts(facts, data.variables, sys.stderr if out == "-" else sys.stdout)


def prior_for(data: Cases, prior: float | None) -> float | None:
    """The pseudo-count of tables; where all columns are numbers there are none, and --prior is ignored with a note."""
    if not all(variable.is_real for variable in data.variables):
        return PSEUDO_COUNT if prior is None else prior
    if prior is not None:
        print_note("note: --prior is ignored: it is for tables, and these columns are numbers")
    return None


def as_edge(text: str) -> Edge:
    """`A->B`; names that hold an arrow stand between double quotes."""
    if '"' in text:
        links, _ = parse_chains(text, ("->",))
        ends = [end for link in links for end in (link.tail, link.head)]
    else:
        ends = [part.strip() for part in text.split("->")]
    if len(ends) != 2 or not all(ends):
        raise WrongUsage(f'an edge is written A->B, or "A"->"B" where a name holds an arrow; got {text!r}')
    return ends[0], ends[1]


def print_facts(facts: dict[str, Any], variables: Sequence[Variable], stream: TextIO) -> None:
    lines = {
        "rows": f"{facts['rows']:,}",
        "variables": f"{len(variables):,}",
        **({"in intervals": few(facts["cuts"])} if facts["cuts"] else {}),
        "edges": f"{len(facts['edges']):,}",
        "method": facts["method"] + (f", {facts['score']}" if facts["score"] else ""),
        **{f"{facts['score']} by {name}": f"{score:,.6f}" for name, score in facts["scores"].items()},
        "log-likelihood": f"{facts['log_likelihood']:,.6f}",
    }
    if facts["written_to"] is not None:
        lines["written to"] = "standard output" if facts["written_to"] == "-" else facts["written_to"]
    summary = table(f"a network learned from {facts['data']}", "", "")
    for name, text in lines.items():
        summary.add_row(name, text)
    out = console(stream)
    out.print(summary)
    print_edges(out, facts["edges"], facts.get("strengths"))
    constants = [variable.name for variable in variables if not variable.is_real and variable.num_states == 1]
    if constants:
        out.print()
        out.print(
            f"note: these columns have one value in all rows, so that no edge can be learned: {', '.join(constants)}"
        )


def check_choices(method: str, score: str | None, test: str | None, level: float | None) -> None:
    """Check that the method, the score and the test are known, and that the level lies between 0 and 1."""
    named: list[tuple[str, str | None, Iterable[str]]] = [
        ("--method", method, ("auto", *SEARCHES)),
        ("--score", score, SCORES),
        ("--test", test, TESTS),
    ]
    for option, choice, known in named:
        if choice is not None and choice not in known:
            raise typer.BadParameter(f"there is no {choice!r}; {hint(choice, known)}", param_hint=option)
    if level is not None and not 0 < level < 1:
        raise typer.BadParameter(f"the level of a test lies between 0 and 1; got {level}", param_hint="--level")


def check_options(method: str, options: Mapping[str, Any]) -> None:
    """Check that the method takes every given option, and that every option it needs is given."""
    for name in options:
        if name not in options_of(method):
            takers = ", ".join(other for other in SEARCHES if name in options_of(other))
            raise typer.BadParameter(
                f"--method {method} does not take this option; these methods do: {takers}", param_hint=f"--{name}"
            )
    if "target" in options_of(method) and "target" not in options:
        raise typer.BadParameter(
            f"--method {method} needs the class variable: give the name of its column", param_hint="--target"
        )


def options_of(method: str) -> set[str]:
    kind: Any = SEARCHES[method]
    return {field.name for field in fields(kind)}


def find_strengths(data: Cases, method: str, samples: int, seed: int, options: Mapping[str, Any]) -> EdgeStrengths:
    with show_progress(f"learning from {samples:,} bootstrap samples", "share") as progress:
        return strengths(data, method, draws=samples, rng=seed, progress=progress, **options)


def list_strengths(graph: DirectedGraph, shares: EdgeStrengths) -> list[dict[str, Any]]:
    """The strength of each edge of the graph, and the share of its direction in it."""
    places = {name: place for place, name in enumerate(shares.names)}
    listed = []
    for tail, head in graph.edges:
        pair = places[tail], places[head]
        strength = float(shares.joined[pair])
        direction = float(shares.directed[pair]) / strength if strength else None
        listed.append({"edge": [tail, head], "strength": strength, "direction": direction})
    return listed


def print_edges(out: Any, edges: Sequence[Sequence[str]], strengths: Sequence[Mapping[str, Any]] | None) -> None:
    """The edges, with their strengths if they were asked for."""
    if strengths is None:
        for tail, head in edges:
            out.print(f"  {quote_name(tail)} -> {quote_name(head)}")
        return
    columns = table("", "edge", "strength", "this direction", numeric=("strength", "this direction"))
    for found in strengths:
        tail, head = found["edge"]
        direction = "" if found["direction"] is None else f"{found['direction']:.2f}"
        columns.add_row(f"{quote_name(tail)} -> {quote_name(head)}", f"{found['strength']:.2f}", direction)
    out.print(columns)
