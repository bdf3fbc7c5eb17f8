"""What estimators say of rows of measurements does not depend on the units of the columns, nor of the targets."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from support.estimator_kinds import TARGETS, answers, over

pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")  # the settings end soon
UNITS = (1e3, 1e-6)
SHAKE = 1024 * np.finfo(float).eps  # other units move a cell by half a unit in its last place, and so does each step
EPS = np.finfo(float).eps


def agree(found, wanted, noisy):
    """Answers agree but for rounding: to as much as they move where each cell moves by 1024 units in its last place."""
    for verb, answer in wanted.items():
        if answer.dtype.kind in "iubOSU":
            np.testing.assert_array_equal(found[verb], answer, err_msg=verb)
            continue
        moved = max(float(np.abs(other[verb] - answer).max()) for other in noisy)
        size = float(np.abs(answer).max())
        np.testing.assert_allclose(found[verb], answer, rtol=0, atol=moved + 256 * EPS * max(1.0, size), err_msg=verb)


def shaken(rows):
    """The rows, each cell a little off."""
    for seed in range(5):
        yield rows * (1.0 + SHAKE * np.random.default_rng(seed).choice([-1.0, 1.0], rows.shape))


@over(lambda kind: kind.is_of_real_columns)
def test_units_of_columns_do_not_matter(kind):
    wanted = answers(kind.fit(), kind.rows)
    noisy = [answers(kind.fit(rows), rows) for rows in shaken(kind.rows)]
    for unit in UNITS:
        agree(answers(kind.fit(kind.rows * unit), kind.rows * unit), wanted, noisy)


@over(lambda kind: kind.is_regressor)
def test_units_of_targets_do_not_matter(kind):
    wanted = kind.fit().predict(kind.rows)
    noisy = [kind.build().fit(kind.rows, targets).predict(kind.rows) for targets in shaken(TARGETS)]
    for unit in UNITS:
        found = kind.build().fit(kind.rows, TARGETS * unit).predict(kind.rows) / unit
        agree({"predict": found}, {"predict": wanted}, [{"predict": each} for each in noisy])


@over(lambda kind: kind.is_of_real_columns and hasattr(kind.kind, "score_samples") and not kind.is_of_steps)
def test_densities_follow_units(kind):
    """log p(row) in other units is that in these, less the logarithms of the units."""
    logs = kind.fit().score_samples(kind.rows)
    noisy = [{"logs": kind.fit(rows).score_samples(rows)} for rows in shaken(kind.rows)]
    for unit in UNITS:
        found = kind.fit(kind.rows * unit).score_samples(kind.rows * unit)
        agree({"logs": found + kind.rows.shape[1] * np.log(unit)}, {"logs": logs}, noisy)
