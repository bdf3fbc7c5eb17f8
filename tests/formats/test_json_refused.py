"""What is not a model in JSON is refused, with its place in the document and its line."""

from __future__ import annotations

import pytest

from juncture.data.files.csv_text import check_names
from juncture.errors import FormatError, InvalidModel
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.formats.json import read_json, write_json
from juncture.formats.row_repair import RowRepair
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import MarkovNetwork
from juncture.variables import Variable
from support.bounded import bounded
from support.processor_time import takes_at_most


def rain():
    rain, wet = Variable("rain", ["no", "yes"]), Variable("wet", ["no", "yes"])
    return BayesianNetwork([Conditional(rain, [], [0.75, 0.25]), Conditional(wet, [rain], [[0.9, 0.1], [0.3, 0.7]])])


RAIN = write_json(rain())
WET = RAIN[RAIN.rindex('{"kind"') : RAIN.rindex("]}") + 2]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"juncture"', '"other"', 2, "format: is \"other\"; known are 'juncture'"),
        ('"format": "juncture",', "", 1, "the document: lacks the key 'format'"),
        ('"version": 1', '"version": 2', 3, "version: is 2; known are 1"),
        ('"version": 1', '"version": true', 3, "version: is true; known are 1"),
        ('"version": 1', '"version": [[1]]', 3, "version: is a list of length 1; known are 1"),
        ('"BayesianNetwork"', '"BayesNetwork"', 4, "did you mean 'BayesianNetwork'?"),
        ('"name": "wet"', '"nam": "wet"', 7, "variables[1]: has the unknown key 'nam'; did you mean 'name'?"),
        ('"name": "wet"', '"name": "rain"', 7, "variables[1]: the variable 'rain' is declared twice"),
        ('"name": "wet"', '"name": 5', 7, "variables[1].name: must be text; got 5"),
        ('"name": "wet"', '"name": ""', 7, "variables[1]: a variable's name must be a non-empty string; got ''"),
        ('"name": "wet"', '"name": "\\ud800"', 7, "variables[1].name: holds half of a surrogate pair"),
        ('"name": "wet"', '"name": "wet", "name": "wet"', 7, "variables[1]: has the key 'name' twice"),
        ('"name": "wet"', '"dimension": 0, "name": "wet"', 7, "variables[1]: variable 'wet': only a real-valued"),
        ('"name": "wet"', '"dimension": 2.5, "name": "wet"', 7, "variables[1].dimension: must be a whole number"),
        ('{"name": "wet", "states": ["no", "yes"]}', "null", 7, "variables[1]: must be an object; got null"),
        ('"wet", "states": ["no", "yes"]', '"wet", "states": 2', 7, "variables[1].states: must be a list; got 2"),
        ('"wet", "states": ["no", "yes"]', '"wet", "states": []', 7, "variables[1]: variable 'wet' needs at least one"),
        ('"wet", "states": ["no", "yes"]', '"wet", "states": ["a", "a"]', 7, "'wet' has the state 'a' twice"),
        (
            '"wet", "states": ["no", "yes"]',
            '"wet", "states": [null]',
            7,
            "variables[1].states[0]: must be text, a number",
        ),
        (
            '"wet", "states": ["no", "yes"]',
            '"wet", "states": [1e999]',
            7,
            "states[0]: must be text, a number or a bool",
        ),
        (
            '"wet", "states": ["no", "yes"]',
            '"wet", "states": [1, NaN]',
            7,
            "states[1]: must be text, a number or a boo",
        ),
        ('"wet", "states": ["no", "yes"]', '"wet", "states": [Infinity]', 7, "got Infinity"),
        ('"wet", "states": ["no", "yes"]', '"wet", "states": [{"float": "nan"}]', 7, 'states[0].float: is "nan"; '),
        ('"wet", "states": ["no", "yes"]', '"wet", "states": [{"int": 1}]', 7, "states[0]: lacks the key 'float'"),
        (
            '"wet", "states": ["no", "yes"]',
            '"wet", "states": [' + "9" * 5000 + "]",
            7,
            "got an integer of 5,000 digits",
        ),
        ('"kind": "Conditional", "child": "wet"', '"kind": "Table", "child": "wet"', 11, 'kind: is "Table"; known are'),
        ('"kind": "Conditional", "child": "wet"', '"kind": ["a"], "child": "wet"', 11, "kind: is a list of length 1"),
        ('"kind": "Conditional", "child": "wet"', '"child": "wet"', 11, "conditionals[1]: lacks the key 'kind'"),
        (
            '"child": "wet"',
            '"child": "whet"',
            11,
            "conditionals[1].child: there is no variable 'whet'; did you mean 'wet'?",
        ),
        ('"parents": ["rain"]', '"parents": ["rian"]', 11, "conditionals[1].parents[0]: there is no variable 'rian'"),
        ('"parents": ["rain"]', '"parents": "rain"', 11, 'conditionals[1].parents: must be a list; got "rain"'),
        ('"parents": ["rain"]', '"parents": ["rain", "rain"]', 11, "'rain' appears twice in one scope"),
        ('"parents": ["rain"]', '"parents": ["wet"]', 11, "'wet' appears twice in one scope"),
        ('"parents": ["rain"]', '"parents": []', 11, "values: must have the shape (2,), one axis per parent"),
        ('"parents": ["rain"], ', "", 11, "conditionals[1]: lacks the key 'parents'"),
        (
            "0.9, 0.1",
            "0.9, 0.1, 0.0",
            13,
            "values[1]: must be a list of length 3, like the first; got a list of length 2",
        ),
        ("0.9, 0.1", "0.9, [0.1]", 12, "conditionals[1].values[0][1]: must be a number; got a list of length 1"),
        ("0.9, 0.1", '0.9, "0.1"', 12, 'conditionals[1].values[0][1]: must be a number; got "0.1"'),
        ("0.9, 0.1", "true, 0.1", 12, "conditionals[1].values[0][0]: must be a number; got true"),
        ("0.9, 0.1", "NaN, 0.1", 12, "conditionals[1].values[0][0]: must be a number; got NaN"),
        ("0.9, 0.1", "0.9, -Infinity", 12, "conditionals[1].values[0][1]: must be a number; got -Infinity"),
        ("0.9, 0.1", "null, 0.1", 12, "conditionals[1].values[0][0]: must be a number; got null"),
        ("0.9, 0.1", "1e999, 0.1", 12, "conditionals[1].values[0][0]: is larger than any double"),
        ("0.9, 0.1", "1" * 400 + ", 0.1", 11, "conditionals[1].values: cannot be a table of doubles"),
        ("0.9, 0.1", "1" * 4000 + ", 0.1", 12, "must be a number; got an integer of 4,000 digits"),
        ("0.9, 0.1", "1e308, 1e308", 11, "'wet' given rain=no sums to"),
        ("0.9, 0.1", "1.1, -0.1", 11, "the row of 'wet' given rain=no has the entry -0.1"),
        ("0.9, 0.1", "0.8, 0.1", 11, "conditionals[1].values: the row of 'wet' given rain=no sums to 0.9; a row must"),
        ("[0.75, 0.25]", "0.75", 10, "conditionals[0].values: must have the shape (2,)"),
        ("[0.75, 0.25]", '{"a": 1}', 10, "conditionals[0].values: must be a number; got an object"),
        (f",\n    {WET}", "", 9, "conditionals: none of them has the child 'wet'; give every variable one"),
        (WET, f"{WET}, {WET}", 9, "conditionals: the variable 'wet' has two conditionals"),
        ('"parents": [], "values": [0.75, 0.25]', '"parents": ["wet"], "values": [[1, 0], [1, 0]]', 9, "wet"),
        ('"conditionals"', '"conditonals"', 1, "unknown key 'conditonals'; did you mean 'conditionals'?"),
        ('"conditionals"', '"tied": [["rain", "wt"]], "conditionals"', 9, "tied[0][1]: there is no variable 'wt'"),
        ('"conditionals"', '"tied": [["rain", "wet"]], "conditionals"', 9, "tied conditionals must have the same"),
        ('"conditionals"', '"tied": 5, "conditionals"', 9, "tied: must be a list; got 5"),
        ('"conditionals"', '"plates": [{"label": "p"}], "conditionals"', 9, "plates[0]: lacks the key 'members'"),
        (
            '"conditionals"',
            '"plates": [{"label": 1, "members": []}], "conditionals"',
            9,
            "plates[0].label: must be text",
        ),
        ('"conditionals"', '"format": "juncture", "conditionals"', 1, "the document: has the key 'format' twice"),
        ("0.9, 0.1", "0.9 0.1", 12, "this is not JSON: Expecting ',' delimiter"),
        ("0.9, 0.1", "0.9, 0.1,", 12, "this is not JSON"),
        ('"rain", "states"', '"ra\nin", "states"', 6, "this is not JSON: Invalid control character"),
    ],
)
def test_each_mistake_is_refused_with_its_place(old, new, line, message):
    assert old in RAIN
    with pytest.raises(FormatError) as caught:
        read_json(RAIN.replace(old, new, 1).encode(), RowRepair())

    assert message in str(caught.value)
    assert caught.value.line == line


