"""`optimal_policy` and `expected_utility`: the best policy of a decision network, and what a given one is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from juncture.base.checks import check_choice, check_count, check_flag
from juncture.base.options import as_generator
from juncture.errors import ImpossibleEvidence, InvalidData, Unsupported
from juncture.evidence import as_findings
from juncture.inference.decisions.influence_diagrams import (
    PAIRS,
    PolicySearch,
    Rules,
    Tables,
    WeightedTable,
    describe_memory,
    eliminate_strongly,
)
from juncture.networks.bayesian_network import BayesianNetwork, to_factor
from juncture.networks.decision_network import DecisionNetwork
from juncture.networks.intervention import do
from juncture.networks.policy import DecisionRule, Policy
from juncture.variables import Scope

METHODS = ("auto", "strong-elimination", "single-policy-updating")


def optimal_policy(
    network: DecisionNetwork,
    evidence: Any = None,
    *,
    no_forgetting: bool = True,
    method: str = "auto",
    starts: int = 1,
    rng: Any = None,
) -> Policy:
    """The policy of a decision network with the largest expected utility given evidence.

    Parameters
    ----------
    network
        A decision network.
    evidence
        One row, as in `infer`: what is known before the first decision. A decision that it names has been taken.
    no_forgetting
        Whether every decision also knows what was known and done at the decisions before it (perfect recall). Without
        it, a decision knows its parents only (a limited-memory influence diagram).
    method
        "strong-elimination" eliminates one variable after the other, in an order that sums out what a decision does not
        know before it maximises over the decision. "single-policy-updating" improves the rules one by one (Lauritzen
        and Nilsson 2001); it is exact where the decisions can be solved one after the other, as they always can with
        perfect recall, and else finds a local optimum. "auto" takes the first with perfect recall and the second
        without.
    starts
        From how many policies the search for a local optimum starts: the first is uniform, the others are drawn.
    rng
        A seed or a `numpy.random.Generator`, for the starts.

    Returns
    -------
    Policy
        `expected_utility`, and for each decision the rule `policy["treat"]`: a table from states to actions. `exact` is
        False for a local optimum.

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> best = optimal_policy(example("oil"))
    >>> round(best.expected_utility, 9), best["test"].action, best["drill"]["yes", "no structure"]
    (22.5, 'yes', 'no')
    """
    check_network(network, "optimal_policy")
    check_flag(no_forgetting, "no_forgetting")
    check_choice(method, METHODS, "method")
    check_count(starts, "starts", least=1)
    problem, taken, findings = absorb_decisions(network, evidence)
    check_known_before(problem, findings.names)
    tables = tables_of(problem, findings)
    soft = frozenset(findings.names) - frozenset(findings.codes)
    known = frozenset(findings.codes) | frozenset(taken)
    memory = describe_memory(problem, known, soft, no_forgetting=no_forgetting)
    check_evidence_possible(tables, dict.fromkeys(memory.information, ()), findings)
    requisite = memory.with_requisite()
    if method == "strong-elimination" and not no_forgetting:
        raise Unsupported(
            "strong elimination needs perfect recall; with no_forgetting=False take method='single-policy-updating'"
        )
    if method == "single-policy-updating" or not no_forgetting:
        name, search = "single-policy-updating", PolicySearch(tables, requisite)
        rules, exact = search.run(starts, as_generator(rng))
    else:
        name, exact = "strong-elimination", True
        rules = eliminate_strongly(tables, memory, requisite)
    return value_policy(network, tables, rules, taken, exact=exact, method=name)


def expected_utility(network: DecisionNetwork, policy: Policy | Mapping[str, Any], evidence: Any = None) -> float:
    """The expected utility of a policy given evidence.

    Parameters
    ----------
    network
        A decision network.
    policy
        A `Policy`; or a mapping from each decision to a conditional, or to the action that is always taken.
    evidence
        One row, as in `infer`.

    Returns
    -------
    float

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> expected_utility(example("oil"), {"test": "no", "drill": "yes"})
    20.0
    """
    check_network(network, "expected_utility")
    fixed = network.with_policy(policy)
    followed = DecisionNetwork([*fixed.conditionals, *network.utilities])
    findings = one_row(evidence, followed)
    tables = tables_of(followed, findings)
    check_evidence_possible(tables, {}, findings)
    total = tables.sum_out((), (), tables.utilities)
    return float(total.utilities)


def check_network(network: Any, what: str) -> None:
    if not isinstance(network, DecisionNetwork):
        hint = ": add jt.Decision and jt.Utility nodes to it" if isinstance(network, BayesianNetwork) else ""
        raise Unsupported(f"{what} takes a DecisionNetwork; got {type(network).__name__}{hint}")


def one_row(evidence: Any, network: DecisionNetwork) -> Any:
    findings = as_findings(evidence, network.variables)
    if not findings.is_single:
        raise InvalidData(
            f"a decision is taken in one situation; got {findings.num_rows} rows: ask for one row at a time"
        )
    return findings


def absorb_decisions(network: DecisionNetwork, evidence: Any) -> tuple[DecisionNetwork, dict[str, int], Any]:
    """The network after the decisions that the evidence names, the actions taken, and the other findings."""
    findings = one_row(evidence, network)
    names = [decision.variable.name for decision in network.decisions]
    for name in names:
        if name in findings.likelihoods:
            raise InvalidData(f"{name!r} is a decision: evidence gives the action that was taken, not a likelihood")
    taken = {name: int(findings.codes[name][0]) for name in names if name in findings.codes}
    if not taken:
        return network, taken, findings
    after = do(network, {name: network.variable(name).labels[code] for name, code in taken.items()})
    for name in taken:
        findings = findings.without(name)
    return after, taken, findings


def check_known_before(network: DecisionNetwork, observed: tuple[str, ...]) -> None:
    """Evidence is known before all decisions that are left: none of them can have changed it."""
    for decision in network.decisions:
        changed = network.graph.descendants({decision.variable.name})
        late = next((name for name in observed if name in changed), None)
        if late is not None:
            raise InvalidData(
                f"{late!r} is observed, but the decision {decision.variable.name!r}, which can change it, is open:"
                f" give the action that was taken as evidence too, or leave {late!r} out"
            )


def tables_of(network: DecisionNetwork, findings: Any) -> Tables:
    variables = network.variables
    empty = Tables(variables, (), {}, ())
    factors = [to_factor(part) for part in network.conditionals]
    chance = tuple(empty.table(factor.scope.names, factor.values) for factor in factors)
    worth = {
        str(part.name): (tuple(map(variables.axis, part.parents.names)), 1 + 1j * part.values)
        for part in network.utilities
    }
    return Tables(variables, chance, worth, tuple(PAIRS.likelihoods(findings, variables)))


def check_evidence_possible(tables: Tables, decisions: Mapping[str, tuple[str, ...]], findings: Any) -> None:
    """Raise where no policy makes the evidence possible; it does not depend on the policy."""
    uniform = [tables.table([name], np.full(tables.variables.variable(name).num_states, 1.0)) for name in decisions]
    if not float(tables.sum_out((), uniform, ()).weights) > 0:
        described = ", ".join(findings.describe(name) for name in findings.names)
        raise ImpossibleEvidence(f"the network gives the evidence {described} the probability zero; check it")


def value_policy(
    network: DecisionNetwork, tables: Tables, rules: Rules, taken: Mapping[str, int], *, exact: bool, method: str
) -> Policy:
    """The policy of these rules, with the expected utilities of all actions."""
    worth = tuple(tables.utilities)
    followed = {name: rule.table(tables) for name, rule in rules.items()}
    total = tables.sum_out((), followed.values(), worth)
    found: dict[str, DecisionRule] = {}
    for name, rule in rules.items():
        others = [table for other, table in followed.items() if other != name]
        utilities = tables.sum_out((*rule.parents, name), others, worth).utilities
        free = [table for other, table in followed.items() if other not in (name, *rule.parents)]
        whatever = tables.sum_out((*rule.parents, name), free, worth).utilities
        scope = Scope(network.variable(parent) for parent in rule.parents)
        filled = np.where(np.isnan(utilities), whatever, utilities)
        found[name] = DecisionRule(network.variable(name), scope, rule.codes, filled)
    for name, code in taken.items():
        found[name] = taken_rule(network, name, code, total)
    ordered = [found[decision.variable.name] for decision in network.decisions]
    log_evidence = float(np.log(total.weights))
    return Policy(ordered, float(total.utilities), log_evidence, exact=exact, method=method)


def taken_rule(network: DecisionNetwork, name: str, code: int, total: WeightedTable) -> DecisionRule:
    """The rule of a decision that was taken: its action, whose utility is that of the policy."""
    utilities = np.full(network.variable(name).num_states, np.nan)
    utilities[code] = float(total.utilities)
    return DecisionRule(network.variable(name), (), code, utilities)
