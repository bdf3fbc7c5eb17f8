"""`juncture advise`: the best decisions, and the value of the next question."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juncture.cli.printing.output import console, format_evidence, print_json
from juncture.cli.printing.tables import table
from juncture.cli.reading.arguments import AsJson, Given, Likelihood, Network, Normalize, evidence, load_model
from juncture.errors import Unsupported

if TYPE_CHECKING:
    from juncture.inference.decisions.value_of_information import InformationValues
    from juncture.networks.policy import DecisionRule, Policy

Limited = Annotated[
    bool,
    typer.Option(
        "--limited-memory",
        help="Let each decision know its parents only, not what was known and done at earlier decisions.",
    ),
]


def advise(
    network: Network,
    given: Given = [],  # noqa: B006
    likelihood: Likelihood = [],  # noqa: B006
    limited_memory: Limited = False,
    normalize: Normalize = False,
    json: AsJson = False,
) -> None:
    """Find the best decisions of a decision network, and what each further observation would be worth.

    Evidence is what is known before the first decision; a decision that it names has been taken.

    Example: juncture advise oil --given test=yes --given seismic=open
    """
    from juncture.inference.decisions.optimal_policy import optimal_policy
    from juncture.inference.decisions.value_of_information import value_of_information

    model = load_decisions(network, normalize=normalize)
    findings = evidence(model, given, likelihood)
    best = optimal_policy(model, findings, no_forgetting=not limited_memory)
    questions = None if limited_memory else value_of_information(model, evidence=findings)
    if json:
        print_json(as_document(best, questions, network, findings))
        return
    out = console()
    for rule in best.rules:
        if rule.variable.name not in findings:
            print_rule(out, rule)
    if questions is not None and len(questions):
        result = table(
            "the value of observing first", "variable", "expected utility gained", numeric=("expected utility gained",)
        )
        for name, value in questions.to_dict().items():
            result.add_row(name, f"{value:.6g}")
        out.print(result)
    how = f"{best.method}, {'exact' if best.exact else 'a local optimum'}"
    out.print(f"expected utility{format_evidence(findings)} = {best.expected_utility:.6g} ({how})")


def load_decisions(network: str, *, normalize: bool) -> Any:
    from juncture.networks.decision_network import DecisionNetwork

    model = load_model(network, normalize=normalize)
    if not isinstance(model, DecisionNetwork):
        way = "ask it with juncture query" if hasattr(model, "factors") else "see it with juncture info"
        raise Unsupported(
            f"advise takes a decision network, and {network} holds a {type(model).__name__} without decisions and"
            f" utilities; {way} {network}"
        )
    return model


def print_rule(out: Any, rule: DecisionRule) -> None:
    """A row for each joint state of the parents that can occur."""
    utilities = [f"utility of {label}" for label in rule.variable.labels]
    result = table(rule.variable.name, *rule.parents.names, "decide", *utilities, numeric=tuple(utilities))
    count = len(rule.parents)
    for row in rule.rows():
        if not all(math.isnan(number) for number in row[count + 1 :]):
            numbers = ("–" if math.isnan(number) else f"{number:.6g}" for number in row[count + 1 :])
            result.add_row(*map(str, row[: count + 1]), *numbers)
    out.print(result)


def as_document(
    best: Policy, questions: InformationValues | None, network: str, findings: dict[str, object]
) -> dict[str, object]:
    worth = (
        None if questions is None else [{"variable": name, "gain": gain} for name, gain in questions.to_dict().items()]
    )
    return {
        "network": network,
        "evidence": findings,
        "method": best.method,
        "exact": best.exact,
        "expected_utility": best.expected_utility,
        "decisions": [{"decision": rule.variable.name, "rules": rule_document(rule)} for rule in best.rules],
        "questions": worth,
    }


def rule_document(rule: DecisionRule) -> list[dict[str, object]]:
    """What to do in each joint state of the parents; the utility of what cannot occur is null."""
    names, count = rule.parents.names, len(rule.parents)
    return [
        {
            "given": dict(zip(names, row, strict=False)),
            "action": row[count],
            "utilities": [
                {"action": label, "expected_utility": None if math.isnan(number) else number}
                for label, number in zip(rule.variable.labels, row[count + 1 :], strict=True)
            ],
        }
        for row in rule.rows()
    ]
