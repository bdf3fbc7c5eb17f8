"""Files that are no models: one sentence names the file, the line, the field and the rule."""

from __future__ import annotations

import json
import re
from functools import partial
from random import Random

import numpy as np
import pytest

import juncture as jt
from juncture.components.repeated import RepeatedEmissions
from juncture.components.shared import SharedEmissions
from juncture.errors import FormatError
from juncture.formats.json import read_json, write_json
from juncture.formats.row_repair import RowRepair
from support.bounded import bounded
from support.document_examples import KINDS

WEATHER = jt.HiddenMarkovModel(
    [0.5, 0.5], [[0.75, 0.25], [0.375, 0.625]], [[0.7, 0.3], [0.1, 0.9]], states=["dry", "wet"], symbols=["no", "yes"]
)
CHAIN = jt.MarkovChain([[0.75, 0.25], [0.375, 0.625]], "a", states=["a", "b"])
WALK = jt.LinearGaussianStateSpace(np.eye(2), [[1.0, 0.5]], np.eye(2) * 3, 2.0, [0.0, 7.0], np.eye(2))
COUNTS = jt.Mixture([0.25, 0.75], jt.Poisson([2.0, 9.0]))
PAIR = jt.HiddenMarkovModel([0.5, 0.5], np.eye(2), [jt.Gaussian(0.0, 4.0), jt.Laplace(1.0, 8.0)])
SHARED = jt.HiddenMarkovModel([0.5, 0.5], np.eye(2), SharedEmissions(jt.GaussianEmissions([5.0], [3.0]), [0, 0]))
POSTERIOR = jt.Gamma(2.0, 1.0).posterior(jt.Poisson.statistics([4]))
NAMED = COUNTS.with_feature_names(["n"])

EMISSIONS = '"emissions": {"kind": "CategoricalEmissions"'


