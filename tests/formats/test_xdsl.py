"""XDSL: files in the manner of GeNIe are read as SMILE means them, broken ones refused with the line and the reason."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import FormatError
from juncture.factors.conditional import Conditional
from juncture.factors.deterministic import Deterministic
from juncture.formats import files
from juncture.formats.row_repair import RowRepair
from juncture.formats.xdsl import IDENTIFIER, MAX_EXPANDED, make_identifiers, read_xdsl, write_xdsl
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Variable

VENTURE = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- This network was created in GeNIe -->
<smile version="1.0" id="Venture" numsamples="10000" discsamples="10000">
	<properties>
		<property id="note">of the network</property>
	</properties>
	<nodes>
		<cpt id="Success" target="true" diagtype="observation">
			<state id="Good" label="well" />
			<state id="Bad" fault="true" />
			<probabilities>0.2 0.8</probabilities>
			<property id="source">guessed</property>
		</cpt>
		<cpt id="Forecast">
			<state id="Great" />
			<state id="Moderate" />
			<state id="Poor" />
			<parents>Success</parents>
			<probabilities>0.4 0.4 0.2 0.1 0.3 0.6</probabilities>
		</cpt>
		<deterministic id="Invest">
			<state id="yes" />
			<state id="no" />
			<parents>Success Forecast</parents>
			<resultingstates>yes yes no yes no no</resultingstates>
		</deterministic>
		<noisymax id="Growth">
			<state id="High" />
			<state id="None" />
			<parents>Success Forecast</parents>
			<strengths>0 1 2 1 0</strengths>
			<parameters>0.7 0.3 0 1 0.9 0.1 0.5 0.5 0 1 0.05 0.95</parameters>
		</noisymax>
	</nodes>
	<extensions>
		<genie version="1.0" app="GeNIe 2.0.4843.0" name="Venture" faultnameformat="nodestate">
			<node id="Success">
				<name>Success of the venture</name>
				<interior color="e5f6f7" />
				<outline color="0000bb" />
				<font color="000000" name="Arial" size="8" />
				<position>54 11 138 62</position>
				<barchart active="true" width="128" height="64" />
			</node>
		</genie>
	</extensions>
</smile>
"""


def read_text(text):
    return read_xdsl(text.encode(), RowRepair())


def line_of(piece):
    return VENTURE[: VENTURE.index(piece)].count("\n") + 1


def test_a_file_in_the_manner_of_genie():
    success, forecast = Variable("Success", ["Good", "Bad"]), Variable("Forecast", ["Great", "Moderate", "Poor"])
    model = read_text(VENTURE)

    assert model.variables.names == ("Success", "Forecast", "Invest", "Growth")
    assert model["Success"] == Conditional(success, [], [0.2, 0.8])
    assert model["Forecast"] == Conditional(forecast, [success], [[0.4, 0.4, 0.2], [0.1, 0.3, 0.6]])
    invest = Variable("Invest", ["yes", "no"])
    assert model["Invest"] == Deterministic(invest, [success, forecast], [[0, 0, 1], [0, 1, 1]])


def test_a_noisy_maximum_of_two_states_is_a_noisy_or():
    """P(None) multiplies: the leak's 0.95, and for each cause that is not neutral its own."""
    growth = read_text(VENTURE)["Growth"]

    assert isinstance(growth, Conditional)
    assert growth["Bad", "Great", "None"] == pytest.approx(0.95, abs=1e-15)  # Great is last in strength: neutral
    assert growth["Good", "Great", "None"] == pytest.approx(0.95 * 0.3, abs=1e-15)
    assert growth["Bad", "Poor", "None"] == pytest.approx(0.95 * 0.1, abs=1e-15)
    assert growth["Good", "Moderate", "None"] == pytest.approx(0.95 * 0.3 * 0.5, abs=1e-15)


@given(st.integers(0, 2**32))
def test_a_noisy_maximum_is_the_strongest_effect_of_independent_causes(seed):
    """The table equals a sum over the causes' own effects, of which the child takes the first state."""
    rng = np.random.default_rng(seed)
    sizes, size = rng.integers(1, 4, rng.integers(0, 4)).tolist(), int(rng.integers(1, 4))
    tables = [rng.dirichlet(np.ones(size), n) for n in sizes]
    leak = rng.dirichlet(np.ones(size))
    orders = [rng.permutation(n) for n in sizes]
    by_strength = [table[order] for table, order in zip(tables, orders, strict=True)]
    model = read_text(noisy_document(sizes, size, orders, np.concatenate([*by_strength, leak[None]])))

    expected = np.zeros((*sizes, size))
    for states in product(*map(range, sizes)):
        effects = [leak, *(table[state] for table, state in zip(tables, states, strict=True))]
        for codes in product(range(size), repeat=len(effects)):
            expected[(*states, min(codes))] += np.prod([row[code] for row, code in zip(effects, codes, strict=True)])
    assert np.allclose(model["child"].values, expected, rtol=1e-12, atol=1e-15)


