"""What a person meets first: sizes as they are, and errors that say what to do."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from support.model_kinds import KINDS


def test_numbers_of_things_are_singular_or_plural():
    asia = jt.example("asia")
    assert repr(jt.infer(asia, targets=["lung"])).startswith("Beliefs(junction-tree, exact, 1 variable, log")
    assert repr(jt.infer(asia, [{}], targets=["lung", "tub"])) == "Beliefs(junction-tree, exact, 2 variables, 1 row)"
    assert repr(jt.Dataset({"a": ["x"]})) == "Dataset(1 row of 1 variable: a)"
    coin = jt.Variable("coin", 2)
    network = jt.BayesianNetwork([jt.Conditional(coin, [], [0.5, 0.5])])
    assert repr(network) == "BayesianNetwork(1 variable, 0 edges, 1 parameter)"
    assert repr(jt.FactorGraph([jt.Factor([coin], [1, 2])])) == "FactorGraph(1 variable, 1 factor)"


@pytest.mark.parametrize("name", sorted(set(jt.examples()) - {"oil"}))  # a decision network has no cost
def test_costs_are_whole_numbers(name):
    found = jt.cost(jt.example(name))
    assert found.largest_table == round(found.largest_table)
    assert found.bytes == round(found.bytes)


def test_a_table_of_the_wrong_shape_is_told_what_its_axes_are():
    a, b = jt.Variable("a", 2), jt.Variable("b", 3)
    with pytest.raises(jt.errors.InvalidModel, match=r"\(2, 2\), one row and one column per state; it has \(3, 3\)"):
        jt.HiddenMarkovModel([0.5, 0.5], np.full((3, 3), 1 / 3), [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(jt.errors.InvalidModel, match=r"\(2, 2\), one row and one column per state; it has \(2, 3\)"):
        jt.MarkovChain(np.full((2, 3), 1 / 3), states=2)
    with pytest.raises(
        jt.errors.InvalidModel, match=r"\(2, 2, 2\), one axis per earlier state, then one for the next; it"
    ):
        jt.MarkovChain(np.full((2, 2), 1 / 2), states=2, order=2)
    with pytest.raises(
        jt.errors.InvalidModel, match=r"\(2, 3\), one axis per parent, then one for the child; it has \(3,\)"
    ):
        jt.Conditional(b, [a], [0.2, 0.3, 0.5])
    with pytest.raises(jt.errors.InvalidModel, match=r"\(2, 3\), one axis per variable; it has \(3,\)"):
        jt.Factor([a, b], [0.2, 0.3, 0.5])


def test_a_flat_list_of_tied_names_is_told_how_to_write_a_group():
    a, b = jt.Variable("a", 2), jt.Variable("b", 2)
    parts = [jt.Conditional(variable, [], [0.5, 0.5]) for variable in (a, b)]
    with pytest.raises(jt.errors.InvalidModel, match=r"list of groups.*write tied=\[\['a', 'b'\]\] for one group"):
        jt.BayesianNetwork(parts, tied=["a", "b"])


@pytest.mark.parametrize("states", [{"no", "yes"}, frozenset({0, 1})])
def test_a_set_of_states_is_refused_because_it_has_no_order(states):
    with pytest.raises(
        jt.errors.InvalidModel, match=r"the states of 'smoke' are a set, which has no order.*give a list"
    ):
        jt.Variable("smoke", states)
    assert jt.Variable("smoke", {"no": 1, "yes": 2}.keys()).states == ("no", "yes")


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_model_says_which_options_it_has(name):
    kind = KINDS[name]()
    for verb, ask in (("infer", jt.infer), ("most_probable", jt.most_probable), ("log_prob", jt.log_prob)):
        if not kind.answers(verb):
            continue
        with pytest.raises(
            jt.errors.Unsupported, match=rf"^{verb} of a {type(kind.model).__name__} has no option 'methd'"
        ):
            ask(kind.model, kind.one, methd="exact")


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_model_names_its_sizes_in_one_line(name):
    kind = KINDS[name]()
    text = repr(kind.model)
    assert text.startswith(type(kind.model).__name__)
    assert "\n" not in text
    assert "object at 0x" not in text
