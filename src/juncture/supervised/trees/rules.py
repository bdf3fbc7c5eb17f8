"""A tree as rules, a disjunction of conjunctions with one rule for each way that a row can end; and as a diagram."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.base.checks import check_mapping, check_number
from juncture.base.values import Value, number_of
from juncture.drawing.decision_trees import DecisionBox, DecisionDiagram
from juncture.drawing.text import format_value
from juncture.errors import InvalidData

if TYPE_CHECKING:
    from juncture.supervised.trees.tree import DecisionTree


class Condition(NamedTuple):
    """A condition on one input: its states, or an interval of numbers, open at the lower end."""

    name: str
    states: tuple[Any, ...] = ()
    above: float = -np.inf
    most: float = np.inf

    def holds(self, value: Any) -> bool:
        """Whether a value meets the condition."""
        if self.states:
            return value in self.states
        return self.above < check_number(value, self.name) <= self.most

    def __str__(self) -> str:
        if self.states:
            texts = [format_value(state) for state in self.states]
            return f"{self.name} = {texts[0]}" if len(texts) == 1 else f"{self.name} in {{{', '.join(texts)}}}"
        if self.above == -np.inf:
            return f"{self.name} ≤ {self.most:.6g}"
        return (
            f"{self.name} > {self.above:.6g}"
            if self.most == np.inf
            else f"{self.above:.6g} < {self.name} ≤ {self.most:.6g}"
        )


class Rule(Value):
    """If all conditions hold, the prediction.

    Attributes
    ----------
    conditions
        What must hold of the inputs; a rule without conditions always holds.
    prediction
        The class, or the number.
    weight
        The weight of the training rows for which the rule holds; 0 for categories that none of them had.
    share
        The share of the predicted class among the training rows of the leaf; for regression 1.
    target
        The name of what is predicted.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    weight: float
    share: float
    target: str

    def __init__(self, conditions: Any, prediction: Any, weight: float, share: float, target: str) -> None:
        self._set(
            conditions=tuple(conditions), prediction=prediction, weight=float(weight), share=float(share), target=target
        )

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether all conditions hold for a complete row, a mapping from names to values."""
        check_mapping(row, "the row of a rule")
        lacking = next((each.name for each in self.conditions if each.name not in row), None)
        if lacking is not None:
            raise InvalidData(f"the row lacks {lacking!r}, on which the rule has a condition")
        return all(condition.holds(row[condition.name]) for condition in self.conditions)

    def __str__(self) -> str:
        condition = " ∧ ".join(map(str, self.conditions)) or "always"
        return f"{condition} → {self.target} = {format_value(self.prediction)}"

    def __repr__(self) -> str:
        text = f"{self} ({number_of(self.weight, 'row')})"
        return f"Rule({text if len(text) < 100 else text[:99] + '…'})"


def find_rules(tree: DecisionTree) -> tuple[Rule, ...]:
    """The rules of the leaves in the order of the branches, depth first; after a node, that of its other states."""
    rules, waiting = list[Rule](), [(0, tuple[Condition, ...]())]
    while waiting:
        node, conditions = waiting.pop()
        if node < 0 or tree.split[node] < 0:
            rules.append(make_rule(tree, max(node, ~node), conditions, 0.0 if node < 0 else float(tree.weights[node])))
            continue
        waiting.extend(reversed(list(branches_of(tree, node, conditions))))
    return tuple(rules)


def branches_of(
    tree: DecisionTree, node: int, conditions: tuple[Condition, ...]
) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """The children of a node with the conditions that lead to them; the states without a child lead to `~node`."""
    first = int(tree.first_child[node])
    others = states_without_branch(tree, node)
    ways = [(child, branch_test(tree, child)) for child in range(first, first + int(tree.num_children[node]))]
    if others:
        ways.append((~node, Condition(tree.inputs[tree.split[node]].name, others)))
    for way, condition in ways:
        merged = merge(conditions, condition)
        if merged is not None:
            yield way, merged


def make_rule(tree: DecisionTree, node: int, conditions: tuple[Condition, ...], weight: float) -> Rule:
    best = int(tree.predictions[node].argmax())
    share = 1.0 if tree.target.is_real else float(tree.predictions[node, best])
    return Rule(conditions, prediction_of(tree, node), weight, share, tree.target.name)


def prediction_of(tree: DecisionTree, node: int) -> Any:
    """What a node predicts: the class as it was given, or the mean."""
    values = tree.predictions[node]
    return float(values[0]) if tree.target.is_real else tree.target.labels[int(values.argmax())]


def branch_test(tree: DecisionTree, child: int) -> Condition:
    """The condition under which a row goes from a node to this child."""
    node = int(tree.parent[child])
    variable, branch = tree.inputs[tree.split[node]], int(tree.branch[child])
    if not variable.is_real:
        return Condition(variable.name, (variable.labels[branch],))
    threshold = float(tree.threshold[node])
    return Condition(variable.name, above=threshold) if branch else Condition(variable.name, most=threshold)


def states_without_branch(tree: DecisionTree, node: int) -> tuple[Any, ...]:
    """The states of the input that a node tests to which no child belongs."""
    variable, first = tree.inputs[tree.split[node]], int(tree.first_child[node])
    if variable.is_real:
        return ()
    taken = set(tree.branch[first : first + int(tree.num_children[node])].tolist())
    return tuple(label for code, label in enumerate(variable.labels) if code not in taken)


def merge(conditions: tuple[Condition, ...], condition: Condition) -> tuple[Condition, ...] | None:
    """The conditions with one more; two of one input become their intersection, None where that is empty."""
    for place, old in enumerate(conditions):
        if old.name == condition.name:
            states = tuple(state for state in old.states if state in condition.states)
            both = Condition(old.name, states, max(old.above, condition.above), min(old.most, condition.most))
            is_empty = both.above >= both.most if not old.states else not states
            return None if is_empty else (*conditions[:place], both, *conditions[place + 1 :])
    return (*conditions, condition)


def tree_diagram(tree: DecisionTree) -> DecisionDiagram:
    """The diagram of all nodes."""
    labels = () if tree.target.is_real else tuple(format_value(label) for label in tree.target.labels)
    boxes = tuple(node_box(tree, node) for node in range(tree.num_nodes))
    return DecisionDiagram(boxes, labels, tree.target.name)


def node_box(tree: DecisionTree, node: int) -> DecisionBox:
    is_leaf = tree.split[node] < 0
    title = format_value(prediction_of(tree, node)) if is_leaf else tree.inputs[tree.split[node]].name
    test = branch_test(tree, node) if node else None
    condition = "" if test is None else str(test).removeprefix(test.name).strip().removeprefix("= ")
    shares = () if tree.target.is_real else tuple(tree.predictions[node].tolist())
    return DecisionBox(
        title, describe_rows(tree, node), int(tree.parent[node]), condition, shares, is_leaf=bool(is_leaf)
    )


def describe_rows(tree: DecisionTree, node: int) -> str:
    rows = number_of(round(float(tree.weights[node]), 2), "row")
    return f"{rows}, ± {tree.statistics[node, 2] ** 0.5:.3g}" if tree.target.is_real else rows
