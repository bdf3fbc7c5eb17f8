"""BIF and NET alike: reading gives back what was written, bit for bit; hostile files end soon and clearly."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import FormatError, RenormalizedWarning
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.factors.gaussian import LinearGaussian
from juncture.factors.noisy import NoisyOr
from juncture.formats import files
from juncture.formats.bif import read_bif, write_bif
from juncture.formats.net import read_net, write_net
from juncture.formats.row_repair import RowRepair
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph, MarkovNetwork
from juncture.networks.plates import plate
from juncture.variables import Variable
from support.processor_time import takes_at_most

FORMATS = {"bif": (read_bif, write_bif), "net": (read_net, write_net)}
NETWORKS = ["alarm", "asia", "cancer", "child", "earthquake", "hailfinder", "sachs", "survey", "win95pts"]
LARGE = ["andes", "barley", "diabetes", "link", "mildew", "munin", "munin1", "munin4", "pigs", "water"]
BINARY = ["no", "yes"]

both = pytest.mark.parametrize("name", FORMATS)


def check_round_trip(model, name):
    read, write = FORMATS[name]
    rows, text = RowRepair(), write(model)
    again = read(text.encode(), rows)

    assert again == model
    assert again.variables == model.variables
    assert rows.count == 0
    assert write(again) == text


# --- round trips -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", [*NETWORKS, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)])
def test_the_public_networks_are_kept(network, networks_folder):
    """Nineteen of the repository, `<5`, `12+` and `Asy/Patch` of child among their states."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RenormalizedWarning)
        model = files.read(networks_folder / f"{network}.bif.gz")

    for name in FORMATS:
        check_round_trip(model, name)


odd_names = ["a b", "<5", "12+", "Asy/Patch", "a//b", "/*", "*/", "x,y", "(", ")", "{}", "[2]", ";", "|", "=", "%", "'"]
more_names = [
    "table",
    "default",
    "property",
    "probability",
    "node",
    "net",
    "0.5",
    "1e-3",
    "nan",
    "-",
    " ",
    "é",
    "\u2028",
    "😀",
]
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters='"\n\r\0'), max_size=6)
names = st.one_of(st.sampled_from(odd_names + more_names), texts.filter(len))
labels = st.one_of(st.sampled_from(odd_names + more_names), texts)


@st.composite
def networks(draw):
    """A few variables with odd names and states, in an order that need not be topological."""
    variables = [
        Variable(name, draw(st.lists(labels, min_size=1, max_size=3, unique=True)))
        for name in draw(st.lists(names, min_size=1, max_size=5, unique=True))
    ]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    parts = []
    for place, child in enumerate(variables):
        parents = draw(st.lists(st.sampled_from(variables[:place]), unique=True, max_size=3)) if place else []
        shape = (*(parent.num_states for parent in parents), child.num_states)
        values = rng.gamma(0.1, size=shape) + 1e-300
        parts.append(Conditional(child, parents, values / values.sum(axis=-1, keepdims=True)))
    return BayesianNetwork(draw(st.permutations(parts)))


@both
@given(model=networks())
def test_any_network_is_kept(name, model):
    check_round_trip(model, name)


@both
@pytest.mark.parametrize("number", [5e-324, 0.1, 1 / 3, 1 - 2**-53, 1e-9, 0.3 - 2**-54])
def test_numbers_are_kept_bit_for_bit(name, number):
    check_round_trip(BayesianNetwork([Conditional(Variable("a", BINARY), [], [number, 1 - number])]), name)


@both
def test_a_network_without_variables_is_refused(name):
    """It could not be told from a file that was cut off."""
    read, write = FORMATS[name]
    with pytest.raises(FormatError, match="1: the file declares no variables; it may have been cut off"):
        read({"bif": b"network n { }", "net": b"net { }"}[name], RowRepair())
    with pytest.raises(FormatError, match=f"{name.upper()} cannot hold a network without variables"):
        write(BayesianNetwork([]))


# --- what the formats do not keep ------------------------------------------------------------------------------------


@both
def test_states_come_back_as_text(name):
    read, write = FORMATS[name]
    model = BayesianNetwork([Conditional(Variable("a", [0, 1.5, True]), [], [0.5, 0.25, 0.25])])

    assert read(write(model).encode(), RowRepair()).variable("a").states == ("0", "1.5", "True")


@both
def test_two_states_with_one_text_are_refused(name):
    model = BayesianNetwork([Conditional(Variable("a", [1, "1"]), [], [0.5, 0.5])])
    with pytest.raises(FormatError, match="keeps states as text, and 'a' has two states '1'; rename one"):
        FORMATS[name][1](model)


