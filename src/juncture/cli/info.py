"""`juncture info`: the size of a network and the cost of inference; other models; tables of rows."""

from __future__ import annotations

import math
from collections import Counter
from typing import Annotated, Any

import typer

from juncture.cli.printing.model_facts import facts_of_model
from juncture.cli.printing.output import WrongUsage, console, is_table, print_json, table
from juncture.cli.reading.arguments import AsJson, Normalize, load_model
from juncture.cli.reading.completion import complete_network
from juncture.cli.reading.rows import Missing
from juncture.cli.reading.table_facts import collect_table_facts, print_table_facts
from juncture.errors import Unsupported
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.networks.lint import lint
from juncture.runtime.memory import format_bytes

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


def collect_facts(model: Any) -> dict[str, Any]:
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


def cost_facts(model: Any) -> dict[str, Any]:
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
