"""`value_of_information` and `next_question`: what to observe next, with the values of all candidates, the best first.

About a target T, observing X is worth the mutual information I(X; T | evidence) in bits. It follows from p(x | t) of
all X at once, one row of evidence for each state of the target. In a decision network observing X before all decisions
is worth the expected utility that the best policy gains by it (Howard 1966).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import rel_entr

from juncture.base.checks import check_mapping, check_number
from juncture.base.options import as_variable_names
from juncture.base.values import Value, number_of, read_only
from juncture.data.findings import Findings
from juncture.data.tables.columns import code_type
from juncture.drawing.notebook import html_table
from juncture.drawing.pictures import plot
from juncture.errors import ImpossibleEvidence, InvalidData, UnknownVariable, Unsupported
from juncture.evidence import as_findings
from juncture.factors.printed_tables import MAX_HTML_ROWS, align_columns, format_omitted, left_out
from juncture.factors.printed_tables import MAX_ROWS as MAX_LINES
from juncture.factors.scope_tables import import_pandas
from juncture.inference.decisions.optimal_policy import absorb_decisions, optimal_policy
from juncture.inference.engines.contract import Answers, Query
from juncture.inference.infer import engine_for
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.decision_network import Decision, DecisionNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.numerics import stable

if TYPE_CHECKING:
    import pandas as pd


ROUNDING = 1e-14  # bits, or part of the expected utility: below, a value is rounding and counts as 0


def value_of_information(
    model: Network,
    target: str | None = None,
    candidates: Iterable[str] | None = None,
    evidence: Any = None,
    costs: Mapping[str, float] | None = None,
    *,
    method: Any = "auto",
) -> InformationValues:
    """What it is worth to observe each of some variables next.

    Parameters
    ----------
    model
        A network or factor graph of variables with states, or a `DecisionNetwork`.
    target
        The variable to learn about; none for a decision network, whose utilities say what is wanted.
    candidates
        The variables that could be observed; by default all that are not observed, and in a decision network all that
        are not observed, not known at the first decision, and not changed by any decision.
    evidence
        One row, as in `infer`.
    costs
        Candidate → the cost of observing it, in bits or in units of utility; 0 for those left out.
    method
        The engine, as in `infer`; for a decision network as in `optimal_policy`.

    Returns
    -------
    InformationValues
        Ranked by the value less the cost: the mutual information with the target given the evidence, in bits, or the
        gain in expected utility where the candidate is observed before the first decision.

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> values = value_of_information(example("asia"), "lung", ["xray", "smoke", "dysp"], {"asia": "no"})
    >>> values.candidates, round(values["xray"], 4)
    (('xray', 'smoke', 'dysp'), 0.1851)
    """
    if isinstance(model, DecisionNetwork):
        return utility_gains(model, target, candidates, evidence, costs, method)
    if not isinstance(model, BayesianNetwork | FactorProduct):
        raise Unsupported(f"value_of_information takes a network; got {type(model).__name__}")
    if target is None:
        raise InvalidData("name the variable to learn about: value_of_information(model, target=…)")
    engine, findings = engine_for(method, model=model), one_row(model, evidence)
    about = model.variable(target)
    if about.is_real:
        raise Unsupported(f"the value of information is about a variable with states; {target!r} is real-valued")
    if target in findings.codes:
        raise InvalidData(f"the target {target!r} is observed already: nothing is left to learn about it")
    names = as_candidates(model, candidates, {target, *findings.codes})
    paid = check_costs(costs, names)
    rows = findings.repeat(about.num_states).merge(every_state(model, target))
    answers = engine.ask(model, Query(rows, tuple(names)))
    shares = target_shares(answers, findings)
    bits = mutual_bits(answers, names, shares)
    return InformationValues((target,), "bits", bits, paid, exact=answers.diagnostics.exact)


def next_question(
    model: Network,
    target: str | None = None,
    candidates: Iterable[str] | None = None,
    evidence: Any = None,
    costs: Mapping[str, float] | None = None,
    *,
    method: Any = "auto",
) -> str | None:
    """The variable that is best observed next, or None where none is worth more than it costs.

    Parameters
    ----------
    model, target, candidates, evidence, costs, method
        As in `value_of_information`.

    Returns
    -------
    str or None
        The best candidate, if its value is above its cost.

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> next_question(example("asia"), "lung", costs={"either": 1.0})
    'xray'
    """
    return value_of_information(model, target, candidates, evidence, costs, method=method).best


def one_row(model: Network, evidence: Any) -> Findings:
    findings = as_findings(evidence, model.variables)
    if not findings.is_single:
        raise InvalidData(f"the next question follows one row of evidence; got {findings.num_rows} rows")
    return findings


def as_candidates(model: Network | DecisionNetwork, candidates: Iterable[str] | None, others: set[str]) -> list[str]:
    """The names of variables with states, each once and none of the `others`; by default all such variables."""
    if candidates is None:
        return [variable.name for variable in model.variables if variable.name not in others and not variable.is_real]
    names = list(dict.fromkeys(as_variable_names(candidates, "candidates")))
    for name in names:
        if model.variable(name).is_real:
            raise Unsupported(f"candidates are variables with states; {name!r} is real-valued")
        if name in others:
            raise InvalidData(f"{name!r} cannot be a candidate: it is the target, a decision, or known already")
    return names


def check_costs(costs: Mapping[str, float] | None, names: Iterable[str]) -> dict[str, float]:
    """The cost of each candidate that has one."""
    given = {} if costs is None else check_mapping(costs, "costs")
    known = list(names)
    for name in given:
        if name not in known:
            raise UnknownVariable.among(name, known, where="the list of candidates")
    return {name: check_number(cost, f"the cost of {name!r}", least=0, finite=True) for name, cost in given.items()}


def every_state(model: Network, target: str) -> Findings:
    """A row of findings for each state of a variable."""
    count = model.variable(target).num_states
    codes = np.arange(count, dtype=code_type(count))
    return Findings(tuple(model.variables), {target: codes}, num_rows=count)


def target_shares(answers: Answers, findings: Findings) -> np.ndarray:
    """(state,): p(target = state | evidence), from the probability of the evidence with each state."""
    logs = np.asarray(answers.log_evidence)
    if np.isneginf(logs).all():
        described = ", ".join(findings.describe(name) for name in findings.names)
        raise ImpossibleEvidence(f"the model gives the evidence {described} the probability zero; check it")
    return np.exp(logs - stable.log_sum_exp(logs))


def mutual_bits(answers: Answers, names: list[str], shares: np.ndarray) -> dict[str, float]:
    """I(X; T) = Σ p(t) Σ p(x | t) log2 p(x | t) / p(x), for all candidates as one array."""
    possible = shares > 0
    tables = [answers.marginal((name,))[possible] for name in names]
    if not tables:
        return {}
    given = np.concatenate(tables, axis=1)  # (state of the target, states of all candidates)
    weighted = shares[possible, np.newaxis] * given
    mixed = weighted.sum(axis=0)
    terms = rel_entr(weighted, shares[possible, np.newaxis] * mixed).sum(axis=0)
    starts = np.cumsum([0, *(table.shape[1] for table in tables[:-1])])
    bits = np.add.reduceat(terms, starts) / np.log(2)
    return {name: number if number > ROUNDING else 0.0 for name, number in zip(names, bits.tolist(), strict=True)}


# --- decision networks ---------------------------------------------------------------------------------------------
def utility_gains(
    network: DecisionNetwork,
    target: str | None,
    candidates: Iterable[str] | None,
    evidence: Any,
    costs: Mapping[str, float] | None,
    method: str,
) -> InformationValues:
    """The gain in expected utility where each candidate is known at all decisions."""
    if target is not None:
        raise InvalidData("a decision network has utilities in place of a target; leave target out")
    problem, _, findings = absorb_decisions(network, evidence)
    excluded = unobservable(problem) | set(findings.codes)
    names = as_candidates(problem, candidates, excluded)
    paid = check_costs(costs, names)
    base = optimal_policy(network, evidence, method=method)
    gains, slack = {}, 100 * ROUNDING * max(1.0, abs(base.expected_utility))
    for name in names:
        informed = optimal_policy(with_observation(network, name), evidence, method=method)
        gain = informed.expected_utility - base.expected_utility
        gains[name] = gain if gain > slack else 0.0
    about = tuple(str(utility.name) for utility in network.utilities)
    return InformationValues(about, "utility", gains, paid, exact=base.exact)


def unobservable(network: DecisionNetwork) -> set[str]:
    """What cannot be observed before the first decision, or is known there anyway."""
    decisions = [decision.variable.name for decision in network.decisions]
    first = set(network.decisions[0].parents.names) if network.decisions else set()
    taken = {
        variable.name for variable in network.variables if variable.name in network.graph.descendants(set(decisions))
    }
    return {*decisions, *taken, *first}


def with_observation(network: DecisionNetwork, name: str) -> DecisionNetwork:
    """The network in which all decisions know one more variable."""
    informed = [
        Decision(decision.variable, [*decision.parents.without([name]), network.variable(name)])
        for decision in network.decisions
    ]
    return network.with_part(*informed)


class InformationValues(Value):
    """The value of observing each candidate, ranked by what is left of it after its cost.

    `values["xray"]` is the value of one candidate; `value_of_information` makes them.

    Attributes
    ----------
    about
        The target, or the names of the utilities.
    unit
        "bits" of information about a target, or "utility".
    candidates
        The names of the variables, the best first; ties keep the order of the model.
    values, costs, net
        For each candidate its value, the cost of observing it, and the difference.
    exact
        Whether the values are exact, but for rounding.
    """

    about: tuple[str, ...]
    unit: str
    candidates: tuple[str, ...]
    values: np.ndarray
    costs: np.ndarray
    exact: bool
    __iter__ = None  # or Python would try values[0], values[1], … as names

    def __init__(
        self, about: tuple[str, ...], unit: str, values: Mapping[str, float], costs: Mapping[str, float], *, exact: bool
    ) -> None:
        names, numbers = list(values), np.array(list(values.values()), dtype=np.float64)
        paid = np.array([costs.get(name, 0.0) for name in names], dtype=np.float64)
        order = np.argsort(paid - numbers, kind="stable")
        self._set(about=tuple(about), unit=unit, candidates=tuple(names[place] for place in order), exact=exact)
        self._set(values=read_only(numbers[order]), costs=read_only(paid[order]))

    @property
    def net(self) -> np.ndarray:
        """The value of each candidate less its cost."""
        return self.values - self.costs

    @property
    def best(self) -> str | None:
        """The candidate with the largest value net of its cost; None where none is worth more than it costs."""
        return self.candidates[0] if len(self.candidates) and self.net[0] > 0 else None

    def __getitem__(self, name: str) -> float:
        """The value of one candidate, its cost not subtracted."""
        if not isinstance(name, str) or name not in self.candidates:
            raise UnknownVariable.among(name, self.candidates, where="the list of candidates")
        return float(self.values[self.candidates.index(name)])

    def __len__(self) -> int:
        return len(self.candidates)

    def to_dict(self) -> dict[str, float]:
        """Candidate → value, the best first."""
        return dict(zip(self.candidates, self.values.tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """A frame of candidate, value, cost and net value, the best first."""
        columns = {"candidate": self.candidates, "value": self.values, "cost": self.costs, "net": self.net}
        return import_pandas().DataFrame(columns)

    def plot(self, **options: Any) -> Any:
        """Plot a bar for each candidate; as `jt.plot`."""
        return plot(self, **options)

    def _columns(self) -> list[str]:
        return ["candidate", self.unit, *(["cost", "net"] if self.costs.any() else [])]

    def _rows(self, most: int) -> list[list[str]]:
        numbers = zip(self.values.tolist(), self.costs.tolist(), self.net.tolist(), strict=True)
        shown = [[f"{number:.4g}" for number in line] for line, _ in zip(numbers, range(most), strict=False)]
        count = len(self._columns()) - 1
        return [[name, *line[:count]] for name, line in zip(self.candidates, shown, strict=False)]

    def __repr__(self) -> str:
        how = "" if self.exact else ", approximate"
        return f"InformationValues(of {number_of(len(self), 'candidate')} about {', '.join(self.about)}{how})"

    def __str__(self) -> str:
        lines = align_columns([self._columns(), *self._rows(MAX_LINES)], 1)
        more = len(self) - MAX_LINES
        return "\n".join([repr(self), *lines, *([left_out(more, "row")] if more > 0 else [])])

    def _repr_html_(self) -> str:
        return html_table(self._columns(), self._rows(MAX_HTML_ROWS), format_omitted(len(self)), num_labels=1)
