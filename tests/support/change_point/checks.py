"""What is particular to the change point: its posterior, what it learns and what it refuses."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import juncture as jt
from support.change_point.model import PoissonChangePoint

MODEL = PoissonChangePoint(1.5, 6.0, [0.1, 0.2, 0.3, 0.4])


def joint_by_listing(row):
    """p(row, change point) of each change point, the missing cells summed over counts below 35."""
    cells = [np.arange(35) if np.isnan(count) else [count] for count in row]
    joint = np.zeros(MODEL.num_steps)
    for change in range(MODEL.num_steps):
        rates = np.where(np.arange(MODEL.num_steps) < change, MODEL.before, MODEL.after)
        for counts in product(*cells):
            joint[change] += MODEL.change[change] * np.prod(np.exp(jt.Poisson(rates).log_prob(np.array(counts))))
    return joint


@pytest.mark.parametrize("row", [[1, 3, 8, 11], [0, 0, 0, 0], [9, np.nan, 2, 7], [np.nan, 1, np.nan, 4]])
def test_the_posterior_is_that_of_listing(row):
    joint = joint_by_listing(row)
    beliefs = jt.infer(MODEL, row)
    assert beliefs["change_point"].values == pytest.approx(joint / joint.sum(), rel=1e-10)
    assert beliefs.log_evidence == pytest.approx(np.log(joint.sum()), rel=1e-10)
    assert jt.log_prob(MODEL, row) == beliefs.log_evidence
    assert jt.most_probable(MODEL, row).assignment == {"change_point": int(joint.argmax())}
    assert [best.assignment["change_point"] for best in jt.most_probable(MODEL, row, k=4)] == list(np.argsort(-joint))


def test_it_is_learned_from_draws_and_its_likelihood_never_falls():
    rows = jt.sample(MODEL, 3000, rng=0)
    fit = jt.fit(PoissonChangePoint(1.0, 2.0, [0.25] * 4), rows)
    assert (fit.model.before, fit.model.after) == pytest.approx((1.5, 6.0), rel=0.05)
    assert fit.model.change == pytest.approx(MODEL.change, abs=0.05)
    assert fit.log_likelihood == pytest.approx(np.sum(jt.log_prob(fit.model, rows)), rel=1e-12)
    assert fit.log_likelihood > np.sum(jt.log_prob(MODEL, rows))
    assert (np.diff(fit.trace.values) >= -1e-9 * np.abs(fit.trace.values[1:])).all()


def test_weights_count_rows_and_names_of_columns_are_kept():
    rows = {"mon": [1, 0, 2], "tue": [2, 9, 8], "wed": [7, 6, 9], "thu": [8, 7, 5]}
    twice = {name: [*column, column[0]] for name, column in rows.items()}
    weighted, repeated = jt.fit(MODEL, rows, weights=[2, 1, 1]), jt.fit(MODEL, twice)
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-12)
    assert weighted.model.feature_names == ("mon", "tue", "wed", "thu")


def test_it_says_what_is_wrong():
    with pytest.raises(jt.errors.InvalidModel, match="the rate before the change"):
        PoissonChangePoint(-1.0, 2.0, [1.0])
    with pytest.raises(jt.errors.InvalidModel, match=r"distribution of the change point has a row that sums to 0\.5"):
        PoissonChangePoint(1.0, 2.0, [0.5])
    with pytest.raises(jt.ImpossibleEvidence, match="row 1 has probability zero"):
        jt.fit(MODEL, [[1, 2, 3, 4], [1, 2, 3, -4]])
    with pytest.raises(jt.errors.Unsupported, match=r"fit of a PoissonChangePoint has no option 'wieghts'.*'weights'"):
        jt.fit(MODEL, [[1, 2, 3, 4]], wieghts=[1.0])
    with pytest.raises(jt.errors.InvalidData, match="a row has 4 numbers"):
        jt.infer(MODEL, [1, 2, 3])
