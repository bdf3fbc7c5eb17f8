"""Netica DNE: files are read as they mean, other kinds of nodes refused with the line and the reason."""

from __future__ import annotations

import re

import numpy as np
import pytest

import juncture as jt
from juncture.errors import FormatError
from juncture.formats.dne import read_dne, write_dne
from juncture.formats.row_repair import RowRepair

NETICA = r"""// ~->[DNET-1]->~

// File created by hand in the manner of Netica 5

bnet clinic {
AutoCompile = TRUE;
comment = "braces } and ; \"quotes\" // in a text, over \
	two lines \n";
visual V1 {
	nodefont = font {shape= "Arial"; size= 12;};
	NodeSet Node {BuiltIn = 1; Color = 0x00e1e1e1;};
	};

node A {
	kind = NATURE;
	discrete = TRUE;
	chance = CHANCE;
	states = (absent, present);
	parents = ();
	probs =
		// absent       present
		(0.8,         0.2);
	title = "Metastatic Cancer";
	belief = (0.8, 0.2);
	visual V1 { center = (324, 78); link 1 { path = ((370, 117), (489, 214)); }; };
	};

node T {
	kind = NATURE;
	discrete = FALSE;
	levels = (-INFINITY, 36.5, 38, INFINITY);
	parents = (A);
	probs =
		// low          mid          high          // A
		(0.5,         0.25,        0.25,         // absent
		0.1,         0.2,         0.7);         // present ;
	numcases = (1, 1);
	};

node D {
	kind = NATURE;
	discrete = TRUE;
	chance = DETERMIN;
	states = (yes, no);
	inputs = (, T);
	parents = (A, T);
	functable =
		(yes, #1, no, yes, yes, no);
	};

node C {
	kind = NATURE;
	states = (yes, no);
	parents = (D, A);
	probs = (((0.5, 0.5), (#1)), ((1, @imposs), (0.25, 0.75)));
	};

node TITLE1 {
	kind = CONSTANT;
	discrete = FALSE;
	parents = ();
	title = "Cancer";
	};
ElimOrder = (C, A, T, D);
};
"""


def read(text, *, normalize=False):
    rows = RowRepair(normalize=normalize)
    model = read_dne(text.encode(), rows)
    rows.warn("file")
    return model


def test_a_file_like_those_of_netica_is_read():
    """The child changes fastest and the first parent slowest, as the comments of Netica's own files say."""
    model = read(NETICA)
    assert model.variables.names == ("A", "T", "D", "C")
    assert model.variable("T").states == ("< 36.5", "36.5 – 38", "≥ 38")
    assert np.array_equal(model["T"].values, [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])
    assert isinstance(model["D"], jt.Deterministic)
    assert model["D"].codes.tolist() == [[0, 1, 1], [0, 0, 1]]
    assert model["C"].parents.names == ("D", "A")
    assert model["C"].values.tolist() == [[[0.5, 0.5], [0, 1]], [[1, 0], [0.25, 0.75]]]
    assert read(write_dne(model)) == model


@pytest.mark.parametrize(
    ("fields", "states"),
    [
        ("states = (a, b)", ("a", "b")),
        ("states = (a, b, )", ("a", "b")),
        ('states = ("a b", "c")', ("a b", "c")),
        ("states = (0, 1)", ("0", "1")),
        ("discrete = FALSE; levels = (0, 10, 20)", ("0 – 10", "10 – 20")),
        ("discrete = FALSE; states = (low, high); levels = (0, 10, INFINITY)", ("low", "high")),
        ("discrete = FALSE; levels = (20, 10, -INFINITY)", ("10 – 20", "< 10")),
        ("discrete = TRUE; levels = (1, 5)", ("1", "5")),
        ("discrete = TRUE; states = (a, b); levels = (1, -1)", ("a", "b")),
        ('discrete = TRUE; levels = (1, 5); statetitles = ("Year 1", "Year 5")', ("Year 1", "Year 5")),
        ('states = (a, b); statetitles = (, "B")', ("a", "b")),
        ("numstates = 2", ("0", "1")),
    ],
)
def test_states_are_names_titles_levels_or_a_number(fields, states):
    model = read(f"bnet n {{ node x {{ {fields}; parents = (); probs = (0.25, 0.75); }}; }};")
    assert model.variable("x").states == states
    assert read(write_dne(model)) == model


@pytest.mark.parametrize("number", ["99999999999", "3", "1", "0"])
@pytest.mark.parametrize("fields", ["states = (a, b)", "levels = (1, 5)", "discrete = FALSE; levels = (0, 10, 20)"])
def test_the_declared_number_of_states_is_that_of_the_states(fields, number):
    text = f"bnet n {{ node x {{ {fields}; numstates = %s; parents = (); probs = (0.25, 0.75); }}; }};"
    assert len(read(text % "2").variable("x").states) == 2
    with pytest.raises(FormatError, match=r"the number of states of 'x' must be|has 2 states, and numstates ="):
        read(text % number)


