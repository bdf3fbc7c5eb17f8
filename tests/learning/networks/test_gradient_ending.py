"""Where gradient ascent says that it converged, EM that goes on from there finds next to nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import juncture as jt
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.networks.gradient import FreeTables
from support.learning_oracles import RowExpectation, random_tables, with_holes

TO_THE_END = jt.ExpectationMaximization(tolerance=1e-13, max_steps=3000, acceleration="squarem")
KNOWN_EARLY = (5, 95)  # L-BFGS alone ends 1e-4 to 0.013 nats too early


def rows_with_holes(seed: int) -> tuple[jt.BayesianNetwork, jt.Dataset, float | None]:
    rng = np.random.default_rng(seed)
    model = random_tables(rng, int(rng.integers(3, 6)))
    rows = jt.sample(model, int(rng.choice([30, 100, 300])), rng=rng)
    return model, with_holes(rng, rows, float(rng.choice([0.1, 0.3, 0.6]))), None if seed % 3 else 1.5


@pytest.mark.parametrize("seeds", [KNOWN_EARLY, range(200, 208)])
def test_em_from_the_end_of_a_gradient_ascent_gains_next_to_nothing(seeds):
    for seed in seeds:
        model, rows, prior = rows_with_holes(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parents' states that no row has; or it says that it did not converge
            found = jt.fit(model, rows, prior=prior, method="gradient")
            further = jt.fit(found.model, rows, prior=prior, method=TO_THE_END)
        assert np.diff(found.trace.values).min(initial=0.0) > -1e-6  # zeros are numbers of 1e-13 for L-BFGS
        if found.trace.converged:
            assert further.trace.values[-1] - found.trace.values[-1] < 1e-4, seed


def test_an_entry_next_to_zero_that_should_be_larger_is_found():
    """The logarithm of 1e-12 has hardly a gradient, and EM doubles the entry at best: both seem to rest."""
    cause, effect = jt.Variable("c", 2), jt.Variable("e", 2)
    tables = [jt.Conditional(cause, [], [1 - 1e-12, 1e-12]), jt.Conditional(effect, [cause], [[0.9, 0.1], [0.6, 0.4]])]
    rows = {"c": [None] * 100, "e": [0] * 80 + [1] * 20}
    model = jt.BayesianNetwork(tables)
    found = jt.fit(model, rows, method="gradient", fixed=["e"])
    assert found.trace.converged
    assert found.model["c"].values[1] == pytest.approx(1 / 3, abs=1e-4)  # 0.1 + 0.3 p = 0.2


def test_slopes_are_derivatives_along_moves_of_probability():
    model, rows, prior = rows_with_holes(1)
    options = EstimationOptions(prior)
    tables = FreeTables(model, frozenset(), options)
    expectation = RowExpectation(model, rows)
    slopes = tables.slopes(model, expectation.run(model)[0])
    values = tables.values(model)
    for place, table in enumerate(values):
        for index in list(np.ndindex(*table.shape))[:4]:
            moved = [each.copy() for each in values]
            corner = np.zeros(table.shape[-1])
            corner[index[-1]] = 1.0
            row = moved[place][index[:-1]].copy()
            sides = []
            for share in (1e-6, -1e-6):
                moved[place][index[:-1]] = row + share * (corner - row)
                logits = np.concatenate([np.log(each).reshape(-1) for each in moved])
                sides.append(expectation.run(tables.model(logits))[1])
            assert slopes[place][index] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-3)
