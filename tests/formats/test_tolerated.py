"""Files as other programs write them: each peculiarity that is read, with a small copy; and the genuine files."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import juncture as jt
from juncture.errors import FormatError, NotDirectedWarning, RenormalizedWarning

WILD = Path(__file__).parents[3] / "shared" / "files-in-the-wild"

A, B = jt.Variable("a", ["x", "y"]), jt.Variable("b", ["u", "v"])
SMALL = jt.BayesianNetwork([jt.Conditional(A, [], [0.25, 0.75]), jt.Conditional(B, [A], [[0.5, 0.5], [0.625, 0.375]])])
NET = """net { }
node a { states = ("x" "y"); }
node b { states = ("u" "v"); }
potential (a) { data = (0.25 0.75); }
potential (b | a) { data = ((0.5 0.5) (0.625 0.375)); }
"""
XMLBIF = """<?xml version="1.0"?>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>
<VARIABLE><NAME>b</NAME><OUTCOME>u</OUTCOME><OUTCOME>v</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><TABLE>0.5 0.5 0.625 0.375</TABLE></DEFINITION>
</NETWORK></BIF>
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text, suffix, **options):
        path = tmp_path / f"file{suffix}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return jt.read(path, **options)

    return read_text


# --- Hugin NET -------------------------------------------------------------------------------------------------------

ODD_NET = {
    "no header": NET.removeprefix("net { }\n"),
    "comments after slashes": "/// written by another program\n" + NET.replace("{ data", "{ // numbers\n data", 1),
    "a quoted text over two lines": NET.replace("net { }", 'net { tree = "(one,\ntwo;}"; }'),
    "Latin-1 in a comment": b"%% S\xf8ren\n" + NET.encode(),
    "Latin-1 in a label that is not read": NET.encode().replace(b"node a {", b'node a { label = "Gr\xf6\xdfe";'),
}


@pytest.mark.parametrize("kind", ODD_NET)
def test_odd_net_files_are_read(read, kind):
    assert read(ODD_NET[kind], ".net") == SMALL


def test_lines_count_through_quoted_texts_of_several_lines(read):
    with pytest.raises(FormatError, match=r":5: the row of 'a' sums to 0\.5"):
        read(ODD_NET["a quoted text over two lines"].replace("(0.25 0.75)", "(0.25 0.25)"), ".net")


@pytest.mark.parametrize("place", [b"node a", b'"x"'])
def test_latin1_in_a_name_or_state_is_refused(read, place):
    data = NET.encode().replace(place, place.replace(b"a", b"\xe4").replace(b"x", b"\xdf"), 1)
    with pytest.raises(FormatError, match=":2: the file is not UTF-8 text; save it in that encoding"):
        read(data, ".net")


def test_rounded_zeros_below_zero_are_set_to_zero(read):
    with pytest.warns(RenormalizedWarning, match="1 entries between -1e-06 and 0 were set to 0"):
        model = read(NET.replace("(0.25 0.75)", "(-1.19e-07 1.0)"), ".net")
    assert model["a"].values.tolist() == [0.0, 1.0]
    with pytest.raises(FormatError, match="has the entry -2e-06"):
        read(NET.replace("(0.25 0.75)", "(-2e-06 1.0)"), ".net")


# --- rows that are no probabilities ----------------------------------------------------------------------------------


def test_counts_are_refused_with_what_to_do_and_divided_on_request(read):
    text = NET.replace("(0.25 0.75)", "(250 750)").replace("(0.5 0.5)", "(0 0)").replace("(0.625 0.375)", "(62.5 37.5)")
    with pytest.raises(FormatError, match=r"sums to 1000; .* jt.read\(path, normalize=True\) divides each by its sum"):
        read(text, ".net")
    with pytest.warns(RenormalizedWarning) as said:
        model = read(text, ".net", normalize=True)

    assert model == SMALL
    assert "2 rows did not sum to 1 and were divided by their sum" in str(said[0].message)
    assert "1 rows of zeros became uniform; the first is the row of 'b' given a=x" in str(said[0].message)


