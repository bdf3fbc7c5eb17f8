"""MSBN DSC: files of MSBN, bnlearn and GeNIe are read as they mean, others refused with the line and the reason."""

from __future__ import annotations

import re

import numpy as np
import pytest

import juncture as jt
from juncture.errors import FormatError
from juncture.formats.dsc import read_dsc
from juncture.formats.row_repair import RowRepair

MSBN = """
belief network "a small one" // comment
properties { type cost = array of real, "the cost }"; }
node A
{
  name: "The A is here";
  type: discrete[2]
  =
  {
    "no; yes",
    "yes"
  };
  position: (1904, -8240);
}
node B { type : discrete [ 3 ] = { "0", "1", "2" }; }
node C { type = discrete[2] { "x", "y" }; }
probability(A) { 0.2, 0.8; }
probability ( B ) {
   0.2, 0.3, 0.5;
}
probability(C | A, B)
{
  (0, 0): 0.01, 0.99; /* in any order */
  (1, 2): 0.06, 0.94;
  default: 0.5, 0.5;
}
"""
NODES = 'belief network "n"\n' + "".join(f'node {name} {{ type : discrete[2] = {{ "n", "y" }}; }}\n' for name in "abc")
ROOTS = "probability ( a ) { 0.5, 0.5; } probability ( b ) { 0.5, 0.5; }\n"


def read(text):
    rows = RowRepair()
    model = read_dsc(text.encode(), rows)
    rows.warn("file")
    return model


def test_a_file_like_those_of_msbn_is_read():
    model = read(MSBN)
    assert model.variables.names == ("A", "B", "C")
    assert model.variable("A").states == ("no; yes", "yes")
    expected = np.full((2, 3, 2), 0.5)
    expected[0, 0], expected[1, 2] = [0.01, 0.99], [0.06, 0.94]
    assert np.array_equal(model["C"].values, expected)


def test_rows_as_genie_writes_them_are_taken_in_order():
    rows = [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]]
    text = "".join(f"(0, 0, 0) : {first}, {second}\n;\n" for first, second in rows)
    with pytest.warns(UserWarning, match="taken in order, the last parent changing fastest") as caught:
        model = read(NODES + ROOTS + f"probability ( c | a, b ) {{ {text} }}")
    assert len(caught) == 1
    assert model["c"].values.reshape(4, 2).tolist() == rows
    with pytest.raises(FormatError, match="of each of its 2 parents; found '0, 0, 0'"):
        read(NODES + ROOTS + f"probability ( c | a, b ) {{ {text} (0, 0, 0) : 0.5, 0.5; }}")


def test_function_max_is_a_noisy_maximum():
    """P(c=y | a, b) = 1 - Π (1 - p), over the causes that are there and the leak."""
    rows = "function : max; (0, 0) : 0.9, 0.1; (1, 0) : 0.4, 0.6; (0, 1) : 0.3, 0.7;"
    model = read(NODES + ROOTS + f"probability ( c | a, b ) {{ {rows} }}")
    assert np.allclose(model["c"].values[..., 0], [[0.9, 0.9 * 0.3], [0.9 * 0.4, 0.9 * 0.4 * 0.3]], rtol=1e-15)


REFUSED = {
    "(0) : 0.5, 0.5;": "a row of 'c' gives the position, from 0, of a state of each of its 2 parents; found '0'",
    "(0, 2) : 0.5, 0.5;": "found '2', and 'b' has 2 states",
    "(0, y) : 0.5, 0.5;": "found 'y', and 'b' has 2 states",
    "(0, 0) : 0.5, 0.5; (0, 0) : 0.5, 0.5;": "the row of 'c' given a=n, b=n is given twice",
    "(0, 0) : 0.5, 0.5;": "the row of 'c' given a=n, b=y is missing; add it, or a 'default' entry",
    "0.5, 0.5;": "expected a row '(states) : numbers;', one 'default' or 'function : max' of 'c', found '0.5, 0.5'",
    "function : plus;": "expected a row",
    "default : 0.5; ": "the default row of 'c' needs 2 numbers, found 1",
}


@pytest.mark.parametrize("rows", REFUSED)
def test_rows_that_are_not_understood_are_refused(rows):
    with pytest.raises(FormatError, match=re.escape(REFUSED[rows])) as caught:
        read(NODES + ROOTS + f"probability ( c | a, b ) {{\n{rows}\n}}")
    assert caught.value.line in {6, 7}


def test_other_nodes_and_other_files_are_refused():
    with pytest.raises(FormatError, match="other kinds are not read"):
        read(NODES.replace('discrete[2] = { "n", "y" }', "continuous", 1))
    with pytest.raises(FormatError, match="expected 'node' or 'probability' or 'properties', found 'decision'"):
        read(NODES + "decision d { }")
    with pytest.raises(FormatError, match="expected 'belief network \"name\"'"):
        read("network n { }")


def test_names_that_are_no_identifiers_are_kept(tmp_path):
    x, y = jt.Variable("a b", ["<5", 'say "12"']), jt.Variable("node", ["yes", "no"])
    model = jt.BayesianNetwork([jt.Conditional(x, [], [0.5, 0.5]), jt.Conditional(y, [x], [[0.1, 0.9], [0.2, 0.8]])])
    jt.write(model, tmp_path / "names.dsc")
    assert "node a_b {" in (tmp_path / "names.dsc").read_text()
    assert "node node_2 {" in (tmp_path / "names.dsc").read_text()
    assert jt.read(tmp_path / "names.dsc") == model
