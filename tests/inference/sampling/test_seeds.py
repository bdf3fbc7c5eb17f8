"""What was drawn without a seed has one, which repeats it."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from support.model_kinds import KINDS
from support.samplers import COVERAGE_MODELS, SAMPLERS


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_seed_of_beliefs_and_draws_repeats_them(name):
    entry = SAMPLERS[name]
    model, evidence = COVERAGE_MODELS[entry.models[0]]
    beliefs = jt.infer(model, evidence, method=entry.engine)
    assert type(beliefs.seed) is int
    again = jt.infer(model, evidence, method=entry.engine, rng=beliefs.seed)
    assert again == beliefs
    assert again.seed == beliefs.seed
    draws = jt.sample(model, 20, given=evidence, method=entry.engine)
    assert jt.sample(model, 20, given=evidence, method=entry.engine, rng=draws.seed) == draws
    other = jt.infer(model, evidence, method=entry.engine)
    assert other.seed != beliefs.seed
    generator = np.random.default_rng(5)
    drawn = jt.infer(model, evidence, method=entry.engine, rng=generator)
    assert jt.infer(model, evidence, method=entry.engine, rng=drawn.seed) == drawn
    more = beliefs.with_evidence({})
    assert jt.infer(model, evidence, method=entry.engine, rng=more.seed) == more


def test_exact_answers_have_no_seed():
    model = jt.example("asia")
    generator = np.random.default_rng(3)
    assert jt.infer(model, {"xray": "yes"}, rng=generator).seed is None
    assert generator.random() == np.random.default_rng(3).random()  # nothing was drawn
    assert jt.infer(model, [{"xray": "yes"}, {}]).seed is None
    assert jt.infer(model, {"xray": "yes"}, method=jt.MeanField()).seed is None
    starts = jt.infer(model, {"xray": "yes"}, method=jt.MeanField(starts=3))
    assert jt.infer(model, {"xray": "yes"}, method=jt.MeanField(starts=3), rng=starts.seed) == starts


@pytest.mark.parametrize("given", [None, {"xray": "yes"}])
def test_rows_that_were_drawn_have_a_seed(given):
    model = jt.example("asia")
    rows = jt.sample(model, 50, given=given)
    assert jt.sample(model, 50, given=given, rng=rows.seed) == rows
    assert jt.sample(model, 50, given=given, rng=7).seed == 7
    assert jt.Dataset({"a": [0, 1]}).seed is None
    beliefs = jt.infer(model, given)
    drawn = beliefs.sample(20)
    assert beliefs.sample(20, rng=drawn.seed) == drawn


def test_particles_and_annealing_have_a_seed():
    space = jt.sampling.ParticleModel(
        initial=lambda n, rng: rng.normal(size=n),
        transition=lambda states, time, rng: 0.9 * states + rng.normal(size=states.shape),
        log_observation=lambda y, states, time: -0.5 * (y - states) ** 2,
    )
    found = jt.sampling.particle_filter(space, [0.3, -0.2], particles=100)
    again = jt.sampling.particle_filter(space, [0.3, -0.2], particles=100, rng=found.seed)
    assert again.log_evidence == found.log_evidence
    model = jt.ising((3, 3), coupling=0.3)
    estimate = jt.sampling.annealed_importance_sampling(model, particles=20, temperatures=20)
    assert jt.sampling.annealed_importance_sampling(model, particles=20, temperatures=20, rng=estimate.seed) == estimate


def test_fits_that_drew_starts_have_a_seed():
    graph = jt.DirectedGraph.parse("h -> x; h -> y")
    rows = {"x": [0, 1, 0, 1, 1], "y": [0, 1, 0, 1, 0]}
    options = {"variables": [jt.Variable("h", 2)], "prior": 1.0, "max_steps": 2000}
    fitted = jt.fit(graph, rows, **options)
    assert jt.fit(graph, rows, rng=fitted.seed, **options) == fitted
    assert jt.fit(jt.DirectedGraph.parse("x -> y"), rows).seed is None
    entry = KINDS["hidden Markov model"]()
    options = {"start": "random", "prior": 1.0, "max_steps": 5000}
    learned = jt.fit(entry.model, entry.many, **options)
    assert jt.fit(entry.model, entry.many, rng=learned.seed, **options) == learned
    assert jt.fit(entry.model, entry.many, prior=1.0, max_steps=5000).seed is None
