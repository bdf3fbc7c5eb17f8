"""Every estimator keeps scikit-learn's contract; `EXCEPTIONS` lists what does not, with the reason."""

from __future__ import annotations

import warnings

import pytest

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from juncture import estimators

NAMES = estimators.__all__
EXCEPTIONS: dict[str, dict[str, str]] = {}  # estimator → check → the reason why it fails


@pytest.mark.parametrize("name", NAMES)
def test_the_contract_is_kept(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # an experimental array interface that is switched off
        results = check_estimator(
            getattr(estimators, name)(), expected_failed_checks=EXCEPTIONS.get(name, {}), on_fail=None
        )
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert failed == {}
    assert sum(result["status"] == "passed" for result in results) > 50


def test_every_estimator_is_checked():
    found = {
        name for name, value in vars(estimators).items() if isinstance(value, type) and issubclass(value, BaseEstimator)
    }
    assert set(NAMES) == found
