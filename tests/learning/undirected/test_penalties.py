"""Penalties: the conditions of their optima, exact zeros, and their limits."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from support.undirected_examples import LOOP, gap, joint_of, model_over, rows_of

ROWS = rows_of(model_over(LOOP, 1), 200)
METHODS = ("gradient", "pseudo-likelihood")


def slopes(model) -> np.ndarray:
    """∂ log-likelihood / ∂θ at the model, by enumeration."""
    joint, counts = joint_of(model), jt.statistics(model, ROWS)
    margins = [joint.marginal(*part.scope).values for part in counts.counts]
    return counts.cells - counts.weight * np.concatenate([table.reshape(-1) for table in margins])


def logs_of(model) -> np.ndarray:
    return np.concatenate([part.log_values.reshape(-1) for part in model.factors])


@pytest.mark.parametrize("strength", [0.1, 5.0])
def test_at_the_optimum_the_gradient_is_that_of_the_penalty(strength):
    fitted = jt.fit(model_over(LOOP), ROWS, method="gradient", penalty=jt.L2(strength))
    assert np.allclose(slopes(fitted.model), strength * logs_of(fitted.model), atol=1e-4)
    assert fitted.trace.values[-1] == pytest.approx(
        fitted.log_likelihood - 0.5 * strength * (logs_of(fitted.model) ** 2).sum(), rel=1e-12
    )
    fitted = jt.fit(model_over(LOOP), ROWS, method="gradient", penalty=jt.L1(strength))
    logs, slope = logs_of(fitted.model), slopes(fitted.model)
    assert np.allclose(slope[logs != 0], strength * np.sign(logs[logs != 0]), atol=1e-4)
    assert np.all(np.abs(slope[logs == 0]) < strength + 1e-4)
    assert (logs == 0).any()


@pytest.mark.parametrize("method", METHODS)
def test_strong_penalties_leave_the_uniform_distribution_and_weak_ones_the_data(method):
    strong = jt.fit(model_over(LOOP), ROWS, method=method, penalty=jt.L1(1e4)).model
    assert np.all(logs_of(strong) == 0.0)
    weak = jt.fit(model_over(LOOP), ROWS, method=method, penalty=jt.L2(1e-4)).model
    free = jt.fit(model_over(LOOP), ROWS, method=method).model
    assert np.allclose(joint_of(weak).values, joint_of(free).values, atol=1e-4)


def test_a_cell_that_no_row_has_stays_possible_under_a_penalty():
    rows = ROWS.take(range(5))
    fitted = jt.fit(model_over(LOOP), rows, penalty=jt.L2(0.5))
    assert np.all(joint_of(fitted.model).values > 0)
    assert gap(fitted.model, rows) > 1e-3


def test_what_is_refused():
    with pytest.raises(jt.errors.Unsupported, match="takes no penalty"):
        jt.fit(model_over(LOOP), ROWS, method="ipf", penalty=jt.L2(1.0))
    with pytest.raises(jt.errors.InvalidData, match="positive number"):
        jt.L1(0.0)
    with pytest.raises(jt.errors.InvalidData, match=r"jt.L1\(strength\)"):
        jt.fit(model_over(LOOP), ROWS, penalty="strong")
