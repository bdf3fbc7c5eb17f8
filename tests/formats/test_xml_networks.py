"""Both XML formats give back what was written, name what they cannot hold, and survive mutations."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import FormatError
from juncture.factors.conditional import Conditional
from juncture.factors.deterministic import Deterministic
from juncture.factors.factor import Factor
from juncture.factors.gaussian import LinearGaussian
from juncture.factors.logistic import Logistic
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.formats.row_repair import RowRepair
from juncture.formats.xdsl import read_xdsl, write_xdsl
from juncture.formats.xmlbif import read_xmlbif, write_xmlbif
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import MarkovNetwork
from juncture.variables import Variable

XMLBIF, XDSL = (write_xmlbif, read_xmlbif), (write_xdsl, read_xdsl)
both_formats = pytest.mark.parametrize(("write", "read"), [XMLBIF, XDSL], ids=["xmlbif", "xdsl"])


def round_trip(model, write, read):
    rows = RowRepair()
    again = read(write(model).encode(), rows)

    assert rows.count == 0
    return again


# --- write, then read ----------------------------------------------------------------------------------

allowed = st.characters(codec="utf-8", exclude_categories=("Cc",), exclude_characters="\ufffe\uffff")
nasty = st.sampled_from(list("<>&\"'/ \t\r\n;]-+.,#%_0a")) | allowed
names = st.text(nasty, min_size=1, max_size=6)
labels = st.lists(st.text(nasty, max_size=4), min_size=1, max_size=4, unique=True)


@st.composite
def networks(draw):
    """A few variables with names that need care, in an order that need not be topological."""
    variables = [Variable(name, draw(labels)) for name in draw(st.lists(names, min_size=1, max_size=5, unique=True))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    conditionals = []
    for place, child in enumerate(variables):
        parents = draw(st.permutations(variables[:place]))[: draw(st.integers(0, 3))]
        shape = [parent.num_states for parent in parents]
        conditionals.append(Conditional(child, parents, random_rows(rng, shape, child.num_states)))
    return BayesianNetwork(draw(st.permutations(conditionals)))


def random_rows(rng, shape, num_states):
    """Rows with zeros, tiny and ordinary entries."""
    weights = rng.random((*shape, num_states)) * rng.choice([0.0, 1e-12, 1.0], (*shape, num_states)) + 1e-300
    return weights / weights.sum(axis=-1, keepdims=True)


@both_formats
@given(model=networks())
def test_reading_gives_back_what_was_written(write, read, model):
    again = round_trip(model, write, read)

    assert again == model
    assert again.variables == model.variables


@both_formats
def test_many_parents(write, read):
    parents = [Variable(f"p{i}", ["a", "b"] if i < 12 else ["only"]) for i in range(30)]
    child = Variable("child", ["x", "y", "z"])
    table = random_rows(np.random.default_rng(1), [p.num_states for p in parents], 3)
    roots = [Conditional(p, [], [0.25, 0.75] if p.num_states == 2 else [1.0]) for p in parents]
    model = BayesianNetwork([Conditional(child, parents, table), *roots])

    assert round_trip(model, write, read) == model


@both_formats
def test_an_empty_network(write, read):
    assert round_trip(BayesianNetwork([]), write, read) == BayesianNetwork([])


@both_formats
@pytest.mark.parametrize("name", ["asia", "cancer", "survey", "child", "alarm", "hailfinder"])
def test_public_networks(networks_folder, name, write, read):
    from juncture.formats.files import read as read_file

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = read_file(networks_folder / f"{name}.bif.gz")

    assert round_trip(model, write, read) == model


# --- what they cannot hold -----------------------------------------------------------------------------

COLD, FLU = Variable("cold", ["no", "yes"]), Variable("flu", ["no", "yes"])
ROOTS = [Conditional(COLD, [], [0.7, 0.3]), Conditional(FLU, [], [0.9, 0.1])]
FEVER = Variable("fever", ["no", "low", "high"])


@both_formats
@pytest.mark.parametrize(
    "compact",
    [
        NoisyOr(Variable("ache", ["no", "yes"]), [COLD, FLU], [0.4, 0.8], leak=0.1),
        NoisyMax(FEVER, [COLD], [[[1, 0, 0], [0.2, 0.5, 0.3]]]),
        Logistic(Variable("ache", ["no", "yes"]), [COLD, FLU], [1.0, -2.0], 0.5),
    ],
)
def test_compact_kinds_are_written_out_with_a_warning(write, read, compact):
    model = BayesianNetwork([*ROOTS, compact])
    with pytest.warns(UserWarning, match=type(compact).__name__):
        text = write(model)

    assert read(text.encode(), RowRepair()) == BayesianNetwork([*ROOTS, compact.to_table()])


@both_formats
def test_ties_are_dropped_with_a_warning(write, read):
    twins = [Conditional(COLD, [], [0.7, 0.3]), Conditional(FLU, [], [0.7, 0.3])]
    with pytest.warns(UserWarning, match="ties"):
        text = write(BayesianNetwork(twins, tied=[["cold", "flu"]]))

    assert read(text.encode(), RowRepair()) == BayesianNetwork(twins)


@both_formats
def test_states_of_other_types_come_back_as_text(write, read):
    model = BayesianNetwork([Conditional(Variable("x", [0, 2.5, True, "a"]), [], [0.1, 0.2, 0.3, 0.4])])

    assert round_trip(model, write, read).variable("x").states == ("0", "2.5", "True", "a")


@both_formats
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MarkovNetwork([Factor([COLD], [1.0, 2.0])]), "not a MarkovNetwork"),
        (3, "not a int"),
        (BayesianNetwork([LinearGaussian(Variable("height"), [], [], 1.0, 1.0)]), "height"),
        (BayesianNetwork([Conditional(Variable("x", [1, "1"]), [], [0.5, 0.5])]), "'x' has two states '1'"),
        (BayesianNetwork([Conditional(Variable("a\x01", ["b"]), [], [1.0])]), r"'\\x01' in 'a\\x01', of the variable"),
        (BayesianNetwork([Conditional(Variable("a", ["\x00"]), [], [1.0])]), r"'\\x00' in .*variable 'a'"),
        (BayesianNetwork([Conditional(Variable("a", ["\ud800"]), [], [1.0])]), r"'\\ud800' in .*variable 'a'"),
        (BayesianNetwork([Conditional(Variable("a", ["\uffff"]), [], [1.0])]), "variable 'a'"),
    ],
)
def test_what_cannot_be_written_is_named(write, read, model, message):
    with pytest.raises(FormatError, match=message):
        write(model)


# --- mutations -----------------------------------------------------------------------------------------

SEEDS = [
    write(BayesianNetwork([*ROOTS, Conditional(FEVER, [FLU, COLD], np.full((2, 2, 3), 1 / 3))])).encode()
    for write in (write_xmlbif, write_xdsl)
] + [write_xdsl(BayesianNetwork([*ROOTS, Deterministic(Variable("a b", 3), [FLU, COLD], [[0, 1], [2, 0]])])).encode()]


@given(data=st.data())
def test_mutated_files_are_read_or_refused(data):
    document = data.draw(st.sampled_from(SEEDS))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(document)))
        end = data.draw(st.integers(start, min(start + 30, len(document))))
        piece = data.draw(
            st.binary(max_size=4) | st.sampled_from([b"nan", b"-1", b"1e999", b"</", b"0", document[:end][-25:]])
        )
        document = document[:start] + piece + document[end:]
    for read in (read_xmlbif, read_xdsl):
        outcome = model_or_error(document, read)

        assert isinstance(outcome, BayesianNetwork) or outcome.line is not None


def model_or_error(document, read):
    try:
        return read(document, RowRepair())
    except FormatError as error:
        return error


@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_every_truncation_is_refused(seed):
    document = SEEDS[seed].rstrip()
    for end in range(len(document)):
        for read in (read_xmlbif, read_xdsl):
            with pytest.raises(FormatError):
                read(document[:end], RowRepair())
