"""Chains go on where they stopped, with the same draws on any number of threads and in any rounds."""

from __future__ import annotations

import pickle
from itertools import pairwise, product

import numpy as np
import pytest

import juncture as jt
from juncture.inference.engines.factor_arrays import factor_arrays
from juncture.inference.sampling.diagnostics import effective_sample_size, r_hat
from juncture.inference.sampling.markov_chains import chains, gibbs
from juncture.inference.sampling.markov_chains.blocks import make_block, tabulate
from juncture.inference.sampling.markov_chains.chain_answers import indicator_r_hat, standard_errors
from juncture.inference.sampling.markov_chains.targets import Target
from support.approximate_engines import MODELS

ENGINES = {
    "gibbs": jt.Gibbs(draws=60, chains=3, warmup=10),
    "gibbs random": jt.Gibbs(draws=60, chains=3, warmup=10, scan="random", thin=2),
    "metropolis": jt.Metropolis(draws=60, chains=3, warmup=10),
    "swendsen-wang": jt.SwendsenWang(draws=60, chains=3, warmup=10, thin=3),
    "wolff": jt.SwendsenWang(draws=60, chains=3, warmup=10, clusters="single"),
    "parallel-tempering": jt.sampling.ParallelTempering(draws=60, chains=3, warmup=10, replicas=3),
}
SPINS = jt.ising((3, 3), 0.3, 0.1)


def same(one, other):
    return all(np.array_equal(one[name], other[name]) for name in one.names)


@pytest.mark.parametrize("name", ENGINES)
def test_draws_do_not_depend_on_rounds_threads_or_processes(name, monkeypatch):
    engine = ENGINES[name]
    whole = jt.sample(SPINS, 180, method=engine, rng=5)
    run = jt.sampling.start_chains(SPINS, method=engine, rng=5)
    run.extend(7)
    run = pickle.loads(pickle.dumps(run))  # noqa: S301 (its own)
    run.extend(20, budget=1e6)
    assert same(run.extend(33), whole)
    monkeypatch.setattr(chains, "ROUND_WORK", 1.0)
    monkeypatch.setattr(chains, "THREAD_WORK", 0.0)
    assert same(jt.sample(SPINS, 180, method=engine, rng=5), whole)
    jt.set_num_threads(1)
    try:
        assert same(jt.sample(SPINS, 180, method=engine, rng=5), whole)
    finally:
        jt.set_num_threads(None)


def test_threads_within_a_chain_give_the_same_draws(monkeypatch):
    monkeypatch.setattr(gibbs, "MANY_NODES", 1)
    monkeypatch.setattr("juncture.inference.sampling.markov_chains.pairs.PIECE", 5)
    model, engine = jt.potts((6, 7), 3, 0.4), jt.Gibbs(chains=1, warmup=2)
    draws = []
    for number in (1, 3):
        jt.set_num_threads(number)
        try:
            draws.append(jt.sample(model, 20, method=engine, rng=1))
        finally:
            jt.set_num_threads(None)
    assert same(*draws)


def test_interpreted_kernels_draw_the_same(monkeypatch):
    asia, labels = MODELS["asia"].model, jt.potts((2, 3), 3, 0.5)
    own = jt.ising((3, 4), 0.4, np.arange(12).reshape(3, 4) / 9)
    short = {"draws": 5, "chains": 2, "warmup": 3}
    cases = [(asia, jt.Gibbs(**short)), (asia, jt.Metropolis(**short))]
    cases += [(labels, jt.SwendsenWang(**short, clusters=clusters)) for clusters in ("all", "single")]
    quick = [(model, jt.Gibbs(**short)) for model in (labels, own, jt.ising((3, 4), 0.4, 0.1))]
    monkeypatch.setattr(gibbs, "MANY_NODES", 1)
    compiled = [jt.sample(model, 10, method=engine, rng=0) for model, engine in cases + quick]
    jt.set_compilation("never")
    try:
        interpreted = [jt.sample(model, 10, method=engine, rng=0) for model, engine in cases + quick]
    finally:
        jt.set_compilation(None)
    assert all(same(*pair) for pair in zip(compiled, interpreted, strict=True))


