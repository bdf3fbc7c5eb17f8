"""XMLBIF: real files of several ages are read as they mean, broken ones refused with the line and the reason."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import FormatError, RenormalizedWarning
from juncture.factors.conditional import Conditional
from juncture.formats import files
from juncture.formats.row_repair import RowRepair
from juncture.formats.xmlbif import read_xmlbif, write_xmlbif
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Variable
from support.processor_time import takes_at_most

DOG = """<?xml version="1.0" encoding="US-ASCII"?>
<!--
  Bayesian network in XMLBIF v0.3 (BayesNet Interchange Format)
-->
<!-- DTD for the XMLBIF 0.3 format -->
<!DOCTYPE BIF [
	<!ELEMENT BIF ( NETWORK )*>
	<!ATTLIST BIF VERSION CDATA #REQUIRED>
	<!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
	<!ELEMENT NAME (#PCDATA)>
	<!ELEMENT VARIABLE ( NAME, ( OUTCOME |  PROPERTY )* ) >
	<!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
	<!ELEMENT OUTCOME (#PCDATA)>
	<!ELEMENT DEFINITION ( FOR | GIVEN | TABLE | PROPERTY )* >
	<!ELEMENT FOR (#PCDATA)>
	<!ELEMENT GIVEN (#PCDATA)>
	<!ELEMENT TABLE (#PCDATA)>
	<!ELEMENT PROPERTY (#PCDATA)>
]>

<BIF VERSION="0.3">
<NETWORK>
<NAME>Dog-Problem</NAME>
<PROPERTY>credal-set constant-density-bounded 1.1</PROPERTY>

<!-- Variables -->
<VARIABLE TYPE="nature">
	<NAME>dog-out</NAME>
	<OUTCOME>true</OUTCOME>
	<OUTCOME>false</OUTCOME>
	<PROPERTY>position = (155, 165)</PROPERTY>
</VARIABLE>
<VARIABLE>
	<NAME> bowel-problem </NAME>
	<OUTCOME>true</OUTCOME>
	<OUTCOME>false</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature">
	<NAME>family-out</NAME>
	<OUTCOME>all</OUTCOME>
	<OUTCOME>some &amp; few</OUTCOME>
	<OUTCOME>&lt;1</OUTCOME>
</VARIABLE>

<!-- Probability distributions -->
<DEFINITION>
	<FOR>dog-out</FOR>
	<GIVEN>bowel-problem</GIVEN>
	<GIVEN>family-out</GIVEN>
	<TABLE>
		<!-- true, all --> 0.99 0.01
		<!-- true, some --> 0.97 0.03   0.96 .04
		9e-1 1E-1  0.3 0.7 0.2 0.8
	</TABLE>
</DEFINITION>
<DEFINITION>
	<FOR>bowel-problem</FOR>
	<TABLE>0.01 0.99 </TABLE>
	<PROPERTY>known</PROPERTY>
</DEFINITION>
<DEFINITION>
	<FOR>family-out</FOR>
	<TABLE>0.15 0.6 0.25</TABLE>
</DEFINITION>
</NETWORK>
</BIF>
"""


def read_text(text):
    return read_xmlbif(text.encode(), RowRepair())


def line_of(piece):
    return DOG[: DOG.index(piece)].count("\n") + 1


def test_a_file_of_the_usual_kind():
    dog, bowel = Variable("dog-out", ["true", "false"]), Variable("bowel-problem", ["true", "false"])
    family = Variable("family-out", ["all", "some & few", "<1"])
    table = [[[0.99, 0.01], [0.97, 0.03], [0.96, 0.04]], [[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]]]
    model = read_text(DOG)

    assert model.variables.names == ("dog-out", "bowel-problem", "family-out")
    assert model == BayesianNetwork(
        [
            Conditional(dog, [bowel, family], table),
            Conditional(bowel, [], [0.01, 0.99]),
            Conditional(family, [], [0.15, 0.6, 0.25]),
        ]
    )


def test_a_file_of_the_earliest_kind():
    model = read_text(
        """<bif><network><name>n</name>
        <variable><name>a</name><type>discrete</type><value>x</value><value>y</value></variable>
        <probability><for>a</for><table>0.5 0.5</table></probability></network></bif>"""
    )

    assert model == BayesianNetwork([Conditional(Variable("a", ["x", "y"]), [], [0.5, 0.5])])


def test_the_child_varies_fastest_and_the_first_parent_slowest():
    a, b, c = Variable("a", 2), Variable("b", 3), Variable("c", 2)
    table = np.arange(1, 13).reshape(2, 3, 2) / 100
    table = np.stack([table[..., 0], 1 - table[..., 0]], axis=-1)
    roots = [Conditional(a, [], [0.5, 0.5]), Conditional(b, [], [0.5, 0.25, 0.25])]
    text = write_xmlbif(BayesianNetwork([*roots, Conditional(c, [a, b], table)]))
    written = text.rpartition("<TABLE>")[2].partition("</TABLE>")[0]

    assert [float(word) for word in written.split()] == table.ravel().tolist()
    assert text.index("<GIVEN>a<") < text.index("<GIVEN>b<")


def test_awkward_doubles_keep_their_bits():
    values = [5e-324, 0.1 + 0.2, 2.2250738585072014e-308, 1 / 3]
    values.append(1 - sum(values))
    model = BayesianNetwork([Conditional(Variable("a", list("vwxyz")), [], values)])

    assert read_text(write_xmlbif(model))["a"].values.tolist() == values


def test_rows_nearly_one_are_divided_and_counted(tmp_path):
    path = tmp_path / "dog.xmlbif"
    path.write_text(DOG.replace("0.97 0.03", "0.9702 0.0302"))
    with pytest.warns(RenormalizedWarning, match="1 rows .*bowel-problem=true, family-out=some & few"):
        model = files.read(path)
    assert np.allclose(model["dog-out"].values.sum(axis=-1), 1, atol=1e-15)


@pytest.mark.parametrize("suffix", ["xmlbif", "bifxml", "xmlbif.gz"])
def test_by_suffix(tmp_path, suffix):
    path = tmp_path / f"dog.{suffix}"
    model = read_text(DOG)
    files.write(model, path)

    assert files.read(path) == model


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("<BIF V", "<XBIF V", "</BIF>", "mismatched tag"),
        ("0.01 0.99", "0.01", "<TABLE>0.01", r"<table> has 1 numbers; .* call for 2"),
        ("0.01 0.99", "0.01 0.9 0.09", "<TABLE>0.01", r"<table> has 3 numbers; .* call for 2"),
        ("0.01 0.99", "", "<TABLE>0.01", "declares 2 entries"),
        ("0.01 0.99", "nan 0.99", "<TABLE>0.01", "'bowel-problem' has the entry nan"),
        ("0.01 0.99", "inf 0.99", "<TABLE>0.01", "'bowel-problem' has the entry inf"),
        ("0.01 0.99", "-0.01 1.01", "<TABLE>0.01", "'bowel-problem' has the entry -0.01"),
        ("0.01 0.99", "1e308 1e308", "<TABLE>0.01", "'bowel-problem' sums to inf"),
        ("0.01 0.99", "0.01 0.9", "<TABLE>0.01", "'bowel-problem' sums to 0.91; a row must sum to 1"),
        ("0.3 0.7", "0.3 0.8", "<TABLE>\n", "'dog-out' given bowel-problem=false, family-out=some & few sums to 1.1"),
        ("0.01 0.99", "0.01 0,99", "<TABLE>0.01", "<table> holds '0,99', which is not a number"),
        ("0.01 0.99", "0.01 0.9_9", "<TABLE>0.01", "<table> holds '0.9_9', which is not a number"),
        ("0.01 0.99", "0.01 <B/> 0.99", "<TABLE>0.01", "<b> is not known inside <table>, which holds text only"),
        (
            "<GIVEN>family-out",
            "<GIVEN>famly-out",
            "<DEFINITION>\n\t<FOR>dog-out",
            "unknown parent 'famly-out' of 'dog-out'; did you mean 'family-out'",
        ),
        ("<GIVEN>family-out", "<GIVEN>dog-out", "<DEFINITION>\n\t<FOR>dog-out", "makes 'dog-out' its own parent"),
        (
            "<GIVEN>family-out",
            "<GIVEN>bowel-problem",
            "<DEFINITION>\n\t<FOR>dog-out",
            "gives 'dog-out' the parent 'bowel-problem' twice",
        ),
        ("<FOR>bowel-problem", "<FOR>cat", "<DEFINITION>\n\t<FOR>bowel", "is for 'cat', which no <variable> declares"),
        (
            "<FOR>family-out</FOR>",
            "<FOR>a</FOR><FOR>b</FOR>",
            "<DEFINITION>\n\t<FOR>family",
            "must have exactly one <for>; it has 2",
        ),
        ("<FOR>family-out</FOR>", "", "<DEFINITION>\n\t<FOR>family", "must have exactly one <for>; it has 0"),
        ("<TABLE>0.15 0.6 0.25</TABLE>", "", "<DEFINITION>\n\t<FOR>family", "must have exactly one <table>; it has 0"),
        (
            "0.25</TABLE>",
            "0.25</TABLE><TABLE/>",
            "<DEFINITION>\n\t<FOR>family",
            "must have exactly one <table>; it has 2",
        ),
        ("<NAME>dog-out</NAME>", "", "<VARIABLE TYPE", "must have exactly one <name>; it has 0"),
        ("<NAME>dog-out</NAME>", "<NAME> </NAME>", "<NAME>dog-out", "<name> is empty"),
        (
            "<NAME>dog-out</NAME>",
            "<NAME>family-out</NAME>",
            '<VARIABLE TYPE="nature">\n\t<NAME>family',
            "declares 'family-out' a second time",
        ),
        (
            "<OUTCOME>all</OUTCOME>",
            "<OUTCOME>&lt;1</OUTCOME>",
            '<VARIABLE TYPE="nature">\n\t<NAME>family',
            "'family-out' the state '<1' twice",
        ),
        ("<OUTCOME>all</OUTCOME>", "<OUTCOME></OUTCOME>", "<OUTCOME>all", "<outcome> is empty"),
        ("<OUTCOME>all</OUTCOME>", "", "<TABLE>\n", "has 12 numbers; .* call for 8"),
        ('"nature">\n\t<NAME>dog', '"decision">\n\t<NAME>dog', "<VARIABLE TYPE", "'dog-out' is of the kind 'decision'"),
        ('"nature">\n\t<NAME>dog', '"utility">\n\t<NAME>dog', "<VARIABLE TYPE", "'dog-out' is of the kind 'utility'"),
        ("<NAME>Dog-Problem</NAME>", "<NODE/>", "<NAME>Dog", "<node> is not known inside <network>"),
        ("<NAME>Dog-Problem</NAME>", "words", "<NETWORK>", "holds the text .*words.* where only elements"),
        ("]>", '<!ENTITY e "x">]>', "]>", "entity 'e'"),
        ("DOCTYPE BIF [", 'DOCTYPE BIF SYSTEM "x" [', "<!DOCTYPE", "external"),
    ],
)
def test_broken_files(old, new, where, message):
    assert old in DOG
    with pytest.raises(FormatError, match=message) as refused:
        read_text(DOG.replace(old, new, 1))
    assert refused.value.line == line_of(where)


def test_a_second_definition():
    twice = DOG.replace("</NETWORK>", "<DEFINITION><FOR>family-out</FOR><TABLE>1 0 0</TABLE></DEFINITION>\n</NETWORK>")
    with pytest.raises(FormatError, match="is the second one for 'family-out'") as refused:
        read_text(twice)
    assert refused.value.line == line_of("</NETWORK>")


def test_a_missing_definition():
    without = DOG[: DOG.rindex("<DEFINITION>")] + "</NETWORK></BIF>"
    with pytest.raises(FormatError, match="has no <definition> for the variable 'family-out'"):
        read_text(without)


def test_no_outcome():
    head, _, rest = DOG.partition("<OUTCOME>true</OUTCOME>\n\t<OUTCOME>false</OUTCOME>")
    with pytest.raises(FormatError, match="gives 'dog-out' no <outcome>") as refused:
        read_text(head + rest)
    assert refused.value.line == line_of("<VARIABLE")


def test_two_networks():
    with pytest.raises(FormatError, match="must have exactly one <network>; it has 2"):
        read_text("<BIF><NETWORK/><NETWORK/></BIF>")


def test_a_cycle_is_printed():
    loop = DOG.replace("0.01 0.99 </TABLE>", "0.1 0.9 0.2 0.8</TABLE><GIVEN>dog-out</GIVEN>")
    with pytest.raises(FormatError, match=r"dog-out.*bowel-problem|bowel-problem.*dog-out") as refused:
        read_text(loop)
    assert refused.value.line == line_of("<NETWORK>")


def document(num_variables, definition, states="<OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME>"):
    variables = "".join(f"<VARIABLE><NAME>v{i}</NAME>{states}</VARIABLE>" for i in range(num_variables))
    return f"<BIF><NETWORK>{variables}<DEFINITION><FOR>v0</FOR>{definition}</DEFINITION></NETWORK></BIF>"


def given(count):
    return "".join(f"<GIVEN>v{i}</GIVEN>" for i in range(1, count + 1))


def test_a_table_of_a_billion_entries_is_refused_before_it_is_made():
    with pytest.raises(FormatError, match="the table of 'v0' declares"):
        read_text(document(31, f"{given(30)}<TABLE>1 0</TABLE>"))


def test_more_parents_than_a_table_has_axes():
    with pytest.raises(FormatError, match="99 parents"):
        read_text(document(100, f"{given(99)}<TABLE>1</TABLE>", states="<OUTCOME>only</OUTCOME>"))


@pytest.mark.parametrize(
    "text",
    [
        document(1, f"<TABLE>{'1 ' * 2**22}</TABLE>"),
        document(1, f"<TABLE>{'1' * 2**22}</TABLE>"),
        document(1, "", states="<OUTCOME>{0}</OUTCOME><OUTCOME>{0}</OUTCOME>".format("a" * 2**22)),
        document(1, "<GIVEN>v0</GIVEN>" * 100_000),
        document(900, f"<GIVEN>{'v' * 100_000}</GIVEN>"),
    ],
    ids=["numbers", "digits", "names", "parents", "unknown"],
)
def test_large_nonsense_is_refused_quickly_and_briefly(text):
    with takes_at_most(5), pytest.raises(FormatError) as refused:
        read_text(text)
    assert len(str(refused.value)) < 500
