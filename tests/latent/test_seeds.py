"""What was drawn at random is repeated by the seed that the result records, for an integer, a generator or nothing."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt

RNG = np.random.default_rng(0)
ROWS = np.concatenate([RNG.normal(0.0, 1.0, (20, 2)), RNG.normal(4.0, 1.0, (20, 2))])
BITS = (RNG.random((30, 4)) < 0.4).astype(float)
COUNTS = RNG.multinomial(20, np.full(5, 0.2), size=8)
PAIR = jt.Mixture([0.5, 0.5], [jt.Gaussian(0.0, 1.0), jt.Gaussian(3.0, 1.0)])
TOPICS = jt.LatentDirichletAllocation(RNG.dirichlet(np.ones(5), 3))
FEW = jt.ContrastiveDivergence(epochs=2)
WIDE = jt.RestrictedBoltzmannMachine.random(4, 3, scale=0.5, rng=0)
DEEP = jt.neural.DeepBeliefNetwork.random([4, 3, 2], rng=0)

DRAWN = {
    "mixture": lambda rng: jt.fit(PAIR, ROWS[:, 0], start="random", rng=rng),
    "number of components": lambda rng: jt.clusters.choose_components(PAIR, ROWS[:, 0], [1, 2], rng=rng),
    "factors": lambda rng: jt.fit(jt.FactorAnalysis.standard(2, 1), ROWS, start="random", rng=rng),
    "topics": lambda rng: jt.fit(TOPICS, COUNTS, method=jt.CollapsedGibbs(draws=5), rng=rng),
    "left to right": lambda rng: jt.sampling.left_to_right(TOPICS, COUNTS[:2], particles=5, rng=rng),
    "machine": lambda rng: jt.fit(WIDE, BITS, method=FEW, rng=rng),
    "beliefs of a machine": lambda rng: jt.infer(WIDE, [np.nan, 1, 0, 1], method="gibbs", rng=rng),
    "belief network": lambda rng: jt.fit(DEEP, BITS, method=FEW, rng=rng),
    "bounds of a belief network": lambda rng: jt.infer(DEEP, BITS, draws=5, rng=rng),
    "deep machine": lambda rng: jt.fit(
        jt.neural.DeepBoltzmannMachine.random([4, 3, 2], rng=0), BITS, epochs=2, rng=rng
    ),
    "Helmholtz machine": lambda rng: jt.fit(jt.neural.HelmholtzMachine.random(4, 2, rng=0), BITS, epochs=2, rng=rng),
    "codes": lambda rng: jt.infer(jt.neural.VariationalAutoencoder.random(2, 1, rng=0), ROWS, draws=5, rng=rng),
    "clusters": lambda rng: jt.clusters.k_means(ROWS, 3, restarts=1, rng=rng),
    "number of clusters": lambda rng: jt.clusters.choose_num_clusters(ROWS, 3, restarts=1, rng=rng),
    "medoids": lambda rng: jt.clusters.k_medoids(np.abs(ROWS[:, :1] - ROWS[:, 0]), 3, rng=rng),
}


def numbers_in(value) -> list[np.ndarray]:
    """All arrays and floats of a result."""
    if isinstance(value, np.ndarray | float):
        return [np.asarray(value)]
    if isinstance(value, type):
        return []
    names = getattr(value, "_fields", None) or getattr(value, "__dataclass_fields__", ())
    parts = value if isinstance(value, tuple | list) else [getattr(value, name, None) for name in names]
    return [each for part in parts for each in numbers_in(part)]


@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning", "ignore::juncture.errors.RegularizedWarning")
@pytest.mark.parametrize("rng", [None, 7, "generator"])
@pytest.mark.parametrize("name", DRAWN)
def test_the_seed_of_a_result_repeats_it(name, rng):
    given = np.random.default_rng(3) if rng == "generator" else rng
    first = DRAWN[name](given)
    assert type(first.seed) is int
    assert rng != 7 or first.seed == 7
    again = DRAWN[name](first.seed)
    assert again.seed == first.seed
    found, repeated = numbers_in(first), numbers_in(again)
    assert len(found) == len(repeated) > 0
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in zip(found, repeated, strict=True))


@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
def test_what_draws_nothing_has_no_seed():
    few = jt.ExpectationMaximization(max_steps=2)
    assert jt.fit(PAIR, ROWS[:, 0], method=few).seed is None
    assert jt.fit(jt.ProbabilisticPCA.standard(2, 1), ROWS).seed is None
    assert jt.fit(TOPICS, COUNTS, start="given", max_steps=2).seed is None
    assert jt.infer(WIDE, BITS).seed is None
    assert jt.infer(DEEP, BITS).seed is None
    assert jt.clusters.k_means(ROWS, 2, start=ROWS[:2]).seed is None


def test_outlier_scores_draw_components_and_values_one_after_the_other():
    """They were drawn from the same numbers under an integer seed, and so depended on each other."""
    beliefs = jt.infer(PAIR, ROWS[:, 0])
    assert np.array_equal(beliefs.outlier_score(50, rng=3), beliefs.outlier_score(50, rng=np.random.default_rng(3)))
