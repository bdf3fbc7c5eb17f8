"""BIF: dialects are read as they mean, broken files refused with the line and the reason."""

from __future__ import annotations

import re

import numpy as np
import pytest

from juncture.errors import FormatError
from juncture.factors.conditional import Conditional
from juncture.formats.bif import read_bif, write_bif
from juncture.formats.row_repair import RowRepair
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Variable

VARIABLES = """\
network test { }
variable a { type discrete [ 2 ] { a0, a1 }; }
variable b { type discrete [ 3 ] { b0, b1, b2 }; }
variable c { type discrete [ 2 ] { c0, c1 }; }
probability ( a ) { table 0.2, 0.8; }
probability ( b ) { table 0.2, 0.3, 0.5; }
"""
ROWS = {
    (0, 0): (0.01, 0.99),
    (0, 1): (0.02, 0.98),
    (0, 2): (0.03, 0.97),
    (1, 0): (0.04, 0.96),
    (1, 1): (0.05, 0.95),
    (1, 2): (0.06, 0.94),
}
ENTRIES = [f"(a{a}, b{b}) {x}, {y};" for (a, b), (x, y) in ROWS.items()]


def read(text):
    return read_bif(text.encode(), RowRepair())


def table_of(block):
    """The table of c given a and b, as (a, b, c)."""
    return read(f"{VARIABLES}probability ( c | a, b ) {{\n{block}\n}}")["c"].values


EXPECTED = np.array(list(ROWS.values())).reshape(2, 3, 2)


# --- entries, tables, defaults ---------------------------------------------------------------------------------------


def test_rows_come_in_any_order():
    assert np.array_equal(table_of("\n".join(ENTRIES)), EXPECTED)
    assert np.array_equal(table_of("".join(reversed(ENTRIES))), EXPECTED)


def test_a_table_lists_the_child_slowest_and_the_last_parent_fastest():
    """As the format says, and as pyAgrum 3.3.1 reads it."""
    table = "table 0.01 0.02 0.03 0.04 0.05 0.06 0.99 0.98 0.97 0.96 0.95 0.94;"
    assert np.array_equal(table_of(table), EXPECTED)


def test_a_default_row_fills_what_is_not_given():
    values = table_of("default 0.5, 0.5;" + ENTRIES[4])
    assert values[1, 1].tolist() == [0.05, 0.95]
    assert np.delete(values.reshape(-1, 2), 4, axis=0).tolist() == [[0.5, 0.5]] * 5


def test_default_rows_cannot_fill_the_memory():
    states = ", ".join(f"s{place}" for place in range(300))
    variables = "".join(f"variable v{i} {{ type discrete [ 300 ] {{ {states} }}; }}\n" for i in range(4))
    text = f"network n {{ }}\n{variables}probability ( v0 | v1, v2, v3 ) {{ default {'0 ' * 299} 1; }}\n"
    with pytest.raises(
        FormatError, match="the table of 'v0' declares 27,000,000 entries or more, and the file can hold"
    ):
        read(text)


# --- dialects --------------------------------------------------------------------------------------------------------

DOG = """\
// a comment
network "Dog-Problem" { //5 variables
  property "credal-set ; constant } density-bounded 1.1";
}
probability ( "light-on" "family-out" ) { /* the table comes
   before its variables */
  table 0.6 0.05 0.4 0.95 ; // = P(l=t|f=t) ; P(l=t|f=f)
}
variable  "light-on" { //2 values
  type discrete[2] {  "true"  "false" };
  property "position = (218, 195)" ;
}
variable "family-out"{ property unquoted = 1; type discrete[2]{"true""false"}; }
probability ( "family-out" ) { property x; table 0.15 0.85 ; }
"""


def test_the_first_dialect_is_read():
    model = read(DOG)
    assert model.variables.names == ("light-on", "family-out")
    assert model["light-on"].values.tolist() == [[0.6, 0.4], [0.05, 0.95]]
    assert model["family-out"].values.tolist() == [0.15, 0.85]


