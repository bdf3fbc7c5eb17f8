"""Laws of evidence: one row or many, hard, soft or missing, coded the same from every kind of input."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.data.dataset import Dataset
from juncture.errors import ImpossibleEvidence, InvalidData, UnknownState, UnknownVariable
from juncture.evidence import Evidence, Findings, as_findings
from juncture.variables import Variable

XRAY = Variable("xray", ["no", "yes"])
COUNT = Variable("count", 3)
SICK = Variable("sick", [False, True])
AGE = Variable("age")
PLACE = Variable("place", dimension=2)
VARIABLES = (XRAY, COUNT, SICK, AGE, PLACE)


def same(one, other):
    """Findings agree in every array, whatever its integer type."""
    assert (one.is_single, one.num_rows) == (other.is_single, other.num_rows)
    for mine, theirs in zip(
        (one.codes, one.reals, one.likelihoods), (other.codes, other.reals, other.likelihoods), strict=True
    ):
        assert mine.keys() == theirs.keys()
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name])


def test_a_mapping_is_one_row():
    row = {"xray": "yes", "count": [0.1, 0, 2], "age": 31, "place": [1.0, 2.0], "sick": None}
    findings = as_findings(row, VARIABLES)
    assert findings.is_single
    assert findings.num_rows == 1
    assert findings.codes["xray"].tolist() == [1]
    assert findings.likelihoods["count"].tolist() == [[0.1, 0, 2]]
    assert findings.reals["age"].tolist() == [31.0]
    assert findings.reals["place"].tolist() == [[1.0, 2.0]]
    assert findings.names == ("xray", "count", "age", "place")


def test_no_evidence_is_one_row_without_findings():
    same(as_findings(None, VARIABLES), as_findings({}, VARIABLES))
    assert as_findings(None, VARIABLES).is_single
    assert as_findings(None, VARIABLES).names == ()


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT])
@pytest.mark.parametrize("name", ["xray", "age", "place"])
def test_missing_values_say_nothing(missing, name):
    assert as_findings({name: missing}, VARIABLES).names == ()
    assert as_findings([{name: missing}, {}], VARIABLES).names == ()


@pytest.mark.parametrize(("value", "code"), [(1, 1), ("1", 1), (1.0, 1), (np.int8(2), 2), (np.array(2), 2), ("2.0", 2)])
def test_states_match_by_label(value, code):
    assert as_findings({"count": value}, VARIABLES).codes["count"].tolist() == [code]


@pytest.mark.parametrize("value", [1, "1", np.float32(1.0), np.array(1.0)])
def test_numbers_of_real_variables(value):
    """Also a number out of an array without axes, alone or beside other rows."""
    assert as_findings({"age": value}, VARIABLES).reals["age"].tolist() == [1.0]
    assert as_findings([{"age": value}, {"age": 2.5}], VARIABLES).reals["age"].tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    "value", [[0.2, 0.9], (0.2, 0.9), np.array([0.2, 0.9]), pd.Series([0.2, 0.9]), pl.Series([0.2, 0.9])]
)
def test_likelihoods_of_one_row(value):
    assert as_findings({"xray": value}, VARIABLES).likelihoods["xray"].tolist() == [[0.2, 0.9]]
    assert as_findings(Evidence({"xray": value}), VARIABLES).likelihoods["xray"].tolist() == [[0.2, 0.9]]
    assert as_findings(Evidence(None, {"xray": value}), VARIABLES).likelihoods["xray"].tolist() == [[0.2, 0.9]]


REFUSED = [
    ({"xrai": "yes"}, UnknownVariable, "no variable 'xrai'; did you mean 'xray'"),
    ({"xray": "yess"}, UnknownState, "'xray' has no state 'yess'; did you mean 'yes'"),
    ({"sick": 1}, UnknownState, "'sick' has no state 1"),
    ({"xray": [1.0]}, InvalidData, r"has length 1; it needs one number for each of the 2 states \('no', 'yes'\)"),
    ({"xray": [0.5, -0.1]}, InvalidData, "not a finite number of at least 0"),
    ({"xray": [0.5, np.inf]}, InvalidData, "not a finite number of at least 0"),
    ({"xray": [0.5, None]}, InvalidData, "not a finite number of at least 0"),
    ({"xray": ["no", "yes"]}, InvalidData, "must be a list of numbers, one per state; got .*many rows are"),
    ({"xray": [[0.5, 0.5]]}, InvalidData, "must be a list of numbers, one per state"),
    ({"xray": {0.5, 1}}, InvalidData, "give one state, or the likelihood of each state"),
    ({"xray": [0, 0.0]}, ImpossibleEvidence, "'xray' is 0 everywhere: it excludes every state"),
    ({"age": "old"}, InvalidData, "'age' is real-valued; 'old' in row 0 is not a number"),
    ({"age": np.inf}, InvalidData, "'age' is infinite"),
    ({"age": [1.0, 2.0]}, InvalidData, "takes a number per row"),
    ({"place": [1.0]}, InvalidData, "takes a vector of length 2"),
    ({"place": 3.0}, InvalidData, "takes a vector of length 2"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "error", "message"), REFUSED)
def test_bad_findings_are_refused_with_a_sentence(row, error, message):
    with pytest.raises(error, match=message):
        as_findings(row, VARIABLES)
    with pytest.raises(error, match=message):
        as_findings(Evidence(row), VARIABLES)
    if error is not ImpossibleEvidence:  # among many rows, an impossible one is for the engine to report
        with pytest.raises(error):
            as_findings([{}, row], VARIABLES)


def test_extra_names_can_be_ignored():
    for evidence in (
        {"xray": "yes", "other": 3},
        [{"xray": "yes", "other": 3}],
        pd.DataFrame({"xray": ["yes"], "other": [3]}),
    ):
        assert as_findings(evidence, VARIABLES, extra="ignore").names == ("xray",)
        with pytest.raises(UnknownVariable):
            as_findings(evidence, VARIABLES)
    soft = Evidence([{}], {"other": [[1.0, 2.0]], "xray": [[0.5, 1.0]]})
    assert as_findings(soft, VARIABLES, extra="ignore").names == ("xray",)
    with pytest.raises(UnknownVariable, match="'other'"):
        as_findings(soft, VARIABLES)
    with pytest.raises(InvalidData, match="extra must be"):
        as_findings({}, VARIABLES, extra="maybe")


ROWS = [
    {"xray": "yes", "count": 2, "sick": True, "age": 31.5},
    {"xray": "no", "count": None, "sick": None, "age": None},
    {"xray": None, "count": 0, "sick": False, "age": 2.0},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        tuple(ROWS),
        [{name: cell for name, cell in row.items() if cell is not None} for row in ROWS],
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        Dataset(COLUMNS),
        Dataset(COLUMNS, VARIABLES),
    ],
)
def test_many_rows_of_every_kind_agree(rows):
    for evidence in (rows, Evidence(rows)):
        findings = as_findings(evidence, VARIABLES)
        assert not findings.is_single
        assert findings.num_rows == 3
        assert findings.codes["xray"].tolist() == [1, 0, -1]
        assert findings.codes["count"].tolist() == [2, -1, 0]
        assert findings.codes["sick"].tolist() == [1, -1, 0]
        np.testing.assert_array_equal(findings.reals["age"], [31.5, np.nan, 2.0])
        for number, row in enumerate(ROWS):
            same(findings.row(number), as_findings(row, VARIABLES))
        same(findings.row(-1), findings.row(2))


def test_rows_of_mappings_may_hold_likelihoods():
    rows = [{"xray": [0.2, 0.9]}, {"xray": "yes", "place": [1, 2]}, {}, {"xray": np.array([0, 0])}]
    findings = as_findings(rows, VARIABLES)
    assert findings.likelihoods["xray"].tolist() == [[0.2, 0.9], [1, 1], [1, 1], [0, 0]]
    assert findings.codes["xray"].tolist() == [-1, 1, -1, -1]
    same(as_findings(Evidence(rows), VARIABLES), findings)
    for number in range(3):
        same(findings.row(number), as_findings(rows[number], VARIABLES))
    with pytest.raises(InvalidData, match="likelihood of 'xray' in row 1 has length 3"):
        as_findings([{}, {"xray": [1, 2, 3]}], VARIABLES)


def test_rows_without_findings_are_still_rows():
    for rows in ([{}, {}], Dataset([{}, {}])):
        assert as_findings(rows, VARIABLES).num_rows == 2
    assert as_findings([], VARIABLES).num_rows == 0
    assert not as_findings([], VARIABLES).is_single


def test_likelihoods_of_many_rows():
    soft = np.array([[0.2, 0.9], [np.nan, np.nan]])
    findings = as_findings(Evidence([{"count": 1}, {"xray": "no"}], likelihoods={"xray": soft}), VARIABLES)
    assert findings.likelihoods["xray"].tolist() == [[0.2, 0.9], [1.0, 1.0]]
    assert findings.codes["xray"].tolist() == [-1, 0]
    alone = as_findings(Evidence(likelihoods={"xray": soft}), VARIABLES)
    assert (alone.is_single, alone.num_rows) == (False, 2)


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (lambda: Evidence([{}], {"xray": [[1, 2], [1, 2]]}), r"shape \(2, 2\); the evidence has 1 rows"),
        (lambda: Evidence([{}, {}], {"xray": [1, 2]}), r"shape \(2,\); the evidence has 2 rows"),
        (lambda: Evidence({}, {"xray": [[1, 2]]}), "the evidence has one row"),
        (lambda: Evidence([{}], {"xray": [[1, 2, 3]]}), "has length 3; it needs one number for each of the 2 states"),
        (lambda: Evidence([{}], {"age": [[1, 2]]}), "'age' is real-valued"),
        (lambda: Evidence([{}], {"xray": [[1, np.nan]]}), "not a finite number"),
        (lambda: Evidence([{}], {"xray": "yes"}), "must be a list of numbers"),
        (lambda: Evidence([{}, 3]), "row 1 is 3"),
        (lambda: Evidence(3), "got int"),
    ],
)
def test_bad_evidence_is_refused(evidence, message):
    with pytest.raises(InvalidData, match=message):
        as_findings(evidence(), VARIABLES)


def test_evidence_does_not_follow_later_changes():
    rows, frame, soft = [{"xray": [0.2, 0.9]}], pd.DataFrame({"age": [1.0]}), np.array([0.5, 1.0])
    kept = Evidence(rows), Evidence(frame), Evidence(None, {"xray": soft})
    before = [as_findings(evidence, VARIABLES) for evidence in kept]
    rows[0]["xray"][0] = 7
    frame.loc[0, "age"] = 7.0
    soft[0] = 7
    for evidence, findings in zip(kept, before, strict=True):
        same(as_findings(evidence, VARIABLES), findings)


def test_evidence_is_a_value():
    for rows in (None, {"xray": "yes"}, {"xray": [0.2, 0.9]}, ROWS, pd.DataFrame(COLUMNS), Dataset(COLUMNS)):
        evidence, twin = (Evidence(rows, {"count": [[1, 2, 3]] * 3}) for _ in range(2))
        assert evidence == twin == pickle.loads(pickle.dumps(evidence))  # noqa: S301
        assert evidence != Evidence(rows)
    assert repr(Evidence({"xray": "yes"})) == "Evidence({'xray': 'yes'})"
    assert repr(Evidence(ROWS, {"xray": [1, 2]})) == "Evidence(3 rows, likelihoods of xray)"
    with pytest.raises(AttributeError):
        Evidence().rows = {}


def test_log_likelihood_joins_hard_and_soft_evidence():
    findings = as_findings([{"xray": "yes"}, {"xray": [0.2, 0.9]}, {}, {"xray": [0, 1]}], VARIABLES)
    expected = [[-np.inf, 0], np.log([0.2, 0.9]), [0, 0], [-np.inf, 0]]
    np.testing.assert_allclose(findings.log_likelihood("xray"), expected)
    both = as_findings(Evidence({"xray": "yes"}, {"xray": [0.2, 0.9]}), VARIABLES)
    np.testing.assert_allclose(both.log_likelihood("xray"), [[-np.inf, np.log(0.9)]])
    assert findings.log_likelihood("count") is None
    with pytest.raises(UnknownVariable):
        findings.log_likelihood("xrai")


cells = st.one_of(
    st.none(), st.sampled_from([0, 1, 2]), st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=3, max_size=3)
)


@given(st.lists(cells, min_size=1, max_size=6))
def test_log_likelihood_is_the_product_over_findings(column):
    findings = as_findings([{"count": cell} for cell in column], VARIABLES)
    table = findings.log_likelihood("count")
    for row, cell in enumerate(column):
        obvious = [1.0] * 3 if cell is None else cell if isinstance(cell, list) else np.eye(3)[cell]
        np.testing.assert_allclose(np.ones(3) if table is None else np.exp(table[row]), obvious)


def test_is_observed_means_the_value_itself():
    findings = as_findings([{"xray": "yes", "place": [1, None]}, {"xray": [0.2, 0.9], "place": [1, 2]}], VARIABLES)
    assert findings.is_observed("xray").tolist() == [True, False]
    assert findings.is_observed("place").tolist() == [False, True]
    assert findings.is_observed("age").tolist() == [False, False]
    with pytest.raises(UnknownVariable):
        findings.is_observed("xrai")
    assert as_findings([], VARIABLES).is_observed("place").shape == (0,)


def test_describe():
    rows = [{"xray": "yes", "age": 1.5}, {"xray": [0.2, 0.9], "place": [1, 2]}]
    findings = as_findings(rows, VARIABLES)
    assert findings.describe("xray") == "xray=yes"
    assert findings.describe("xray", 1) == "xray≈[0.2, 0.9]"
    assert findings.describe("age") == "age=1.5"
    assert findings.describe("place", 1) == "place=[1.0, 2.0]"
    assert findings.describe("count") == "count not observed"
    both = as_findings(Evidence({"xray": "yes"}, {"xray": [0.2, 0.9]}), VARIABLES)
    assert both.describe("xray") == "xray=yes, xray≈[0.2, 0.9]"


def test_merged_findings_hold_both():
    first = as_findings({"xray": [0.5, 1.0], "count": 1}, VARIABLES)
    second = as_findings({"xray": [0.5, 0.25], "count": 1, "age": 3.0}, VARIABLES)
    merged = first.merge(second)
    assert merged.likelihoods["xray"].tolist() == [[0.25, 0.25]]
    assert merged.names == ("xray", "count", "age")
    same(merged, second.merge(first))
    same(merged.merge(as_findings({}, VARIABLES)), merged)
    assert first.names == ("xray", "count")
    holes = as_findings([{"count": 1}, {}], VARIABLES).merge(as_findings([{}, {"count": 2}], VARIABLES))
    assert holes.codes["count"].tolist() == [1, 2]
    tiny = as_findings({"xray": [1e-200, 1]}, VARIABLES)
    with pytest.raises(InvalidData, match="'xray' multiply to less than a float can hold"):
        tiny.merge(tiny)


@pytest.mark.parametrize(("one", "other"), [({"xray": "yes"}, {"xray": "no"}), ({"age": 1}, {"age": 2})])
def test_contradicting_findings_are_impossible(one, other):
    name = next(iter(one))
    message = f"{name}=.* and {name}=.* contradict"
    with pytest.raises(ImpossibleEvidence, match=message):
        as_findings(one, VARIABLES).merge(as_findings(other, VARIABLES))
    with pytest.raises(ImpossibleEvidence, match=f"{name}=.* in row 1 contradict"):
        as_findings([one, one], VARIABLES).merge(as_findings([one, other], VARIABLES))


def test_findings_of_different_models_or_rows_do_not_merge():
    findings = as_findings({"xray": "yes"}, VARIABLES)
    for other in (as_findings([{}], VARIABLES), as_findings({}, [XRAY])):
        with pytest.raises(InvalidData, match="same variables"):
            findings.merge(other)
    with pytest.raises(InvalidData, match="other variables"):
        as_findings(findings, [XRAY])
    assert as_findings(findings, VARIABLES) is findings


def test_without_forgets_one_variable():
    findings = as_findings({"xray": "yes", "age": 1.0}, VARIABLES)
    assert findings.without("xray").names == ("age",)
    assert findings.without("count") == findings
    with pytest.raises(UnknownVariable):
        findings.without("xrai")


def test_findings_are_frozen_values():
    findings = as_findings(ROWS, VARIABLES)
    assert findings == pickle.loads(pickle.dumps(findings))  # noqa: S301
    assert findings != Findings(VARIABLES)
    with pytest.raises(ValueError, match="read-only"):
        findings.codes["xray"][0] = 0
    with pytest.raises(IndexError):
        findings.row(3)
