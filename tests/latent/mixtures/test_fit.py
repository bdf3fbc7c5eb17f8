"""Mixtures learned by EM: against the same mixture as the emissions of one state, other optimisers, and refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.components.mixture import MixturePrior
from juncture.data.sources import as_source
from juncture.kernels.densities.mixtures import exponentiate
from juncture.latent.mixtures import expectation
from juncture.latent.mixtures.expectation import code_pass, largest_codes
from juncture.latent.mixtures.gaussian_pass import gaussian_pass
from support.emission_examples import EMISSIONS

SEEDS = st.integers(0, 2**32 - 1)
TO_THE_END = jt.ExpectationMaximization(tolerance=1e-12, max_steps=3000)
TWO = jt.Mixture([0.4, 0.6], [jt.Gaussian(-2.0, 1.0), jt.Gaussian(3.0, 2.0)])


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


@given(seed=SEEDS)
def test_steps_of_vectors_with_holes_are_those_of_one_hidden_state(seed):
    """A mixture is what the one state of a hidden Markov model emits: the same objective after every step."""
    rng = np.random.default_rng(seed)
    parts = [jt.MultivariateGaussian(rng.normal(size=2), np.eye(2)) for _ in range(3)]
    model = jt.Mixture(rng.dirichlet(np.ones(3)), parts)
    rows = rng.normal(size=(40, 2)) * 2
    rows[rng.random(rows.shape) < 0.2] = np.nan
    few = jt.ExpectationMaximization(max_steps=4, tolerance=0.0)
    mine = quiet(jt.fit, model, rows, method=few)
    chain = quiet(
        jt.fit, jt.HiddenMarkovModel([1.0], [[1.0]], [model]), rows, method=few, fixed=["initial", "transition"]
    )
    assert mine.trace.values == pytest.approx(chain.trace.values, rel=1e-9)
    assert mine.model.weights == pytest.approx(chain.model.emissions[0].weights, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_maximum_of_the_likelihood_is_that_of_an_optimiser(seed):
    from scipy.optimize import minimize

    rows = jt.HiddenMarkovModel([1.0], [[1.0]], [TWO]).emissions.sample(np.zeros(150, int), np.random.default_rng(seed))
    fitted = jt.fit(TWO, rows, method=TO_THE_END)

    def downhill(free):
        share = 1 / (1 + np.exp(-free[0]))
        parts = [jt.Gaussian(free[1], np.exp(free[2])), jt.Gaussian(free[3], np.exp(free[4]))]
        return -np.sum(jt.Mixture([share, 1 - share], parts).log_prob(rows))

    start = np.array([np.log(0.4 / 0.6), -2.0, 0.0, 3.0, np.log(2.0)])
    best = minimize(downhill, start, method="BFGS", options={"gtol": 1e-7})
    assert fitted.log_likelihood == pytest.approx(-best.fun, abs=1e-6)
    assert fitted.log_likelihood == pytest.approx(np.sum(jt.log_prob(fitted.model, rows)), rel=1e-12)


def test_scikit_learn_finds_the_same_mixture():
    sklearn = pytest.importorskip("sklearn.mixture")
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1, (300, 2)), rng.normal(4, 1, (200, 2))])
    theirs = sklearn.GaussianMixture(2, tol=1e-10, max_iter=2000, random_state=0, reg_covar=0).fit(rows)
    same = jt.Mixture([0.5, 0.5], [jt.MultivariateGaussian([0.0, 0.0], np.eye(2))] * 2)
    mine = jt.fit(same, rows, method=TO_THE_END)
    assert mine.log_likelihood == pytest.approx(theirs.score(rows) * len(rows), abs=1e-5)


@pytest.mark.parametrize(
    "family", [jt.Poisson(3.0), jt.Exponential(1.0), jt.Bernoulli(0.4), jt.Gamma(2.0, 1.0), jt.Beta(2.0, 3.0)]
)
def test_one_component_is_the_estimate_of_its_family(family):
    rows = np.asarray(family.sample(200, rng=0), float)
    weights = np.random.default_rng(1).random(200)
    fitted = jt.fit(jt.Mixture([1.0], [family]), rows, weights=weights)
    alone = type(family).estimate(type(family).statistics(rows, weights))
    for name in family.parameters:
        assert getattr(fitted.model[0], name) == pytest.approx(getattr(alone, name), rel=1e-9)


def test_columns_of_different_families_with_holes():
    rng = np.random.default_rng(3)
    which = rng.random(2000) < 0.3
    rows = np.c_[np.where(which, rng.normal(4, 1, 2000), rng.normal(0, 1, 2000)), rng.poisson(np.where(which, 9, 2))]
    rows[rng.random(rows.shape) < 0.1] = np.nan
    start = jt.Mixture(
        [0.5, 0.5],
        [
            jt.Independent([jt.Gaussian(1.0, 1.0), jt.Poisson(5.0)]),
            jt.Independent([jt.Gaussian(0.0, 1.0), jt.Poisson(3.0)]),
        ],
    )
    fitted = jt.fit(start, rows).model
    assert fitted.weights == pytest.approx([0.3, 0.7], abs=0.04)
    assert fitted[0].families[1].rate == pytest.approx(9.0, abs=0.5)
    assert fitted[1].families[0].mean == pytest.approx(0.0, abs=0.15)


def test_weights_are_copies_of_rows():
    rows, weights = np.array([-2.0, -1.5, 3.0, 2.0, 4.0]), np.array([2, 1, 3, 0, 1])
    mine = quiet(jt.fit, TWO, rows, weights=weights, method=TO_THE_END)
    copies = quiet(jt.fit, TWO, np.repeat(rows, weights), method=TO_THE_END)
    assert mine.log_likelihood == pytest.approx(copies.log_likelihood, abs=1e-8)


def test_a_prior_counts_in_the_weights_and_in_the_components():
    rows = np.array([0.0, 1.0, 0.0, 2.0, 9.0, 11.0])
    start = jt.Mixture([0.5, 0.5], [jt.Poisson(1.0), jt.Poisson(10.0)])
    plain, prior = jt.fit(start, rows), jt.fit(start, rows, prior=MixturePrior(100.0, jt.Gamma(1.0, 1000.0)))
    assert abs(prior.model.weights[0] - 0.5) < abs(plain.model.weights[0] - 0.5)
    assert prior.model[1].rate < 0.1 < plain.model[1].rate


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_blocks_of_any_size_give_the_same_mixture(size, monkeypatch):
    rows = TWO.sample(100, rng=0)
    whole = jt.fit(TWO, rows)
    monkeypatch.setattr(expectation, "BLOCK", size)
    assert jt.fit(TWO, rows).log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-10)


@pytest.mark.parametrize("kind", [kind for kind in EMISSIONS if kind not in {"precomputed", "shared"}])
def test_components_of_every_kind(kind):
    """Restarts from random rows never end below the start that was given, for every kind of component."""
    rng = np.random.default_rng(0)
    components = EMISSIONS[kind](rng, 2)
    model = jt.Mixture([0.5, 0.5], components)
    rows = np.asarray(model.components.sample(rng.integers(2, size=60), rng), float)
    few = jt.ExpectationMaximization(max_steps=4)
    one = quiet(jt.fit, model, rows, method=few)
    more = quiet(jt.fit, model, rows, method=jt.ExpectationMaximization(max_steps=4, restarts=1))
    assert more.trace.values[-1] >= one.trace.values[-1]
    assert quiet(jt.fit, model, rows, start="random", method=few).log_likelihood > -np.inf


def test_sources_and_functions_of_frames_are_read_block_by_block(tmp_path):
    import pandas as pd

    rows = np.random.default_rng(0).normal(size=(200, 2)) + np.arange(200)[:, None] // 100 * 6  # far apart: few steps
    frame = pd.DataFrame(rows, columns=["a", "b"])
    start = jt.Mixture([0.5, 0.5], [jt.MultivariateGaussian([m, m], np.eye(2)) for m in (0.0, 1.0)])
    whole = jt.fit(start, rows)
    frame.to_parquet(tmp_path / "rows.parquet")
    for data in (
        as_source(tmp_path / "rows.parquet", block_rows=37),
        lambda: iter([frame.iloc[:50], frame.iloc[50:]]),
    ):
        found = jt.fit(start, data)
        assert found.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-9)
        assert jt.fit(start, data, start="random").log_likelihood == pytest.approx(whole.log_likelihood, abs=0.5)


def test_whole_numbers_of_a_source_are_numbers(tmp_path):
    """Not the codes of the states that a column of integers has."""
    rows = np.random.default_rng(0).poisson([30] * 100 + [100] * 100)
    start = jt.Mixture([0.5, 0.5], jt.Poisson([20.0, 80.0]))
    jt.Dataset({"n": rows}, states=["n"]).to_csv(tmp_path / "rows.csv")
    found = jt.fit(start, as_source(tmp_path / "rows.csv", block_rows=37))
    assert found.log_likelihood == pytest.approx(jt.fit(start, rows).log_likelihood, rel=1e-9)


def test_equal_components_are_told_apart():
    rows = TWO.sample(400, rng=0)
    same = jt.Mixture([0.5, 0.5], [jt.Gaussian(0.0, 1.0)] * 2)
    assert jt.fit(same, rows).log_likelihood == pytest.approx(jt.fit(TWO, rows).log_likelihood, abs=1e-3)


def test_a_component_that_shrinks_to_a_point_is_reported():
    rows = np.array([0.0, 0.1, -0.1, 0.05, 7.0])
    start = jt.Mixture([0.8, 0.2], [jt.Gaussian(0.0, 1.0), jt.Gaussian(7.0, 0.1)])
    with pytest.warns(jt.errors.RegularizedWarning, match="component 1 of the mixture"):
        jt.fit(start, rows)


def test_refusals():
    rows = TWO.sample(10, rng=0)
    cases = {
        "no row": lambda: jt.fit(TWO, np.empty(0)),
        "got one": lambda: jt.fit(TWO, 1.0),
        "nothing was observed": lambda: jt.fit(TWO, [np.nan, np.nan]),
        "weigh nothing": lambda: jt.fit(TWO, rows, weights=np.zeros(10)),
        "weights": lambda: jt.fit(TWO, rows, weights=[1.0]),
        "start": lambda: jt.fit(TWO, rows, start="k"),
        "has no option 'lengths'": lambda: jt.fit(TWO, rows, lengths=[5, 5]),
        "no method of learning 'vb'": lambda: jt.fit(TWO, rows, method="vb"),
        "not accelerated": lambda: jt.fit(TWO, rows, method=jt.ExpectationMaximization(acceleration="squarem")),
        "Poisson takes whole numbers": lambda: jt.fit(jt.Mixture([1.0], [jt.Poisson(1.0)]), [-1.0, 2.0]),
    }
    for message, ask in cases.items():
        with pytest.raises(jt.JunctureError, match=message):
            ask()


@given(seed=SEEDS)
def test_the_compiled_pass_gives_what_numpy_gives(seed):
    """Full and tied covariances, holes, weights of zero, rows far from 0: the same objective and the same mixture."""
    rng = np.random.default_rng(seed)
    size, number = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    covariance = np.cov(rng.normal(size=(size, 3 * size)))
    structure = "tied" if seed % 2 else "full"
    matrices = covariance if seed % 2 else np.stack([covariance] * number)
    mean = rng.normal(size=(number, size)) + 1000 * (seed % 3)
    start = jt.Mixture(rng.dirichlet(np.ones(number)), jt.GaussianEmissions(mean, matrices, structure))
    rows = np.asarray(start.sample(200, rng=rng)) + rng.normal(size=size)
    rows[rng.random(rows.shape) < (0.2 if seed % 5 else 0.0)] = np.nan
    weights = np.where(rng.random(200) < 0.1, 0.0, rng.random(200))
    block = expectation.Block(rows, weights)
    plain = expectation.expect_piece(start, block, is_hard=False)
    statistics, log_likelihood = gaussian_pass(
        start.components.full, np.log(start.weights), block.patterns, block.columns
    )
    assert log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
    mine, theirs = statistics.parts[0], plain.statistics.components.parts[0]
    assert mine.weight == pytest.approx(theirs.weight, rel=1e-10, abs=1e-12)
    assert mine.center == pytest.approx(theirs.center, rel=1e-12)
    assert mine.scatter == pytest.approx(theirs.scatter, rel=1e-8, abs=1e-8)


@given(seed=SEEDS)
def test_the_compiled_pass_over_codes_gives_what_numpy_gives(seed):
    """Bernoulli and categorical columns with holes, rows without any value, and rows that weigh nothing."""
    rng = np.random.default_rng(seed)
    number, sizes = int(rng.integers(1, 4)), rng.integers(2, 4, size=3)
    columns = [jt.Categorical(rng.dirichlet(np.ones(size), number)) for size in sizes]
    start = jt.Mixture(rng.dirichlet(np.ones(number)), jt.Independent([jt.Bernoulli(rng.random(number)), *columns]))
    rows = np.c_[rng.integers(2, size=50), *(rng.integers(size, size=50) for size in sizes)].astype(float)
    rows[rng.random(rows.shape) < 0.4] = np.nan
    weights = np.where(rng.random(50) < 0.2, 0.0, rng.random(50))
    plain = expectation.expect_piece(start, expectation.Block(rows, weights), is_hard=False)
    statistics, log_likelihood = code_pass(start, rows, weights, largest_codes(rows))
    assert log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
    assert statistics.weight == pytest.approx(plain.statistics.counts, rel=1e-12)
    mine = start.components.estimate(statistics)
    theirs = start.components.estimate(plain.statistics.components)
    assert mine.parts[0].family.probability == pytest.approx(theirs.parts[0].family.probability, abs=1e-12)
    for one, other in zip(mine.parts[1:], theirs.parts[1:], strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-12)


@given(seed=SEEDS)
def test_products_of_binary_rows_give_what_one_row_after_the_other_gives(seed):
    """Complete rows of zeros and ones, more than one block of them, some of which weigh nothing."""
    rng = np.random.default_rng(seed)
    number, columns, size = int(rng.integers(1, 4)), int(rng.integers(1, 5)), expectation.ROWS_AT_ONCE + 50
    chances = rng.random((columns, number))
    start = jt.Mixture(rng.dirichlet(np.ones(number)), jt.Independent([jt.Bernoulli(own) for own in chances]))
    rows = rng.integers(2, size=(size, columns)).astype(float)
    weights = np.where(rng.random(size) < 0.2, 0.0, rng.random(size))
    block = expectation.Block(rows, weights)
    assert block.is_binary
    plain = expectation.expect_piece(start, block, is_hard=False)
    statistics, log_likelihood = expectation.binary_pass(start, *expectation.log_odds(start), rows, weights)
    assert log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-11)
    assert statistics.weight == pytest.approx(plain.statistics.counts, rel=1e-11)
    mine, theirs = (start.components.estimate(found) for found in (statistics, plain.statistics.components))
    for one, other in zip(mine.parts, theirs.parts, strict=True):
        assert one.family.probability == pytest.approx(other.family.probability, abs=1e-11)


def test_certain_columns_and_holes_take_no_products():
    """A probability of 0 or 1 has no log odds, and a hole is neither 0 nor 1."""
    certain = jt.Mixture([0.5, 0.5], jt.Independent([jt.Bernoulli([0.0, 0.5])]))
    assert expectation.log_odds(certain) is None
    assert not expectation.Block(np.array([[1.0], [np.nan]]), np.ones(2)).is_binary
    found = jt.fit(certain, np.array([[1.0], [0.0], [1.0], [0.0]])).model
    assert jt.log_prob(found, [[1.0]])[0] == pytest.approx(np.log(0.5), rel=1e-6)


def test_exponentials_of_the_kernel_are_those_of_numpy():
    logs = -np.concatenate([np.linspace(0.0, 699.0, 2001), [701.0, np.inf]])
    found = logs.copy()
    exponentiate(found, np.empty_like(found))
    assert found[:-2] == pytest.approx(np.exp(logs[:-2]), rel=4 * np.finfo(float).eps)
    assert found[-2:].tolist() == [0.0, 0.0]


def test_hard_em_raises_the_likelihood_of_rows_with_their_components():
    rows = TWO.sample(300, rng=0)
    hard, soft = jt.fit(TWO, rows, hard=True), jt.fit(TWO, rows)
    logs = hard.model.component_log_prob(rows) + np.log(hard.model.weights)
    assert hard.log_likelihood == pytest.approx(logs.max(axis=1).sum(), rel=1e-9)
    assert (np.diff(hard.trace.values) >= -1e-9).all()
    assert soft.log_likelihood > hard.log_likelihood


def test_a_start_from_clusters_finds_clusters_that_are_apart():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(mean, 1.0, (60, 2)) for mean in (0.0, 20.0, 40.0)])
    rows[::7, 0] = np.nan
    same = jt.Mixture([1 / 3] * 3, [jt.MultivariateGaussian([0.0, 0.0], np.eye(2))] * 3)
    found = jt.fit(same, rows, start="k-means").model
    assert sorted(np.round(found.components.mean[:, 1] / 20)) == [0, 1, 2]
    assert found.weights == pytest.approx(np.full(3, 1 / 3), abs=1e-6)


@pytest.mark.parametrize("structure", ["full", "tied", "diagonal", "spherical"])
def test_with_the_weak_prior_no_component_shrinks_to_a_point(structure):
    rows = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)), [[30.0, 30.0]] * 3])
    shapes = {"full": [np.eye(2)] * 3, "tied": np.eye(2), "diagonal": np.ones((3, 2)), "spherical": np.ones(3)}
    start = jt.Mixture([1 / 3] * 3, jt.GaussianEmissions([[0, 0], [1, 1], [30, 30]], shapes[structure], structure))
    with warnings.catch_warnings():
        warnings.simplefilter("error", jt.errors.RegularizedWarning)
        found = jt.fit(start, rows, prior="weak")
    assert (found.model.components.variances > 1e-3).all()
    assert (np.diff(found.trace.values) >= -1e-9).all()


# --- fixed components ------------------------------------------------------------------------------------------------

FIXED = {
    "gaussian": (TWO, (1,)),
    "spherical": (
        jt.Mixture([0.5, 0.5], jt.GaussianEmissions([[-1.0, 0.0], [2.0, 1.0]], [1.0, 2.0], "spherical")),
        (0,),
    ),
    "poisson": (jt.Mixture([0.3, 0.3, 0.4], jt.Poisson([1.0, 4.0, 9.0])), (0, 2)),
    "kinds": (jt.Mixture([0.5, 0.5], [jt.Gaussian(2.0, 1.0), jt.Exponential(0.5)]), (1,)),
}


@pytest.mark.parametrize("name", FIXED)
def test_fixed_components_stay_and_the_rest_is_the_best(name):
    """No step of the free components, nor of the weights, raises the log-likelihood further."""
    model, fixed = FIXED[name]
    rows = jt.sample(model, 200, rng=1)
    found = quiet(jt.fit, model, rows, fixed=fixed, method=TO_THE_END)
    assert all(found.model[each] == model[each] for each in fixed)
    free = [each for each in range(model.num_components) if each not in fixed]
    assert all(found.model[each] != model[each] for each in free)
    assert (np.diff(found.trace.values) >= -1e-9).all()
    assert type(found.model.components) is type(model.components)
    shares = jt.infer(found.model, rows)["component"].values
    assert shares.mean(axis=0) == pytest.approx(found.model.weights, abs=1e-5)
    best = quiet(jt.fit, found.model, rows, method=jt.ExpectationMaximization(max_steps=1)).model
    for each in free:
        one, other = found.model[each].log_prob([[0.5, 1.5]] if name == "spherical" else 1.0), best[each]
        assert one == pytest.approx(other.log_prob([[0.5, 1.5]] if name == "spherical" else 1.0), abs=1e-4)


def test_fixed_components_that_there_are_not_are_refused():
    with pytest.raises(jt.errors.InvalidData, match="fixed names the component 2; there are 2 components"):
        jt.fit(TWO, [0.0, 1.0], fixed=[2])
    tied = jt.Mixture([0.5, 0.5], jt.GaussianEmissions([[0.0], [3.0]], [[1.0]], "tied"))
    with pytest.raises(jt.errors.Unsupported, match="share a covariance"):
        jt.fit(tied, [[0.0], [1.0]], fixed=[0])
