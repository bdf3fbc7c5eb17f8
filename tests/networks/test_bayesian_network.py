"""Bayesian networks: what is refused, what is counted, and the joint in every form."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidData, InvalidModel, UnknownState, UnknownVariable, Unsupported
from support.builders import joint_table, random_network

SEEDS = st.integers(0, 2**32)


def network(seed, **options):
    return random_network(np.random.default_rng(seed), **options)


def assignments(model):
    for codes in np.ndindex(model.variables.shape):
        yield codes, {v.name: v.labels[code] for v, code in zip(model.variables, codes, strict=True)}


def uniform(child, *parents):
    shape = [variable.num_states for variable in (*parents, child)]
    return jt.Conditional(child, parents, np.full(shape, 1 / child.num_states))


def variables(text, num_states=2):
    return [jt.Variable(name, num_states) for name in text.split()]


# --- the joint -----------------------------------------------------------------------------------------------------


@given(SEEDS)
def test_log_joint_is_the_sum_of_the_logarithms(seed):
    model = network(seed, num_variables=4, max_states=3)
    for _, assignment in assignments(model):
        entries = [part[tuple(assignment[name] for name in part.scope.names)] for part in model.conditionals]
        expected = math.log(math.prod(entries)) if all(entries) else -math.inf
        assert model.log_joint(assignment) == pytest.approx(expected)


@given(SEEDS)
def test_log_joint_of_rows_agrees_with_the_joint_table(seed):
    model = network(seed)
    joint = joint_table(model)
    codes = np.unravel_index(np.arange(joint.size), joint.shape)
    rows = dict(zip(model.variables.names, codes, strict=True))
    with np.errstate(divide="ignore"):
        assert model.log_joint_of(rows) == pytest.approx(np.log(joint.reshape(-1)))


@given(SEEDS)
def test_as_markov_network_and_factor_graph_z_is_one(seed):
    """A Bayesian network is a Markov network with Z = 1, over the same variables in the same order."""
    model = network(seed)
    for other in (model.to_markov_network(), model.to_factor_graph()):
        assert other.variables == model.variables
        assert len(other.factors) == len(model.conditionals)
        assert joint_table(other).sum() == pytest.approx(1)
        assert joint_table(other) == pytest.approx(joint_table(model))
    assert model.to_markov_network().graph == model.graph.moralize()


@given(SEEDS)
def test_structure(seed):
    model = network(seed)
    assert model.graph.nodes == model.variables.names
    for part in model.conditionals:
        name = part.child.name
        assert model[name] is part
        assert model.variable(name) is part.child
        assert model.graph.parents(name) == part.parents.names
    assert model.num_parameters == sum(part.num_parameters for part in model.conditionals)


def test_the_empty_network_is_certain():
    empty = jt.BayesianNetwork([])
    assert empty.log_joint({}) == 0.0
    assert (len(empty.variables), empty.num_parameters, empty.graph.nodes) == (0, 0, ())


def test_isolated_and_single_state_variables():
    alone, only = jt.Variable("alone", 2), jt.Variable("only", ["here"])
    model = jt.BayesianNetwork([jt.Conditional(alone, [], [0.25, 0.75]), jt.Conditional(only, [], [1.0])])
    assert model.graph.edges == ()
    assert model.log_joint({"alone": 1, "only": "here"}) == pytest.approx(math.log(0.75))
    assert model.num_parameters == 1


def test_log_joint_needs_every_variable_and_known_states():
    a, b = variables("a b")
    model = jt.BayesianNetwork([uniform(a), uniform(b, a)])
    for incomplete in ({}, {"a": 0}, {"a": 0, "b": None}, {"a": 0, "b": float("nan")}):
        with pytest.raises(InvalidData, match=r"every variable a state; '[ab]' has none"):
            model.log_joint(incomplete)
    with pytest.raises(UnknownState, match="'b' has no state 2"):
        model.log_joint({"a": 0, "b": 2})
    with pytest.raises(UnknownVariable, match="'c'"):
        model.log_joint({"a": 0, "b": 1, "c": 1})


# --- what is refused -----------------------------------------------------------------------------------------------

A, B, C = variables("a b c")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([uniform(A), uniform(A)], "'a' has two conditionals"),
        ([uniform(B, A)], "'a', a parent of 'b', has no conditional of its own"),
        ([uniform(A, C), uniform(B, A), uniform(C, B)], "cycle"),
        ([uniform(A), uniform(B, jt.Variable("a", 3))], "'a' stands for two variables"),
        ([uniform(A), uniform(B, jt.Variable("a", ["0", "1"]))], "'a' stands for two variables"),
        ([uniform(A), uniform(B, jt.Variable("a", [0.0, 1.0]))], "'a' stands for two variables"),
        ([jt.Factor([A], [1, 2])], "made of conditionals; got Factor(a; 2)"),
        (["a"], "made of conditionals; got 'a'"),
        (uniform(A), "write [Conditional(a)] for one"),
        (None, "made of a list"),
    ],
)
def test_refused_networks(parts, words):
    with pytest.raises(InvalidModel) as caught:
        jt.BayesianNetwork(parts)
    assert words in str(caught.value)


def test_a_cycle_is_printed():
    with pytest.raises(InvalidModel) as caught:
        jt.BayesianNetwork([uniform(A, C), uniform(B, A), uniform(C, B), uniform(jt.Variable("d", 2), A)])
    assert any(cycle in str(caught.value) for cycle in ("a -> b -> c -> a", "b -> c -> a -> b", "c -> a -> b -> c"))


def test_unknown_names_get_a_hint():
    model = jt.BayesianNetwork([uniform(jt.Variable("smoke", 2))])
    for question in (lambda: model["smok"], lambda: model.variable("smok")):
        with pytest.raises(UnknownVariable, match=r"the model has no variable 'smok'; did you mean 'smoke'\?"):
            question()
    with pytest.raises(TypeError, match="not iterable"):
        list(model)


# --- replacing a conditional ---------------------------------------------------------------------------------------


def test_with_conditional_replaces_or_adds_and_leaves_the_old_alone():
    model = jt.BayesianNetwork([uniform(A), uniform(B, A)], plates=[("n", ["a", "b"])])
    changed = model.with_conditional(jt.Conditional(A, [], [0.1, 0.9]))
    assert changed["a"].values.tolist() == [0.1, 0.9]
    assert changed.plates == model.plates
    assert changed["b"] is model["b"]
    assert changed.variables == model.variables
    assert model["a"].values.tolist() == [0.5, 0.5]
    assert model.with_conditional(uniform(C, B)).graph.edges == (("a", "b"), ("b", "c"))
    assert model.with_conditional() == model
    with pytest.raises(InvalidModel, match="cycle"):
        model.with_conditional(uniform(A, B))
    with pytest.raises(InvalidModel, match="'a' stands for two variables"):
        model.with_conditional(uniform(jt.Variable("a", 3)))


# --- tied parameters and counting ----------------------------------------------------------------------------------


def chain(num_states, length, *, is_tied):
    states = [jt.Variable(f"x{n}", num_states) for n in range(1, length + 1)]
    steps = [uniform(child, parent) for parent, child in pairwise(states)]
    tied = [[step.child.name for step in steps]] if is_tied else []
    return jt.BayesianNetwork([uniform(states[0]), *steps], tied=tied)


def fully_connected(num_states, length):
    states = [jt.Variable(f"x{n}", num_states) for n in range(length)]
    return jt.BayesianNetwork(uniform(child, *states[:place]) for place, child in enumerate(states))


def independent(num_states, length):
    return jt.BayesianNetwork(uniform(jt.Variable(f"x{n}", num_states)) for n in range(length))


@pytest.mark.parametrize(("num_states", "length", "counts"), [(2, 7, (127, 7, 13, 3)), (3, 4, (80, 8, 20, 8))])
def test_parameter_counts(num_states, length, counts):
    """S1-039, S1-042: the full joint, independent variables, a chain, and a tied chain."""
    models = (
        fully_connected(num_states, length),
        independent(num_states, length),
        chain(num_states, length, is_tied=False),
        chain(num_states, length, is_tied=True),
    )
    assert tuple(model.num_parameters for model in models) == counts


def test_naive_bayes_and_student_counts():
    """S4-194: naive Bayes with T = 3, W = 5 has 17 against 95; the student network 10 against 2⁵ - 1 = 31."""
    topic, words = jt.Variable("topic", 3), variables("w1 w2 w3 w4 w5")
    naive = jt.BayesianNetwork([uniform(topic), *(uniform(word, topic) for word in words)])
    assert naive.num_parameters == 17
    full = [uniform(word, topic, *words[:place]) for place, word in enumerate(words)]
    assert jt.BayesianNetwork([uniform(topic), *full]).num_parameters == 95
    difficulty, intelligence, grade, sat, letter = variables("d i g s l")
    student = jt.BayesianNetwork(
        [
            uniform(difficulty),
            uniform(intelligence),
            uniform(grade, difficulty, intelligence),
            uniform(sat, intelligence),
            uniform(letter, grade),
        ]
    )
    assert student.num_parameters == 10
    assert fully_connected(2, 5).num_parameters == 31


def test_ties_need_the_same_parameters():
    parts = [jt.Conditional(A, [], [0.5, 0.5]), jt.Conditional(B, [], [0.5, 0.5]), jt.Conditional(C, [], [0.4, 0.6])]
    assert jt.BayesianNetwork(parts, tied=[["a", "b"]]).num_parameters == 2
    with pytest.raises(InvalidModel, match="same parameters; those of a, c differ"):
        jt.BayesianNetwork(parts, tied=[["a", "c"]])
    with pytest.raises(InvalidModel, match="same parameters"):
        jt.BayesianNetwork([parts[0], jt.NoisyOr(B, [], [], leak=0.5)], tied=[["a", "b"]])  # another kind
    with pytest.raises(InvalidModel, match="in one group only"):
        jt.BayesianNetwork(parts, tied=[["a", "b"], ["b"]])
    with pytest.raises(UnknownVariable, match="'z'"):
        jt.BayesianNetwork(parts, tied=[["a", "z"]])


def test_replacing_part_of_a_tied_group_is_refused():
    tied = chain(2, 3, is_tied=True)
    first, second = variables("x1 x2")
    third = jt.Variable("x3", 2)
    sticky = [[0.9, 0.1], [0.1, 0.9]]
    with pytest.raises(InvalidModel, match="those of x2, x3 differ"):
        tied.with_conditional(jt.Conditional(second, [first], sticky))
    both = tied.with_conditional(jt.Conditional(second, [first], sticky), jt.Conditional(third, [second], sticky))
    assert both.num_parameters == tied.num_parameters == 3


def test_what_has_no_table_is_named():
    real = jt.LinearGaussian(jt.Variable("h"), [], [])
    model = jt.BayesianNetwork([uniform(A), real])
    for question in (model.to_markov_network, model.to_factor_graph, lambda: model.factors):
        with pytest.raises(Unsupported, match=r"LinearGaussian\(h\) has no table"):
            question()
