"""Columns have the names of `fit`: others are refused, those in another order are found or refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from juncture.errors import JunctureError
from support.estimator_kinds import answers, over

pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")  # the settings end soon
REFUSED = (JunctureError, ValueError)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@over()
def test_names_are_kept(kind, library):
    table = kind.frame(library)
    fitted = kind.fit(table)
    assert fitted.feature_names_in_.tolist() == list(table.columns)
    assert fitted.feature_names_in_.dtype == object
    assert fitted.n_features_in_ == table.shape[1]
    plain = kind.fit()
    assert not hasattr(plain, "feature_names_in_")
    assert plain.n_features_in_ == table.shape[1]
    for verb, answer in answers(fitted, table).items():
        np.testing.assert_allclose(answer, answers(plain, kind.rows)[verb], rtol=1e-12)  # columns are summed otherwise


@over(lambda kind: kind.rows.shape[1] > 1)
def test_columns_in_another_order_are_found_or_refused(kind):
    table = kind.frame()
    fitted, turned = kind.fit(table), table[table.columns[::-1]]
    try:
        found = answers(fitted, turned)
    except ValueError as error:
        assert "Feature names must be in the same order" in str(error)  # noqa: PT017
    else:
        for verb, answer in answers(fitted, table).items():
            np.testing.assert_allclose(found[verb], answer, rtol=1e-12)


@over()
def test_other_names_are_refused(kind):
    table = kind.frame()
    fitted = kind.fit(table)
    for other in (table.rename(columns={"column 0": "other"}), table.assign(other=1.0)):
        with pytest.raises(REFUSED, match="other"):
            answers(fitted, other)


@over()
def test_rows_without_names_are_taken_in_order_with_a_warning(kind):
    fitted = kind.fit(kind.frame())
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = answers(fitted, kind.rows)
    for verb, answer in answers(fitted, kind.frame()).items():
        np.testing.assert_array_equal(found[verb], answer)


@over()
def test_more_columns_than_learned_are_refused(kind):
    with pytest.raises(REFUSED, match=str(kind.rows.shape[1] + 1)):
        answers(kind.fit(), np.column_stack([kind.rows, kind.rows[:, 0]]))
