"""Models of pgmpy taken as they are, by its public interface; where it is installed, there and back.

The stand-ins have what from_pgmpy asks of pgmpy 1.1: `nodes`, `get_cpds`, `get_factors`; of a table `variable`,
`variables`, `values` and `state_names`; of a linear Gaussian `variable`, `evidence`, `beta` and `std`.
"""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidModel, MissingExtra, RenormalizedWarning, Unsupported
from support.builders import random_field, random_network
from support.wrong_objects import WRONG

SEEDS = st.integers(0, 2**32)
is_here = importlib.util.find_spec("pgmpy") is not None
where_installed = pytest.mark.skipif(not is_here, reason="pgmpy brings too much for the extras")
WET = np.array([[1.0, 0.9, 0.8, 0.05], [0.0, 0.1, 0.2, 0.95]]).reshape(2, 2, 2)  # wet, rain, sprinkler


class DiscreteBayesianNetwork:
    """What pgmpy calls so, as far as it is asked."""

    def __init__(self, *cpds, nodes=None):
        self.cpds, self.names = cpds, [cpd.variable for cpd in cpds] if nodes is None else nodes

    def nodes(self):
        return self.names

    def get_cpds(self):
        return list(self.cpds)


class DiscreteMarkovNetwork(SimpleNamespace):
    def get_factors(self):
        return self.factors


def table(variables, values, **states):
    return SimpleNamespace(variable=variables[0], variables=variables, values=np.array(values), state_names=states)


def line(variable, beta, std, evidence):
    return SimpleNamespace(variable=variable, beta=np.array(beta), std=std, evidence=evidence)


RAIN = table(["rain"], [0.2, 0.8], rain=["yes", "no"])
SPRINKLER = table(["sprinkler"], [0.1, 0.9], sprinkler=["yes", "no"])


def test_tables_have_the_child_last_and_states_by_their_names():
    """P(rain | wet) = 0.645: the states of rain stand in another order in the table of wet."""
    wet = table(["wet", "rain", "sprinkler"], WET[:, ::-1], wet=[1, 0], rain=["no", "yes"], sprinkler=["yes", "no"])
    model = jt.from_pgmpy(DiscreteBayesianNetwork(wet, RAIN, SPRINKLER))
    assert model.variables.names == ("wet", "rain", "sprinkler")
    assert model.variable("rain").states == ("yes", "no")
    assert model.variable("wet").states == (1, 0)
    assert model["wet"].parents.names == ("rain", "sprinkler")
    assert model["wet"]["yes", "no", 1] == 0.9
    assert jt.infer(model, {"wet": 1})["rain"]["yes"] == pytest.approx(0.6453900709219859)


def test_linear_gaussians_have_variances_for_standard_deviations():
    model = jt.from_pgmpy(DiscreteBayesianNetwork(line("x", [1.0], 4.0, []), line("y", [-5.0, 0.5], 2.0, ["x"])))
    assert model["y"] == jt.LinearGaussian(jt.Variable("y"), [jt.Variable("x")], [0.5], -5.0, 4.0)
    assert jt.infer(model)["y"].variance == pytest.approx(0.25 * 16 + 4)


def test_markov_networks_have_their_factors():
    pair = table(["a", "b"], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], a=["n", "y"], b=[0, 1, 2])
    single = table(["a"], [7.0, 8.0], a=["y", "n"])
    field = jt.from_pgmpy(DiscreteMarkovNetwork(factors=[pair, single]))
    assert [variable.states for variable in field.variables] == [("n", "y"), (0, 1, 2)]
    assert (field.factors[0]["y", 2], field.factors[1]["y"]) == (6.0, 7.0)


def test_rows_that_nearly_sum_to_one_are_divided_by_their_sum():
    with pytest.warns(RenormalizedWarning, match="the model of pgmpy: 1 rows"):
        jt.from_pgmpy(DiscreteBayesianNetwork(table(["a"], [0.3333333, 0.6666666], a=[0, 1])))


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        ("asia", Unsupported, "takes a DiscreteBayesianNetwork, .* got str"),
        (
            DiscreteBayesianNetwork(RAIN, nodes=["rain", "wet"]),
            InvalidModel,
            "no CPD of 'wet'; give it one by add_cpds",
        ),
        (
            DiscreteBayesianNetwork(RAIN, SimpleNamespace(variable="f", function=None)),
            Unsupported,
            "the CPD of 'f' is a SimpleNamespace",
        ),
        (
            DiscreteBayesianNetwork(RAIN, table(["wet", "rain"], np.eye(2), wet=[0, 1], rain=[0, 1])),
            InvalidModel,
            "name the states of 'rain' differently",
        ),
    ],
)
def test_what_cannot_be_taken_is_said(model, error, message):
    with pytest.raises(error, match=message):
        jt.from_pgmpy(model)


def test_objects_of_other_kinds_are_refused_in_a_sentence():
    for wrong in WRONG.values():
        with pytest.raises(Unsupported, match="from_pgmpy takes a DiscreteBayesianNetwork"):
            jt.from_pgmpy(wrong)


@pytest.mark.skipif(is_here, reason="pgmpy is here")
def test_without_it_the_way_there_says_how_to_get_it():
    with pytest.raises(MissingExtra, match="run: pip install pgmpy"):
        jt.to_pgmpy(jt.example("asia"))


@where_installed
@pytest.mark.filterwarnings("ignore")
@given(SEEDS)
def test_tables_come_back(seed):
    network = random_network(np.random.default_rng(seed))
    there = jt.to_pgmpy(network)
    assert there.check_model()
    back = jt.from_pgmpy(there)
    tables = jt.BayesianNetwork([part.to_table() for part in network.conditionals])
    assert back == tables


@where_installed
@pytest.mark.filterwarnings("ignore")
@given(SEEDS)
def test_fields_come_back(seed):
    field = random_field(np.random.default_rng(seed))
    parts = [part for part in field.factors if part.scope]
    for model in (jt.MarkovNetwork(parts), jt.FactorGraph(parts)) if parts else ():
        back = jt.from_pgmpy(jt.to_pgmpy(model))
        assert type(back) is type(model)
        assert sorted(map(repr, back.factors)) == sorted(map(repr, model.factors))
        assert set(back.factors) == set(model.factors)


@where_installed
@pytest.mark.filterwarnings("ignore")
def test_answers_and_lines_come_back():
    from pgmpy.inference import VariableElimination

    asia = jt.example("asia")
    found = VariableElimination(jt.to_pgmpy(asia)).query(["lung"], evidence={"xray": "yes"}, show_progress=False)
    assert found.values == pytest.approx(jt.infer(asia, {"xray": "yes"})["lung"].values, abs=1e-12)
    x, y, z = (jt.Variable(name) for name in "xyz")
    parts = [jt.LinearGaussian(x, [], [], 1.0, 4.0), jt.LinearGaussian(y, [], [], 0.0, 0.25)]
    lines = jt.BayesianNetwork([*parts, jt.LinearGaussian(z, [x, y], [0.5, -2.0], 3.0, 9.0)])
    assert jt.from_pgmpy(jt.to_pgmpy(lines)) == lines