OTHER_KINDS = [
    ('{"kind": "Deterministic", "child": "b", "parents": ["a"], "codes": [0, 2]}', "must lie in 0 … 1"),
    ('{"kind": "Deterministic", "child": "b", "parents": ["a"], "codes": [0, 0.5]}', "codes: must hold positions"),
    ('{"kind": "Deterministic", "child": "b", "parents": ["a"], "codes": [0, 1e300]}', "codes: must hold positions"),
    ('{"kind": "Deterministic", "child": "b", "parents": ["a"], "codes": [0]}', "whole numbers of shape (2,)"),
    ('{"kind": "NoisyOr", "child": "b", "parents": ["a"], "probabilities": [2], "leak": 0}', "between 0 and 1"),
    (
        '{"kind": "NoisyOr", "child": "b", "parents": ["a"], "probabilities": [1], "leak": [0]}',
        "leak: must be a number",
    ),
    ('{"kind": "NoisyOr", "child": "b", "parents": ["a"], "probabilities": [1], "leak": 1e999}', "leak: is larger"),
    ('{"kind": "NoisyOr", "child": "b", "parents": ["a"], "probabilities": [1]}', "lacks the key 'leak'"),
    (
        '{"kind": "NoisyMax", "child": "b", "parents": ["a"], "tables": [], "leak": [1, 0]}',
        "tables: must be a list of 1 t",
    ),
    ('{"kind": "NoisyMax", "child": "b", "parents": ["a"], "tables": [[[1, 0], [1, 1]]], "leak": [1, 0]}', "sums to 2"),
    (
        '{"kind": "NoisyMax", "child": "b", "parents": ["a"], "tables": [[1, 0]], "leak": [1, 0]}',
        "tables[0]: must have",
    ),
    (
        '{"kind": "Logistic", "child": "b", "parents": ["a"], "weights": [[1]], "bias": 0}',
        "the weights of 'b' must have",
    ),
    (
        '{"kind": "LinearGaussian", "child": "b", "parents": [], "coefficients": [], "intercept": 0, "variance": 1}',
        "'b'",
    ),
    ('{"kind": "Constant", "child": "b", "parents": [], "value": 1}', "'b'"),
    ('{"kind": "Constant", "child": "b", "parents": ["a"], "value": 1}', "a Constant has no parents"),
]