def test_an_interruption_leaves_all_chains_after_the_same_round(monkeypatch):
    whole = jt.sample(SPINS, 300, method=jt.Gibbs(warmup=0), rng=2)
    run = jt.sampling.start_chains(SPINS, method=jt.Gibbs(warmup=0), rng=2)
    run.extend(25)
    moves = run.chain_set.transitions[0]
    calls = []

    def interrupt(chain, num_sweeps, kept):
        calls.append(chain)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return type(moves).advance(moves, chain, num_sweeps, kept)

    object.__setattr__(moves, "advance", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run.extend(50)
    object.__delattr__(moves, "advance")
    assert run.draws.num_draws == 25
    assert same(run.extend(50), whole)


@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
@pytest.mark.parametrize(
    "engine", [jt.Gibbs(draws=10**7), jt.Gibbs(draws=10**7, warmup=10**8)], ids=["draws", "warmup"]
)
def test_a_budget_stops_and_is_repeated(engine):
    model = MODELS["grid"].model
    short = jt.infer(model, method=engine, rng=0, budget=0.02)
    named = short.diagnostics.engine
    assert named.draws < engine.draws
    again = jt.infer(model, method=named, rng=0)
    assert all(np.array_equal(again[name].values, short[name].values) for name in model.variables.names)


def test_progress_is_told_and_draws_are_split_over_the_chains():
    told = []
    engine = jt.Gibbs(warmup=3, progress=lambda draws, value: told.append((draws, value)))
    draws = jt.sample(SPINS, 101, method=engine, rng=0)
    assert (draws.num_chains, draws.num_draws) == (4, 26)
    assert told[-1][0] == 26
    assert told[-1][1] > 0.9
    beliefs = jt.infer(SPINS, method=jt.Gibbs(draws=400), rng=0)
    assert len(beliefs.sample(10, rng=1)) >= 10


def test_diagnostics_of_indicators_are_those_of_draws():
    rng = np.random.default_rng(0)
    codes = np.cumsum(rng.integers(0, 3, (4, 101, 5)), axis=1) % 3
    codes[:, :, 4] = 0
    for state in range(3):
        indicators = (codes == state).astype(float)
        assert indicator_r_hat(codes, 3)[state] == pytest.approx(r_hat(indicators), abs=1e-12)
    errors = standard_errors(codes[:, :, 0], 3)
    sizes = effective_sample_size((codes[:, :, :1] == np.arange(3)).astype(float), "mean")
    shares = np.array([(codes[:, :, 0] == state).mean() for state in range(3)])
    assert errors == pytest.approx(np.sqrt(shares * (1 - shares) / sizes), rel=0.02)
    assert standard_errors(codes[:, :, 4], 3).min() > 0  # a state that was never drawn may still be possible


def test_impossible_evidence_and_wrong_options_are_refused():
    asia = MODELS["asia"].model
    with pytest.raises(jt.ImpossibleEvidence, match="cannot occur together"):
        jt.infer(asia, {"lung": "yes", "either": "no"}, method="gibbs", rng=0)
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        rows = jt.infer(asia, [{"lung": "yes", "either": "no"}, {}], method=jt.Gibbs(), rng=0)
    assert rows.impossible == (0,)
    assert np.isnan(rows["tub"].values[0]).all()
    for wrong in ({"scan": "zigzag"}, {"blocks": "trees and more"}, {"blocks": ["a"]}, {"draws": 0}, {"thin": 0}):
        with pytest.raises(jt.errors.InvalidData):
            jt.Gibbs(**wrong)
    with pytest.raises(jt.errors.Unsupported, match="Ising and Potts"):
        jt.infer(asia, method="swendsen-wang")
    with pytest.raises(jt.UnknownVariable):
        jt.infer(asia, method=jt.Gibbs(blocks=[["lung", "nobody"]]))
    with pytest.raises(jt.errors.InvalidData, match="proposal is"):
        jt.Metropolis(proposal="far")


class OneWay:
    def sample(self, present, rng):
        return dict.fromkeys(present, 1)

    def log_prob(self, proposed, present):
        return 0.0 if all(value == 1 for value in proposed.values()) else -np.inf


def test_a_proposal_that_never_leads_back_is_refused():
    """S0-300: T(x, z) > 0 needs T(z, x) > 0."""
    with pytest.raises(jt.errors.InvalidModel, match="never back"):
        jt.infer(SPINS, method=jt.Metropolis(proposal=OneWay()), rng=0)


def test_autocorrelation_falls_with_thinning():
    """S2-174, S0-289: draws depend on each other, less the farther they are apart."""
    model = jt.ising((4, 4), 0.5)
    sizes = [
        jt.infer(model, method=jt.Gibbs(draws=500, thin=thin), rng=1).diagnostics.effective_sample_size
        for thin in (1, 8)
    ]
    assert sizes[1] > 2 * sizes[0]


def copies(count, fail=1e-6):
    """Coins that are copies of each other but for failures: chains of single coins stay in one of two modes."""
    coins = [jt.Variable(f"v{place}", 2) for place in range(count)]
    table = [[1.0 - fail, fail], [fail, 1.0 - fail]]
    parts = [jt.Conditional(coin, [before], table) for before, coin in pairwise(coins)]
    return jt.BayesianNetwork([jt.Conditional(coins[0], [], [0.5, 0.5]), *parts])


@pytest.mark.parametrize("engine", [jt.Gibbs(draws=100, warmup=20), jt.Metropolis(draws=100, warmup=20)])
def test_chains_that_stay_in_one_of_two_modes_never_say_that_they_converged(engine):
    for count, seed in product((2, 3, 6), range(8)):
        with pytest.warns(jt.errors.NotConvergedWarning):
            beliefs = jt.infer(copies(count), method=engine, rng=seed)
        assert not beliefs.converged


def test_a_variable_that_never_changed_has_no_effective_draws_unless_it_is_certain():
    """One chain cannot disagree with others: the other state is tried, and the others follow it or do not."""
    engine = jt.Gibbs(draws=200, chains=1, warmup=20)
    with pytest.warns(jt.errors.NotConvergedWarning, match="stuck in one mode: 'v0', 'v1', 'v2' never changed"):
        stuck = jt.infer(copies(3), method=engine, rng=0)
    assert (stuck.converged, stuck.diagnostics.effective_sample_size) == (False, 0.0)
    assert np.isinf(stuck.diagnostics.standard_error("v1")).all()
    a, b, c = (jt.Variable(name, 2) for name in "abc")
    rare = [
        jt.Conditional(a, [], [1.0 - 1e-6, 1e-6]),  # seldom met, whatever the others do
        jt.Conditional(b, [a], [[1.0 - 1e-6, 1e-6], [0.5, 0.5]]),
        jt.Conditional(c, [b], [[1.0, 0.0], [0.3, 0.7]]),  # certain, given b
    ]
    sure = jt.infer(jt.BayesianNetwork(rare), method=engine, rng=0)
    assert sure.converged
    assert all(0.0 < sure.diagnostics.standard_error(name)[1] < 0.05 for name in "abc")


@pytest.mark.parametrize("name", ["gibbs", "metropolis", "swendsen-wang", "parallel-tempering"])
def test_starts_are_spread_over_the_states(name):
    """Half of the chains start at each state of every node; each chain has its opposite."""
    run = jt.sampling.start_chains(jt.ising((3, 4), coupling=0.1), method=name, rng=5)
    codes = np.array([chain.codes if chain.codes.ndim == 1 else chain.codes[0] for chain in run.chain_set.chains])
    assert (codes.sum(axis=0) == 2).all()
    assert (codes[:2] + codes[2:] == 1).all()
    assert not np.array_equal(codes[0], codes[1])


def test_starts_of_packed_spins_are_opposite():
    first, second, third, _ = (chains.Spread((1, 2), shift / 4).words((3, 2)) for shift in range(4))
    assert (first == ~third).all()
    assert not (first == second).any()


def test_a_trace_of_a_slow_variable_counts_in_the_errors_of_others():
    """Y is a coin whose probability depends a little on X, which seldom changes; Var of the mean in closed form.

    X is at 0 or 1 and leaves with probability 1/100: its autocorrelation is 0.98^lag, its time 99.
    """
    rng, num_draws = np.random.default_rng(0), 3000
    moves = rng.random((60, 4, num_draws)) < 0.01
    x = (np.cumsum(moves, axis=2) + rng.integers(0, 2, (60, 4, 1))) % 2
    y = (rng.random(x.shape) < 0.45 + 0.1 * x).astype(np.int8)
    truth = np.sqrt((0.2475 + 0.01 * 0.25 * (1 + 2 * 0.98 / 0.02)) / (4 * num_draws))
    size = 4 * num_draws / 99
    squares = [standard_errors(codes, 2, size)[1] ** 2 for codes in y]
    assert np.sqrt(np.mean(squares)) == pytest.approx(truth, rel=0.15)
    alone = [standard_errors(codes, 2)[1] ** 2 for codes in y]
    assert np.sqrt(np.mean(alone)) < 0.8 * truth


@pytest.mark.parametrize("name", ["gibbs", "metropolis", "swendsen-wang", "parallel-tempering"])
def test_thinning_keeps_the_last_sweep_of_each_draw(name):
    model = jt.ising((2, 3), coupling=0.3, field=0.1)
    engine = {"gibbs": jt.Gibbs, "metropolis": jt.Metropolis, "swendsen-wang": jt.SwendsenWang}.get(
        name, jt.sampling.ParallelTempering
    )
    every = jt.sample(model, 120, method=engine(chains=2, warmup=10), rng=1)
    thinned = jt.sample(model, 40, method=engine(chains=2, warmup=10, thin=3), rng=1)
    for one in model.names:
        assert np.array_equal(thinned[one], every[one][:, 2::3])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("engine", [jt.Gibbs(draws=50, warmup=5), jt.Metropolis(draws=50, warmup=5)])
def test_factors_beyond_doubles_leave_the_draws_as_they_are(engine, scale):
    """A factor's scale changes nothing: the weights of a node's states, products of its factors, leave the doubles."""
    rng = np.random.default_rng(0)
    x = [jt.Variable(f"x{place}", 3) for place in range(4)]
    tables = [([x[a], x[b]], rng.random((3, 3)) + 0.1) for a in range(4) for b in range(a)]
    plain, scaled = (jt.MarkovNetwork([jt.Factor(scope, table * by) for scope, table in tables]) for by in (1.0, scale))
    targets = [Target(arrays, np.zeros(12)) for arrays in (factor_arrays(plain), factor_arrays(scaled))]
    sums = [tabulate(target, make_block(target, (0,))).cumulative for target in targets]
    assert sums[1] == pytest.approx(sums[0], rel=1e-11)
    found = [jt.sample(model, 200, method=engine, rng=2) for model in (plain, scaled)]
    for one in x:
        assert np.array_equal(found[0][one.name], found[1][one.name])
        assert len(np.unique(found[0][one.name])) == 3
