"""Decision networks as values: their parts, their checks, their picture."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt

ILL, TREAT = jt.Variable("ill", ["no", "yes"]), jt.Variable("treat", ["no", "yes"])
PRIOR, LOSSES = jt.Conditional(ILL, [], [0.9, 0.1]), jt.Utility([TREAT, ILL], [[0, -100], [-10, -20]])
NETWORK = jt.DecisionNetwork([PRIOR, jt.Decision(TREAT), LOSSES])


def test_a_network_knows_its_parts():
    assert NETWORK.variables.names == ("ill", "treat")
    assert NETWORK["treat"] == jt.Decision(TREAT)
    assert NETWORK["utility"].values is not None
    assert NETWORK["ill"] == PRIOR
    assert NETWORK.graph.edges == (("treat", "utility"), ("ill", "utility"))
    assert repr(NETWORK) == "DecisionNetwork(1 chance variable, 1 decision, 1 utility)"


def test_utilities_without_names_are_numbered():
    network = jt.DecisionNetwork([PRIOR, jt.Decision(TREAT), LOSSES, jt.Utility([TREAT], [0, 1])])
    assert [utility.name for utility in network.utilities] == ["utility 1", "utility 2"]


def test_decisions_come_in_the_order_in_which_they_are_taken():
    first, second = jt.Variable("first", 2), jt.Variable("second", 2)
    network = jt.DecisionNetwork(
        [jt.Decision(second, [first]), jt.Decision(first), jt.Utility([first, second], np.zeros((2, 2)))]
    )
    assert [decision.variable.name for decision in network.decisions] == ["first", "second"]


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: jt.DecisionNetwork([PRIOR, jt.Decision(TREAT)]), "at least one jt.Utility"),
        (lambda: jt.DecisionNetwork([PRIOR, LOSSES]), "'treat', a parent of 'utility', has no conditional"),
        (lambda: jt.DecisionNetwork([PRIOR, PRIOR, LOSSES]), "'ill' appears twice"),
        (lambda: jt.DecisionNetwork([PRIOR, TREAT, LOSSES]), "made of conditionals, jt.Decision and jt.Utility"),
        (lambda: jt.DecisionNetwork(PRIOR), "must be a list"),
        (lambda: jt.Decision("treat"), "what is decided must be a Variable"),
        (lambda: jt.Decision(jt.Variable("dose")), "real-valued"),
        (lambda: jt.Decision(TREAT, [TREAT]), "appears twice"),
        (lambda: jt.Utility([TREAT], [0, np.inf]), r"not a finite number at \[1\]"),
        (lambda: jt.Utility([TREAT], [0, 1, 2]), "one axis per parent"),
        (lambda: jt.Utility([TREAT], [0, 1], name=""), "non-empty string"),
        (lambda: NETWORK.with_part(jt.Utility([TREAT], [0, 1], name="ill")), "of a utility is taken"),
        (lambda: NETWORK.with_policy({}), "no rule for the decision 'treat'"),
        (lambda: NETWORK.with_policy({"treat": PRIOR}), "is a conditional of"),
        (
            lambda: jt.DecisionNetwork(
                [jt.LinearGaussian(jt.Variable("height"), [], [], 0.0, 1.0), jt.Utility([], 1.0)]
            ),
            "over variables with states",
        ),
    ],
)
def test_what_breaks_a_rule_is_refused_in_a_sentence(build, words):
    with pytest.raises(jt.errors.InvalidModel, match=words):
        build()


def test_a_cycle_is_refused():
    chance = jt.Conditional(ILL, [TREAT], [[0.9, 0.1], [0.5, 0.5]])
    with pytest.raises(jt.errors.InvalidModel, match="cycle"):
        jt.DecisionNetwork([chance, jt.Decision(TREAT, [ILL]), LOSSES])


def test_a_part_is_replaced():
    dearer = NETWORK.with_part(jt.Utility([TREAT], [0, -50], name="utility"))
    assert dearer["utility"].to_dict() == {"no": 0.0, "yes": -50.0}
    assert NETWORK.with_part(jt.Utility([TREAT], [0, -1])).utilities[1].name == "utility 1"
    assert dearer != NETWORK


def test_an_unknown_node_gets_a_hint():
    with pytest.raises(jt.UnknownVariable, match="did you mean 'treat'"):
        NETWORK["treet"]


def test_the_picture_has_a_square_and_a_diamond():
    svg = jt.draw(NETWORK).svg
    assert 'class="decision" data-name="treat"' in svg
    assert 'class="utility" data-name="utility"' in svg
    assert svg.count("<polyline") == 1


def test_a_utility_prints_as_a_table():
    assert "treat" in str(LOSSES)
    assert LOSSES.to_pandas().loc["yes", "no"] == -10
    assert str(jt.Utility([], 3.0)) == "Utility(): 3"
