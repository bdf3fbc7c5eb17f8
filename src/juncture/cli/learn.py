"""`juncture learn`: a network, its structure and its parameters, learned from rows."""

from __future__ import annotations

import sys
from typing import Annotated, Any, TextIO

import typer

from juncture.cli.arguments import AsJson
from juncture.cli.fit import Out
from juncture.cli.output import check_target, console, print_json, save, table
from juncture.cli.progress import steps_shown
from juncture.cli.rows import Missing, RowsFile
from juncture.data.dataset import Dataset
from juncture.data.files import csv_table
from juncture.data.tables import as_table
from juncture.errors import InvalidData
from juncture.graphs.edges import Edge
from juncture.learning.fit import fit
from juncture.learning.structure.learn import learn_structure, named_method

Method = Annotated[
    str,
    typer.Option("--method", help="hill-climbing, ges, pc, exact, mmhc, chow-liu, tree-augmented, structural-em."),
]
Score = Annotated[str, typer.Option("--score", help="What is sought: bic, aic, bdeu, bds, k2, log-likelihood, bge.")]
MaxParents = Annotated[int | None, typer.Option("--max-parents", min=0, help="How many parents at most.")]
Required = Annotated[
    list[str], typer.Option("--require", metavar="A->B", help="An edge that must be there; repeat it.")
]
Forbidden = Annotated[list[str], typer.Option("--forbid", metavar="A->B", help="An edge that must not; repeat it.")]
Tiers = Annotated[
    list[str], typer.Option("--tier", metavar="A,B,…", help="No edge leads from a later tier to an earlier; repeat it.")
]
Target = Annotated[str | None, typer.Option("--target", help="The class, for --method tree-augmented.")]
Prior = Annotated[float, typer.Option("--prior", min=0, help="A pseudo-count for each cell of the tables.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same network.")]
CLASSES = {"pc", "ges"}  # methods that leave directions open unless told
SCORED = {"hill-climbing", "ges", "exact", "mmhc", "chow-liu", "tree-augmented", "structural-em"}


def learn(  # noqa: PLR0913, PLR0917 (one command, many options)
    rows: RowsFile,
    out: Out,
    score: Score = "bic",
    method: Method = "auto",
    max_parents: MaxParents = None,
    require: Required = [],  # noqa: B006
    forbid: Forbidden = [],  # noqa: B006
    tier: Tiers = [],  # noqa: B006
    target: Target = None,
    prior: Prior = 1.0,
    seed: Seed = 0,
    missing: Missing = [],  # noqa: B006
    json: AsJson = False,
) -> None:
    """Learn a network from rows: which graph they want, and its tables.

    Example: juncture learn rows.csv --score bic --out learned.bif
    """
    check_target(out)
    data = Dataset(csv_table(sys.stdin) if rows == "-" else as_table(rows), missing=missing or None)
    options: dict[str, Any] = {
        "required": [as_edge(text) for text in require],
        "forbidden": [as_edge(text) for text in forbid],
        "tiers": [text.split(",") for text in tier],
        "max_parents": max_parents,
    }
    chosen = str(named_method(method, data))
    options |= {"directed": True} if chosen in CLASSES else {}
    options |= {"score": score} if chosen in SCORED else {}
    options |= {} if target is None else {"target": target}
    with steps_shown(f"learning from {len(data):,} rows", "score") as watch:
        graph = learn_structure(data, chosen, rng=seed, progress=watch, **options)
    fitted = fit(graph, data, None if any(one.is_real for one in data.variables) else prior)
    save(fitted.model, out)
    facts = {
        "data": rows,
        "rows": len(data),
        "method": chosen,
        "score": score if chosen in SCORED else None,
        "edges": [list(edge) for edge in graph.edges],
        "log_likelihood": fitted.log_likelihood,
        "written_to": out,
    }
    if json and out != "-":
        print_json(facts)
    else:
        print_facts(facts, len(data.variables), sys.stderr if out == "-" else sys.stdout)


def as_edge(text: str) -> Edge:
    tail, arrow, head = (part.strip() for part in text.partition("->"))
    if not (tail and arrow and head):
        raise InvalidData(f"an edge is written A->B; got {text!r}")
    return tail, head


def print_facts(facts: dict[str, Any], num_variables: int, stream: TextIO) -> None:
    told = {
        "rows": f"{facts['rows']:,}",
        "variables": f"{num_variables:,}",
        "edges": f"{len(facts['edges']):,}",
        "method": facts["method"] + (f", {facts['score']}" if facts["score"] else ""),
        "log-likelihood": f"{facts['log_likelihood']:,.6f}",
        "written to": "standard output" if facts["written_to"] == "-" else facts["written_to"],
    }
    summary = table(f"a network learned from {facts['data']}", "", "")
    for name, text in told.items():
        summary.add_row(name, text)
    out = console(stream)
    out.print(summary)
    for tail, head in facts["edges"]:
        out.print(f"  {tail} -> {head}")
