"""Juncture's JSON keeps every model bit for bit, and says what it cannot keep."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.base.kinds import kinds_with
from juncture.components.document import EMISSIONS
from juncture.errors import FormatError, RenormalizedWarning
from juncture.factors.conditional import Conditional
from juncture.factors.deterministic import Deterministic
from juncture.factors.factor import Factor
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.factors.logistic import Logistic
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.formats.json import KINDS, read_json, write_json
from juncture.formats.row_repair import RowRepair
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph, MarkovNetwork
from juncture.networks.plates import plate
from juncture.variables import Scope, Variable, state_key


def round_trip(model):
    """Read what was written, and check that nothing was repaired and that writing again gives the same text."""
    rows, text = RowRepair(), write_json(model)
    again = read_json(text.encode(), rows)

    assert rows.count == 0
    assert type(again) is type(model)
    assert write_json(again) == text
    return again


# --- round trips -----------------------------------------------------------------------------------------------------

nasty_names = st.one_of(
    st.sampled_from(['"', "\\", "a b", "<5", "Asy/Patch", "é", "\n", "\x00", "{}", "[0]", "null", "😀", " "]),
    st.text(min_size=1, max_size=5),
)
states = st.lists(
    st.one_of(nasty_names, st.integers(), st.booleans(), st.floats(allow_nan=False)),
    min_size=1,
    max_size=4,
    unique_by=state_key,
)


@st.composite
def discrete_variables(draw, max_size=5):
    names = draw(st.lists(nasty_names, max_size=max_size, unique=True))
    return [Variable(name, draw(st.one_of(states, st.just([False, True]), st.just(["1", 1])))) for name in names]


def rows_of(rng, *shape):
    return rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])


def any_conditional(rng, child, parents):
    """A conditional of a random kind among those that these variables allow."""
    if child.is_real:
        shape = Scope(parent for parent in parents if not parent.is_real).shape
        num_real = sum(parent.is_real for parent in parents)
        coefficients = rng.normal(size=(*shape, num_real))
        options = [LinearGaussian(child, parents, coefficients, rng.normal(size=shape), rng.gamma(1, size=shape) + 0.1)]
        return options[0] if parents or rng.random() < 0.5 else Constant(child, rng.normal())
    head = () if child.num_states == 2 else (child.num_states,)
    options = [Logistic(child, parents, rng.normal(size=(*head, len(parents))), rng.normal(size=head))]
    if not any(parent.is_real for parent in parents):
        scope = Scope(parents)
        options.append(Conditional(child, scope, rows_of(rng, *scope.shape, child.num_states)))
        options.append(Deterministic(child, scope, rng.integers(child.num_states, size=scope.shape)))
        tables = [rows_of(rng, parent.num_states, child.num_states) for parent in scope]
        options.append(NoisyMax(child, scope, tables, rows_of(rng, child.num_states)))
        if all(variable.num_states == 2 for variable in (*scope, child)):
            options.append(NoisyOr(child, scope, rng.random(len(scope)), leak=rng.random()))
    return options[rng.integers(len(options))]


@st.composite
def networks(draw):
    variables = draw(discrete_variables())
    taken = {variable.name for variable in variables}
    real = draw(st.lists(nasty_names.filter(lambda name: name not in taken), max_size=2, unique=True))
    variables = draw(st.permutations([*variables, *(Variable(name) for name in real)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    parts = []
    for place, child in enumerate(variables):
        parents = [parent for parent in variables[:place] if rng.random() < 0.4]
        parts.append(any_conditional(rng, child, parents))
    parts = [parts[place] for place in rng.permutation(len(parts))]
    plates = [(draw(st.text(max_size=3)), [part.child.name for part in parts if rng.random() < 0.5]) for _ in parts[:2]]
    return BayesianNetwork(parts, tied=[[part.child.name] for part in parts[:1]], plates=plates)


@given(networks())
def test_networks_of_all_kinds_survive(model):
    again = round_trip(model)

    assert again == model
    assert again.variables == model.variables
    assert again.conditionals == model.conditionals
    assert (again.tied, again.plates) == (model.tied, model.plates)


@given(discrete_variables(), st.sampled_from([MarkovNetwork, FactorGraph]), st.integers(0, 2**32))
def test_products_of_factors_survive(variables, kind, seed):
    rng = np.random.default_rng(seed)
    scopes = [[variable for variable in variables if rng.random() < 0.5] for _ in range(rng.integers(4))]
    factors = [Factor(scope, rng.exponential(size=Scope(scope).shape)) for scope in scopes]
    plates = tuple((f"p{place}", (place,)) for place in range(len(factors)))
    model = kind(factors, variables, plates=plates)

    again = round_trip(model)

    assert again == model
    assert (again.variables, again.factors, again.plates) == (model.variables, model.factors, model.plates)


@given(st.lists(st.floats(min_value=0, allow_infinity=False), min_size=1, max_size=20))
def test_doubles_keep_their_bits(numbers):
    model = MarkovNetwork([Factor([Variable("x", len(numbers))], numbers)])

    assert round_trip(model).factors[0].values.tobytes() == model.factors[0].values.tobytes()


def test_states_keep_their_types():
    labels = ("1", 1, True, "true", 0.5, -0.0, 2.0, 10**30, math.inf, -math.inf, "inf", "\u2028")
    model = MarkovNetwork([], [Variable("x", labels)])

    again = round_trip(model).variable("x").states

    assert [(type(label), repr(label)) for label in again] == [(type(label), repr(label)) for label in labels]


def test_every_kind_is_written_compactly():
    a, b, c, x, v = Variable("a", 2), Variable("b", 2), Variable("c", 3), Variable("x"), Variable("v", dimension=3)
    parts = [
        Conditional(a, [], [0.25, 0.75]),
        NoisyOr(b, [a], [0.5], leak=0.125),
        NoisyMax(c, [a], [[[1, 0, 0], [0.5, 0.25, 0.25]]]),
        Deterministic(Variable("d", 2), [a, b], [[0, 1], [1, 0]]),
        Logistic(Variable("l", 2), [a, x], [1.5, -2.0], 0.5),
        LinearGaussian(x, [a], [[], []], [1.0, 2.0], [1.0, 3.0]),
        Constant(v, [1.0, 2.0, 3.0]),
    ]
    model = BayesianNetwork(parts)

    assert {type(part) for part in parts} == set(KINDS)  # a new kind is added here too
    assert round_trip(model).conditionals == model.conditionals
    assert '"child": "b", "parents": ["a"], "probabilities": [0.5], "leak": 0.125}' in write_json(model)


def test_ties_and_plates_survive():
    coins = plate("coin", 3, lambda i: Conditional(Variable(f"x{i}", 2), [], [0.5, 0.5]))
    model = BayesianNetwork([coins], tied=[["x0", "x1", "x2"]])

    again = round_trip(model)

    assert again == model
    assert again.num_parameters == 1
    assert again.plates == (("coin × 3", ("x0", "x1", "x2")),)


@pytest.mark.parametrize("model", [BayesianNetwork([]), MarkovNetwork([]), FactorGraph([Factor([], 2.5)])])
def test_empty_models_survive(model):
    assert round_trip(model) == model


def test_through_files(tmp_path):
    model = jt.example("asia")
    for name in ("a.json", "a.json.gz"):
        jt.write(model, tmp_path / name)
        assert jt.read(tmp_path / name) == model


def test_the_layout_has_a_line_per_variable_and_per_row():
    lines = write_json(jt.example("survey")).splitlines()

    assert '    {"name": "A", "states": ["young", "adult", "old"]},' in lines
    assert "        [0.48, 0.42, 0.1]," in lines
    assert sum('"name"' in line for line in lines) == 6


# --- rows that nearly sum to 1 ---------------------------------------------------------------------------------------


def test_rows_are_repaired_and_counted(tmp_path):
    path = tmp_path / "sprinkler.json"
    path.write_text(write_json(jt.example("sprinkler")).replace("[0.9, 0.1]", "[0.9, 0.1001]", 1))

    with pytest.warns(RenormalizedWarning, match=r"1 rows .* 'sprinkler' given cloudy=yes, summed to 1\.0001"):
        model = jt.read(path)
    assert model["sprinkler"]["yes", "yes"] == 0.1001 / (0.9 + 0.1001)


# --- what cannot be written ------------------------------------------------------------------------------------------


class Uniform:
    """A user's own conditional."""

    def __init__(self, child):
        self.child, self.parents, self.num_parameters = child, Scope(), 0

    def log_prob(self, columns):
        return np.zeros(len(columns[self.child.name]))

    def sample(self, columns, num_rows, rng):
        return rng.random(num_rows)


class Colour(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BayesianNetwork([Uniform(Variable("u"))]), r"cannot hold Uniform\(u\)"),
        (MarkovNetwork([], [Variable("x", [10**640])]), "state of 'x' is longer than 640 digits"),
        (MarkovNetwork([], [Variable("x", [Colour("red")])]), "state of 'x' is of type Colour"),
        (MarkovNetwork([], [Variable("x\ud800", 2)]), "surrogate"),
        ("text", "JSON holds BayesianNetwork, .* this is a str"),
    ],
)
def test_what_cannot_be_kept_is_refused(model, message):
    with pytest.raises(FormatError, match=message):
        write_json(model)


# --- the documentation -----------------------------------------------------------------------------------------------


def test_the_documented_examples_are_what_the_writer_writes():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    documents = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)

    assert len(documents) == 3
    for text in documents:
        assert write_json(read_json(text.encode(), RowRepair())) == text
    for name in [*(kind.__name__ for kind in KINDS), *EMISSIONS.records, *kinds_with("document")]:
        assert f"`{name}`" in page
