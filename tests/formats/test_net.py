"""Hugin NET: files are read as they mean, broken or other kinds refused with the line and the reason."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import FormatError
from juncture.factors.conditional import Conditional
from juncture.formats.identifiers import is_identifier, make_identifiers, quote, unescape
from juncture.formats.net import read_net, write_net
from juncture.formats.row_repair import RowRepair
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Variable

HUGIN = r"""
% written by hand in the manner of Hugin
net
{
    node_size = (80 40);
    HR_Desc = "braces } and ; \"quotes\" % in a text";
}

node a
{
    label = "An \"A\"";
    position = (168 176);
    states = ("a0" "a 1");
    HR_State_0 = "";
}
discrete node b
{
    states = ("b0" "b\"1" "50%"); % three of them
    subtype = labelled;
}
node c { states = ("c0" "c1"); }

potential (a) { data = (0.2 0.8); }
potential (b | ) { data = (0.2 0.3 0.5); }
potential (c | a b)
{
    model_nodes = ();
    data
    = (((    0.01    0.99    )    % a=a0  b=b0
        (    0.02    0.98    )
        (    0.03    0.97    ))
       ((    0.04    0.96    )
        (    0.05    0.95    )
        (    0.06    0.94    )));
}
"""
EXPECTED = np.array([0.01, 0.99, 0.02, 0.98, 0.03, 0.97, 0.04, 0.96, 0.05, 0.95, 0.06, 0.94]).reshape(2, 3, 2)
NODES = 'net { }\nnode a { states = ("x" "y"); }\nnode b { states = ("x" "y"); }\n'


def read(text):
    return read_net(text.encode(), RowRepair())


def test_a_file_like_those_of_hugin_is_read():
    """The child changes fastest and the first parent slowest, as pyAgrum 3.3.1 reads it."""
    model = read(HUGIN)
    assert model.variables.names == ("a", "b", "c")
    assert model.variable("a").states == ("a0", "a 1")
    assert model.variable("b").states == ("b0", 'b"1', "50%")
    assert model["c"].parents.names == ("a", "b")
    assert np.array_equal(model["c"].values, EXPECTED)


@pytest.mark.parametrize(
    "data",
    ["({})", "(( {} ))", "(({0} {1})({2} {3})({4} {5})({6} {7})({8} {9})({10} {11}))"],
    ids=["flat", "twice", "rows"],
)
def test_inner_brackets_may_be_left_out(data):
    numbers = [repr(number) for number in EXPECTED.ravel().tolist()]
    data = data.format(*numbers) if "{0}" in data else data.replace("{}", " ".join(numbers))
    start, _, _ = HUGIN.partition("potential (c")
    assert np.array_equal(read(f"{start}potential (c | a b) {{ data = {data}; }}")["c"].values, EXPECTED)


def test_what_is_written_reads_well():
    rain, wet = Variable("rain", ["no", "yes"]), Variable("wet grass", ["no", 'a "bit"'])
    model = BayesianNetwork([Conditional(rain, [], [0.8, 0.2]), Conditional(wet, [rain], [[0.9, 0.1], [0.2, 0.8]])])
    assert (
        write_net(model)
        == r"""net
{
}

node rain
{
    states = ("no" "yes");
}

node wet_grass
{
    states = ("no" "a \"bit\"");
    label = "wet grass";
    JUNCTURE_name = "wet grass";
}

potential (rain)
{
    data = (0.8 0.2);
}

