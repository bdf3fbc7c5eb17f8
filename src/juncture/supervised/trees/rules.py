"""Rules: a tree as a disjunction of conjunctions, one rule for each way that a row can end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.drawing.text import format_value
from juncture.values import Value, number_of

if TYPE_CHECKING:
    from juncture.supervised.trees.tree import DecisionTree


class Test(NamedTuple):
    """A condition on one input: its states, or an interval of numbers, open at the lower end."""

    name: str
    states: tuple[Any, ...] = ()
    above: float = -np.inf
    most: float = np.inf

    def holds(self, value: Any) -> bool:
        """Whether a value meets the condition."""
        return value in self.states if self.states else self.above < value <= self.most

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
    """If all tests hold, the prediction.

    Attributes
    ----------
    tests
        The conditions; a rule without tests always holds.
    prediction
        The class, or the number.
    weight
        The weight of the training rows for which the rule holds; 0 for categories that none of them had.
    share
        The share of the predicted class among the training rows of the leaf; for regression 1.
    target
        The name of what is predicted.
    """

    _fields = ("tests", "prediction", "weight", "share", "target")
    tests: tuple[Test, ...]
    prediction: Any
    weight: float
    share: float
    target: str

    def __init__(self, tests: Any, prediction: Any, weight: float, share: float, target: str) -> None:
        self._set(tests=tuple(tests), prediction=prediction, weight=float(weight), share=float(share), target=target)

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether all tests hold for a complete row, a mapping from names to values."""
        return all(test.holds(row[test.name]) for test in self.tests)

    def __str__(self) -> str:
        condition = " ∧ ".join(map(str, self.tests)) or "always"
        return f"{condition} → {self.target} = {format_value(self.prediction)}"

    def __repr__(self) -> str:
        text = f"{self} ({number_of(self.weight, 'row')})"
        return f"Rule({text if len(text) < 100 else text[:99] + '…'})"


def find_rules(tree: DecisionTree) -> tuple[Rule, ...]:
    """The rules of the leaves in the order of the branches, depth first; after a node, that of its other states."""
    rules, waiting = list[Rule](), [(0, tuple[Test, ...]())]
    while waiting:
        node, tests = waiting.pop()
        if node < 0 or tree.split[node] < 0:
            rules.append(make_rule(tree, max(node, ~node), tests, 0.0 if node < 0 else float(tree.weights[node])))
            continue
        waiting.extend(reversed(list(branches_of(tree, node, tests))))
    return tuple(rules)


def branches_of(tree: DecisionTree, node: int, tests: tuple[Test, ...]) -> Iterator[tuple[int, tuple[Test, ...]]]:
    """The children of a node with the tests that lead to them; the states without a child lead to `~node`."""
    first = int(tree.first_child[node])
    others = states_without_branch(tree, node)
    ways = [(child, branch_test(tree, child)) for child in range(first, first + int(tree.num_children[node]))]
    if others:
        ways.append((~node, Test(tree.inputs[tree.split[node]].name, others)))
    for way, test in ways:
        merged = merge(tests, test)
        if merged is not None:
            yield way, merged


def make_rule(tree: DecisionTree, node: int, tests: tuple[Test, ...], weight: float) -> Rule:
    best = int(tree.predictions[node].argmax())
    share = 1.0 if tree.target.is_real else float(tree.predictions[node, best])
    return Rule(tests, prediction_of(tree, node), weight, share, tree.target.name)


def prediction_of(tree: DecisionTree, node: int) -> Any:
    """What a node predicts: the class as it was given, or the mean."""
    values = tree.predictions[node]
    return float(values[0]) if tree.target.is_real else tree.target.labels[int(values.argmax())]


def branch_test(tree: DecisionTree, child: int) -> Test:
    """The condition under which a row goes from a node to this child."""
    node = int(tree.parent[child])
    variable, branch = tree.inputs[tree.split[node]], int(tree.branch[child])
    if not variable.is_real:
        return Test(variable.name, (variable.labels[branch],))
    threshold = float(tree.threshold[node])
    return Test(variable.name, above=threshold) if branch else Test(variable.name, most=threshold)


def states_without_branch(tree: DecisionTree, node: int) -> tuple[Any, ...]:
    """The states of the input that a node tests to which no child belongs."""
    variable, first = tree.inputs[tree.split[node]], int(tree.first_child[node])
    if variable.is_real:
        return ()
    taken = set(tree.branch[first : first + int(tree.num_children[node])].tolist())
    return tuple(label for code, label in enumerate(variable.labels) if code not in taken)


def merge(tests: tuple[Test, ...], test: Test) -> tuple[Test, ...] | None:
    """The tests with one more; two of one input become their intersection, None where that is empty."""
    for place, old in enumerate(tests):
        if old.name == test.name:
            states = tuple(state for state in old.states if state in test.states)
            both = Test(old.name, states, max(old.above, test.above), min(old.most, test.most))
            is_empty = both.above >= both.most if not old.states else not states
            return None if is_empty else (*tests[:place], both, *tests[place + 1 :])
    return (*tests, test)
