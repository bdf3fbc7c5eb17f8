"""Columns that a model does not know: the message says how to leave them out, for one row as for many."""

import pandas as pd
import pytest

import juncture as jt
from juncture.estimators import BayesianNetworkClassifier

MODEL = jt.example("cancer")
ROWS = pd.DataFrame({"patient": ["p1", "p2"], "Xray": ["positive", "negative"]})


@pytest.mark.parametrize("evidence", [ROWS, ROWS.iloc[0], ROWS.iloc[0].to_dict(), ROWS.to_dict("records")])
def test_an_identifier_is_left_out_as_the_message_says(evidence):
    for verb in (jt.infer, jt.most_probable):
        with pytest.raises(jt.UnknownVariable, match=r'patient.*extra="ignore"'):
            verb(MODEL, evidence)
        verb(MODEL, evidence, extra="ignore")


def test_a_misspelt_name_is_only_that():
    with pytest.raises(jt.UnknownVariable, match=r"no variable 'xray'; did you mean 'Xray'\?$"):
        jt.infer(MODEL, {"xray": "positive"})


def test_classifiers_name_the_columns_to_drop_and_not_the_class():
    classifier = BayesianNetworkClassifier().fit(ROWS[["Xray"]], pd.Series(["no", "yes"], name="Cancer"))
    with pytest.raises(
        jt.errors.InvalidData, match=r"known are 'Xray' \(.* X.drop\(columns=\['patient'\]\) of pandas does\)"
    ):
        classifier.predict(ROWS)
    assert classifier.predict(ROWS.drop(columns=["patient"])).tolist() == ["no", "yes"]
