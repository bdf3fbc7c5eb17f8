"""`juncture info`: the size of a network and the cost of inference; other models; tables of rows.

Of a table there are its columns, and which cells are missing together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from juncture.base.values import few, number_of, short
from juncture.cli.printing.model_facts import facts_of_model
from juncture.cli.printing.output import WrongUsage, console, is_table, print_json
from juncture.cli.printing.tables import table
from juncture.cli.reading.arguments import AsJson, Normalize, load_model
from juncture.cli.reading.completion import complete_network
from juncture.cli.reading.kept_columns import as_dataset, as_written
from juncture.cli.reading.row_files import Missing, advise_option, findings_without, quiet, read_table
from juncture.data.column_kinds import Summary, name_kind
from juncture.data.dataset import Dataset
from juncture.data.missingness import missingness
from juncture.data.tables.coding import as_coding, mark_missing
from juncture.data.tables.table import Table
from juncture.data.usable_columns import read_usable
from juncture.drawing.text import format_percentage
from juncture.errors import Unsupported
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorProduct
from juncture.networks.lint import lint
from juncture.runtime.memory import format_bytes
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.networks.factor_product import FactorGraph, MarkovNetwork
    from juncture.networks.pairwise.model import PairwiseNetwork

NetworkOrRows = Annotated[
    str,
    typer.Argument(
        metavar="NETWORK",
        autocompletion=complete_network,
        help="A model file, the name of a bundled network such as asia, - for JSON on standard input, or a CSV or"
        " Parquet file of rows.",
    ),
]
MAX_REMARKS = 10
COUNTED_DIGITS = 15  # longer numbers are printed as powers of ten


def info(
    network: NetworkOrRows,
    missing: Missing = [],  # noqa: B006
    normalize: Normalize = False,
    json: AsJson = False,
) -> None:
    """Print the size of a network and the cost of exact inference, or the columns and missing cells of a table.

    Zero probabilities and impossible states are noted. Of a model of another kind, print its kind and its sizes.

    Example: juncture info asia
    """
    if is_table(network):
        print_table(network, missing, json)
        return
    if missing:
        raise WrongUsage(f"--missing is for tables of rows, and {network} is none")
    model = load_model(network, normalize=normalize)
    is_network = isinstance(model, BayesianNetwork | FactorProduct)
    facts = collect_facts(model) if is_network else facts_of_model(model)
    remarks = lint(model) if isinstance(model, BayesianNetwork) else []
    if json:
        print_json({"network": network, **facts, "remarks": remarks})
        return
    summary = table(network, "", "")
    for name, value in facts.items():
        summary.add_row(name.replace("_", " "), format_fact(name, value))
    out = console()
    out.print(summary)
    for remark in remarks[:MAX_REMARKS]:
        out.print(f"note: {remark}")
    if len(remarks) > MAX_REMARKS:
        out.print(f"note: … and {len(remarks) - MAX_REMARKS} more; --json lists all")


def print_table(rows: str, missing: list[str], json: bool) -> None:
    facts = collect_table_facts(rows, missing)
    if json:
        print_json({"table": rows, **facts})
    else:
        print_table_facts(rows, facts)


def collect_facts(model: BayesianNetwork | MarkovNetwork | FactorGraph | PairwiseNetwork) -> dict[str, Any]:
    sizes = [variable.num_states for variable in model.variables if not variable.is_real]
    num_real = len(model.variables) - len(sizes)
    facts: dict[str, Any] = {
        "kind": type(model).__name__,
        "variables": len(model.variables),
        **({"real_variables": num_real} if num_real else {}),
        "edges": len(model.graph.edges),
        "states_per_variable": {"least": min(sizes), "most": max(sizes)} if sizes else None,
        **({} if num_real else {"joint_parameters": joint_parameters(sizes)}),
        **cost_facts(model),
    }
    return {
        **facts,
        **(directed_facts(model) if isinstance(model, BayesianNetwork) else {"factors": len(model.factors)}),
    }


def format_fact(name: str, value: Any) -> str:
    """A fact as people read it; beside numbers there are the least and the most states, and counts by kind."""
    if name == "memory":
        return format_bytes(value)
    if name == "states_per_variable":
        if value is None:
            return "real-valued only"
        return str(value["least"]) if value["least"] == value["most"] else f"{value['least']} to {value['most']}"
    if isinstance(value, dict):
        return ", ".join(f"{count} {kind}" for kind, count in value.items())
    if isinstance(value, int | float) and value < 10**COUNTED_DIGITS:
        return f"{value:,}"
    return f"{value:.3e}" if isinstance(value, float) else str(value)


def joint_parameters(sizes: list[int]) -> int | str:
    """The number of free parameters of the full joint table; a large number as a power of ten."""
    log_10 = math.fsum(math.log10(size) for size in sizes)
    if log_10 < COUNTED_DIGITS:
        return math.prod(sizes) - 1
    exponent = int(log_10)
    mantissa = f"{10 ** (log_10 - exponent):.3f}"
    return f"{mantissa}e+{exponent}" if mantissa != "10.000" else f"1.000e+{exponent + 1}"


def cost_facts(model: Network) -> dict[str, Any]:
    """The cost of exact inference; nothing for a model that exact inference does not take."""
    from juncture.inference.planning import cost

    try:
        found = cost(model)
    except Unsupported:
        return {}
    return {
        "width": found.width,
        "largest_table": as_count(found.largest_table),
        "memory": as_count(found.bytes),
        **({"junction_tree": found.plan} if found.plan else {}),
    }


def as_count(count: float) -> int | float:
    return round(count) if count < 10**COUNTED_DIGITS else count


def directed_facts(model: BayesianNetwork) -> dict[str, Any]:
    kinds = Counter(type(part).__name__ for part in model.conditionals)
    return {
        "parameters": model.num_parameters,
        "conditionals": dict(kinds),
        "most_parents": max((len(part.parents) for part in model.conditionals), default=0),
    }


MAX_PATTERNS = 8
EXAMPLES = 3  # values of a column
MAX_EXAMPLE = 20  # letters


def collect_table_facts(rows: str, missing: Sequence[str]) -> dict[str, Any]:
    cells = mark_missing(read_table(rows), list(missing) or None)
    data = as_dataset([as_written(read_holes(cells), name, is_text=False) for name in cells.cells])
    found = missingness(data)
    return {
        "rows": len(data),
        "complete_rows": round(found.patterns.get((), 0)),
        "columns": [describe_column(variable, data, found.shares[variable.name]) for variable in data.variables],
        "patterns": [{"rows": round(weight), "missing": list(names)} for names, weight in found.patterns.items()],
        "remarks": list_remarks(cells),
    }


def read_holes(cells: Table) -> Table:
    """The cells with holes for text such as NA among numbers."""
    coding = as_coding(None, None, "error")
    return Table({name: coding.read(cells, name)[0] for name in cells.cells}, cells.num_rows, cells.files)


def list_remarks(cells: Table) -> list[str]:
    """How columns are read, with the option that reads them otherwise, and from which nothing can be learned."""
    with quiet():
        found = read_usable(cells)
    notes = findings_without(found.data.findings, found.left_out)
    texts = [f"{finding.describe()}; for juncture learn, {advise_option(finding)}" for finding in notes]
    return texts + [f"{reason}; juncture learn leaves it out" for reason in found.left_out.values()]


def describe_column(variable: Variable, data: Dataset, share: float) -> dict[str, Any]:
    """The name of a column, the kind of its values, how many there are, the least and the most or a few of them."""
    column = data.columns[variable.name]
    values = np.unique(column[~np.isnan(column)] if variable.is_real else column[column >= 0])
    labels = values.tolist() if variable.is_real else [variable.labels[code] for code in values]
    kind = name_kind(Summary(labels))
    found = {"name": variable.name, "kind": kind, "values": len(labels), "missing": share}
    if kind.endswith("numbers"):
        return {**found, "least": min(labels), "most": max(labels)}
    return {**found, "examples": labels[:EXAMPLES]}


def format_values(column: dict[str, Any]) -> str:
    """`18 to 90`, or `east, north, south, …`."""
    if "least" in column:
        return " to ".join(f"{end:.10g}" for end in dict.fromkeys((column["least"], column["most"])))
    more = ["…"] if column["values"] > len(column["examples"]) else []
    return ", ".join([*(short(str(label), MAX_EXAMPLE) for label in column["examples"]), *more])


def print_table_facts(rows: str, facts: dict[str, Any]) -> None:
    title = f"{rows}: {number_of(facts['rows'], 'row')}, {facts['complete_rows']:,} of them complete"
    summary = table(title, "column", "kind", "values", "missing", "such as", numeric=("values", "missing"))
    for column in facts["columns"]:
        share = format_percentage(column["missing"])
        summary.add_row(column["name"], column["kind"], f"{column['values']:,}", share, format_values(column))
    out = console()
    out.print(summary)
    print_patterns(out, facts["patterns"])
    for remark in facts["remarks"]:
        out.print(f"note: {remark}")


def print_patterns(out: Any, patterns: Sequence[dict[str, Any]]) -> None:
    """The most frequent sets of cells that are missing together."""
    holes = [pattern for pattern in patterns if pattern["missing"]]
    if not holes:
        return
    found = table("missing together", "rows", "columns", numeric=("rows",))
    for pattern in holes[:MAX_PATTERNS]:
        found.add_row(f"{pattern['rows']:,}", few(pattern["missing"]))
    out.print(found)
    if len(holes) > MAX_PATTERNS:
        out.print(f"the {MAX_PATTERNS} most frequent of {len(holes):,} patterns; --json lists all")
