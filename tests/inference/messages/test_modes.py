"""ICM and max-flow: engines of `most_probable` for large models."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from support.builders import random_network


@st.composite
def attractive(draw):
    """A binary model on a random graph whose couplings are not negative, and evidence."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = [f"v{index}" for index in range(draw(st.integers(1, 7)))]
    pairs = [pair for pair in itertools.combinations(names, 2) if rng.random() < 0.6]
    scale = draw(st.sampled_from([0.1, 1.0, 30.0]))
    couplings = scale * rng.exponential(size=len(pairs)) * (rng.random(len(pairs)) < 0.9)
    values = draw(st.sampled_from([(-1, 1), (0, 1)]))
    model = jt.ising(jt.UndirectedGraph(pairs, nodes=names), couplings, rng.normal(size=len(names)), values=values)
    evidence = {name: int(rng.choice(values)) for name in names if rng.random() < 0.2}
    if rng.random() < 0.3:
        evidence[names[0]] = rng.random(2) + 0.01
    return draw(st.sampled_from([model, model.to_markov_network()])), evidence


@given(attractive())
def test_max_flow_is_exact(problem):
    model, evidence = problem
    known = jt.most_probable(model, evidence)
    best = jt.most_probable(model, evidence, method="max-flow")
    assert best.log_joint == pytest.approx(known.log_joint, abs=1e-9 * max(1.0, abs(known.log_joint)))
    assert best.exact
    assert best.log_joint <= best.bound <= best.log_joint + 1e-9 * max(1.0, abs(best.log_joint))
    assert best.bound >= known.log_joint - 1e-12 * max(1.0, abs(known.log_joint))
    assert (best.method, best.log_prob) == ("max-flow", None)


@given(attractive(), st.sampled_from(["raster", "random"]))
def test_icm_ends_where_no_single_change_improves(problem, schedule):
    """S1-084 to S1-086: both schedules end at a fixed point, which is not always the best of all."""
    model, evidence = problem
    best = jt.most_probable(model, evidence, method=jt.ICM(schedule=schedule, starts=3), rng=0)
    assert best.converged
    assert not best.exact
    assert best.bound is None
    assert best.log_joint <= jt.most_probable(model, evidence).log_joint + 1e-9
    weights = {name: np.log(value) for name, value in evidence.items() if np.ndim(value)}
    hard = {name: value for name, value in evidence.items() if not np.ndim(value)}

    def log_joint(states):
        labels = model.variables[0].states
        soft = sum(logs[labels.index(states[name])] for name, logs in weights.items())
        return model.log_joint({**hard, **states}) + soft

    assert log_joint(best.assignment) == pytest.approx(best.log_joint, abs=1e-9)
    for name in best.assignment:
        for state in model.variable(name).states:
            assert log_joint({**best.assignment, name: state}) <= best.log_joint + 1e-9


@given(st.integers(0, 2**32 - 1))
def test_icm_on_any_network(seed):
    """On factors of any size, with rows as a batch."""
    rng = np.random.default_rng(seed)
    model = random_network(rng)
    names = model.variables.names
    rows = [{}, {names[0]: model.variables[0].states[0]}, {names[-1]: model.variables[-1].states[-1]}]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.ImpossibleEvidenceWarning)
        known = jt.most_probable(model, rows)
    best = jt.most_probable(model, rows, method=jt.ICM(starts=2), rng=1)
    assert (best.log_joint <= known.log_joint + 1e-9).all()
    for row, logs in enumerate(best.log_joint):
        states = best.assignments.take([row]).to_dict()
        full = {name: values[0] for name, values in states.items() if values[0] is not None} | rows[row]
        if logs > -np.inf:
            assert model.log_joint(full) == pytest.approx(logs, abs=1e-9)


def test_sweeps_never_lose():
    """S1-084: the energy after each sweep is not above that of the sweep before."""
    rng = np.random.default_rng(3)
    model = jt.ising((12, 12), 0.6, rng.normal(size=(12, 12)))
    logs = [jt.most_probable(model, method=jt.ICM(max_steps=sweeps)).log_joint for sweeps in range(1, 8)]
    assert logs == sorted(logs)
    best = jt.most_probable(model, method=jt.ICM())
    assert best.diagnostics.steps <= 8
    assert not jt.most_probable(model, method=jt.ICM(max_steps=1)).converged
    assert best.log_joint < jt.most_probable(model, method="max-flow").log_joint