@pytest.mark.parametrize("head", ["c | a, b", "c|a b", '"c" | "a" b', "c | a ,b,", "c, a, b", "c a b"])
def test_heads_with_and_without_commas(head):
    block = " ".join(ENTRIES)
    assert np.array_equal(read(f"{VARIABLES}probability({head}){{{block}}}")["c"].values, EXPECTED)


@pytest.mark.parametrize(
    "style", ["(a{0} b{1})", '("a{0}","b{1}")', '( "a{0}" b{1} , )', "(a{0},b{1},)", "/* ; */(a{0}, b{1})"]
)
def test_quotes_and_comments_change_nothing(style):
    rows = [f"{style.format(a, b)}{x},{y} // ) ;\n;" for (a, b), (x, y) in ROWS.items()]
    assert np.array_equal(table_of("".join(rows)), EXPECTED)


def test_labels_may_hold_what_other_labels_do_not():
    """A network in the wild has the states `<5`, `12+` and `Asy/Patch`."""
    text = """network n {}
    variable age { type discrete [ 3 ] { <5, 5-12, 12+ }; }
    variable lungs { type discrete [ 4 ] { Asy/Patch, less than half, >=7.5(max), "a, b" }; }
    variable x { type discrete [ 2 ] { a,b c,d }; }
    variable y { type discrete [ 3 ] { 1, 1.0, "" }; }
    probability ( age ) { table 0.5 0.25 0.25; }
    probability ( lungs | age ) { (12+) 1 0 0 0; (<5) 0 1 0 0; (5-12) 0 0 1 0; }
    probability ( x | lungs ) { (less than half) 1 0; (>=7.5(max)) .5 .5; ("a, b") 1. 0; ("Asy/Patch") 1e-1 9e-1; }
    probability ( y | lungs x ) { (less than half, a,b) 1 0 0; default 0 1 0; }
    """.replace("(less than half, a,b)", '(less than half, "a,b")')
    model = read(text)
    assert model.variable("age").states == ("<5", "5-12", "12+")
    assert model.variable("lungs").states == ("Asy/Patch", "less than half", ">=7.5(max)", "a, b")
    assert model.variable("x").states == ("a,b", "c,d")
    assert model.variable("y").states == ("1", "1.0", "")
    assert model["lungs"].values.argmax(axis=1).tolist() == [1, 2, 0]
    assert model["x"].values[:, 0].tolist() == [0.1, 1.0, 0.5, 1.0]
    assert model["y"]["less than half", "a,b", "1"] == 1.0


def test_windows_line_ends_and_a_byte_order_mark_are_read():
    text = VARIABLES.replace("\n", "\r\n") + "probability ( c ) { // x\r\n table 1, 0; }"
    assert read_bif(b"\xef\xbb\xbf" + text.encode(), RowRepair())["c"].values.tolist() == [1.0, 0.0]


def test_what_is_written_reads_well():
    rain, wet = Variable("rain", ["no", "yes"]), Variable("wet grass", ["no", "yes, a bit"])
    model = BayesianNetwork([Conditional(rain, [], [0.8, 0.2]), Conditional(wet, [rain], [[0.9, 0.1], [0.2, 0.8]])])
    assert (
        write_bif(model)
        == """\
network unknown {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable "wet grass" {
  type discrete [ 2 ] { no, "yes, a bit" };
}
probability ( rain ) {
  table 0.8, 0.2;
}
probability ( "wet grass" | rain ) {
  (no) 0.9, 0.1;
  (yes) 0.2, 0.8;
}
"""
    )


@pytest.mark.parametrize("name", ['5"', "two\nlines", "a\rb", "\0"])
def test_names_that_quotes_cannot_hold_are_refused(name):
    in_name = BayesianNetwork([Conditional(Variable(name, ["x", "y"]), [], [0.5, 0.5])])
    in_state = BayesianNetwork([Conditional(Variable("a", ["x", name]), [], [0.5, 0.5])])
    for model in (in_name, in_state):
        with pytest.raises(
            FormatError, match=re.escape(f"BIF cannot hold the name {name!r}: its quotes have no escape")
        ):
            write_bif(model)


# --- what is refused -------------------------------------------------------------------------------------------------

