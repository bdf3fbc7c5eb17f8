"""UAI evidence files, in both forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import FormatError, InvalidModel, UnknownState, UnknownVariable
from juncture.factors.gaussian import LinearGaussian
from juncture.formats.uai_evidence import evidence_text, parse_evidence, read_evidence, write_evidence
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import MarkovNetwork
from juncture.variables import Scope, Variable

MODEL = MarkovNetwork([], [Variable("a", ["no", "yes"]), Variable("b", 3), Variable("c", [True, False])])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", {}),
        ("1 0 1", {"a": "yes"}),
        ("2 1 2 0 0\n", {"b": 2, "a": "no"}),
        ("2\n1 2\n0 0\n", {"b": 2, "a": "no"}),
        ("c comment\n3 0 0 1 1 2 0", {"a": "no", "b": 1, "c": True}),
        ("1\n0\n", {}),
        ("1\n2 1 2 0 0\n", {"b": 2, "a": "no"}),
        ("1\n2\n1 2\n0 0\n", {"b": 2, "a": "no"}),
        ("2\n1 0 1\n1 1 0\n", [{"a": "yes"}, {"b": 0}]),
        ("3\n1 0 1\n0\n2 1 0 2 1\n", [{"a": "yes"}, {}, {"b": 0, "c": False}]),
        ("2\n1 0 1\n0\n", [{"a": "yes"}, {}]),  # both forms fit; the first line decides
        ("2 1 0 1 0\n", None),
    ],
)
def test_both_forms_of_evidence(text, expected):
    if expected is None:
        with pytest.raises(FormatError, match="observed twice"):
            parse_evidence(text.encode(), MODEL.variables)
    else:
        assert parse_evidence(text.encode(), MODEL.variables) == expected


findings = st.fixed_dictionaries(
    {}, optional={"a": st.sampled_from(["no", "yes"]), "b": st.integers(0, 2), "c": st.booleans()}
)


@given(st.one_of(findings, st.lists(findings, min_size=2, max_size=4)))
def test_evidence_survives(evidence):
    again = parse_evidence(evidence_text(evidence, MODEL.variables).encode(), MODEL.variables)

    assert again == evidence


def test_evidence_through_files(tmp_path):
    for name in ("a.evid", "a.evid.gz"):
        write_evidence({"c": False, "a": None, "b": np.int64(2)}, MODEL, tmp_path / name)
        assert jt.read_evidence(tmp_path / name, MODEL) == {"c": False, "b": 2}
    assert (tmp_path / "a.evid").read_text() == "2 2 1 1 2\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the file ends too early: the number of findings takes 1 numbers, and 0 are left"),
        ("1 0", 1, "the file ends too early: the state of 'a' takes 1 numbers, and 0 are left"),
        ("1 0\n2", 2, "the state of 'a' must be a whole number, at least 0 and at most 1; found 2"),
        ("1 3 0", 1, "a finding's variable must be a whole number, at least 0 and at most 2; found 3"),
        ("4 0 0 1 0 2 0 0 0", 1, "the number of findings must be a whole number, at least 0 and at most 3; found 4"),
        ("2 0 0 0 0", 1, "the variable 'a' is observed twice in one sample"),
        ("1 2 1 2 0 0", 1, "expected the end of the file, found 3 more numbers"),
        ("1 0 1 7", 1, "expected the end of the file, found 1 more numbers"),
        ("2\n1 0 1\n", 2, "the file ends too early: the number of findings takes 1 numbers"),
        ("1000000000000\n1 0 1\n", 2, "the file ends too early"),
        ("1000000000000", 1, "the number of findings must be"),
        ("1 0 -1", 1, "a number of an evidence file must be a whole number, at least 0; found -1"),
        ("1 0 yes", 1, "expected a number, found 'yes'"),
    ],
)
def test_wrong_evidence_is_refused(text, line, message, tmp_path):
    path = tmp_path / "a.evid"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_evidence(path, MODEL)

    assert message in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_evidence_on_a_real_variable_is_refused():
    with pytest.raises(FormatError, match="variable 'x' is real-valued"):
        parse_evidence(b"1 0 0", Scope([Variable("x")]))


def test_evidence_that_cannot_be_written_is_refused(tmp_path):
    path = tmp_path / "a.evid"
    with pytest.raises(UnknownVariable, match="'aa'"):
        write_evidence({"aa": "no"}, MODEL, path)
    with pytest.raises(UnknownState, match="'maybe'"):
        write_evidence({"a": "maybe"}, MODEL, path)
    with pytest.raises(FormatError, match=r"'a' has the likelihood \[0.2, 0.9\]"):
        write_evidence({"a": [0.2, 0.9]}, MODEL, path)
    with pytest.raises(FormatError, match="at least one sample"):
        write_evidence([], MODEL, path)
    with pytest.raises(InvalidModel, match="real-valued"):
        write_evidence({"x": 1.0}, BayesianNetwork([LinearGaussian(Variable("x"), [], [])]), path)
    assert not path.exists()