def test_normalize_leaves_rows_that_sum_to_1_and_refuses_what_is_no_number(read):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(NET, ".net", normalize=True) == SMALL
    for row in ("1e308 1e308", "-1 2", "nan 1", "inf 1"):
        with pytest.raises(FormatError, match="the row of 'a'"):
            read(NET.replace("0.25 0.75", row), ".net", normalize=True)


# --- UAI -------------------------------------------------------------------------------------------------------------


def test_comments_of_uai_files_after_a_hash(read):
    plain = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2\n3 4\n"
    remarks = "#\n# made elsewhere\n#\nMARKOV\n2 # nodes\n2 2\n1\n2 0 1 # b, 7\n4\n1 2#\n3 4\n# end"
    assert read(remarks, ".uai") == read(plain, ".uai")
    with pytest.raises(FormatError, match=":10: expected a number, found 'z'"):
        read(remarks.replace("1 2#", "z 2#"), ".uai")


def test_a_bayes_file_with_absorbed_evidence_is_a_markov_network(read):
    text = "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2\n0.25 0.75\n4\n0 0\n0.5 0.5\n"
    with pytest.warns(NotDirectedWarning, match="the row of 'x1' given x0=0 is all 0.*read as a MarkovNetwork"):
        model = read(text, ".uai")

    assert isinstance(model, jt.MarkovNetwork)
    assert np.allclose(jt.infer(model).log_evidence, np.log(0.75))


# --- XML -------------------------------------------------------------------------------------------------------------

OLD = XMLBIF.replace("<?xml version", "<?XML VERSION").replace(' VERSION="0.3"', "").replace("OUTCOME", "VALUE")
ODD_XML = {
    "space before the declaration": "  \n " + XMLBIF,
    "a declaration in capitals": XMLBIF.replace("<?xml version", "<?XML VERSION"),
    "the child slowest, before version 0.3": OLD.replace("DEFINITION", "PROBABILITY").replace("0.5 0.625", "0.625 0.5"),
}


@pytest.mark.parametrize("suffix", [".xml", ".bifxml"])
@pytest.mark.parametrize("kind", ODD_XML)
def test_odd_xml_files_are_read(read, kind, suffix):
    assert read(ODD_XML[kind], suffix) == SMALL


def test_lines_count_from_the_top_with_space_before_the_declaration(read):
    with pytest.raises(FormatError, match=":6: the row of 'a'"):
        read("\n" + XMLBIF.replace("0.25 0.75", "0.25 0.5"), ".xml")


def test_an_xml_file_is_looked_into(tmp_path):
    for suffix in (".xmlbif", ".xdsl"):
        jt.write(SMALL, tmp_path / f"model{suffix}")
        (tmp_path / "model.xml").write_bytes((tmp_path / f"model{suffix}").read_bytes())
        assert jt.read(tmp_path / "model.xml") == SMALL


def test_xmlbif_has_no_document_type_and_xdsl_has_titles(tmp_path):
    """Without these pyAgrum does not read them."""
    jt.write(SMALL, tmp_path / "model.xmlbif")
    jt.write(SMALL, tmp_path / "model.xdsl")
    assert "DOCTYPE" not in (tmp_path / "model.xmlbif").read_text()
    assert '<node id="a"><name>a</name></node>' in (tmp_path / "model.xdsl").read_text()


# --- BIF -------------------------------------------------------------------------------------------------------------

MAXIMUM = """network n { }
variable p { type discrete [ 3 ] { 0, 1, 2 }; }
variable q { type discrete [ 2 ] { 0, 1 }; }
variable c { type discrete [ 3 ] { 0, 1, 2 }; }
probability ( p ) { table 0.2, 0.3, 0.5; }
probability ( q ) { table 0.5, 0.5; }
probability ( c | p, q ) {
  property function max;
  (0, 0) 0.75, 0.125, 0.125; // leak
  (1, 0) 0.5, 0.25, 0.25;
  (2, 0) 0.125, 0.5, 0.375;
  (0, 1) 0.25, 0.75, 0.0;
}
"""