@pytest.mark.parametrize(
    ("model", "old", "new", "line", "message"),
    [
        (WEATHER, '"HiddenMarkovModel"', '"HidenMarkovModel"', 4, 'model: is "HidenMarkovModel"; did'),
        (WEATHER, '"HiddenMarkovModel"', "7", 4, "model: is 7; known are 'BayesianNetwork'"),
        (WEATHER, '"HiddenMarkovModel"', '["Gaussian"]', 4, "model: is a list of length 1"),
        (WEATHER, '"HiddenMarkovModel"', '"MarkovChain"', 1, "the document: has the unknown key 'emissions'"),
        (WEATHER, '"HiddenMarkovModel"', '"BayesianNetwork"', 1, "the document: has the unknown key"),
        (WEATHER, '"version": 1', '"version": 2', 3, "version: is 2; known are 1"),
        (WEATHER, '"initial": [0.5, 0.5],', "", 1, "the document: lacks the key 'initial'"),
        (WEATHER, '"initial"', '"inital"', 1, "has the unknown key 'inital'; did you mean 'initial'?"),
        (WEATHER, '"initial": ', '"initial": [1], "initial": ', 1, "the document: has the key 'initial' twice"),
        (WEATHER, "[0.5, 0.5]", "[0.5, 0.25]", 1, "the initial distribution has a row that sums to 0.75"),
        (WEATHER, "[0.5, 0.5]", "0.5", 1, "the initial distribution is one probability per state"),
        (WEATHER, "[0.5, 0.5]", "[0.5, null]", 6, "initial[1]: must be a number; got null"),
        (WEATHER, "[0.5, 0.5]", '["inf", 0.5]', 6, 'initial[0]: must be a number; got "inf"'),
        (WEATHER, "[0.5, 0.5]", "[NaN, 0.5]", 6, "initial[0]: must be a number; got NaN"),
        (WEATHER, "[0.5, 0.5]", "[1e999, 0.5]", 6, "initial[0]: is larger than any double"),
        (WEATHER, "[0.5, 0.5]", f"[{'9' * 5000}, 0.5]", 6, "initial[0]: must be a number; got an integer of 5,000"),
        (WEATHER, "[0.75, 0.25]", "[0.75]", 9, "transition[1]: must be a list of length 1, like the first"),
        (WEATHER, "[0.75, 0.25]", "[1.75, -0.75]", 1, "the transition matrix has the negative entry -0.75 at [0, 1]"),
        (WEATHER, ",\n    [0.375, 0.625]", "", 1, "the transition matrix must have the shape (2, 2)"),
        (WEATHER, '["dry", "wet"]', '["dry"]', 1, "there are 2 states; got 1 labels"),
        (WEATHER, '["dry", "wet"]', '["dry", "dry"]', 1, "has the state 'dry' twice"),
        (WEATHER, '["dry", "wet"]', '["dry", null]', 5, "states[1]: must be text, a number or a boolean"),
        (WEATHER, '["dry", "wet"]', '["dry", {"float": "nan"}]', 5, 'states[1].float: is "nan"'),
        (WEATHER, '"CategoricalEmissions"', '"CategoricalEmission"', 11, 'emissions.kind: is "CategoricalEmission"'),
        (WEATHER, EMISSIONS, '"emissions": {"sort": 1', 11, "emissions: lacks the key 'kind'"),
        (WEATHER, '["no", "yes"]', '["no"]', 11, "emissions: the table of emissions has 2 symbols; got 1 labels"),
        (WEATHER, "[0.7, 0.3]", "[0.7, 0.2]", 11, "emissions: the table of emissions has a row that sums to 0.9"),
        (WEATHER, ",\n    [0.1, 0.9]", "", 1, "there are 2 states, but emissions for 1"),
        (CHAIN, '"order": 1', '"order": 1.0', 6, "order: must be a whole number; got 1.0"),
        (CHAIN, '"order": 1', '"order": 0', 6, "order: the order of a Markov chain must be a whole number"),
        (CHAIN, '"order": 1', f'"order": {10**600}', 6, "order: the order of a Markov chain is at most 30"),
        (CHAIN, '"order": 1', '"order": 2', 11, "initial: must be a table with an axis for each of the"),
        (CHAIN, '"initial": [1.0, 0.0]', '"initial": "a"', 11, 'initial: must be a number; got "a"'),
        (CHAIN, '"initial": [1.0, 0.0]', '"initial": [1.0]', 1, "the initial distribution is a state or 2 prob"),
        (CHAIN, '"order": 1', '"history": 3', 1, "the transition table must have the shape (8, 8)"),
        (CHAIN, '"order": 1', f'"history": {10**12}', 6, "history: must be a whole number from 1 to 64"),
        (CHAIN, '"states": ["a", "b"]', '"history": 1', 1, "lacks the key 'states': a chain with a history needs"),
        (WALK, "7.0", '"7"', 19, 'initial_mean[1]: must be a number; got "7"'),
        (WALK, "[0.0, 7.0]", "[0.0]", 1, "initial_mean must have the shape 2; it has (1,)"),
        (WALK, "[3.0, 0.0]", "[3.0, 1.0]", 1, "transition_noise must be symmetric"),
        (WALK, "[3.0, 0.0]", "[-3.0, 0.0]", 1, "transition_noise must be positive semidefinite"),
        (WALK, "[3.0, 0.0]", "[1e400, 0.0]", 13, "transition_noise[0][0]: is larger than any double"),
        (WALK, "[1.0, 0.5]", "[1.0, 0.5, 0.5]", 1, "observation must have the shape n × 2"),
        (WALK, '"initial_mean"', '"input_to_state": [[]], "initial_mean"', 1, "input_to_state must have the shape"),
        (WALK, '"initial_mean"', '"mean": 1, "initial_mean"', 1, "has the unknown key 'mean'"),
        (NAMED, '["n"]', '["n", "m"]', 7, "feature_names are as many as the columns, 1 here; got 2"),
        (NAMED, '["n"]', "[1]", 7, "feature_names[0]: must be text; got 1"),
        (NAMED, '["n"]', '"n"', 7, "feature_names: must be a list"),
        (WEATHER, '"initial": ', '"feature_names": ["n"], "initial": ', 1, "has the unknown key 'feature_names'"),
        (COUNTS, "[0.25, 0.75]", "[0.25, 0.5]", 1, "the list of weights of a mixture has a row that sums to 0.75"),
        (COUNTS, "[0.25, 0.75]", "[1.0]", 1, "there are 1 weights, but 2 components"),
        (COUNTS, "[2.0, 9.0]", "[2.0, -9.0]", 6, "components.family: the rate of Poisson must be a finite"),
        (COUNTS, "[2.0, 9.0]", "2.0", 6, "components: emissions are a batch of distributions, one per state"),
        (COUNTS, "[2.0, 9.0]", "[]", 6, "components.family: holds a batch of Poisson without members"),
        (COUNTS, '"Poisson"', '"Poison"', 6, "components.family.kind: is \"Poison\"; did you mean 'Poisson'?"),
        (COUNTS, '"rate"', '"mean"', 6, "components.family: has the unknown key 'mean'; known are 'kind', 'rate'"),
        (PAIR, "[0],", "[1],", 11, "the positions of groups of emissions are all states, each once"),
        (PAIR, "[0],", "[0.5],", 12, "emissions.states[0]: must hold positions of states: whole numbers"),
        (PAIR, "[0],", "0,", 12, "emissions.states[0]: must be a list of whole numbers; got 0"),
        (PAIR, "[0],", "[[0]],", 12, "emissions.states[0]: must be a list of whole numbers; got a list"),
        (PAIR, "[4.0]", "[0.0]", 15, "emissions.groups[0]: variances of Gaussian emissions are positive"),
        (PAIR, '"diagonal"', '"diag"', 15, "emissions.groups[0].structure: is \"diag\"; known are 'full', 'diagonal'"),
        (PAIR, '"diagonal"', '""', 15, "emissions.groups[0].structure: is \"\"; known are 'full'"),
        (SHARED, '"groups": [0, 0]', '"groups": [0, 1]', 11, "emissions: states share 1 distributions"),
        (SHARED, '"groups": [0, 0]', '"groups": [0, 1e300]', 11, "emissions.groups: must hold positions of states"),
        (POSTERIOR, '"Poisson"', '"Uniform"', 7, "seen: "),
        (POSTERIOR, '"known": {}', '"known": {"trials": 3}', 7, "seen.known: has the unknown key 'trials'"),
        (POSTERIOR, '"known": {}', '"known": []', 7, "seen.known: must be an object"),
        (POSTERIOR, '"shape": 6.0', '"shape": -6.0', 1, "the shape of Gamma must be a positive finite number; got -6"),
        (jt.Gaussian(), '"mean": 0.0', '"mean": [[0.0, 1.0], [1.0, 2.0, 3.0]]', 5, "mean[1]: must be a list"),
        (jt.Gaussian([0.0, 1.0], 2.0), "2.0", "[1, 2, 3]", 1, "the parameters of Gaussian do not broadcast"),
        (jt.Gaussian(), '"mean"', '"seen": {}, "mean"', 5, "seen: lacks the key 'family'"),
        (jt.Independent([jt.Gaussian()]), '"families": ', '"families": [], "others": ', 1, "unknown key 'others'"),
    ],
)  # fmt: skip
def test_each_mistake_is_refused_with_its_place(model, old, new, line, message, tmp_path):
    text = write_json(model)
    assert old in text
    path = tmp_path / "wrong.json"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        jt.read(path)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_every_beginning_of_a_file_is_refused(kind):
    for model in KINDS[kind]()[:8]:
        data = write_json(model).encode()
        for end in range(0, len(data.rstrip()), 1 + len(data) // 40):
            with pytest.raises(FormatError):
                read_json(data[:end], RowRepair())


def paths_in(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths_in(item, (*path, key))


WRONG = [
    *(None, True, "", "x", [], {}, [[]], [{}], 0, -1, 0.5, 1e308, -1e308, 5e-324, 2**63, 10**300, 10**400),
    *([0.5], [1.0, 2.0, 3.0], [[1.0, 2.0], [3.0, 4.0]], {"kind": "Poisson", "rate": 1.0}, {"float": "inf"}),
]


@pytest.mark.parametrize("kind", KINDS)
def test_any_value_in_any_place_is_read_or_refused(kind):
    """What is read in spite of it can be written and read again."""
    random, models = Random(14), KINDS[kind]()
    for _ in range(300):
        document = json.loads(write_json(random.choice(models)))
        *way, last = random.choice(list(paths_in(document))[1:])
        target = document
        for step in way:
            target = target[step]
        if random.random() < 0.2:
            del target[last]
        else:
            target[last] = random.choice(WRONG)
        accepts_or_refuses(json.dumps(document).encode())


def accepts_or_refuses(data):
    try:
        with bounded(30, 600):
            model = read_json(data, RowRepair())
    except FormatError as error:
        if len(str(error)) > 1000:
            raise
        return
    assert read_json(write_json(model).encode(), RowRepair()) == model


LARGE = (10**3, 10**5, 10**7, 10**9, 10**12)


def whole_numbers(value, path=()):
    """The paths of all whole numbers of a document, and of all lists of them."""
    if isinstance(value, list) and value and all(type(item) is int for item in value):
        yield path
    for step, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from whole_numbers(item, (*path, step))
    if isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer():
        yield path


def with_number(document, path, number):
    """The document with this number at the path, or with a list of it in place of a list."""
    *steps, last = path
    changed = json.loads(json.dumps(document))
    part = changed
    for step in steps:
        part = part[step]
    part[last] = [number] * len(part[last]) if isinstance(part[last], list) else number
    return json.dumps(changed).encode()


@pytest.mark.parametrize("kind", KINDS)
def test_no_declared_size_takes_time_or_memory(kind):
    """Each whole number of a document, and each list of them, made large: refused, or read in no time and space."""
    seen = set()
    for model in KINDS[kind]():
        document = json.loads(write_json(model))
        for path in whole_numbers(document):
            place = (type(model), tuple("*" if isinstance(step, int) else step for step in path))
            if place in seen:
                continue
            seen.add(place)
            for number in LARGE:
                with bounded(seconds=1, megabytes=200):
                    try:
                        repr(read_json(with_number(document, path, number), RowRepair()))
                    except FormatError:
                        continue


@pytest.mark.parametrize("shape", [[4000, 5000], [0, 10**9], [2] * 20, [1] * 100, [300] * 2])
def test_a_short_file_is_no_large_grid(shape):
    document = json.loads(write_json(jt.ising((3, 4), 0.4, 0.1))) | {"shape": shape}
    with bounded(seconds=1, megabytes=200), pytest.raises(FormatError, match=r"^(1: )?shape: ") as caught:
        read_json(json.dumps(document).encode(), RowRepair())
    assert "declares" in str(caught.value) or "at most 32 sizes" in str(caught.value)


def test_a_large_grid_is_spelt_out():
    """What is written is read, and its length allows its size."""
    model = jt.ising((300, 300), 0.4, 0.1)
    assert read_json(write_json(model).encode(), RowRepair()) == model


def test_tied_columns_are_those_of_a_table():
    tied = partial(RepeatedEmissions, jt.FamilyEmissions(jt.Poisson([1.0, 2.0])))
    text = write_json(jt.Mixture([0.5, 0.5], tied(2**20)))
    assert read_json(text.encode(), RowRepair()) == jt.Mixture([0.5, 0.5], tied(2**20))
    with pytest.raises(FormatError, match=r"components.num_columns: declares 1,000,000,000,000 columns"):
        read_json(text.replace(f"{2**20}", "1000000000000").encode(), RowRepair())
    with pytest.raises(FormatError, match="JSON holds at most 1,048,576 tied columns"):
        write_json(jt.Mixture([0.5, 0.5], tied(2**20 + 1)))


def test_the_number_of_states_that_a_posterior_knows_is_its_own():
    posterior = jt.Dirichlet([1.0, 1.0, 1.0]).posterior(jt.Categorical.statistics([0, 2], num_states=3))
    text = write_json(posterior)
    assert '"num_states": 3.0' in text
    with pytest.raises(FormatError, match=r"seen.known: num_states must be 3, as the posterior has it"):
        read_json(text.replace('"num_states": 3.0', '"num_states": 1e9').encode(), RowRepair())


def test_a_deep_file_is_refused():
    deep = '{"kind": "Independent", "families": [' * 1000
    with pytest.raises(FormatError, match="nested more than 80 levels deep"):
        read_json(
            f'{{"format": "juncture", "version": 1, "model": "Independent", "families": [{deep}'.encode(), RowRepair()
        )


def test_a_network_with_edges_has_tables_of_them():
    text = write_json(jt.ising((2, 2), 0.5))
    start = text.index('"log_pairwise": ') + len('"log_pairwise": ')
    broken = text[:start] + "[]" + text[text.rindex("]") + 1 :]
    with pytest.raises(FormatError, match=re.escape("log_pairwise must have the shape (2, 2), for all edges")):
        read_json(broken.encode(), RowRepair())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"degree": 3',
            '"degree": 1000000000',
            "basis.degree: is more than the 4 coefficients of the regression allow",
        ),
        ('"degree": 3', '"degree": -3', "basis: degree must be a whole number of at least 0"),
        ('"PolynomialBasis"', '"PolynomBasis"', "basis.kind: is \"PolynomBasis\"; did you mean 'PolynomialBasis'"),
        ('"noise_variance": 0.5', '"noise_variance": -0.5', "noise_variance must be a finite number of at least 0"),
        ("[1.0, 2.0, 3.0, 4.0]", "[[1.0]]", "coefficients must be a list of numbers"),
    ],
)
def test_mistakes_in_a_regression_are_refused(old, new, message):
    basis = jt.supervised.PolynomialBasis(3)
    text = write_json(jt.supervised.LinearRegression([1.0, 2.0, 3.0, 4.0], 0.5, basis))
    assert old in text
    with pytest.raises(FormatError) as caught:
        read_json(text.replace(old, new).encode(), RowRepair())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"bias": 0.0', '"bias": 0.0, "extra": 1', "discriminants[0]: has the unknown key 'extra'"),
        ('"kind": "Hyperplane"', '"kind": "Plane"', 'discriminants[0].kind: is "Plane"'),
        ('["a", "b"]', '["a"]', "there are at least 2 classes"),
        ('["a", "b"]', '["a", "a"]', "classes are different labels"),
        ("[1.0, 0.0]", "[1.0]", "all discriminants take points with as many coordinates; got [1, 2]"),
        (
            "[1.0, 0.0]",
            "[]",
            "discriminants[0]: the weights of a hyperplane are finite numbers, one for each coordinate",
        ),
    ],
)
def test_mistakes_in_discriminants_are_refused(old, new, message):
    planes = [jt.supervised.Hyperplane([1.0, 0.0], 0.0), jt.supervised.Hyperplane([0.0, 1.0], 0.0)]
    text = write_json(jt.supervised.OneVersusRest(["a", "b"], planes))
    assert old in text
    with pytest.raises(FormatError) as caught:
        read_json(text.replace(old, new, 1).encode(), RowRepair())
    assert message in str(caught.value)
