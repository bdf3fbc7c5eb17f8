"""What Markov kernels keep, for every sampler: their exact matrices, and the frequencies of the code itself."""

from __future__ import annotations

from functools import cache
from math import log

import numpy as np
import pytest

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference.engines.factor_arrays import factor_arrays, log_likelihoods
from juncture.inference.sampling.markov_chains import gibbs, metropolis
from juncture.inference.sampling.markov_chains.blocks import BlockTransition
from juncture.inference.sampling.markov_chains.chains import Chain
from juncture.inference.sampling.markov_chains.gibbs import TreeTransition
from juncture.inference.sampling.markov_chains.pairs import (
    PairTransition,
    SpinTransition,
    is_uniform_grid,
    lay_out_pairs,
)
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.inference.sampling.markov_chains.transition_matrix import accept, kernel_of
from support.approximate_engines import MODELS

NUM_SWEEPS = 2000
ROUNDING = 1e-12


class Flip:
    """The other state of one variable, all alike."""

    def sample(self, present, rng):
        name = list(present)[rng.integers(len(present))]
        return {name: 1 - present[name]}

    def log_prob(self, proposed, present):
        return -log(len(present)) if sum(proposed[name] != present[name] for name in present) == 1 else -np.inf


@cache
def models():
    rng = np.random.default_rng(0)
    return {
        "triangle": (MODELS["triangle"].model, {"x0": [0.4, 0.6]}),
        "wide": (MODELS["wide_factors"].model, {"x5": 0}),
        "asia": (MODELS["asia"].model, {"xray": "yes"}),
        "fuel": (jt.example("fuel"), {"G": 0}),
        "spins": (jt.ising((2, 2), rng.normal(0, 0.5, 4), rng.normal(0, 0.3, (2, 2))), {"x0_0": [0.3, 0.8]}),
        "labels": (jt.potts((1, 3), 3, 0.6, field=rng.normal(0, 0.5, (1, 3, 3))), {}),
        "grid": (jt.ising((2, 3), coupling=0.3, field=0.2, values=(0, 1)), {}),
    }


@cache
def near(name):
    """A product of independent variables, to propose from."""
    model, rng = models()[name][0], np.random.default_rng(1)
    return jt.MarkovNetwork([jt.Factor([one], rng.uniform(0.5, 1.0, one.num_states)) for one in model.variables])


EVERY = ("triangle", "wide", "asia", "fuel", "spins", "labels", "grid")
SMALL = ("triangle", "fuel", "spins", "labels", "grid")
PAIRS = ("triangle", "spins", "labels", "grid")
SPINS = ("spins", "labels")
REGISTRY = {  # sampler → the engine for a model, whether it has detailed balance, the models
    "gibbs": (lambda name: jt.Gibbs(), False, EVERY),
    "gibbs random": (lambda name: jt.Gibbs(scan="random"), True, EVERY),
    "gibbs chromatic": (lambda name: jt.Gibbs(scan="chromatic", thin=2), False, EVERY),
    "gibbs blocks": (lambda name: jt.Gibbs(blocks=[models()[name][0].variables.names[:2]]), False, SMALL),
    "gibbs trees": (lambda name: jt.Gibbs(blocks="trees"), False, PAIRS),
    "metropolis": (lambda name: jt.Metropolis(), False, EVERY),
    "metropolis flips": (lambda name: jt.Metropolis(proposal=Flip()), True, ("triangle", "grid")),
    "metropolis independent": (lambda name: jt.Metropolis(proposal=near(name)), True, ("triangle", "spins", "wide")),
    "swendsen-wang": (lambda name: jt.SwendsenWang(), True, SPINS),
    "wolff": (lambda name: jt.SwendsenWang(clusters="single"), True, SPINS),
}


def target_of(name):
    model, row = models()[name]
    arrays = factor_arrays(model)
    return Target(arrays, log_likelihoods(arrays, as_findings(row, model.variables))[0])


@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
@pytest.mark.parametrize("sampler", REGISTRY)
def test_the_target_is_stationary(sampler):
    make, is_reversible, names = REGISTRY[sampler]
    for name in names:
        model, row = models()[name]
        kernel = jt.sampling.transition_matrix(model, row, method=make(name))
        assert kernel.matrix.min() > -ROUNDING
        assert kernel.matrix.sum(axis=1) == pytest.approx(1.0, abs=ROUNDING)
        assert kernel.target @ kernel.matrix == pytest.approx(kernel.target, abs=ROUNDING)
        assert kernel.is_reversible or not is_reversible
        assert kernel.second_eigenvalue < 1 - 1e-6, "irreducible and aperiodic"
        exact = jt.infer(model, row)
        for column, variable in enumerate(kernel.names):
            weights = np.bincount(kernel.states[:, column], weights=kernel.target)
            assert weights == pytest.approx(exact[variable].values[: len(weights)], abs=1e-9)


