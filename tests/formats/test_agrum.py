"""Files of aGrUM (pyAgrum), and files for it: the order of states and parents is what it reads and writes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import juncture as jt

A, B, C = jt.Variable("A", ["a0", "a1"]), jt.Variable("B", ["b0", "b1", "b2"]), jt.Variable("C", ["no", "yes"])
TABLE = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6], [0.5, 0.5], [0.6, 0.4]]).reshape(2, 3, 2)
NETWORK = jt.BayesianNetwork(
    [
        jt.Conditional(A, [], [0.25, 0.75]),
        jt.Conditional(B, [A], [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]),
        jt.Conditional(C, [A, B], TABLE),
    ]
)
# P(C | A, B) as pyAgrum 3.3.1 writes it: of the parents, the first changes fastest
ROWS = [TABLE[a, b] for b in range(3) for a in range(2)]

UAI = (
    "BAYES\n3\n2 3 2 \n3\n1 0   # A\n2 0 1   # B\n3 0 1 2   # C\n\n\n2\n  0.25 0.75 \n\n6\n  0.5 0.25 0.25 \n"
    "  0.125 0.125 0.75 \n\n12\n" + "".join(f"  {no} {yes} \n" for no, yes in ROWS)
)
XDSL = (
    '<?xml version="1.0" ?>\n<!-- This network was created by pyAgrum 3.3.1 for any purpose you want -->\n'
    '<smile version="1.0" id="unknown">\n  <nodes>\n    <cpt id="A">\n      <state id="a0" /><state id="a1" />\n'
    "      <probabilities>0.25 0.75</probabilities>\n    </cpt>\n"
    '    <cpt id="B"><state id="b0" /><state id="b1" /><state id="b2" /><parents>A</parents>\n'
    "      <probabilities>0.5 0.25 0.25 0.125 0.125 0.75</probabilities></cpt>\n"
    '    <cpt id="C"><state id="no" /><state id="yes" /><parents>A B</parents>\n'
    f"      <probabilities>{' '.join(str(number) for row in ROWS for number in row)}</probabilities></cpt>\n"
    '  </nodes>\n  <extensions>\n    <genie version="1.0" app="aGrUM 3.3.1" name="unknown">\n'
    '      <node id="A"><name>A</name></node>\n    </genie>\n  </extensions>\n</smile>\n'
)


def test_uai_files_of_agrum_are_read_with_the_first_parent_as_the_fastest(tmp_path):
    """A comment with the child's name after each scope is how pyAgrum writes them; without, the last is the fastest."""
    path = tmp_path / "network.uai"
    path.write_text(UAI)
    with pytest.warns(
        UserWarning, match="was written by aGrUM, in whose tables the first parent changes faster"
    ) as said:
        model = jt.read(path)
    assert len(said) == 1
    assert np.array_equal(model["x2"].values, TABLE)
    path.write_text(re.sub(" *#.*", "", UAI))
    assert np.array_equal(jt.read(path)["x2"].values.reshape(6, 2), ROWS)
    path.write_text(UAI.replace("3 0 1 2   # C", "3 0 1 2"))
    assert np.array_equal(jt.read(path)["x2"].values.reshape(6, 2), ROWS)


def test_xdsl_files_of_agrum_are_read_with_the_first_parent_as_the_fastest(tmp_path):
    path = tmp_path / "network.xdsl"
    path.write_text(XDSL)
    with pytest.warns(UserWarning, match="was written by aGrUM") as said:
        assert jt.read(path) == NETWORK
    assert len(said) == 1
    path.write_text(XDSL.replace("aGrUM 3.3.1", "GeNIe 4.1"))
    assert np.array_equal(jt.read(path)["C"].values.reshape(6, 2), ROWS)


def test_our_xmlbif_is_laid_out_as_pyagrum_reads_it(tmp_path):
    """No document type; parents in the order of <GIVEN>, the last changing fastest, and the child faster still."""
    jt.write(NETWORK, tmp_path / "network.bifxml")
    text = (tmp_path / "network.bifxml").read_text()
    assert "DOCTYPE" not in text
    found = re.search(r"<FOR>C</FOR>\s*<GIVEN>A</GIVEN>\s*<GIVEN>B</GIVEN>\s*<TABLE>([^<]*)</TABLE>", text)
    assert [float(word) for word in found[1].split()] == TABLE.ravel().tolist()
    assert re.findall(r"<OUTCOME>(\w+)</OUTCOME>", text) == ["a0", "a1", "b0", "b1", "b2", "no", "yes"]


def test_our_xdsl_is_laid_out_as_genie_reads_it(tmp_path):
    """The last parent changes fastest, and every node has a title, without which pyAgrum does not open the file."""
    jt.write(NETWORK, tmp_path / "network.xdsl")
    text = (tmp_path / "network.xdsl").read_text()
    found = re.search(r"<parents>A B</parents>\s*<probabilities>([^<]*)</probabilities>", text)
    assert [float(word) for word in found[1].split()] == TABLE.ravel().tolist()
    assert text.count("<name>") == 3
    assert 'app="Juncture"' in text