def test_a_noisy_maximum_of_bif_is_the_table_that_it_stands_for(read):
    model = read(MAXIMUM, ".bif")
    tables = [[[1, 0, 0], [0.5, 0.25, 0.25], [0.125, 0.5, 0.375]], [[1, 0, 0], [0.25, 0.75, 0.0]]]
    expected = jt.NoisyMax(model.variable("c"), model["c"].parents, tables, [0.75, 0.125, 0.125]).to_table()
    assert np.allclose(model["c"].values, expected.values, rtol=0, atol=1e-15)


def test_a_noisy_maximum_of_one_cause_has_a_leak_too(read):
    text = MAXIMUM[: MAXIMUM.index("probability ( c")]
    text += "probability ( c | q ) { property function max; (0) 0.5, 0.25, 0.25; (1) 0.5, 0.5, 0; }"
    assert read(text, ".bif")["c"].values.tolist() == [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  (2, 0) 0.125, 0.5, 0.375;\n", "", "the row of 'c' given p=2, q=0 is missing; 'c' is a noisy maximum"),
        ("(0, 1)", "(1, 1)", "the row of 'c' given p=0, q=1 is missing"),
        ("  (0, 1)", "  (1, 1) 1, 0, 0;\n  (0, 1)", "the row of 'c' given p=1, q=1 is too much"),
        ("(2, 0)", "(1, 0)", "given twice"),
        ("function max", "function min", "the row of 'c' given p=1, q=1 is missing; add it"),
        ("0.5, 0.25, 0.25", "0.5, 0.25, 0.5", "sums to 1.25"),
    ],
)
def test_incomplete_noisy_maxima_of_bif_are_refused(read, old, new, message):
    with pytest.raises(FormatError, match=message):
        read(MAXIMUM.replace(old, new), ".bif")


# --- linear Gaussians ------------------------------------------------------------------------------------------------

GAUSSIAN_NET = """net { }
continuous node y { }
continuous node x { label = ""; }
node a { states = ("x" "y"); }
potential (y | a x) { data = ( normal ( 2 + 1.5 * x, 1 ) normal ( -.5 - x * 2, 2e0 ) ); }
potential (x) { data = normal ( 3, 0.75 ); }
potential (a) { data = (0.25 0.75); }
"""
X, Y = jt.Variable("x"), jt.Variable("y")
GAUSSIAN_XDSL = """<smile version="1.0" id="n"><nodes>
<equation id="x"><definition>x=Normal(3,2)</definition></equation>
<equation id="y"><parents>x</parents><definition>y=x*2+Normal(-1,0.5)-x/4</definition></equation>
</nodes></smile>
"""


def test_continuous_nodes_of_net_files_are_linear_gaussians(read):
    model = read(GAUSSIAN_NET, ".net")
    y = jt.LinearGaussian(Y, [A, X], [[1.5], [-2.0]], [2.0, -0.5], [1.0, 2.0])
    assert model == jt.BayesianNetwork([y, jt.LinearGaussian(X, [], [], 3.0, 0.75), SMALL["a"]])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1.5 * x", "x * x", "which is not linear"),
        ("1.5 * x", "1.5 * z", "'z' in .* is not a continuous parent of this node"),
        ("1.5 * x", "sin x", "'\\+' or '-' was expected, not 'x'"),
        ("1.5 * x, 1 )", "1.5 * x, x )", "the variance in .* must be a number"),
        ("1.5 * x, 1 )", "1.5 * x, -1 )", "the variance of 'y' must not be negative"),
        ("1.5 * x, 1 )", "1.5 * x, 1e999 )", "the variance of 'y'"),
        ("normal ( 2 + 1.5 * x, 1 )", "", "need 2 normal"),
        ("normal ( 3, 0.75 )", "beta ( 3, 0.75 )", "must be normal"),
        ("potential (a) {", "potential (a | x) {", "'x'"),
        ("potential (a)", "potential (x)", "second 'potential' block"),
    ],
)
def test_other_continuous_nodes_of_net_files_are_refused(read, old, new, message):
    with pytest.raises(FormatError, match=message):
        read(GAUSSIAN_NET.replace(old, new), ".net")


