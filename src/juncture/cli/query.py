"""`juncture query`: posterior marginals, or the joint of some variables; also after an intervention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from juncture.cli.printing.output import WrongUsage, bar, console, format_evidence, print_json
from juncture.cli.printing.tables import TextTable, table
from juncture.cli.reading.arguments import (
    AsJson,
    Budget,
    Do,
    Given,
    Likelihood,
    Method,
    Network,
    Normalize,
    Seed,
    check_names,
    evidence,
    interventions,
    load,
)
from juncture.cli.reading.completion import complete_variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from juncture.inference.engines.beliefs import Beliefs
    from juncture.inference.engines.contract import Diagnostics
    from juncture.variables import Scope

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="VARIABLE",
        autocompletion=complete_variable,
        help="The variables whose marginals to print; all of them by default.",
    ),
]
Joint = Annotated[
    bool,
    typer.Option("--joint", help="Print the probability of each combination of the states of the named variables."),
]


def query(  # noqa: PLR0913, PLR0917 (one command, many options)
    network: Network,
    targets: Targets = None,
    given: Given = [],  # noqa: B006  the command line's way to say "may be repeated"
    likelihood: Likelihood = [],  # noqa: B006
    do: Do = [],  # noqa: B006
    joint: Joint = False,
    method: Method = "auto",
    budget: Budget = None,
    seed: Seed = None,
    normalize: Normalize = False,
    json: AsJson = False,
) -> None:
    """Print posterior marginals: the probability of each state given the evidence.

    Of a real-valued variable: its mean, its standard deviation, and an interval that holds 90 % of the probability.
    A method that draws at random, such as gibbs, prints standard errors; on a terminal a bar shows R-hat meanwhile.
    With --do, variables are set by an intervention, whatever their causes; the evidence is what is observed after it.

    Example: juncture query asia lung bronc --given xray=yes --given smoke=no
    """
    from juncture.cli.printing.progress import watched_engine
    from juncture.verbs import infer

    model = load(network, normalize=normalize)
    check_names(model, targets or ())
    if joint and len(set(targets or ())) < 2:
        raise WrongUsage("--joint takes two or more variables, named after the network, as in asia lung bronc --joint")
    findings, changes = evidence(model, given, likelihood), interventions(model, do, [*given, *likelihood])
    if changes:
        from juncture.networks.intervention import do as intervene

        model = intervene(model, changes)
        targets = targets or [name for name in model.variables.names if name not in {*findings, *changes}] or None
    with watched_engine(model, targets, method, budget) as engine:
        beliefs = infer(model, findings, targets=targets or None, method=engine, budget=budget, rng=seed)
    names = tuple(dict.fromkeys(targets or ())) if joint else ()
    if json:
        print_json(as_document(beliefs, network, findings, changes, names))
    else:
        print_answer(beliefs, f"{network}{format_do(changes)}{format_evidence(findings)}", names, bool(changes))


def print_answer(beliefs: Beliefs, title: str, joint: tuple[str, ...], is_changed: bool) -> None:
    """A table of the marginals, or of the joint of these variables, and how it was obtained."""
    from juncture.inference.engines.display import format_draws, format_method

    if joint:
        from juncture.cli.printing.joints import joint_table

        result = joint_table(title, scope_of(beliefs, joint), beliefs.joint(*joint))
    else:
        result = marginals_table(beliefs, title)
    out = console()
    out.print(result)
    known = "has no estimate" if beliefs.log_evidence is None else f"= {beliefs.log_evidence:z.6f}"
    evidence_line = f"log p(evidence{' | do' if is_changed else ''}) {known}{format_bracket(beliefs)}"
    out.print(f"{format_method(beliefs)}{format_draws(beliefs)}; {evidence_line}")


def marginals_table(beliefs: Beliefs, title: str) -> TextTable:
    heads = ("", "value") if any(is_real(beliefs, name) for name in beliefs.targets) else ("state", "probability")
    result = table(title, "variable", *heads, "", numeric=heads[1:], spare=[""])
    for name in beliefs.targets:
        shown = name
        for row in rows_of(beliefs, name):
            result.add_row(shown, *row)
            shown = ""
        result.add_section()
    return result


def scope_of(beliefs: Beliefs, names: Iterable[str]) -> Scope:
    from juncture.variables import Scope

    return Scope(beliefs.model.variable(name) for name in names)


def format_do(changes: dict[str, Any]) -> str:
    """` after do(smoke=yes)`, or nothing."""
    return f" after do({', '.join(f'{name}={value}' for name, value in changes.items())})" if changes else ""


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


def as_document(
    beliefs: Beliefs, network: str, findings: dict[str, Any], changes: dict[str, Any], joint: tuple[str, ...]
) -> dict[str, object]:
    return {
        "network": network,
        **({"do": changes} if changes else {}),
        "evidence": findings,
        "method": beliefs.method,
        "exact": beliefs.exact,
        **facts_of(beliefs.diagnostics),
        "log_evidence": beliefs.log_evidence,
        **(joint_part(beliefs, joint) if joint else {"marginals": marginals_document(beliefs)}),
    }


def joint_part(beliefs: Beliefs, names: tuple[str, ...]) -> dict[str, object]:
    from juncture.cli.printing.joints import joint_document

    return {"variables": list(names), "joint": joint_document(scope_of(beliefs, names), beliefs.joint(*names))}


def marginals_document(beliefs: Beliefs) -> dict[str, object]:
    from juncture.cli.printing.predictions import numbers_of

    return {
        name: numbers_of(beliefs[name]) if is_real(beliefs, name) else states_document(beliefs, name)
        for name in beliefs.targets
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
