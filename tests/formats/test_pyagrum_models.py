"""Networks of pyAgrum taken as they are, and back: the same numbers at the same labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from support.builders import random_field, random_network
from support.wrong_objects import WRONG

gum = pytest.importorskip("pyagrum")
with warnings.catch_warnings():  # loading the module of Markov networks gives one, and crashes where it is an error
    warnings.simplefilter("ignore", DeprecationWarning)
    gum.MarkovRandomField()

SEEDS = st.integers(0, 2**32)
TEXT = "rain{yes|no}->wet{dry|damp|wet}<-level[1,4];size{1.5|2.5|4}->wet;code{-1|3|7}->wet;rain->size"


def as_text(model):
    """The model with texts for states that pyAgrum keeps as texts: numbers that are no rising whole ones."""
    return jt.from_pyagrum(jt.to_pyagrum(model))


def test_every_kind_of_variable_keeps_its_states():
    bn = gum.fastBN(TEXT)
    model = jt.from_pyagrum(bn)
    states = {variable.name: variable.states for variable in model.variables}
    assert states == {
        "rain": ("yes", "no"),
        "wet": ("dry", "damp", "wet"),
        "level": (1, 2, 3, 4),
        "size": (1.5, 2.5, 4.0),
        "code": (-1, 3, 7),
    }
    bn = gum.BayesNet()
    bn.add(gum.DiscretizedVariable("age", "", [0, 18, 65, 120]))
    bn.cpt("age").fillWith([0.25, 0.5, 0.25])
    age = jt.from_pyagrum(bn)
    assert age.variable("age").cuts == (18.0, 65.0)
    assert age["age"][41.5] == age["age"]["[18;65["] == 0.5


@pytest.mark.parametrize("seed", range(5))
def test_answers_are_those_of_pyagrum(seed):
    gum.initRandom(seed)
    bn = gum.fastBN(TEXT)
    bn.generateCPTs()
    model = jt.from_pyagrum(bn)
    for name in model.variables.names:
        for cell in np.ndindex(model[name].scope.shape):
            labels = {v.name: v.labels[code] for v, code in zip(model[name].scope, cell, strict=True)}
            at = {
                v: bn.variable(v).index(f"{label:g}" if isinstance(label, float) else str(label))
                for v, label in labels.items()
            }
            assert model[name][tuple(labels.values())] == pytest.approx(bn.cpt(name)[at], abs=1e-15)
    engine = gum.LazyPropagation(bn)
    engine.setEvidence({"wet": "damp"})
    engine.makeInference()
    beliefs = jt.infer(model, {"wet": "damp"})
    for name in model.variables.names:
        assert beliefs[name].values == pytest.approx(engine.posterior(name).toarray(), abs=1e-12)
    assert as_text(model).graph == model.graph


def test_what_pyagrum_computes_when_asked_is_a_table():
    bn = gum.BayesNet()
    for name in ("cold", "flu"):
        bn.add(gum.LabelizedVariable(name, "", ["no", "yes"]))
        bn.cpt(name).fillWith([0.75, 0.25])
    bn.addNoisyOR(gum.LabelizedVariable("fever", "", ["no", "yes"]), 0.1)
    bn.addWeightedArc("cold", "fever", 0.6)
    bn.addWeightedArc("flu", "fever", 0.3)
    table = jt.from_pyagrum(bn)["fever"]
    assert table["no", "no", "yes"] == pytest.approx(0.1)
    for cold in ("no", "yes"):
        for flu in ("no", "yes"):
            assert table[cold, flu, "yes"] == pytest.approx(bn.cpt("fever")[{"cold": cold, "flu": flu, "fever": "yes"}])


@given(SEEDS)
def test_networks_come_back(seed):
    """In the same order, with the same tables; states that are no rising whole numbers come back as texts."""
    network = random_network(np.random.default_rng(seed))
    back = as_text(network)
    assert back.variables.names == network.variables.names
    for part in network.conditionals:
        found = back[part.child.name]
        assert found.parents.names == part.parents.names
        assert np.array_equal(found.values, part.to_table().values)
        for one, other in zip(found.scope, part.scope, strict=True):
            assert [other.code(label) for label in one.labels] == list(range(other.num_states))
    assert as_text(back) == back


@given(SEEDS)
def test_markov_networks_come_back(seed):
    """Factors over the same variables are one: the distribution is the same."""
    field = random_field(np.random.default_rng(seed))
    back = as_text(field)
    assert set(back.variables.names) == set(field.variables.names)
    if jt.infer(field).log_evidence > -np.inf:
        ours, theirs = jt.infer(field), jt.infer(back)
        assert theirs.log_evidence == pytest.approx(ours.log_evidence, abs=1e-9)
        for name in field.variables.names:
            assert theirs[name].values == pytest.approx(ours[name].values, abs=1e-9)


def test_rows_of_six_digits_are_divided_by_their_sum(tmp_path):
    bn = gum.fastBN("a[3]->b[3]")
    bn.cpt("a").fillWith([0.333333, 0.333333, 0.333333])
    with pytest.warns(jt.errors.RenormalizedWarning, match="the network of pyAgrum: 1 rows"):
        assert jt.from_pyagrum(bn)["a"].values == pytest.approx(1 / 3)


def test_what_cannot_be_taken_is_said():
    for wrong in WRONG.values():
        with pytest.raises(jt.errors.Unsupported, match="from_pyagrum takes a"):
            jt.from_pyagrum(wrong)
    with pytest.raises(
        jt.errors.Unsupported, match=r"takes a pyagrum\.BayesNet or a pyagrum\.MarkovRandomField; got str"
    ):
        jt.from_pyagrum("asia")
    real = jt.BayesianNetwork([jt.LinearGaussian(jt.Variable("x"), [], [])])
    with pytest.raises(jt.errors.Unsupported):
        jt.to_pyagrum(real)
    with pytest.raises(
        jt.errors.Unsupported, match="a Bayesian network, a Markov network or a factor graph; got Mixture"
    ):
        jt.to_pyagrum(jt.Mixture([1.0], jt.Poisson([1.0])))
