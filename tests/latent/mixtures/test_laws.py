"""Laws of mixtures of every family, with holes and weights: no step loses, and holes are summed out exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

import juncture as jt
from juncture.components.convert import as_emissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import MixturePrior
from juncture.latent.mixtures.expectation import Block
from juncture.latent.mixtures.fit import MixtureProblem
from juncture.learning.em.expectation_maximization import em_steps
from juncture.numerics.iteration import has_fallen
from support.emission_examples import CAN_MISS_IN_PART, EMISSIONS, PRIORS

KINDS = sorted(kind for kind in EMISSIONS if kind not in {"shared", "mixture"})


def drawn(kind, seed, number=40):
    """A mixture of three components, rows of which some cells or all are missing, and weights with zeros."""
    rng = np.random.default_rng(seed)
    model = jt.Mixture(rng.dirichlet([2, 2, 2]), as_emissions(EMISSIONS[kind](rng, 3), 3))
    rows = np.asarray(model.sample(number, rng=rng), float)
    holes = rng.random(rows.shape) < 0.2 if kind in CAN_MISS_IN_PART else np.zeros(rows.shape, bool)
    holes[rng.random(number) < 0.1] = True
    rows[holes] = np.nan
    weights = np.where(rng.random(number) < 0.1, 0.0, rng.uniform(0.5, 2.0, number))
    return model, rows, weights, rng


def problem_of(model, rows, weights, rng, prior=None, is_hard=False):
    blocks = [Block(rows, weights)]
    return MixtureProblem(model, lambda: iter(blocks), MixturePrior(None, prior), "given", rng, is_hard)


def check_steps(kind, seed, has_prior, is_hard):
    model, rows, weights, rng = drawn(kind, seed)
    prior = PRIORS.get(kind) if has_prior else None
    steps = em_steps(problem_of(model, rows, weights, rng, prior, is_hard), model)
    state = steps.init()
    for _ in range(3):
        moved = steps.step(state)
        assert not has_fallen(state.objective, moved.objective), kind
        state = moved


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 10_000), has_prior=st.booleans(), is_hard=st.booleans())
def test_no_step_loses_whatever_is_missing(kind, seed, has_prior, is_hard):
    """S1-164, S4-163: any family, any holes, any weights; with a prior or without, soft or hard."""
    check_steps(kind, seed, has_prior, is_hard)


def test_no_step_of_any_family_loses():
    for kind in KINDS:
        check_steps(kind, 1, has_prior=True, is_hard=False)


def test_rows_without_any_value_or_weight_change_nothing():
    for kind in KINDS:
        model, rows, weights, rng = drawn(kind, 2)
        empty = np.full((5, *rows.shape[1:]), np.nan)
        more, heavier = np.concatenate([empty, rows]), np.concatenate([np.full(5, 3.0), weights])
        few, many = (
            em_steps(problem_of(model, some, own, rng), model).init()
            for some, own in ((rows, weights), (more, heavier))
        )
        assert many.log_likelihood == pytest.approx(few.log_likelihood, rel=1e-12), kind
        np.testing.assert_allclose(many.statistics.counts, few.statistics.counts, rtol=1e-10, atol=1e-12, err_msg=kind)


def gaussian(structure):
    rng = np.random.default_rng(5)
    root = rng.normal(size=(2, 3, 3))
    full = root @ np.swapaxes(root, 1, 2) + 0.5 * np.eye(3)
    shaped = {
        "full": full,
        "tied": full[0],
        "diagonal": np.diagonal(full, axis1=1, axis2=2),
        "spherical": full[:, 0, 0],
    }
    return jt.Mixture([0.3, 0.7], GaussianEmissions(rng.normal(size=(2, 3)), shaped[structure], structure))


@pytest.mark.parametrize("structure", ["full", "tied", "diagonal", "spherical"])
def test_a_hole_is_integrated_out(structure):
    """log p of what is seen is that of the whole row, integrated over the missing number."""
    model, row = gaussian(structure), np.array([0.4, np.nan, -0.3])
    wanted = quad(lambda x: np.exp(model.log_prob([0.4, x, -0.3])), -40, 40, points=[-2, 0, 2], epsabs=1e-12)[0]
    assert jt.log_prob(model, row) == pytest.approx(np.log(wanted), abs=1e-8)


def test_holes_of_columns_of_different_families_are_summed_out():
    columns = [jt.Gaussian([0.0, 2.0], [1.0, 0.5]), jt.Poisson([2.0, 6.0]), jt.Categorical([[0.7, 0.3], [0.2, 0.8]])]
    model = jt.Mixture([0.4, 0.6], jt.Independent(columns))
    counts = np.arange(80.0)
    rows = np.stack([np.full(80, 0.7), counts, np.ones(80)], axis=1)
    assert jt.log_prob(model, [0.7, np.nan, 1]) == pytest.approx(np.logaddexp.reduce(model.log_prob(rows)), abs=1e-10)
    both = np.logaddexp.reduce(model.log_prob([[0.7, 3, 0], [0.7, 3, 1]]))
    assert jt.log_prob(model, [0.7, 3, np.nan]) == pytest.approx(both, abs=1e-12)
    density = quad(lambda x: np.exp(model.log_prob([x, 3, 1])), -12, 14, epsabs=1e-13)[0]
    assert jt.log_prob(model, [np.nan, 3, 1]) == pytest.approx(np.log(density), abs=1e-9)