def noisy_square(*flipped):
    image = np.ones((5, 5), dtype=int)
    image[tuple(np.transpose(flipped))] = -1
    return image


def test_energies_of_the_denoising_field():
    """S1-082, S1-086: one wrong pixel is repaired, -84.5 → -88.3; two neighbours stay, -80.5, though -84.1 is lower."""
    one, two = noisy_square((2, 2)), noisy_square((2, 2), (2, 3))
    field = jt.images.denoising_field(one)
    best = jt.most_probable(field, method="icm")
    assert (field.energy(one), -best.log_joint) == pytest.approx((-84.5, -88.3))
    assert (best.array == 1).all()
    stuck = jt.images.denoising_field(two)
    assert -jt.most_probable(stuck, method="icm").log_joint == pytest.approx(-80.5)
    exact = jt.most_probable(stuck, method="max-flow")
    assert -exact.log_joint == pytest.approx(-84.1)
    assert (exact.array == 1).all()
    assert exact.bound == pytest.approx(84.1)


def test_which_pixels_icm_flips():
    """S1-087: with β = 1, η = 2.1 a pixel flips if three or four neighbours, and no other, disagree; a corner never."""
    for at, repaired in {(2, 2): True, (0, 2): True, (0, 0): False}.items():
        best = jt.most_probable(jt.images.denoising_field(noisy_square(at)), method="icm")
        assert (best.array[at] == 1) == repaired


def test_the_same_answer_twice_and_more_starts_are_no_worse():
    rng = np.random.default_rng(0)
    model = jt.potts((8, 8), 3, 0.8, rng.normal(size=(8, 8, 3)))
    engine = jt.ICM(schedule="random", starts=4)
    first, second = (jt.most_probable(model, method=engine, rng=7) for _ in range(2))
    assert (first.array == second.array).all()
    single, many = (jt.most_probable(model, method=jt.ICM(starts=n), rng=7).log_joint for n in (1, 6))
    assert many >= single


def test_an_interval_of_time_ends_the_sweeps():
    model = jt.ising((20, 20), 0.6, np.random.default_rng(0).normal(size=(20, 20)))
    best = jt.most_probable(model, method="icm", budget=1e-9)
    assert best.diagnostics.steps == 1


def test_an_engine_of_modes_refuses_other_questions():
    model = jt.ising((2, 2), 1.0)
    for name in ("icm", "max-flow"):
        with pytest.raises(jt.errors.Unsupported, match=f"'{name}' is an engine of most_probable"):
            jt.infer(model, method=name)
        with pytest.raises(jt.errors.Unsupported, match="cannot sum out 'x0_1'"):
            jt.most_probable(model, targets=["x0_0"], method=name)
        with pytest.raises(jt.errors.Unsupported, match="finds one assignment"):
            jt.most_probable(model, k=2, method=name)
        with pytest.raises(jt.errors.Unsupported, match="does not answer draws"):
            jt.sample(model, 3, given={}, method=name)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (jt.ising((1, 3), [0.5, -0.5]), "'x0_1' and 'x0_2' prefer unequal states"),
        (jt.potts((1, 2), 3, 1.0), "'x0_0' has 3"),
        (jt.example("asia"), "one has"),
        (jt.PairwiseNetwork(np.zeros((2, 2)), [[0, 1]], [[0.0, -np.inf], [0.0, 0.0]]), "have a table with a zero"),
    ],
)
def test_what_max_flow_refuses(model, words):
    with pytest.raises(jt.errors.Unsupported, match=words):
        jt.most_probable(model, method="max-flow")


def test_an_assignment_of_probability_zero_is_no_answer():
    """ICM may end where a factor is 0, and says so instead of giving it."""
    a, b, c = (jt.Variable(name, 2) for name in "abc")
    parity = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], dtype=float)
    model = jt.MarkovNetwork([jt.Factor([a, b, c], parity), jt.Factor([a, b, c], 1 - parity)])
    with pytest.raises(jt.errors.Unsupported, match="no assignment of positive probability"):
        jt.most_probable(model, method="icm")
    causes = [jt.Variable(f"c{index}", 2) for index in range(7)]
    noisy = jt.NoisyOr(jt.Variable("effect", 2), causes, [0.5] * 7)
    network = jt.BayesianNetwork([*(jt.Conditional(cause, [], [0.5, 0.5]) for cause in causes), noisy])
    with pytest.raises(jt.errors.Unsupported, match="'effect' has hidden causes"):
        jt.most_probable(network, method="icm")