@both
def test_losses_are_told_in_one_warning(name, tmp_path):
    cold, fever = Variable("cold", BINARY), Variable("fever", BINARY)
    coins = plate("coin", 2, lambda i: Conditional(Variable(f"x{i}", BINARY), [], [0.5, 0.5]))
    model = BayesianNetwork(
        [Conditional(cold, [], [0.9, 0.1]), NoisyOr(fever, [cold], [0.8]), coins], tied=[["x0", "x1"]]
    )

    with pytest.warns(UserWarning, match="cannot express") as caught:
        jt.write(model, tmp_path / f"model.{name}")

    assert [str(warning.message) for warning in caught] == [
        f"{name.upper()} cannot express all of this model: NoisyOr(fever | cold) is written out as tables; "
        "the ties x0 = x1 are dropped; the plates coin × 2 are dropped"
    ]
    assert caught[0].filename == __file__
    again = jt.read(tmp_path / f"model.{name}")
    assert again["fever"] == model["fever"].to_table()
    assert (again.tied, again.plates) == ((), ())


@both
def test_a_conditional_without_a_table_is_refused(name):
    model = BayesianNetwork([LinearGaussian(Variable("height"), [], [], 1.7)])
    with pytest.raises(FormatError, match=re.escape("holds tables only, and LinearGaussian(height) has none")):
        FORMATS[name][1](model)


@both
@pytest.mark.parametrize("kind", [MarkovNetwork, FactorGraph])
def test_only_bayesian_networks_are_held(name, kind):
    with pytest.raises(FormatError, match=f"{name.upper()} holds Bayesian networks, not a {kind.__name__}"):
        FORMATS[name][1](kind([Factor([Variable("a", BINARY)], [1.0, 2.0])]))


# --- rows ------------------------------------------------------------------------------------------------------------

ROOT = {
    "bif": "network n {{ }}\nvariable a {{ type discrete [ 3 ] {{ x, y, z }}; }}\nprobability ( a ) {{ table {}; }}\n",
    "net": 'net {{ }}\nnode a {{ states = ("x" "y" "z"); }}\npotential (a) {{ data = ({}); }}\n',
}


@both
def test_rows_within_a_billionth_are_kept_bit_for_bit(name):
    numbers = [0.2, 0.3, 0.5 + 9e-10]
    rows = RowRepair()
    model = FORMATS[name][0](ROOT[name].format(" ".join(map(repr, numbers))).encode(), rows)

    assert model["a"].values.tolist() == numbers
    assert rows.count == 0


@both
def test_rows_within_a_thousandth_are_divided_by_their_sum_with_one_warning(name, tmp_path):
    path = tmp_path / f"rough.{name}"
    path.write_text(ROOT[name].format("0.2 0.3 0.5009"))
    with pytest.warns(RenormalizedWarning, match=r"1 rows .*, the row of 'a', summed to 1\.0009"):
        model = jt.read(path)

    assert np.allclose(model["a"].values, np.array([0.2, 0.3, 0.5009]) / 1.0009, rtol=0, atol=1e-15)


@both
@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ("0.2 0.3 0.502", "the row of 'a' sums to 1.002; a row must sum to 1 within 0.001"),
        ("0 0 0", "the row of 'a' sums to 0;"),
        ("nan 0.5 0.5", "the row of 'a' has the entry nan; probabilities are between 0 and 1"),
        ("-0.5 1 0.5", "the row of 'a' has the entry -0.5;"),
        ("inf 0 0", "the row of 'a' has the entry inf;"),
        ("1e999 0 0", "the row of 'a' has the entry inf;"),
        ("0.5 0.5", "the table of 'a' needs 3 numbers, found 2"),
        ("", "the table of 'a' needs 3 numbers, found 0"),
        ("0.5 0.2 0.2 0.1 0", "the table of 'a' needs 3 numbers, found more than 3"),
        ("0.5 0.4 o.1", "expected a number in the table of 'a', found 'o.1'"),
        ("0.5 0.4 0.1_0", "expected a number in the table of 'a', found '0.1_0'"),
        ("0.5 0.4 ٠.١", "expected a number in the table of 'a', found '٠.١'"),
        ("0.5 0.4 0x1", "expected a number in the table of 'a', found '0x1'"),
    ],
)
def test_bad_numbers_are_refused_with_their_line(name, numbers, message):
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        FORMATS[name][0](ROOT[name].format(numbers).encode(), RowRepair())

    assert caught.value.line == 3


