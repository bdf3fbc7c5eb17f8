"""A warning about columns is shown once for each column and location, unless the filters ask for all."""

from __future__ import annotations

import warnings

import pytest

from juncture.errors import IdentifierWarning, warn_user
from juncture.estimators import BayesianNetworkClassifier


def warn_again(names, times=3):
    for time in range(times):
        with warnings.catch_warnings():  # of another library: Python forgets what it has shown
            warnings.simplefilter("ignore", DeprecationWarning)
        warn_user(f"{names} look odd, {time}", IdentifierWarning, about=names)


@pytest.mark.parametrize(("action", "shown"), [("default", 2), ("once", 2), ("always", 7), ("ignore", 0)])
def test_once_for_each_column_unless_all_are_asked_for(action, shown, monkeypatch):
    monkeypatch.setattr("juncture.errors.SHOWN", set())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter(action)
        warn_again(["a"])
        warn_again(["a", "b"])
        warn_again(["b"], times=1)
    assert len(told) == shown


def test_errors_are_raised_again():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(IdentifierWarning):
                warn_again(["a"])


def test_cross_validation_tells_of_a_column_once(monkeypatch):
    from sklearn.model_selection import cross_val_score

    monkeypatch.setattr("juncture.errors.SHOWN", set())
    rows = {"key": [f"k{row}" for row in range(60)], "size": ["small", "large"] * 30}
    table = [list(row) for row in zip(*rows.values(), strict=True)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        cross_val_score(BayesianNetworkClassifier(), table, [0, 1] * 30, cv=5)
    found = [str(one.message) for one in told]
    assert sum("treated as missing" in text for text in found) == 1


def test_cross_validation_tells_of_a_column_of_dates_once(monkeypatch):
    import pandas as pd
    from sklearn.model_selection import cross_val_score

    monkeypatch.setattr("juncture.errors.SHOWN", set())
    days = pd.DataFrame({"day": [f"2021-01-{row % 28 + 1:02}" for row in range(60)], "size": ["small", "large"] * 30})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        cross_val_score(BayesianNetworkClassifier(), days, [0, 1] * 30, cv=5)
    assert sum("holds dates" in str(one.message) for one in told) == 1
