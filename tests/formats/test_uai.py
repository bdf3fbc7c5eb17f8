"""UAI model files: what is written is read back, and what is lost is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import FormatError
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.factors.gaussian import LinearGaussian
from juncture.factors.noisy import NoisyOr
from juncture.formats.row_repair import RowRepair
from juncture.formats.uai import read_uai, write_uai
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph, MarkovNetwork
from juncture.variables import Scope, Variable
from support.uai_examples import BAYES, MARKOV, read


def test_the_last_variable_is_fastest_and_the_child():
    model = read(BAYES)

    assert isinstance(model, BayesianNetwork)
    assert model.variables.names == ("x0", "x1", "x2")
    assert model.variable("x2").states == (0, 1, 2)
    assert model["x1"].parents.names == ("x0",)
    assert model["x1"][1, 0] == 0.92
    assert model["x2"][0, 1] == 0.333


def test_markov_files_are_factors():
    model = read(MARKOV)

    assert isinstance(model, MarkovNetwork)
    assert [factor.scope.names for factor in model.factors] == [("x0", "x1"), ("x0", "x1", "x2")]
    assert model.factors[0][0, 1] == 2.4
    assert model.factors[1][1, 1, 2] == 10.0


def test_lines_mean_nothing_and_comments_are_left_out():
    assert read(" ".join(BAYES.split())) == read(BAYES)
    assert read(BAYES.replace("\n", "\r\n")) == read(BAYES)
    assert read("c made by hand\nc\n" + BAYES.replace("3\n2 2 3", "c three\n3\nc sizes 9 9\n2 2 3")) == read(BAYES)
    assert read(b"\xef\xbb\xbf" + BAYES.encode()) == read(BAYES)


def test_functions_of_a_network_come_in_any_order():
    head, tables = BAYES.replace("1 0\n2 0 1\n", "2 0 1\n1 0\n").split("\n\n", 1)
    first, second, third = tables.split("\n\n")

    assert read(f"{head}\n\n{second}\n\n{first}\n\n{third}").conditionals == read(BAYES).conditionals


@st.composite
def plain_variables(draw):
    return [Variable(f"x{place}", size) for place, size in enumerate(draw(st.lists(st.integers(1, 4), max_size=6)))]


@given(plain_variables(), st.integers(0, 2**32))
def test_networks_survive(variables, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(variables))
    parts = {}
    for place, index in enumerate(order):
        parents = Scope(variables[before] for before in order[:place] if rng.random() < 0.4)
        values = rng.dirichlet(np.ones(variables[index].num_states), size=parents.shape)
        parts[index] = Conditional(variables[index], parents, values)
    model = BayesianNetwork(parts[index] for index in sorted(parts))

    again = read(write_uai(model))

    assert again == model
    assert again.conditionals == model.conditionals


@given(plain_variables(), st.integers(0, 2**32))
def test_fields_survive(variables, seed):
    rng = np.random.default_rng(seed)
    scopes = [[v for v in rng.permutation(variables) if rng.random() < 0.5] for _ in range(rng.integers(5))]
    model = MarkovNetwork([Factor(scope, rng.exponential(size=Scope(scope).shape)) for scope in scopes], variables)

    again = read(write_uai(model))

    assert (again.variables, again.factors) == (model.variables, model.factors)


@given(st.lists(st.floats(min_value=0, allow_infinity=False), min_size=1, max_size=20))
def test_doubles_keep_their_bits(numbers):
    model = MarkovNetwork([Factor([Variable("x0", len(numbers))], numbers)])

    assert read(write_uai(model)).factors[0].values.tobytes() == model.factors[0].values.tobytes()


def test_variables_without_functions_and_functions_without_variables():
    model = MarkovNetwork([Factor([], 2.5)], [Variable("x0", 3)])

    assert write_uai(model) == "MARKOV\n1\n3\n1\n0\n\n1\n2.5\n"
    assert read(write_uai(model)) == model
    assert read("MARKOV 0 0") == MarkovNetwork([])
    assert read("BAYES 0 0") == BayesianNetwork([])


def test_nearly_right_rows_are_repaired():
    rows = RowRepair()
    model = read_uai(BAYES.replace("0.436", "0.4361").encode(), rows)

    assert rows.count == 1
    assert model["x0"].values.sum() == pytest.approx(1, abs=1e-12)


def test_what_is_lost_is_said(tmp_path):
    x, y = Variable("x0", 2), Variable("y", ["no", "yes"])
    model = BayesianNetwork([Conditional(x, [], [0.5, 0.5]), NoisyOr(y, [x], [0.25])], plates=[("p", ["y"])])
    path = tmp_path / "model.uai"

    with pytest.warns(UserWarning, match=r"UAI cannot express .*NoisyOr\(y \| x0\).*plates p.*names.*labels") as caught:
        jt.write(model, path)

    assert caught[0].filename == __file__
    again = jt.read(path)
    assert again.variables == (x, Variable("x1", 2))
    assert again["x1"].values.tolist() == model["y"].to_table().values.tolist()


@pytest.mark.parametrize(
    ("model", "loss"),
    [
        (FactorGraph([Factor([Variable("x0", 2)], [1, 2])]), "a factor graph is read back as a Markov network"),
        (MarkovNetwork([], [Variable("a", 2)]), "names"),
        (MarkovNetwork([], [Variable("x0", [0.0, 1.0])]), "labels"),
        (MarkovNetwork([], [Variable("x1", 2), Variable("x0", 2)]), "names"),
    ],
)
def test_each_loss_is_said(model, loss):
    with pytest.warns(UserWarning, match=loss):
        text = write_uai(model)
    assert [factor.values.tolist() for factor in read(text).factors] == [f.values.tolist() for f in model.factors]


def test_what_has_no_table_is_refused():
    with pytest.raises(FormatError, match=r"UAI holds tables only, and LinearGaussian\(x0\) has none"):
        write_uai(BayesianNetwork([LinearGaussian(Variable("x0"), [], [])]))
    with pytest.raises(FormatError, match="not a str"):
        write_uai("text")