@both
def test_numbers_may_be_short(name):
    model = FORMATS[name][0](ROOT[name].format(".5 2.5e-1 0.25").encode(), RowRepair())
    assert model["a"].values.tolist() == [0.5, 0.25, 0.25]
    model = FORMATS[name][0](ROOT[name].format("1 0. 0E+3").encode(), RowRepair())
    assert model["a"].values.tolist() == [1.0, 0.0, 0.0]


# --- hostile files ---------------------------------------------------------------------------------------------------

DECLARED = {
    "bif": "network n { }\nvariable a { type discrete [ 2 ] { x, y }; }\n",
    "net": 'net { }\nnode a { states = ("x" "y"); }\n',
}
BLOCK = {"bif": "probability", "net": "potential"}
LENGTH = 200_000


@both
@pytest.mark.parametrize(
    "text",
    [
        "a" * LENGTH,
        " " * LENGTH,
        "{" * LENGTH,
        "{}" * LENGTH,
        "START" + '""' * LENGTH,
        "START" + '"' * (LENGTH + 1),
        "START" + "/*" * LENGTH,
        "START" + "%" * LENGTH,
        "START BLOCK (a) {" + ";" * LENGTH + "}",
        "START BLOCK (a) {" + ";" * LENGTH,
        "START BLOCK (a) {" + "(" * LENGTH + ";}",
        "START BLOCK (a) { table " + "0.5 " * LENGTH + "; }",
        "START BLOCK (a) { data = (" + "0.5 " * LENGTH + "); }",
        "START BLOCK (a) { data = " + "(" * LENGTH + ")" * LENGTH + "; }",
        "START BLOCK (a) { table " + "9" * LENGTH + ", 0; }",
        "START BLOCK ( " + "a " * LENGTH + ") { }",
        "START BLOCK ( " + "|" * LENGTH + ") { }",
        "START BLOCK ( " + "b" * LENGTH + ") { }",
        "START variable b { type discrete [" + "9" * LENGTH + "] { x }; }",
        "START variable b { type discrete [ 2 ] { " + "x " * LENGTH + "}; }",
        "START variable b { type " + " " * LENGTH + "discrete; }",
        "START node b { states = (" + "x " * LENGTH + "); }",
        "START variable " + "b" * LENGTH + "c { type discrete [ 1 ] { x }; } BLOCK ( " + "b" * LENGTH + ") { }",
    ],
    ids=lambda text: f"{text[:40]}",
)
def test_long_files_are_refused_soon(name, text):
    data = text.replace("START", DECLARED[name]).replace("BLOCK", BLOCK[name]).encode()
    with takes_at_most(4), pytest.raises(FormatError) as caught:  # quadratic time would take minutes
        FORMATS[name][0](data, RowRepair())

    assert caught.value.line is not None


@both
@given(data=st.binary(max_size=200))
def test_junk_is_refused(name, data):
    with pytest.raises(FormatError):
        FORMATS[name][0](data, RowRepair())


@both
def test_binary_files_are_refused(name):
    with pytest.raises(FormatError, match="2: the file is not UTF-8 text"):
        FORMATS[name][0](b"network\n\xff\xfe", RowRepair())
    with pytest.raises(FormatError, match="2: the file holds a NUL character, so it is not text"):
        FORMATS[name][0](b"network\n\0", RowRepair())


@both
def test_every_truncation_is_refused(name):
    model = jt.BayesianNetwork(
        [
            Conditional(Variable("a b", ["x y", "z"]), [], [0.25, 0.75]),
            Conditional(Variable("c", BINARY), [Variable("a b", ["x y", "z"])], [[0.5, 0.5], [1, 0]]),
        ]
    )
    read, write = FORMATS[name]
    text = write(model).rstrip()
    for length in range(len(text)):
        with pytest.raises(FormatError):
            read(text[:length].encode(), RowRepair())


@both
@given(model=networks(), place=st.floats(0, 1), piece=st.text(st.sampled_from('"{}()[];,|=%/*\n 0.5ab'), max_size=3))
def test_a_changed_file_is_read_or_refused(name, model, place, piece):
    """Nothing but a FormatError comes out, and what is read can be written."""
    read, write = FORMATS[name]
    text = write(model)
    start = int(place * len(text))
    try:
        changed = read((text[:start] + piece + text[start + 1 :]).encode(), RowRepair())
    except FormatError:
        return
    write(changed)
