"""`juncture query`: posterior marginals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from juncture.cli.printing.output import bar, console, format_evidence, print_json
from juncture.cli.printing.tables import table
from juncture.cli.reading.arguments import (
    AsJson,
    Budget,
    Given,
    Likelihood,
    Method,
    Network,
    Normalize,
    Seed,
    check_names,
    evidence,
    load,
)
from juncture.cli.reading.completion import complete_variable

if TYPE_CHECKING:
    from juncture.inference.engines.beliefs import Beliefs
    from juncture.inference.engines.contract import Diagnostics

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="VARIABLE",
        autocompletion=complete_variable,
        help="The variables whose marginals to print; all of them by default.",
    ),
]


def query(  # noqa: PLR0913, PLR0917 (one command, many options)
    network: Network,
    targets: Targets = None,
    given: Given = [],  # noqa: B006  the command line's way to say "may be repeated"
    likelihood: Likelihood = [],  # noqa: B006
    method: Method = "auto",
    budget: Budget = None,
    seed: Seed = None,
    normalize: Normalize = False,
    json: AsJson = False,
) -> None:
    """Print posterior marginals: the probability of each state given the evidence.

    Of a real-valued variable: its mean, its standard deviation, and an interval that holds 90 % of the probability.
    A method that draws at random, such as gibbs, prints standard errors; on a terminal a bar shows R-hat meanwhile.

    Example: juncture query asia lung bronc --given xray=yes --given smoke=no
    """
    from juncture.cli.printing.progress import watched_engine
    from juncture.inference.engines.display import format_draws, format_method
    from juncture.verbs import infer

    model = load(network, normalize=normalize)
    check_names(model, targets or ())
    findings = evidence(model, given, likelihood)
    with watched_engine(model, targets, method, budget) as engine:
        beliefs = infer(model, findings, targets=targets or None, method=engine, budget=budget, rng=seed)
    if json:
        print_json(as_document(beliefs, network, findings))
        return
    heads = ("", "value") if any(is_real(beliefs, name) for name in beliefs.targets) else ("state", "probability")
    result = table(f"{network}{format_evidence(findings)}", "variable", *heads, "", numeric=heads[1:], spare=[""])
    for name in beliefs.targets:
        shown = name
        for row in rows_of(beliefs, name):
            result.add_row(shown, *row)
            shown = ""
        result.add_section()
    out = console()
    out.print(result)
    known = "has no estimate" if beliefs.log_evidence is None else f"= {beliefs.log_evidence:z.6f}"
    evidence_line = f"log p(evidence) {known}{format_bracket(beliefs)}"
    out.print(f"{format_method(beliefs)}{format_draws(beliefs)}; {evidence_line}")


def is_real(beliefs: Beliefs, name: str) -> bool:
    return bool(beliefs.model.variable(name).is_real)


def rows_of(beliefs: Beliefs, name: str) -> list[tuple[str, str, str]]:
    """The lines of one variable: its states with their probabilities, or what is known of a number."""
    if is_real(beliefs, name):
        from juncture.cli.printing.predictions import numbers_of

        return [(what, f"{number:.6g}", "") for what, number in numbers_of(beliefs[name]).items()]
    from juncture.inference.engines.display import errors_of

    errors = errors_of(beliefs, name)
    shares = beliefs[name].to_dict().items()
    if errors is None:
        return [(str(label), f"{p:.6f}", bar(p)) for label, p in shares]
    return [(str(label), f"{p:.4f} ± {error:.4f}", bar(p)) for (label, p), error in zip(shares, errors, strict=True)]


def format_bracket(beliefs: Beliefs) -> str:
    """The bounds of log p(evidence), where the engine has some and they differ."""
    lower, upper = beliefs.diagnostics.lower, beliefs.diagnostics.upper
    if lower is None and upper is None:
        return ""
    parts = ["" if lower is None else f"at least {lower:z.6f}", "" if upper is None else f"at most {upper:z.6f}"]
    return f", {' and '.join(filter(None, parts))}"


def as_document(beliefs: Beliefs, network: str, findings: dict[str, object]) -> dict[str, object]:
    from juncture.cli.printing.predictions import numbers_of

    marginals = {
        name: numbers_of(beliefs[name]) if is_real(beliefs, name) else states_document(beliefs, name)
        for name in beliefs.targets
    }
    return {
        "network": network,
        "evidence": findings,
        "method": beliefs.method,
        "exact": beliefs.exact,
        **facts_of(beliefs.diagnostics),
        "log_evidence": beliefs.log_evidence,
        "marginals": marginals,
    }


def states_document(beliefs: Beliefs, name: str) -> list[dict[str, object]]:
    """The states of a variable with their probabilities, and their standard errors where there are some."""
    from juncture.inference.engines.display import errors_of

    rows: list[dict[str, object]] = [{"state": label, "probability": p} for label, p in beliefs[name].to_dict().items()]
    for row, error in zip(rows, errors_of(beliefs, name) or (), strict=False):
        row["standard_error"] = error
    return rows


def facts_of(diagnostics: Diagnostics) -> dict[str, object]:
    """What an approximate answer says about itself: whether it converged, its bounds, and how good its draws are."""
    if diagnostics.exact:
        return {}
    known = ("lower", "upper", "effective_sample_size", "r_hat")
    bounds = {name: getattr(diagnostics, name) for name in known}
    return {"converged": diagnostics.converged, **{name: value for name, value in bounds.items() if value is not None}}
