"""Every kind of model: writing it to a JSON file and reading it gives the same bits, and the same answers."""

from __future__ import annotations

import json
import re
from functools import singledispatch
from itertools import chain

import numpy as np
import pytest

import juncture as jt
from juncture.base.documents.codec import Record
from juncture.base.documents.kinds import HEAD, kind_names, load_kind, register_kind
from juncture.base.documents.kinds import KINDS as TABLE
from juncture.base.kinds import kinds_with
from juncture.base.values import Value, content_key
from juncture.components.contract import Emissions
from juncture.components.document import EMISSIONS
from juncture.components.word_counts import BagOfWords
from juncture.errors import FormatError
from juncture.families.family import Family
from juncture.families.registry import COMPOSED, FAMILIES
from juncture.formats.json import MODELS, read_json, write_json
from juncture.formats.row_repair import RowRepair
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.multiclass import BinaryDiscriminants
from juncture.supervised.regression.bases import FeatureModel
from support.document_examples import KINDS, posteriors

every_kind = pytest.mark.parametrize("kind", KINDS)


def reread(model):
    return read_json(write_json(model).encode(), RowRepair())


def refuse_constants(token):
    raise AssertionError(f"{token} is not JSON")


@every_kind
def test_a_file_gives_the_same_bits(kind, tmp_path):
    path = tmp_path / "model.json"
    for model in KINDS[kind]():
        jt.write(model, path)
        again = jt.read(path)
        assert type(again) is type(model)
        assert again == model
        assert repr(again) == repr(model)
        first = path.read_bytes()
        jt.write(again, path)
        assert path.read_bytes() == first
        document = json.loads(first, parse_constant=refuse_constants)  # strict JSON: no NaN, no Infinity
        assert [document[key] for key in HEAD] == ["juncture", 1, type(model).__name__]


@singledispatch
def some_data(model):
    """Rows or sequences that the model can have, and some that it hardly can."""
    return [jt.sample(model, 5, rng=0)]


@some_data.register
def _(model: jt.HiddenMarkovModel):
    if isinstance(model.emissions, jt.PrecomputedLogLikelihoods):
        return [np.log(np.random.default_rng(0).random((6, model.num_states)))]
    return [jt.sample(model, 5, rng=0)]


@some_data.register
def _(model: jt.LinearGaussianStateSpace):
    rng, steps = np.random.default_rng(0), min(3, model.max_length or 3)
    covariates = rng.normal(size=(steps, model.num_inputs)) if model.num_inputs else None
    return [jt.Sequence(rng.normal(size=(steps, model.observation_dimension)), covariates=covariates)]


@some_data.register
def _(model: jt.MarkovChain):
    return [list(model.states)] if model.labels.length == 1 and model.initial is not None else []


@some_data.register
def _(model: jt.ConditionalRandomField):
    return [([["x"]] * 3, [model.states[1]] * 3)]


@some_data.register(jt.supervised.DecisionTree)
@some_data.register(jt.supervised.RandomForest)
def _(model):
    inputs = model.inputs if isinstance(model, jt.supervised.DecisionTree) else model.trees[0].inputs
    return [[{one.name: 30.0 if one.is_real else one.labels[0] for one in inputs}, dict.fromkeys(inputs.names)]]


@some_data.register
def _(model: jt.supervised.GenerativeClassifier):
    return [np.ones((3, *model.densities.event_shape))]


@some_data.register(jt.neural.Autoencoder)
@some_data.register(jt.neural.VariationalAutoencoder)
def _(model):
    return [np.eye(2, model.num_columns)]


@some_data.register(FeatureModel)
def _(model):
    return [np.linspace(0.0, 1.0, 2 * model.num_columns).reshape(2, -1)]


@some_data.register(jt.supervised.LaplaceLogistic)
def _(model):
    return [np.linspace(0.0, 1.0, 3)]


@some_data.register(jt.supervised.ThresholdNetwork)
@some_data.register(Hyperplane)
@some_data.register(BinaryDiscriminants)
@some_data.register(jt.supervised.MaximumMargin)
def _(model):
    return [np.array([[0.0, 1.0], [2.0, -1.0]])]


@singledispatch
def answers(model, data):
    return jt.log_prob(model, data)


@answers.register(jt.supervised.DecisionTree)
@answers.register(jt.supervised.RandomForest)
def _(model, data):
    return model.predict_values(data)


@answers.register
def _(model: jt.supervised.GenerativeClassifier, data):
    return model.log_joint(data)


@answers.register(FeatureModel)
def _(model, data):
    if isinstance(model, jt.supervised.LogisticRegression):
        return model.predict_proba(data)
    return model.mean(data) if callable(model.mean) else model.predict(data).cdf(np.zeros(len(data)))


@answers.register(jt.supervised.LaplaceLogistic)
def _(model, data):
    return model.predict_proba(data)


@answers.register(jt.supervised.ThresholdNetwork)
def _(model, data):
    return model.predict(data)


@answers.register(Hyperplane)
@answers.register(jt.supervised.MaximumMargin)
def _(model, data):
    return model.activation(data)


@answers.register(BinaryDiscriminants)
def _(model, data):
    return model.activations(data)


