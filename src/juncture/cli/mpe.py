"""`juncture mpe`: the most probable explanation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from juncture.cli.printing.output import console, format_evidence, print_json
from juncture.cli.printing.tables import table
from juncture.cli.reading.arguments import (
    AsJson,
    Budget,
    Given,
    Likelihood,
    Method,
    Network,
    Normalize,
    check_names,
    evidence,
    load,
    whole_number,
)
from juncture.cli.reading.completion import complete_variable

if TYPE_CHECKING:
    from juncture.inference.most_probable import MostProbable

Count = Annotated[
    int,
    typer.Option(
        "-k",
        parser=whole_number(1),
        metavar="NUMBER",
        help="The number of assignments to find, the most probable first.",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="VARIABLE",
        autocompletion=complete_variable,
        help="Maximise over these variables only and sum out the others (marginal MAP).",
    ),
]


def mpe(  # noqa: PLR0913, PLR0917 (one command, many options)
    network: Network,
    targets: Targets = None,
    given: Given = [],  # noqa: B006
    likelihood: Likelihood = [],  # noqa: B006
    k: Count = 1,
    method: Method = "auto",
    budget: Budget = None,
    normalize: Normalize = False,
    json: AsJson = False,
) -> None:
    """Find the most probable joint assignment of the unobserved variables (MPE).

    Example: juncture mpe asia --given xray=yes -k 3
    """
    from juncture.drawing.text import format_value
    from juncture.verbs import most_probable

    model = load(network, normalize=normalize)
    check_names(model, targets or ())
    findings = evidence(model, given, likelihood)
    best = most_probable(model, findings, k=k, targets=targets or None, method=method, budget=budget)
    if json:
        print_json({"network": network, "evidence": findings, "best": [as_document(item) for item in best]})
        return
    ranks = [str(rank + 1) for rank in range(len(best))]
    result = table(f"{network}{format_evidence(findings)}", "variable", *ranks)
    for name in best[0].assignment:
        result.add_row(name, *(format_value(item.assignment[name]) for item in best))
    result.add_section()
    if best[0].log_prob is None:
        result.add_row("log of the product of factors", *(f"{item.log_joint:.6g}" for item in best))
    elif any(model.variable(name).is_real for name in best[0].assignment):
        result.add_row("log density", *(f"{item.log_prob:.6g}" for item in best))
    else:
        result.add_row("probability", *(f"{math.exp(item.log_prob):.6g}" for item in best))
    console().print(result)
    if len(best) < k:
        console().print(f"only {len(best)} assignments have a positive probability")


def as_document(best: MostProbable) -> dict[str, object]:
    return {"assignment": best.assignment, "log_prob": best.log_prob, "log_joint": best.log_joint}