def noisy_document(sizes, size, orders, parameters):
    strengths = " ".join(str(state) for order in orders for state in order)
    causes = "".join(
        f"<cpt id='p{i}'>{states(n)}<probabilities>{'1 ' + '0 ' * (n - 1)}</probabilities></cpt>"
        for i, n in enumerate(sizes)
    )
    names = " ".join(f"p{i}" for i in range(len(sizes)))
    numbers = " ".join(map(repr, np.asarray(parameters).ravel().tolist()))
    return (
        f"<smile><nodes>{causes}<noisymax id='child'>{states(size)}<parents>{names}</parents>"
        f"<strengths>{strengths}</strengths><parameters>{numbers}</parameters></noisymax></nodes></smile>"
    )


def states(count):
    return "".join(f"<state id='s{i}'/>" for i in range(count))


def test_without_strengths_states_are_in_order_of_strength():
    reordered = VENTURE.replace("<strengths>0 1 2 1 0</strengths>", "<strengths>0 1 0 1 2</strengths>")
    bare = VENTURE.replace("<strengths>0 1 2 1 0</strengths>", "")

    assert read_text(reordered) == read_text(bare)


def test_nodes_in_any_order():
    start, end = VENTURE.index('\t\t<cpt id="Success'), VENTURE.index('\t\t<cpt id="Forecast')
    moved = VENTURE[:start] + VENTURE[end:].replace("\t</nodes>", VENTURE[start:end] + "\t</nodes>")

    assert read_text(moved) == read_text(VENTURE)
    assert read_text(moved).variables.names[-1] == "Success"


def test_written_nodes_have_parents_first_and_the_order_is_restored():
    a, b, c = (Variable(name, ["x", "y"]) for name in "abc")
    rows = [[0.5, 0.5], [0.25, 0.75]]
    model = BayesianNetwork([Conditional(c, [b], rows), Conditional(b, [a], rows), Conditional(a, [], [0.5, 0.5])])
    text = write_xdsl(model)

    assert text.index('<cpt id="a">') < text.index('<cpt id="b">') < text.index('<cpt id="c">')
    assert read_text(text).variables == model.variables


def test_a_deterministic_conditional_stays_one():
    a, b = Variable("the first", ["<5", "12+", "Asy/Patch"]), Variable("b", ["no", "yes"])
    both = Deterministic(Variable("both", ["one", "two words"]), [a, b], [[0, 1], [1, 1], [1, 0]])
    alone = Deterministic(Variable("alone", ["only"]), [], 0)
    model = BayesianNetwork([both, Conditional(a, [], [0.2, 0.3, 0.5]), Conditional(b, [], [0.5, 0.5]), alone])

    assert read_text(write_xdsl(model)) == model


def test_plain_names_need_no_properties():
    model = BayesianNetwork([Conditional(Variable("smoke", ["no", "yes"]), [], [0.5, 0.5])])

    assert "juncture" not in write_xdsl(model)


@given(st.lists(st.text(alphabet="ab_1 é<", max_size=4), unique=True))
def test_ids_are_distinct_identifiers_and_keep_those_that_are(texts):
    ids = make_identifiers(texts)

    assert len(set(ids)) == len(texts)
    assert all(IDENTIFIER.fullmatch(key) for key in ids)
    assert all(key == text for key, text in zip(ids, texts, strict=True) if IDENTIFIER.fullmatch(text))


def test_ids_of_many_alike_names_take_linear_time():
    assert len(set(make_identifiers([chr(0x4E00 + i) for i in range(20_000)]))) == 20_000