def check_frequencies(move, decode, size):
    """Sweeps from one state end in the states of its row of the matrix as often as it says."""
    rng = np.random.default_rng(3)
    first = Chain.start(move, rng)
    codes = np.array([decode(first.codes)])
    ends = np.empty((NUM_SWEEPS, size), np.int64)
    for sweep in range(NUM_SWEEPS):
        chain = Chain(first.codes.copy(), first.rng, first.keys, sweep)
        if not isinstance(move, BlockTransition):
            chain.keys = rng.integers(0, 2**64, 2, dtype=np.uint64)
        move.advance(chain, 1, ends[sweep : sweep + 1])
    states = np.array(list(np.ndindex(*move.target.arrays.num_states)))
    states = states[move.target.log_joints(states) > -np.inf]
    start = int(np.flatnonzero((states == codes[0]).all(axis=1))[0])
    expected = NUM_SWEEPS * kernel_of(move, states)[start]
    numbers = {tuple(state): number for number, state in enumerate(states.tolist())}
    counts = np.bincount([numbers[tuple(end)] for end in ends.tolist()], minlength=len(states))
    is_common = expected >= 5
    rest = [counts[~is_common].sum(), expected[~is_common].sum()]
    assert counts[expected < 1e-12].sum() == 0
    statistic = ((counts - expected)[is_common] ** 2 / expected[is_common]).sum()
    statistic += (rest[0] - rest[1]) ** 2 / max(rest[1], 1.0)
    degrees = is_common.sum()
    assert statistic < degrees + 4.5 * np.sqrt(2 * degrees) + 8, (statistic, degrees)


@pytest.mark.parametrize("sampler", REGISTRY)
def test_the_code_moves_as_the_matrix_says(sampler, monkeypatch):
    make, _, names = REGISTRY[sampler]
    monkeypatch.setattr(metropolis, "BLOCK", 1)
    for name in names[:1] if "flips" in sampler or "independent" in sampler else names:
        target, model = target_of(name), models()[name][0]
        move, _ = make(name).transition(model, target, np.arange(target.arrays.num_nodes))
        check_frequencies(move, lambda codes: codes, target.arrays.num_nodes)


@pytest.mark.parametrize("side", [5, 6])
def test_trees_of_a_grid_are_few_and_without_cycles(side):
    model = jt.potts((side, side), 3, 0.4)
    arrays = factor_arrays(model)
    target = Target(arrays, log_likelihoods(arrays, as_findings({"x0_0": 1}, model.variables))[0])
    forests = TreeTransition(target, np.arange(side**2)).forests
    assert sorted(node for forest in forests for node in forest) == list(range(1, side**2))
    assert len(forests) == 2
    for forest in forests:
        inside = [{a, b} <= set(forest) for a, b in model.edges.tolist()]
        assert sum(inside) < len(forest)  # connected or not, fewer edges than nodes
    beliefs = jt.infer(jt.ising((1, 30), 2.0, 0.1), method=jt.Gibbs(blocks="trees", draws=200, warmup=0), rng=0)
    assert beliefs.diagnostics.effective_sample_size > 500  # of 800: a chain is drawn exactly


def test_trees_take_pairs_in_their_order():
    with pytest.raises(jt.errors.InvalidData, match="takes factors of two variables"):
        jt.infer(MODELS["wide_factors"].model, method=jt.Gibbs(blocks="trees"))
    with pytest.raises(jt.errors.InvalidData, match="leave scan= out"):
        jt.Gibbs(blocks="trees", scan="random")


def test_sweeps_by_colours_and_of_words_move_as_the_matrix_says():
    for name in ("spins", "labels", "grid"):
        target, model = target_of(name), models()[name][0]
        nodes = np.arange(target.arrays.num_nodes)
        move = PairTransition(target, lay_out_pairs(model, target), nodes)
        places = move.layout.positions
        check_frequencies(move, lambda codes, places=places: codes[places].astype(np.int64), len(nodes))
        assert is_uniform_grid(model, target) == (name == "grid")
    move = SpinTransition.of(model, target, nodes)
    check_frequencies(move, lambda codes: move.unpack(codes).ravel().astype(np.int64), len(nodes))


def test_gibbs_is_metropolis_hastings_that_always_accepts():
    """S0-306, S0-309: the draw of one variable given all others, as a proposal, is never refused."""
    for name in ("triangle", "spins", "fuel"):
        target = target_of(name)
        states = np.array(list(np.ndindex(*target.arrays.num_states)))
        states = states[target.log_joints(states) > -np.inf]
        for node in target.free.tolist():
            draw = kernel_of(BlockTransition(target, ((node,),), np.arange(0)), states)
            assert accept(draw, target.log_joints(states)) == pytest.approx(draw, abs=ROUNDING)
            assert draw @ draw == pytest.approx(draw, abs=ROUNDING)