def test_equations_of_xdsl_files_are_linear_gaussians(read):
    model = read(GAUSSIAN_XDSL, ".xdsl")
    y = jt.LinearGaussian(Y, [X], [1.75], -1.0, 0.25)
    assert model == jt.BayesianNetwork([jt.LinearGaussian(X, [], [], 3.0, 4.0), y])
    with pytest.warns(UserWarning, match=r"the bounds of 'x' \(lower\) are ignored: its Gaussian is not truncated"):
        bounded = read(GAUSSIAN_XDSL.replace("<definition>x", '<definition lower="0" upper="inf">x'), ".xdsl")
    assert bounded == model


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x*2", "x*x", "which is not linear"),
        ("x*2", "z*2", "names 'z', which is not among the <parents>"),
        ("x*2", "Exp(x)", "'Exp' is not known in it"),
        ("Normal(-1,0.5)", "1", "has no Normal"),
        ("Normal(-1,0.5)", "Normal(-1", "two numbers|ends where"),
        ("x/4", "x/0", "divides by 0"),
        ("y=x", "z=x", "must be 'y = …'"),
        ("<parents>x</parents>", "<parents>s</parents>", "'s' with states"),
        (
            "</nodes>",
            '<cpt id="t"><state id="u" /><parents>x</parents><probabilities>1</probabilities></cpt></nodes>',
            "'x'",
        ),
    ],
)
def test_other_equations_of_xdsl_files_are_refused(read, old, new, message):
    states = (
        "</nodes>"
        if "'s'" not in message
        else '<cpt id="s"><state id="u" /><probabilities>1</probabilities></cpt></nodes>'
    )
    with pytest.raises(FormatError, match=message):
        read(GAUSSIAN_XDSL.replace(old, new).replace("</nodes>", states), ".xdsl")


# --- the genuine files -----------------------------------------------------------------------------------------------

READ = {  # the number of variables
    "ChestClinicNetica.net": 8,
    "Pathfinder.net.gz": 135,
    "Pigs_latin1.net.gz": 441,
    "Water_leading_space.bifxml.gz": 32,
    "Example_CLG.net": 5,
    "asia_genie_export.net": 8,
    "exampleBN_CLG.net": 7,
    "gauss_equations.xdsl": 7,
    "sachs_gaussian_equations.xdsl": 11,
    "cancer_no_header.net": 5,
    "dog-problem_uppercase_declaration.xml": 5,
    "dog_comments.uai": 5,
    "hailfinder25_uppercase_declaration.xml": 56,
    "markov_comments.uai": 3,
    "pedigree1_BAYES_zero_rows.uai": 334,
}
NORMALIZED = {"Chest_Clinic_counts.net": 8, "test1_percent.net": 4, "formed_rows_0.998.xdsl": 88}

genuine = pytest.mark.skipif(not WILD.is_dir(), reason="the files are not part of this repository")


@genuine
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", READ)
def test_genuine_files_are_read(name):
    assert len(jt.read(WILD / name).variables) == READ[name]


@genuine
@pytest.mark.parametrize("name", NORMALIZED)
def test_genuine_files_of_other_sums_are_read_on_request(name):
    with pytest.raises(FormatError, match="normalize=True"):
        jt.read(WILD / name)
    with pytest.warns(RenormalizedWarning):
        assert len(jt.read(WILD / name, normalize=True).variables) == NORMALIZED[name]


@genuine
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_genuine_file_of_noisy_maxima_lacks_one_table(tmp_path):
    text = (WILD / "carpo_function_max.bif").read_text()
    (tmp_path / "carpo.bif").write_text(text + "probability ( N117 ) { table 0.5, 0.5; }")
    assert len(jt.read(tmp_path / "carpo.bif").variables) == 61
    with pytest.raises(FormatError, match="the variable 'N117' has no table; add a block"):
        jt.read(WILD / "carpo_function_max.bif")


@genuine
def test_a_genuine_network_over_time_says_what_to_do():
    with pytest.raises(FormatError, match="unroll it in GeNIe"):
        jt.read(WILD / "tutorial6_dynamic.xdsl")