REFUSED = [
    ("", 1, "the file is empty; expected 'network'"),
    ("// nothing\n", 1, "the file is empty; expected 'network'"),
    ("hello", 1, "expected a block, that is a word and '{'; found 'hello'"),
    ("\nvariable a { }", 2, "expected 'network', found 'variable'"),
    ("network n { }\nnetwork m { }", 2, "expected 'variable' or 'probability', found 'network'"),
    ("network n { }\n\nutility u { }", 3, "expected 'variable' or 'probability', found 'utility'"),
    ("network n {\n", 1, "the file ends inside the block 'network n'; expected '}'"),
    ("network n { }\nvariable a {\n type discrete [ 2 ] { x, y };\n", 2, "the file ends inside the block 'variable a'"),
    ('network n { }\nvariable "a { }\n', 2, "this quoted text is not closed on its line"),
    ("network n { }\n/* variable", 2, "this comment is never closed"),
    ("network n { }\nvariable { }", 2, "expected one name after 'variable', in quotes if it has spaces; found none"),
    (
        "network n { }\nvariable a b { }",
        2,
        "expected one name after 'variable', in quotes if it has spaces; found 'a b'",
    ),
    ('network n { }\nvariable "" { type discrete [ 1 ] { x }; }', 2, "a variable's name must be a non-empty string"),
    ("network n { }\nvariable a { }", 2, "the variable 'a' has no 'type discrete [ number ] { states };'"),
    (
        "network n { }\nvariable a {\n type real; }",
        3,
        "expected one 'type discrete [ number ] { states }' of 'a', found",
    ),
    ("network n { }\nvariable a { type discrete [ 1 ] { x } }", 2, "expected ';' after 'type discrete [ 1 ] { x }'"),
    ("network n { }\nvariable a { type discrete [ 3 ] { x, y }; }", 2, "'a' declares 3 states, but lists 'x, y'"),
    ("network n { }\nvariable a { type discrete [ 1 ] { x, y }; }", 2, "'a' declares 1 states, but lists 'x, y'"),
    ("network n { }\nvariable a { type discrete [ 0 ] { }; }", 2, "'a' declares 0 states, but lists ''"),
    (
        "network n { }\nvariable a { type discrete [ 1000000000000 ] { x }; }",
        2,
        "'a' declares 1000000000000 states, but",
    ),
    ("network n { }\nvariable a { type discrete [ 2 ] { x, x }; }", 2, "variable 'a' has the state 'x' twice"),
    ('network n { }\nvariable a { type discrete [ 1 ] { "x," y }; }', 2, "expected one word or one quoted text, found"),
    (VARIABLES + "variable a { type discrete [ 1 ] { x }; }", 7, "the variable 'a' is declared twice, first on line 2"),
    (VARIABLES, 4, "the variable 'c' has no table; add a block with its probabilities"),
    (VARIABLES + "probability c { }", 7, "expected '( child | parents )' after 'probability', found 'c'"),
    (VARIABLES + "probability ( ) { }", 7, "expected one child before '|', found ''"),
    (VARIABLES + "probability ( | a ) { }", 7, "expected one child before '|', found ''"),
    (VARIABLES + "probability ( a b | c ) { }", 7, "expected one child before '|', found 'a b'"),
    (VARIABLES + "probability ( alpha ) { }", 7, "the variable 'alpha' is not declared; known are 'a', 'b', 'c'"),
    (VARIABLES + "probability ( c | bb ) { }", 7, "the variable 'bb' is not declared; did you mean 'b'?"),
    (VARIABLES + "probability ( c | a, a ) { }", 7, "the variable 'a' appears twice in one scope"),
    (VARIABLES + "probability ( c | c ) { }", 7, "the variable 'c' appears twice in one scope"),
    (
        VARIABLES + "probability ( a ) { table 0.2, 0.8; }",
        7,
        "the variable 'a' has a second 'probability' block; give one",
    ),
    (VARIABLES + "probability ( c ) { }", 7, "the row of 'c' is missing; add it, or a 'default' entry"),
    (VARIABLES + "probability ( c ) {\n() 0.5, 0.5; }", 8, "names one state for each of its 0 parents; found ''"),
    (VARIABLES + "probability ( c ) {\n0.5, 0.5; }", 8, "expected a row '(states) numbers;', 'table', 'default' or"),
    (VARIABLES + "probability ( c ) { table 0.5, 0.5 }", 7, "expected ';' after 'table 0.5, 0.5'"),
    (VARIABLES + "probability ( c ) { table 1 0;\ntable 1 0; }", 8, "'c' has two 'table' entries; give one"),
    (
        VARIABLES + "probability ( c ) { table 1 0; default 1 0; }",
        7,
        "'c' is given whole and by rows; give one of the two",
    ),
]