@answers.register
def _(model: jt.neural.Autoencoder, data):
    return model.decode(model.encode(data))


@answers.register
def _(model: jt.neural.VariationalAutoencoder, data):
    return model.log_ratios(data, 3, rng=0)


def outcome(model, data):
    """The bits of the answers, or the sentence of a model whose numbers overflow."""
    try:
        with np.errstate(all="ignore"):  # the largest doubles are among the parameters
            return np.asarray(answers(model, data)).tobytes()
    except (jt.errors.InvalidModel, jt.errors.InvalidData) as error:
        return str(error)


@pytest.mark.parametrize("kind", ["networks", *kinds_with("document")])
def test_what_was_read_gives_the_same_answers(kind):
    for model in KINDS[kind]():
        again = reread(model)
        for data in some_data(model):
            assert outcome(again, data) == outcome(model, data)


def test_families_that_were_read_give_the_same_answers():
    for family in KINDS["families"]():
        again = reread(family)
        assert again.batch_shape == family.batch_shape
        draws = family.sample(3, rng=0)
        assert content_key(again.sample(3, rng=0)) == content_key(draws)
        assert content_key(again.log_prob(draws)) == content_key(family.log_prob(draws))


def test_posteriors_remember_what_they_have_seen():
    for posterior in posteriors():
        assert reread(posterior).predictive() == posterior.predictive()
        assert reread(posterior)._seen[0] is posterior._seen[0]


def test_every_kind_and_every_part_has_an_example():
    models = list(chain.from_iterable(make() for make in KINDS.values()))
    assert {type(model).__name__ for model in models} == {*MODELS, *kinds_with("document"), *FAMILIES, *COMPOSED}
    assert {*kinds_with("document"), *FAMILIES, *COMPOSED} <= set(kind_names())
    texts = "".join(map(write_json, models))
    assert set(EMISSIONS.records) <= set(re.findall(r'"kind": "(\w+)"', texts))


def subclasses(kind):
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def test_every_kind_of_emissions_has_an_entry():
    own = {kind for kind in subclasses(Emissions) if kind.__module__.startswith("juncture.")}
    assert own - {Emissions, BagOfWords} == {record.model for record in EMISSIONS.records.values()}


class Coin(Value):
    """A kind of model of one's own."""

    chance: float

    def __init__(self, chance):
        self._set(chance=chance)


def test_a_kind_of_ones_own_can_register():
    with pytest.raises(FormatError, match="this is a Coin"):
        write_json(Coin(0.25))
    register_kind(Record(Coin))
    try:
        assert reread(Coin(0.25)) == Coin(0.25)
        with pytest.raises(FormatError, match=re.escape("chance: must be a number; got null")):
            read_json(write_json(Coin(0.25)).replace("0.25", "null").encode(), RowRepair())
    finally:
        del TABLE["Coin"]


class OwnPoisson(jt.Poisson):
    """A family of one's own."""


class OwnEmissions(jt.PrecomputedLogLikelihoods):
    """Emissions of one's own."""


Poisson = type("Poisson", (OwnPoisson,), {})  # which bears the name of another


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (OwnPoisson(1.0), "JSON holds BayesianNetwork, .* and the families of the package; this is a OwnPoisson"),
        (Poisson(1.0), "JSON holds .*; this is a Poisson"),
        (jt.Gaussian(np.zeros(0), 1.0), "a batch without members; this Gaussian is one"),
        (jt.Mixture([1.0], [OwnPoisson(1.0)]), "JSON cannot hold a OwnPoisson: it is none of the families"),
        (jt.HiddenMarkovModel([1.0], [[1.0]], OwnEmissions(1)), "cannot hold OwnEmissions: this kind of emissions"),
        (jt.MarkovChain([[1.0]], states=["\ud800"]), "half of a surrogate pair"),
        (jt.MarkovChain([[1.0]], states=[10**700]), "longer than 640 digits"),
        (jt.GaussianEmissions([0.0], [1.0]), "this is a GaussianEmissions"),
    ],
)  # fmt: skip
def test_what_a_file_cannot_hold_is_refused_and_nothing_is_written(value, message, tmp_path):
    with pytest.raises(FormatError, match=message) as caught:
        jt.write(value, tmp_path / "x.json")
    assert str(tmp_path / "x.json") in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("depth", [45, 600])
def test_a_model_too_deep_for_a_file_is_refused(depth):
    family: Family = jt.Gaussian()
    for _ in range(depth):
        family = jt.Independent([family])
    with pytest.raises(FormatError, match="at most 80 lists and objects inside each other"):
        write_json(family)


def test_other_formats_send_models_of_sequences_to_json(tmp_path):
    chain = jt.MarkovChain([[1.0]])
    for suffix in (".bif", ".xmlbif", ".uai", ".net", ".xdsl", ".dne", ".dsc", ".fg"):
        with pytest.raises(FormatError, match=r"not a MarkovChain; write it as \.json"):
            jt.write(chain, tmp_path / f"x{suffix}")


def test_the_table_names_the_modules_that_register():
    for name in kinds_with("document"):
        assert load_kind(name).model.__name__ == name
