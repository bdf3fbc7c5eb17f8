"""Regressions and classifiers on the command line: told about, and asked to predict their target."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import juncture as jt
from support.command_line import juncture


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of two inputs and a class, and the file of a logistic regression learned from it."""
    folder, generator = tmp_path_factory.mktemp("supervised"), np.random.default_rng(0)
    points = generator.normal(size=(60, 2))
    place = np.where(points[:, 0] + 0.5 * generator.normal(size=60) > 0, "in", "out")
    pd.DataFrame({"a": points[:, 0], "b": points[:, 1], "place": place}).to_csv(folder / "rows.csv", index=False)
    fitted = jt.fit(jt.supervised.LogisticRegression, str(folder / "rows.csv"), "place")
    jt.write(fitted.model, folder / "model.json")
    return folder


def test_predictions_are_those_of_the_model(folder):
    out = folder / "predicted.csv"
    found = juncture(
        "predict", str(folder / "model.json"), str(folder / "rows.csv"), "--target", "place", "--out", str(out)
    )
    assert found.returncode == 0, found.err
    rows, predicted = pd.read_csv(folder / "rows.csv"), pd.read_csv(out)
    model = jt.read(folder / "model.json")
    expected = jt.infer(model, rows[["a", "b"]])["place"]
    assert predicted["P(place=in)"].to_numpy() == pytest.approx(expected["in"])
    assert predicted["place"].tolist() == model.predict(rows[["a", "b"]]).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "model.json", "rows.csv", "--target", "a"], "what this model predicts has no variable 'a'"),
        (["sample", "model.json", "5"], "holds a LogisticRegression: .* ask it with juncture predict"),
        (["query", "model.json", "place"], "holds a LogisticRegression: .* ask it with juncture predict"),
    ],
)
def test_other_questions_are_refused_in_a_sentence(folder, arguments, message):
    placed = [str(folder / part) if part.endswith((".json", ".csv")) else part for part in arguments]
    found = juncture(*placed)
    assert found.returncode == 1
    assert re.search(message, " ".join(found.err.split()))
