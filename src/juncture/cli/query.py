"""`juncture query`: posterior marginals."""

from __future__ import annotations

from typing import Annotated

import typer

from juncture.cli.arguments import AsJson, Given, Likelihood, Method, Network, Normalize, check_names, evidence, load
from juncture.cli.completion import complete_variable
from juncture.cli.output import bar, console, format_evidence, print_json, table
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.display import format_method
from juncture.verbs import infer

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="VARIABLE",
        autocompletion=complete_variable,
        help="The variables whose marginals to print; all of them by default.",
    ),
]


def query(
    network: Network,
    targets: Targets = None,
    given: Given = [],  # noqa: B006  the command line's way to say "may be repeated"
    likelihood: Likelihood = [],  # noqa: B006
    method: Method = "auto",
    normalize: Normalize = False,
    json: AsJson = False,
) -> None:
    """Print posterior marginals: the probability of each state given the evidence.

    Example: juncture query asia lung bronc --given xray=yes --given smoke=no
    """
    model = load(network, normalize=normalize)
    check_names(model, targets or ())
    findings = evidence(model, given, likelihood)
    beliefs = infer(model, findings, targets=targets or None, method=method)
    if json:
        print_json(as_document(beliefs, network, findings))
        return
    result = table(
        f"{network}{format_evidence(findings)}", "variable", "state", "probability", "", numeric=("probability",)
    )
    for name in beliefs.targets:
        shown = name
        for label, probability in beliefs[name].to_dict().items():
            result.add_row(shown, str(label), f"{probability:.6f}", bar(probability))
            shown = ""
        result.add_section()
    out = console()
    out.print(result)
    out.print(f"{format_method(beliefs)}; log p(evidence) = {beliefs.log_evidence:z.6f}")


def as_document(beliefs: Beliefs, network: str, findings: dict[str, object]) -> dict[str, object]:
    marginals = {
        name: [{"state": label, "probability": p} for label, p in beliefs[name].to_dict().items()]
        for name in beliefs.targets
    }
    return {
        "network": network,
        "evidence": findings,
        "method": beliefs.method,
        "exact": beliefs.exact,
        "log_evidence": beliefs.log_evidence,
        "marginals": marginals,
    }