potential (wet_grass | rain)
{
    data = ((0.9 0.1)
            (0.2 0.8));
}
"""
    )


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_can_be_escaped(text):
    inside = quote(text)[1:-1]
    assert unescape(inside) == text
    assert not set(inside) & set("\n\0")


@given(names=st.lists(st.text("aB0_ é-", min_size=1, max_size=4), unique=True), words=st.booleans())
def test_identifiers_are_distinct_and_keep_those_that_are(names, words):
    names = [*names, "node", "net"] if words else names
    result = make_identifiers(names)
    assert list(result) == names
    assert len(set(result.values())) == len(names)
    assert all(is_identifier(identifier) for identifier in result.values())
    assert all(result[name] == name for name in names if is_identifier(name))


def test_quotes_line_ends_and_nul_are_kept():
    states = ['"', "\\", "\n", "\r\n", "\t", "\0", "\\n", "\\000", "\x1f", "\u2028"]
    model = BayesianNetwork([Conditional(Variable('a\n"', states), [], [0.1] * 10)])
    assert read(write_net(model)) == model


REFUSED = [
    ("", 1, "the file is empty; expected 'net'"),
    ("% nothing", 1, "the file is empty; expected 'net'"),
    ("node a { }", 1, "'node a' needs one attribute 'states', found 0"),
    ("variable a { }", 1, "expected 'net', found 'variable'"),
    ("\nclass Parts { }", 2, "classes of object-oriented networks cannot be read"),
    ("net { }\nutility u { }", 2, "'u' has no table; add a 'potential' block with its numbers"),
    ("net { }\ndecision d { }", 2, "'decision d' needs one attribute 'states', found 0"),
    ('net { }\ndecision d { states = ("x"); }', 2, "a decision network needs at least one jt.Utility"),
    (
        "net { }\nutility u { }\npotential (u) { data = (1 2); }",
        3,
        "the utility 'u' needs 1 numbers, found more than 1",
    ),
    (NODES + "utility u { }\npotential (a | u) { data = (1 0); }", 5, "'u' is a utility and cannot be a parent of 'a'"),
    (NODES + "utility u { }\ncontinuous node h { }", 5, "'h' is continuous; decision networks have states only"),
    ("net { }\ndiscrete decision d { }", 2, "'discrete decision d' is not a chance node, a decision or a utility"),
    ("net { }\ncontinuous decision height { }", 2, "'continuous decision height' is not a chance node"),
    ("net { }\nfunction f { }", 2, "'function f' is not a chance node, a decision or a utility, and only these can"),
    ("net { }\nvariable a { }", 2, "expected 'node' or 'potential', found 'variable'"),
    ("net { }\nnode a {", 2, "the file ends inside the block 'node a'; expected '}'"),
    ('net { }\nnode a { states = ("x" "y); }', 2, "this quoted text is never closed"),
    ("net { }\nnode { }", 2, "expected one name after 'node', in quotes if it has spaces; found none"),
    ("net { }\nnode a { }", 2, "'node a' needs one attribute 'states', found 0"),
    ("net { }\nnode a { states; }", 2, "expected 'attribute = value;', found 'states'"),
    ("net { }\nnode a {\n states = 3; }", 3, "expected 'states = (\"a\" \"b\" …)' of 'a', found '3'"),
    ('net { }\nnode a {\n states = (("x") "y"); }', 3, "expected 'states = (\"a\" \"b\" …)' of 'a', found"),
    ("net { }\nnode a { states = (); }", 2, "variable 'a' needs at least one state"),
    ('net { }\nnode a { states = ("x" "x"); }', 2, "variable 'a' has the state 'x' twice"),
    ('net { }\nnode a { states = ("x"); states = ("x"); }', 2, "'node a' needs one attribute 'states', found 2"),
    (NODES + 'node a { states = ("x"); }', 4, "the variable 'a' is declared twice, first on line 2"),
    (
        NODES + 'node c { states = ("x"); JUNCTURE_name = "a"; }',
        4,
        "the variable 'a' is declared twice, first on line 2",
    ),
    (NODES + "potential (a) { data = (1 0); }", 3, "the variable 'b' has no table; add a block with its probabilities"),
    (NODES + "potential a { data = (1 0); }", 4, "expected '( child | parents )' after 'potential', found 'a'"),
    (NODES + "potential (a b | ) { data = (1 0); }", 4, "expected one child before '|', found 'a b'"),
    (NODES + "potential (ab) { data = (1 0); }", 4, "the variable 'ab' is not declared; did you mean 'b'?"),
    (NODES + "potential (a | a) { data = (1 0); }", 4, "the variable 'a' appears twice in one scope"),
    (NODES + "potential (a) { }", 4, "'potential (a)' needs one attribute 'data', found 0"),
    (
        NODES + "potential (a | b) { data = (1); }",
        4,
        "the table of 'a' needs 4 numbers, found 1",
    ),
    (NODES + "potential (a) { model_data = (1); }", 4, "'potential (a)' needs one attribute 'data', found 0"),
    (NODES + "potential (a) { data = (1 0) }", 4, "expected ';' after 'data = (1 0)'"),
    (
        NODES + "potential (a) { data = 0.5 0.5; }",
        4,
        "the data of 'a' must be numbers in nested brackets; found '0.5 0.5'",
    ),
    (NODES + "potential (a) { data = (0.5 0.5)); }", 4, "the data of 'a' must be numbers in nested brackets"),
    (NODES + "potential (a) { data = 1 (0.5 0.5); }", 4, "the data of 'a' must be numbers in nested brackets"),
    (NODES + "potential (a | b) { data = ((1 0)(1 0)(1 0)); }", 4, "the data of 'a' need 2 rows, found 3"),
    (NODES + "potential (a | b) {\n data = ((1)(0 1 0)); }", 5, "a row of 'a' needs 2 numbers, found 1"),
    (NODES + "potential (a | b) { data = ((1 0)(0.2 0.3)); }", 4, "the row of 'a' given b=y sums to 0.5"),
    (NODES + "potential (a | b) { data = (1 0 -1 2); }", 4, "the row of 'a' given b=y has the entry -1"),
    (
        NODES + "potential (a) { data = (1 0); }\npotential (a) { data = (1 0); }",
        5,
        "'a' has a second 'potential' block",
    ),
    (
        NODES + "potential (a | b) { data = (1 0 1 0); } potential (b | a) { data = (1 0 1 0); }",
        2,
        "a directed graph must have no cycle, but this has a -> b -> a",
    ),
]


@pytest.mark.parametrize(("text", "line", "message"), REFUSED)
def test_broken_files_are_refused_with_their_line(text, line, message):
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        read(text)

    assert caught.value.line == line