def test_a_functable_may_give_values():
    """A value inside an interval of a continuous node, or the value of a state."""
    text = (
        "bnet n { node s { states = (a, b, c); probs = (0.2, 0.3, 0.5); };"
        " node x { discrete = FALSE; levels = (0, 10, 20, INFINITY); parents = (s); functable = (5, 10, 1e9); };"
        " node y { states = (lo, hi); levels = (1, 5); parents = (s); functable = (5, 1, hi); }; };"
    )
    assert read(text)["x"].codes.tolist() == [0, 1, 2]
    assert read(text)["y"].codes.tolist() == [1, 0, 1]
    assert read(text.replace("levels = (0, 10, 20, INFINITY)", "levels = (0, 10, 20, 1e9)"))["x"].codes[2] == 2
    assert read(text.replace("(0, 10, 20, INFINITY)", "(INFINITY, 20, 10, 0)"))["x"].codes.tolist() == [2, 1, 0]
    for wrong in ("(5, 10, -1)", "(5, 10, #3)", "(5, 10, z)"):
        with pytest.raises(FormatError, match=r"the functable of 'x' has .* which is none of its states"):
            read(text.replace("(5, 10, 1e9)", wrong))


NODE = "bnet n {{ node x {{ states = (a, b); {} }}; }};"
REFUSED = {
    "kind = DECISION;": "the node 'x' is of the kind 'DECISION'; only chance nodes (NATURE) are read",
    "kind = UTILITY; functable = (1, 2);": "the node 'x' is of the kind 'UTILITY'",
    "probs = (0.5, 0.5); delays = ((1));": "the node 'x' has links over time",
    'equation = "x = 1";': "the node 'x' has no table; let Netica make a table of its equation",
    "kind = NATURE;": "the node 'x' has no table; give it 'probs'. Netica takes it as uniform, and so does jt.read(",
    "probs = (0.5, 0.5); parents = (, y);": "the node 'x' has a link without a node",
    "probs = (0.5, (0.5));": "the probs of 'x' must be a list in brackets",
    "probs = (@undef, 0.5);": "expected a number in the table of 'x', found '@undef'",
    "probs = (#2);": "needs 2 numbers, found 1",
    "probs = (#0, #0);": "the probs of 'x' need 1 rows, and have more",
    "probs = (60, 40);": "sums to 100; a row must sum to 1 within 0.001. Where the rows are counts",
    "levels = (1, 2, 3); probs = (1, 0);": "the levels of 'x' must be a value for each state",
    "discrete = FALSE; levels = (0, 2, 1); probs = (1, 0);": "the levels of 'x' must all go up, or all go down",
    "states = (c, d); probs = (1, 0);": "has two fields 'states'; give one",
    "probs = (1, 0)": "expected ';' after 'probs = (1, 0)'",
}


@pytest.mark.parametrize("fields", REFUSED)
def test_what_is_not_read_is_refused_by_name(fields):
    with pytest.raises(FormatError, match=re.escape(REFUSED[fields])) as caught:
        read(NODE.format("\n" + fields))
    assert caught.value.line in {1, 2}


def test_a_constant_cannot_be_a_parent_and_other_versions_are_refused():
    constant = (
        "bnet n { node k { kind = CONSTANT; }; node x { states = (a, b); parents = (k); probs = (0.5, 0.5); }; };"
    )
    with pytest.raises(FormatError, match="'x' has the constant 'k' as a parent"):
        read(constant)
    with pytest.raises(FormatError, match=r"begins with '// ~->\[DNET-1\]->~', found '// ~->\[DNET-2\]->~'"):
        read(NETICA.replace("DNET-1", "DNET-2"))
    assert read(NETICA.partition("\n")[2]) == read(NETICA)


def test_a_missing_table_is_uniform_on_request():
    """As Netica takes it: a public file without a table of D has the belief 0.5208 in d1 after the finding p1."""
    text = """bnet t {
    node D { kind = NATURE; states = (d1, d2); parents = (); };
    node E { states = (e1, e2); parents = (D); probs = (0.9, 0.1, 0.4, 0.6); };
    node F { states = (f1, f2); parents = (D); probs = (0.3, 0.7, 0.1, 0.9); };
    node P { states = (p1, p2); parents = (E, F);
        probs = (0.17272, 0.82728, 0.17272, 0.82728, 0.5357, 0.4643, 0.1189712, 0.8810288); };
    };"""
    with pytest.raises(FormatError, match="the node 'D' has no table"):
        read(text)
    with pytest.warns(
        jt.errors.RenormalizedWarning, match="1 rows of zeros became uniform; the first is the row of 'D'"
    ):
        model = read(text, normalize=True)
    beliefs = jt.infer(model, {"P": "p1"})
    netica = {"D": 0.5208104, "E": 0.6502231, "F": 0.294671}  # in single precision
    for name, belief in netica.items():
        assert abs(beliefs[name].values[0] - belief) < 2e-7


def test_counts_are_divided_and_findings_are_named():
    with pytest.warns(jt.errors.RenormalizedWarning):
        assert read(NODE.format("probs = (60, 40);"), normalize=True)["x"].values.tolist() == [0.6, 0.4]
    with pytest.warns(
        UserWarning, match="holds findings about x, which are not part of the model; pass them as evidence"
    ):
        read(NODE.format("probs = (0.5, 0.5); evidence = a;"))


def test_names_that_netica_does_not_take_are_written_as_titles():
    long = "a" * 31
    x, y = jt.Variable(long, ["<5", "12+"]), jt.Variable("2 b", ["yes", "no"])
    model = jt.BayesianNetwork([jt.Conditional(x, [], [0.5, 0.5]), jt.Conditional(y, [x], [[0.1, 0.9], [0.2, 0.8]])])
    text = write_dne(model)
    assert f"node {'a' * 30} {{" in text
    assert "states = (s_5, s12_)" in text
    assert 'statetitles = ("<5", "12+")' in text
    assert "node x2_b {" in text
    assert read(text) == model