def test_by_suffix(tmp_path):
    path = tmp_path / "venture.xdsl"
    model = read_text(VENTURE)
    files.write(model, path)

    assert files.read(path) == model


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("</nodes>", "", "</smile>", "mismatched tag"),
        ('<cpt id="Forecast">', "<cpt>", '<cpt id="Forecast">', "<cpt> has no 'id'"),
        ('<cpt id="Forecast">', '<cpt id="Success">', '<cpt id="Forecast">', "'Success'.* given before"),
        ('<state id="Poor" />', '<state id="Great" />', '<cpt id="Forecast">', "'Forecast' the state 'Great' twice"),
        ('<state id="Poor" />', "<state/>", '<state id="Poor" />', "<state> has no 'id'"),
        ('<state id="Poor" />', "", "<probabilities>0.4", "has 6 numbers; .* call for 4"),
        ("<probabilities>0.2 0.8<", "<probabilities>0.2 0.9<", "<probabilities>0.2", "'Success' sums to 1.1"),
        ("<probabilities>0.2 0.8<", "<probabilities>nan 0.8<", "<probabilities>0.2", "'Success' has the entry nan"),
        ("<probabilities>0.2 0.8<", "<probabilities>0.2 x<", "<probabilities>0.2", "holds 'x', which is not a number"),
        ("<probabilities>0.2 0.8<", "<probabilities><", "<probabilities>0.2", "declares 2 entries"),
        ("<probabilities>0.2 0.8</probabilities>", "", "<cpt", "must have exactly one <probabilities>; it has 0"),
        ("<parents>Success</parents>", "<parents>Sucess</parents>", '<cpt id="Forecast">', "did you mean 'Success'"),
        ("<parents>Success</parents>", "<parents>Forecast</parents>", '<cpt id="Forecast">', "its own parent"),
        ("<parents>Success F", "<parents>Success Success F", "<deterministic", "the parent 'Success' twice"),
        ("yes yes no yes no no", "yes yes no yes no", "<resultingstates>", "has 5 states; .* call for 6"),
        ("yes yes no yes no no", "yes yes no yes no maybe", "<resultingstates>", "'maybe', which is no state"),
        ("0.05 0.95", "0.05", "<parameters>", "has 11 numbers; .* call for 12"),
        ("0.05 0.95", "0.05 0.9", "<parameters>", "the row of 'Growth' sums to 0.95"),
        ("0.7 0.3", "0.7 0.2", "<parameters>", "the row of 'Growth' given Success=Good sums to 0.9"),
        ("0.9 0.1 0.5", "0.9 0.2 0.5", "<parameters>", "the row of 'Growth' given Forecast=Poor sums to 1.1"),
        ("<strengths>0 1", "<strengths>0 0", "<strengths>", "for each parent the numbers of its states"),
        ("<strengths>0 1", "<strengths>0", "<strengths>", "for each parent the numbers of its states"),
        ("<strengths>0 1", "<strengths>0 -1", "<strengths>", "'-1', which is not a whole number"),
        ("<properties>", "<dynamic/><properties>", "<properties>", "network over time"),
    ],
)  # fmt: skip
def test_broken_files(old, new, where, message):
    assert old in VENTURE
    with pytest.raises(FormatError, match=message) as refused:
        read_text(VENTURE.replace(old, new, 1))
    assert refused.value.line == line_of(where)


@pytest.mark.parametrize("kind", ["noisyadder", "anything"])
def test_other_kinds_of_nodes_are_refused_by_name(kind):
    other = VENTURE.replace("<deterministic ", f"<{kind} ").replace("</deterministic>", f"</{kind}>")
    with pytest.raises(FormatError, match=f"<{kind}> is a kind of node that is not read") as refused:
        read_text(other)
    assert refused.value.line == line_of("<deterministic")


def test_no_states():
    with pytest.raises(FormatError, match="gives 'a' no <state>"):
        read_text("<smile><nodes><cpt id='a'><probabilities>1</probabilities></cpt></nodes></smile>")


def test_a_cycle_is_printed():
    loop = VENTURE.replace("<probabilities>0.2 0.8", "<parents>Forecast</parents><probabilities>" + "0.2 0.8 " * 3)
    with pytest.raises(FormatError, match=r"Success.*Forecast|Forecast.*Success") as refused:
        read_text(loop)
    assert refused.value.line == line_of("<nodes>")


def test_two_true_names_alike():
    name = '<property id="juncture_name">Success</property>'
    with pytest.raises(FormatError, match=r"'Forecast' .*'Success'.* given before"):
        read_text(VENTURE.replace("0.3 0.6</probabilities>", f"0.3 0.6</probabilities>{name}"))


@pytest.mark.parametrize("position", ["x", "-1", "1.5", "²", "9" * 100_000])
def test_a_wrong_position(position):
    reordered = f'<property id="juncture_position">{position}</property></cpt>'
    with pytest.raises(FormatError, match="which is not a whole number") as refused:
        read_text(VENTURE.replace("</cpt>", reordered, 1))
    assert len(str(refused.value)) < 200


def test_a_noisy_table_too_large_to_write_out():
    """24 parents of two states take 98 numbers in the file and 2^25 entries in a table."""
    parameters = [[0.5, 0.5], [0, 1]] * 24 + [[0, 1]]
    with pytest.raises(FormatError, match=f"over {MAX_EXPANDED:,} entries"):
        read_text(noisy_document([2] * 24, 2, [[0, 1]] * 24, parameters))


def test_a_result_table_of_a_billion_entries_is_refused_before_it_is_made():
    roots = "".join(f"<cpt id='p{i}'>{states(2)}<probabilities>1 0</probabilities></cpt>" for i in range(30))
    names = " ".join(f"p{i}" for i in range(30))
    inside = f"{states(2)}<parents>{names}</parents><resultingstates>s0</resultingstates>"
    with pytest.raises(FormatError, match="declares"):
        read_text(f"<smile><nodes>{roots}<deterministic id='c'>{inside}</deterministic></nodes></smile>")
