"""Variables and scopes: which labels are allowed, and how a value finds its state."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidModel, UnknownState, UnknownVariable
from juncture.variables import Scope, Variable, distinct_variables, is_missing

nan = float("nan")


@pytest.mark.parametrize(
    ("states", "value", "code"),
    [
        # an equal label of the same kind
        (["no", "yes"], "yes", 1),
        (["no", "yes"], np.str_("yes"), 1),
        ([1, 2], 2, 1),
        ([1, 2], np.int8(2), 1),
        ([1, 2], 2.0, 1),  # an integral float counts as the integer
        ([1, 2], np.float32(2), 1),
        ([1.0, 2.0], 2, 1),
        ([0.5, 1.5], np.float64(1.5), 1),
        ([False, True], True, 1),
        ([False, True], np.True_, 1),
        (["1", 1, True], 1, 1),
        (["1", 1, True], "1", 0),
        (["1", 1, True], True, 2),
        (["True", True], "True", 0),
        ([1, "1.0"], "1.0", 1),
        ([1, "1.0"], 1.0, 0),
        ([float("inf"), 0], np.inf, 0),
        # else the one label with the same text
        ([1, 2], "2", 1),
        ([1, 2], "2.0", 1),
        ([1.0, 2.0], "2", 1),
        (["1", "2"], 2, 1),
        (["1", "2"], 2.0, 1),
        (["1.0", "2.0"], 2, 1),
        (["1", "1.0"], 1, 0),
        (["1", "1.0"], 1.0, 1),
        ([0.5, 1.5], "0.5", 0),
        (["0.5", "1.5"], 1.5, 1),
        ([False, True], "True", 1),
        (["False", "True"], True, 1),
        ([1e20, 1], "1e+20", 0),
        ([1e20, 1], 10**20, 0),
        ([1, 2], Decimal(2), 1),
        (["2020-01-31", "never"], dt.date(2020, 1, 31), 0),
    ],
)
def test_a_value_finds_its_state(states, value, code):
    assert Variable("x", states).code(value) == code


@pytest.mark.parametrize(
    ("states", "value"),
    [
        (["no", "yes"], "maybe"),
        (["no", "yes"], "Yes"),
        (["no", "yes"], 1),  # labels, never positions
        ([1, 2], 0),
        ([1, 2], 1.5),
        ([1, 2], True),  # a boolean is no number
        ([False, True], 1),
        ([False, True], "true"),
        ([1, 2], 10**400),
        (["no", "yes"], None),
        (["None", "yes"], None),  # missing is no state, whatever it is called
        (["nan", "yes"], nan),
        (["nan", "yes"], np.float64("nan")),
        (["no", "yes"], ["yes"]),
        (["no", "yes"], {}),
        (["no", "yes"], np.array(["yes", "no"])),
    ],
)
def test_what_is_no_state_is_refused_by_name(states, value):
    with pytest.raises(UnknownState, match="variable 'x' has no state"):
        Variable("x", states).code(value)


def test_a_misspelt_state_gets_a_hint():
    with pytest.raises(UnknownState, match=r"variable 'smoke' has no state 'yess'; did you mean 'yes'\?"):
        Variable("smoke", ["no", "yes"]).code("yess")


@given(st.lists(st.one_of(st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False)), min_size=1))
def test_every_label_finds_itself(labels):
    try:
        variable = Variable("x", labels)
    except InvalidModel as error:
        assert "twice" in str(error)  # noqa: PT017  1 and 1.0 are one state
        return
    assert [variable.code(label) for label in labels] == list(range(len(labels)))
    assert [pickle.loads(pickle.dumps(variable)).code(label) for label in labels] == list(range(len(labels)))  # noqa: S301


def test_states_may_be_counted_or_come_from_numpy():
    assert Variable("x", 3).states == Variable("x", np.int64(3)).states == (0, 1, 2)
    assert [type(state) for state in Variable("x", np.array([1, 2])).labels] == [int, int]
    assert Variable("x", (str(n) for n in range(2))).states == ("0", "1")
    assert Variable(np.str_("x"), np.array(["a", "b"])) == Variable("x", ["a", "b"])


@pytest.mark.parametrize(
    ("name", "states", "words"),
    [
        ("", 2, "non-empty string"),
        (3, 2, "non-empty string"),
        (None, 2, "non-empty string"),
        ("x", 0, "'x' needs at least one state"),
        ("x", -1, "'x' needs at least one state"),
        ("x", [], "'x' needs at least one state"),
        ("x", "yes", "'x' must be a list of labels"),
        ("x", 3.0, "'x' must be a list of labels"),
        ("x", True, "'x' must be a list of labels"),
        ("x", ["a", "b", "a"], "'x' has the state 'a' twice"),
        ("x", [1, 1.0], "'x' has the state 1 twice"),
        ("x", [1, None], "a state of 'x' must be"),
        ("x", [1, nan], "a state of 'x' must be"),
        ("x", [1, np.nan], "a state of 'x' must be"),
        ("x", [1, (2,)], "a state of 'x' must be"),
        ("x", [1, 2j], "a state of 'x' must be"),
        ("x", [b"a"], "a state of 'x' must be"),
    ],
)
def test_refused_variables(name, states, words):
    with pytest.raises(InvalidModel) as caught:
        Variable(name, states)
    assert words in str(caught.value)


@pytest.mark.parametrize("dimension", [0, -1, 1.5, "2", None])
def test_refused_dimensions(dimension):
    with pytest.raises(InvalidModel, match=r"'x'.*dimension"):
        Variable("x", dimension=dimension)
    with pytest.raises(InvalidModel, match=r"'x'.*dimension"):
        Variable("x", 2, dimension=2)


def test_a_real_variable_has_no_states_and_says_so():
    height = Variable("height")
    assert (height.is_real, height.states, height.dimension) == (True, None, 1)
    for question in (
        lambda: height.labels,
        lambda: height.num_states,
        lambda: height.code(1.0),
        lambda: height.numbers,
    ):
        with pytest.raises(InvalidModel, match="'height' is real-valued"):
            question()


def test_states_as_numbers():
    assert Variable("x", [0.5, 2, True]).numbers.tolist() == [0.5, 2.0, 1.0]
    assert Variable("x", ["low", 7]).numbers.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("marker", [None, nan, np.nan, np.datetime64("NaT", "s")])
def test_missing_markers(marker):
    assert is_missing(marker)


def test_missing_markers_of_pandas_and_things_that_are_not_missing():
    pd = pytest.importorskip("pandas")
    assert is_missing(pd.NA)
    assert is_missing(pd.NaT)
    assert not any(is_missing(value) for value in (0, "", False, [], np.array([1.0, nan]), "nan"))


# --- scopes --------------------------------------------------------------------------------------------------------

A, B, C = Variable("a", 2), Variable("b", ["x", "y", "z"]), Variable("c", 1)


def test_scope():
    scope = Scope([A, B, C])
    assert (scope.names, scope.shape, scope.size) == (("a", "b", "c"), (2, 3, 1), 6)
    assert (scope.axis("b"), scope.variable("b")) == (1, B)
    assert scope.without(["b", "unknown"]) == Scope([A, C])
    assert Scope([C]).union([A, C], [B]) == Scope([C, A, B])
    assert (Scope().shape, Scope().size) == ((), 1)
    assert pickle.loads(pickle.dumps(scope)) == scope  # noqa: S301
    assert type(pickle.loads(pickle.dumps(scope))) is Scope  # noqa: S301
    assert Scope(Variable(f"x{n}", 10) for n in range(40)).size == 10**40  # exact, not a wrapped integer


def test_refused_scopes():
    with pytest.raises(InvalidModel, match="'a' appears twice"):
        Scope([A, B, A])
    with pytest.raises(InvalidModel, match="made of variables; got 'a'"):
        Scope(["a"])
    with pytest.raises(InvalidModel, match="list of variables"):
        Scope(A)
    with pytest.raises(UnknownVariable, match="the scope has no variable 'bb'; did you mean 'b'"):
        Scope([A, B]).axis("bb")


def test_one_name_means_one_variable():
    with pytest.raises(InvalidModel, match="'a' stands for two variables"):
        distinct_variables([[A, B], [Variable("a", [0.0, 1.0])]])