@pytest.mark.parametrize(("conditional", "message"), OTHER_KINDS)
def test_mistakes_in_other_kinds_are_refused(conditional, message):
    text = write_json(BayesianNetwork([Conditional(Variable(name, 2), [], [0.5, 0.5]) for name in "ab"]))
    last = '{"kind": "Conditional", "child": "b", "parents": [], "values": [0.5, 0.5]}'
    with pytest.raises(FormatError) as caught:
        read_json(text.replace(last, conditional).encode(), RowRepair())

    assert message in str(caught.value)
    assert caught.value.line == 11


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("[1.0, 2.0]", "[1.0, -2.0]", 9, "factors[0]: the factor over (a) has the negative entry -2 at [1]"),
        ("[1.0, 2.0]", "[1.0]", 9, "factors[0]: the factor over (a) must have the shape (2,)"),
        ('"scope": ["a"]', '"scope": ["b"]', 9, "factors[0].scope[0]: there is no variable 'b'"),
        ('"members": [0]', '"members": [1]', 12, "plates[0].members[0]: is 1; factors have the positions 0 … 0"),
        ('"members": [0]', '"members": [-1]', 12, "plates[0].members[0]: is -1"),
        ('"members": [0]', '"members": [true]', 12, "plates[0].members[0]: must be a whole number; got true"),
        ('"states": [0, 1]', '"dimension": 1', 1, "variable 'a' is real-valued"),
    ],
)
def test_mistakes_in_products_are_refused(old, new, line, message):
    text = write_json(MarkovNetwork([Factor([Variable("a", 2)], [1, 2])], plates=(("p", (0,)),)))
    if new == '"dimension": 1':
        text = text.replace('{"scope": ["a"], "values": [1.0, 2.0]}', "").replace("[0]", "[]")
    assert old in text
    with pytest.raises(FormatError) as caught:
        read_json(text.replace(old, new, 1).encode(), RowRepair())

    assert message in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "this is not JSON: Expecting value, at column 1"),
        (b"null", "the document: must be an object; got null"),
        (b"[]", "the document: must be an object; got a list of length 0"),
        (b'{"a": 1, "a": 1}', "the document: has the key 'a' twice"),
        (b"\x00\x01\x02", "this is not JSON"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (b"[" * 10**6, "nested more than 80 levels"),
        (b'{"a":' * 10**6, "nested more than 80 levels"),
        (b"[" * 81 + b"]" * 81, "nested more than 80 levels"),
        (b"[" * 80 + b"]" * 80, "must be an object"),
        (b'"' + b'\\"' * 10**6, "Unterminated string"),
        (b'["' + b"[" * 10**6 + b'"]', "must be an object"),
        (b'{"format": "' + b"x" * 10**6 + b'"}', "format: is"),
        (b"1" * 10**6, "the document: must be an object; got an integer of 1,000,000 digits"),
        (RAIN.encode()[:-40], "this is not JSON"),
        (RAIN.encode() + b"x", "this is not JSON: Extra data"),
    ],
)
def test_hostile_documents_are_refused_quickly(data, message):
    with takes_at_most(5), pytest.raises(FormatError) as caught:
        read_json(data, RowRepair())

    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_table_deeper_than_arrays_go_is_refused():
    text = RAIN.replace("[0.75, 0.25]", "[" * 70 + "1" + "]" * 70)
    with pytest.raises(FormatError, match=r"conditionals\[0\].values: cannot be a table of doubles"):
        read_json(text.encode(), RowRepair())


class Counted(str):
    """A name that counts how often names are compared."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other):
        Counted.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("num_names", [1000, 20_000])
def test_a_repeated_name_is_found_with_few_comparisons(num_names):
    """Their number grows with that of the names, not with its square."""
    names = [Counted(f"x{place}") for place in range(num_names)]
    for again in (names[0], names[num_names // 2], names[-1]):
        repeated, Counted.comparisons = [*names, Counted(again)], 0
        with pytest.raises(InvalidModel, match=f"'{again}' twice"):
            Variable("x", repeated)
        with pytest.raises(FormatError, match=f"'{again}' twice"):
            check_names(repeated)
        assert Counted.comparisons < 20 * num_names


def test_repeated_names_among_many_are_found():
    names = [f"x{place}" for place in range(20_000)]
    for labels in (range(20_000), names):
        text = (
            write_json(MarkovNetwork([], [Variable("x", labels)]))
            .replace('"x19998"', '"x19999"')
            .replace("98, ", "99, ")
        )
        with bounded(20), pytest.raises(FormatError, match="twice"):
            read_json(text.encode(), RowRepair())


def test_a_byte_order_mark_is_accepted():
    assert read_json(b"\xef\xbb\xbf" + RAIN.encode(), RowRepair()) == rain()