@pytest.mark.parametrize(("text", "line", "message"), REFUSED)
def test_broken_files_are_refused_with_their_line(text, line, message):
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        read(text)

    assert caught.value.line == line


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        (ENTRIES[:5], 7, "the row of 'c' given a=a1, b=b2 is missing; add it, or a 'default' entry"),
        ([*ENTRIES, ENTRIES[2]], 14, "the row of 'c' given a=a0, b=b2 is given twice; give it once"),
        (["(a0, bb0) 1, 0;"], 8, "variable 'b' has no state 'bb0'; did you mean 'b0'?"),
        (["(a0, zebra) 1, 0;"], 8, "variable 'b' has no state 'zebra'; known are 'b0', 'b1', 'b2'"),
        (["(a0) 1, 0;"], 8, "a row of 'c' names one state for each of its 2 parents; found 'a0'"),
        (["(a0, b0, b1) 1, 0;"], 8, "a row of 'c' names one state for each of its 2 parents; found 'a0, b0, b1'"),
        ([*ENTRIES[:2], "(a1, b0) 1;"], 10, "a row of 'c' needs 2 numbers, found 1"),
        ([*ENTRIES[:2], "(a1, b0) 1, 0, 0;"], 10, "a row of 'c' needs 2 numbers, found more than 2"),
        ([*ENTRIES[:2], "(a1, b0) 0.5 0.3, 0.2;"], 10, "a row of 'c' needs 2 numbers, found more than 2"),
        ([*ENTRIES[:2], "(a1, b0) ,0;"], 10, "a row of 'c' needs 2 numbers, found 1"),
        ([*ENTRIES[:2], "(a1, b0) one, 0;"], 10, "expected a number in a row of 'c', found 'one'"),
        ([*ENTRIES[:5], "(a1, b2) nan, 1;"], 7, "the row of 'c' given a=a1, b=b2 has the entry nan"),
        ([*ENTRIES[:5], "(a1, b2) 0.3, 0.3;"], 7, "the row of 'c' given a=a1, b=b2 sums to 0.6"),
        (["default 0.5;"], 8, "the default row of 'c' needs 2 numbers, found 1"),
        (["table 0.5, 0.5;"], 8, "the table of 'c' needs 12 numbers, found 2"),
        (["(a0, b0 1, 0;"], 8, "a row of 'c' names one state for each of its 2 parents; found ''"),
    ],
)
def test_broken_rows_are_refused_with_their_line(rows, line, message):
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        table_of("\n".join(rows))

    assert caught.value.line == line


def test_a_cycle_is_refused_with_a_line_on_it():
    text = """network n { }
    variable below { type discrete [ 1 ] { x }; }
    variable a { type discrete [ 1 ] { x }; }
    variable b { type discrete [ 1 ] { x }; }
    probability ( below | a ) { (x) 1; }
    probability ( a | b ) { (x) 1; }
    probability ( b | a ) { (x) 1; }
    """
    with pytest.raises(FormatError, match=r"3: a directed graph must have no cycle, but this has a -> b -> a"):
        read(text)


def test_more_parents_than_a_table_has_axes_are_refused():
    names = [f"v{place}" for place in range(40)]
    variables = "".join(f"variable {name} {{ type discrete [ 1 ] {{ x }}; }}\n" for name in names)
    text = f"network n {{ }}\n{variables}probability ( v0 | {' '.join(names[1:])} ) {{ default 1; }}"
    with pytest.raises(FormatError, match="42: 'v0' has 39 parents; a table can have at most 31"):
        read(text)