def test_the_numbers_of_metropolis_hastings():
    """S0-299, S0-300: T exchanges two states."""
    swap, logs = np.array([[0.0, 1.0], [1.0, 0.0]]), np.log([1 / 3, 2 / 3])
    assert accept(swap, logs) == pytest.approx(np.array([[0.0, 1.0], [0.5, 0.5]]))
    assert accept(swap, np.log([0.5, 0.5])) == pytest.approx(swap)  # period 2: it does not converge
    with pytest.raises(jt.errors.InvalidData, match="never back"):
        accept(np.array([[0.0, 1.0], [0.0, 1.0]]), logs)


def test_gibbs_on_the_fuel_network():
    """S2-172, S2-173: π(B, F | G = 0), invariant under each step and under the round."""
    kernel = jt.sampling.transition_matrix(jt.example("fuel"), {"G": 0}, method=jt.Gibbs(blocks="single"))
    assert np.sort(kernel.target) == pytest.approx([0.028571, 0.228571, 0.228571, 0.514286], abs=1e-6)
    assert kernel.second_eigenvalue == pytest.approx(0.038644, abs=1e-6)


def test_the_full_conditional_of_ising_and_potts():
    """S0-302, S0-305, S0-308: σ(η_i + Σ η_ij x_j), of the neighbours alone; two labels are spins."""
    weights, fields = {("a", "b"): 0.4, ("b", "c"): -0.7}, {"a": 0.1, "b": 0.5}
    graph = jt.UndirectedGraph(list(weights))
    model = jt.ising(graph, weights, fields, values=(0, 1))
    target = Target(factor_arrays(model), np.zeros(6))
    states = np.array(list(np.ndindex(2, 2, 2)))
    kernel = kernel_of(BlockTransition(target, ((1,),), np.arange(0)), states)
    for start, (a, _, c) in enumerate(states):
        end = int(np.flatnonzero((states == [a, 1, c]).all(axis=1))[0])
        assert kernel[start, end] == pytest.approx(1 / (1 + np.exp(-(0.5 + 0.4 * a - 0.7 * c))))
    spins, labels = jt.ising((2, 2), 0.3), jt.potts((2, 2), 2, 0.6)
    one, two = (jt.sampling.transition_matrix(each).matrix for each in (spins, labels))
    assert one == pytest.approx(two)


def test_zeros_that_hold_a_chain_are_seen():
    """S0-307: x1 = x2 is reducible for single variables."""
    x = [jt.Variable(name, 2) for name in "ab"]
    model = jt.MarkovNetwork([jt.Factor(x, [[0.3, 0.0], [0.0, 0.7]])])
    with pytest.warns(jt.errors.NotConvergedWarning, match="cannot reach every state"):
        beliefs = jt.infer(model, method=jt.Gibbs(blocks="single", draws=50), rng=0)
    assert not beliefs.converged
    assert jt.sampling.transition_matrix(model, method=jt.Gibbs(blocks="single")).second_eigenvalue == pytest.approx(
        1.0
    )
    beliefs = jt.infer(model, method=jt.Gibbs(draws=400), rng=0)  # both together
    assert beliefs.converged
    assert abs(beliefs["a"][1] - 0.7) < 5 * beliefs.diagnostics.standard_error("a")[1]


def test_large_pairwise_models_take_the_quick_kernels(monkeypatch):
    monkeypatch.setattr(gibbs, "MANY_NODES", 1)
    rng = np.random.default_rng(2)
    cases = [
        (jt.ising((3, 5), 0.3, 0.2), {}),
        (jt.ising((4, 70), 0.2), {}),  # two words a row
        (jt.ising((3, 4), rng.normal(0, 0.4, 17), rng.normal(0, 0.3, (3, 4))), {"x0_1": 1}),
        (jt.potts((3, 4), 3, 0.5, field=rng.normal(0, 0.5, (3, 4, 3))), {"x1_1": 2, "x0_0": [1.0, 0.0, 0.5]}),
        (
            jt.ising(jt.UndirectedGraph([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]), 0.4, [0.1, 0.2, -0.3, 0.4]),
            {},
        ),
    ]
    for model, row in cases:
        few = [*list(model.names[:3]), model.names[-1]]
        beliefs = jt.infer(model, row, targets=few, method=jt.Gibbs(draws=4000, chains=2, warmup=50), rng=1)
        exact = jt.infer(model, row, targets=few)
        for name in few:
            errors = np.maximum(beliefs.diagnostics.standard_error(name), 1e-12)
            assert (np.abs(beliefs[name].values - exact[name].values) < 4.5 * errors).all()
        joint, truth = beliefs.joint(few[1], few[2]).values, exact.joint(few[1], few[2]).values
        assert joint == pytest.approx(truth, abs=0.03)
