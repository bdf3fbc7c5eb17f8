"""What the tags of an estimator say is what it does: holes, text, sparse and negative numbers, targets."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse as sp

from juncture.errors import JunctureError
from support.estimator_kinds import CLASSES, NUMBERS, answers, over

pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")  # the settings end soon


def takes(kind, rows):
    """Whether the estimator learns from rows, and answers."""
    try:
        return bool(answers(kind.fit(rows), rows))
    except (JunctureError, ValueError, TypeError):
        return False


@over()
def test_holes(kind):
    rows = kind.rows.copy()
    rows[::7, 0] = np.nan
    assert takes(kind, rows) == kind.tags.input_tags.allow_nan


@over()
def test_text(kind):
    rows = kind.rows.astype(object)
    rows[:, 0] = np.array(["a", "b", "c"])[CLASSES]
    assert takes(kind, rows) == kind.tags.input_tags.string


@over()
def test_sparse_counts(kind):
    rows = sp.csr_array(np.round(np.abs(kind.rows)))
    assert takes(kind, rows) == kind.tags.input_tags.sparse


@over(lambda kind: not kind.is_of_steps)
def test_negative_numbers(kind):
    assert takes(kind, kind.rows - 9.5) != kind.tags.input_tags.positive_only


@over()
def test_rows_are_a_table(kind):
    tags = kind.tags.input_tags
    assert tags.two_d_array
    assert takes(kind, kind.rows[:, :1]) or kind.is_transformer  # which may not have fewer columns than components
    assert takes(kind, np.zeros((4, 4, 4))) == tags.three_d_array


@over()
def test_targets_are_required(kind):
    required = kind.tags.target_tags.required
    assert required == (kind.is_classifier or kind.is_regressor or kind.targets is not None)
    if required:
        with pytest.raises((JunctureError, ValueError, TypeError), match="y"):
            kind.build().fit(kind.rows)
    else:
        assert answers(kind.build().fit(kind.rows), kind.rows)


@over(lambda kind: kind.is_classifier or kind.is_regressor)
def test_targets_have_one_column(kind):
    assert not kind.tags.target_tags.multi_output
    with pytest.raises((JunctureError, ValueError)):
        kind.build().fit(kind.rows, np.column_stack([kind.targets, kind.targets]))


@over(lambda kind: kind.is_regressor)
def test_targets_are_positive(kind):
    assert not kind.tags.target_tags.positive_only
    kind.build().fit(kind.rows, kind.targets - 100.0)


@over(lambda kind: kind.is_classifier)
def test_two_classes_and_more(kind):
    tags = kind.tags.classifier_tags
    assert tags.multi_class
    assert not tags.multi_label
    for targets in (CLASSES, CLASSES > 0, np.array(["a", "b", "c"])[CLASSES]):
        fitted = kind.build().fit(NUMBERS, targets)
        assert fitted.classes_.tolist() == sorted(set(targets.tolist()))
        share = float((fitted.predict(NUMBERS) == targets).mean())
        most = max(float((targets == each).mean()) for each in fitted.classes_)
        assert share > most or tags.poor_score
