"""`Policy`: what to do in every decision of a network, as one `DecisionRule` each."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_array, check_flag, check_iterable, check_kind, check_number
from juncture.base.values import Value, read_only
from juncture.drawing.notebook import html_table
from juncture.errors import InvalidModel, UnknownVariable
from juncture.factors.deterministic import Deterministic
from juncture.factors.printed_tables import MAX_HTML_ROWS, align_columns, ends, format_omitted, left_out, row_labels
from juncture.factors.printed_tables import MAX_ROWS as MAX_LINES
from juncture.factors.scope_tables import check_table_size, import_pandas, state_codes, table_keys
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    import pandas as pd

NEVER = "–"  # in place of the utility in a state that is impossible


class DecisionRule(Value):
    """The best action for each joint state of the parents, and the expected utility of every action there.

    Attributes
    ----------
    variable
        The decision.
    parents
        What the action depends on. What is known but makes no difference is left out.
    codes
        The position of the best action, one axis per parent.
    utilities
        The expected utility of each action given the states of the parents and the evidence, where all other decisions
        follow the policy: one axis per parent, then the action. Where the policy never leads to these states, decisions
        among the parents count as set to theirs. NaN where the states are impossible.
    """

    variable: Variable
    parents: Scope
    codes: np.ndarray
    utilities: np.ndarray
    __iter__ = None  # or Python would try rule[0], rule[1], … as labels

    def __init__(self, variable: Variable, parents: Iterable[Variable], codes: Any, utilities: Any) -> None:
        check_kind(variable, Variable, "what is decided", error=InvalidModel)
        scope = check_table_size(Scope(parents), f"the rule for {variable.name!r}")
        rule = Deterministic(variable, scope, codes)
        table = check_array(utilities, "the utilities", error=InvalidModel)
        shape = (*scope.shape, variable.num_states)
        if table.shape != shape:
            raise InvalidModel(
                f"the utilities must have the shape {shape}, one axis per parent, then the action; they have"
                f" {table.shape}"
            )
        self._set(variable=variable, parents=scope)
        self._set(codes=read_only(rule.codes, np.int64), utilities=read_only(table))

    @property
    def action(self) -> State:
        """The best action of a rule without parents."""
        return self[()]

    def __getitem__(self, states: object) -> State:
        """The best action in these states of the parents, one label per parent in order."""
        return self.variable.labels[int(self.codes[state_codes(self.parents, states)])]

    def to_dict(self) -> dict[Any, State]:
        """State → action; of several parents, the tuple of their states → action; without parents, () → action."""
        keys = table_keys(self.parents) if self.parents else [()]
        actions = (self.variable.labels[code] for code in self.codes.ravel().tolist())
        return dict(zip(keys, actions, strict=True))

    def to_conditional(self) -> Deterministic:
        """The rule as a conditional of a Bayesian network."""
        return Deterministic(self.variable, self.parents, self.codes)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each joint state of the parents: these, the action, and the expected utility of every action."""
        return import_pandas().DataFrame(self.rows(), columns=self._heads())

    def _heads(self) -> list[str]:
        actions = (f"utility of {label}" for label in self.variable.labels)
        return [*self.parents.names, self.variable.name, *actions]

    def rows(self) -> list[tuple[Any, ...]]:
        """For each joint state of the parents: these, the best action, and the expected utility of every action."""
        states = product(*(variable.labels for variable in self.parents))
        utilities = self.utilities.reshape(-1, self.variable.num_states).tolist()
        codes = self.codes.ravel().tolist()
        parts = zip(states, codes, utilities, strict=True)
        return [(*labels, self.variable.labels[code], *numbers) for labels, code, numbers in parts]

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"DecisionRule({self.variable.name}{given})"

    def __str__(self) -> str:
        """The rule as a table; the middle of a long one is left out."""
        positions = ends(self.codes.size, MAX_LINES)
        codes, utilities = self.codes.ravel(), self.utilities.reshape(-1, self.variable.num_states)
        labels = row_labels(self.parents, positions) if self.parents else [()]
        lines = [self._heads()]
        for states, position in zip(labels, positions, strict=True):
            numbers = map(format_utility, utilities[position].tolist())
            lines.append([*states, str(self.variable.labels[codes[position]]), *numbers])
        shown = align_columns(lines, len(self.parents) + 1)
        if len(positions) < self.codes.size:
            shown.insert(1 + len(positions) // 2, left_out(self.codes.size - len(positions), "row"))
        return "\n".join([repr(self), *shown])

    def _repr_html_(self) -> str:
        shown = self.rows()[:MAX_HTML_ROWS]
        count = len(self.parents) + 1
        rows = [(*row[:count], *map(format_utility, row[count:])) for row in shown]
        return html_table(self._heads(), rows, format_omitted(self.codes.size), num_labels=len(self.parents))


def format_utility(number: float) -> str:
    return NEVER if np.isnan(number) else f"{number:.6g}"


class Policy(Value):
    """The rules for all decisions of a network, and what they are worth.

    `policy["treat"]` is the rule for one decision; `optimal_policy` makes policies.

    Attributes
    ----------
    rules
        The rules, in the order of the decisions.
    expected_utility
        The expected utility of the policy given the evidence.
    log_evidence
        Log p(evidence).
    exact
        Whether no policy is better. A local optimum that no change of a single rule improves is not exact.
    method
        The algorithm that ran.
    """

    rules: tuple[DecisionRule, ...]
    expected_utility: float
    log_evidence: float
    exact: bool
    method: str
    __iter__ = None  # or Python would try policy[0], policy[1], … as names

    def __init__(
        self,
        rules: Iterable[DecisionRule],
        expected_utility: float,
        log_evidence: float = 0.0,
        *,
        exact: bool = True,
        method: str = "",
    ) -> None:
        listed = check_iterable(rules, "the rules", error=InvalidModel)
        for rule in listed:
            check_kind(rule, DecisionRule, "a rule of a policy", error=InvalidModel)
        utility = check_number(expected_utility, "the expected utility", error=InvalidModel)
        log_prob = check_number(log_evidence, "log_evidence", error=InvalidModel)
        self._set(rules=tuple(listed), expected_utility=utility, log_evidence=log_prob)
        self._set(exact=check_flag(exact, "exact"), method=check_kind(method, str, "the method"))

    @property
    def decisions(self) -> tuple[str, ...]:
        """The names of the decisions, in order."""
        return tuple(rule.variable.name for rule in self.rules)

    def __getitem__(self, name: str) -> DecisionRule:
        """The rule for one decision."""
        if not isinstance(name, str) or name not in self.decisions:
            raise UnknownVariable.among(name, self.decisions, where="the policy")
        return self.rules[self.decisions.index(name)]

    def to_conditionals(self) -> dict[str, Deterministic]:
        """Decision → its rule as a conditional."""
        return {rule.variable.name: rule.to_conditional() for rule in self.rules}

    def to_dict(self) -> dict[str, dict[Any, State]]:
        """Decision → states of the parents → action."""
        return {rule.variable.name: rule.to_dict() for rule in self.rules}

    def to_pandas(self) -> pd.DataFrame:
        """A row for each decision and joint state of its parents: the states as text, the action and its utility."""
        rows = []
        for rule in self.rules:
            best = np.take_along_axis(rule.utilities, rule.codes[..., np.newaxis], axis=-1).ravel().tolist()
            for row, utility in zip(rule.rows(), best, strict=True):
                given = ", ".join(f"{name}={state}" for name, state in zip(rule.parents.names, row, strict=False))
                rows.append((rule.variable.name, given, row[len(rule.parents)], utility))
        return import_pandas().DataFrame(rows, columns=["decision", "given", "action", "expected_utility"])

    def __repr__(self) -> str:
        how = f"{self.method}, {'exact' if self.exact else 'a local optimum'}"
        return f"Policy({', '.join(self.decisions)}; expected utility {self.expected_utility:.6g}, {how})"

    def __str__(self) -> str:
        return "\n".join([repr(self), *map(str, self.rules)])

    def _repr_html_(self) -> str:
        tables = (f"<p>{escape(repr(rule))}</p>{rule._repr_html_()}" for rule in self.rules)
        return f"<p><code>{escape(repr(self))}</code></p>" + "".join(tables)
