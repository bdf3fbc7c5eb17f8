"""What hybrid networks are asked besides marginals, what is refused and with what size, and numbers of far scales."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

import juncture as jt

K, M = jt.Variable("k", ["a", "b"]), jt.Variable("m", 3)
X, Y, Z = jt.Variable("x"), jt.Variable("y"), jt.Variable("z")


def small_network(noise=0.0):
    """k → m, k → x → y ← m, y → z, the last without noise."""
    return jt.BayesianNetwork(
        [
            jt.Conditional(K, [], [0.3, 0.7]),
            jt.Conditional(M, [K], [[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]]),
            jt.LinearGaussian(X, [K], [[], []], [0.0, 2.0], [1.0, 0.25]),
            jt.LinearGaussian(Y, [X, M], [[1.0], [-1.0], [0.5]], [0.0, 1.0, 2.0], [0.5, 1.0, 2.0]),
            jt.LinearGaussian(Z, [Y], [2.0], 1.0, noise),
        ]
    )


def chain(length, num_states=2):
    """A switch for every number, each of which depends on the one before."""
    switches = [jt.Variable(f"s{at}", num_states) for at in range(length)]
    numbers = [jt.Variable(f"x{at}") for at in range(length)]
    even = np.full(num_states, 1 / num_states)
    parts = [jt.Conditional(switch, [], even) for switch in switches]
    means, noise = np.arange(num_states), np.ones(num_states)
    parts.append(jt.LinearGaussian(numbers[0], [switches[0]], np.empty((num_states, 0)), means, noise))
    for before, number, switch in zip(numbers, numbers[1:], switches[1:], strict=False):
        parts.append(jt.LinearGaussian(number, [switch, before], np.full((num_states, 1), 0.5), means, noise))
    return jt.BayesianNetwork(parts)


def test_draws_from_the_posterior_have_its_moments():
    model = small_network()
    evidence = {"z": 4.0, "k": [0.5, 0.9]}
    beliefs = jt.infer(model, evidence)
    rows = jt.sample(model, 40_000, given=evidence, rng=1)
    assert np.array_equal(rows.columns["y"], np.full(len(rows), 1.5))
    x = rows.columns["x"]
    assert x.mean() == pytest.approx(beliefs["x"].mean, abs=5 * beliefs["x"].standard_deviation / 200)
    assert x.var() == pytest.approx(beliefs["x"].variance, rel=0.05)
    shares = np.bincount(rows.columns["m"], minlength=3) / len(rows)
    assert shares == pytest.approx(beliefs["m"].values, abs=0.0125)
    joint = beliefs.joint("x", "m", "k")
    drawn = joint.sample(40_000, rng=2).columns
    assert np.cov(drawn["x"], drawn["k"])[0, 1] == pytest.approx(np.cov(x, rows.columns["k"])[0, 1], abs=0.01)


def test_the_best_assignments_and_the_best_states():
    model = small_network(noise=0.5)
    evidence = {"z": 4.0}
    ranked = jt.most_probable(model, evidence, k=10)
    assert len(ranked) == 5  # of six pairs of states, one cannot occur
    assert [best.log_joint for best in ranked] == sorted((best.log_joint for best in ranked), reverse=True)
    for best in ranked:
        assert set(best.assignment) == {"k", "m", "x", "y"}
        assert best.log_joint == pytest.approx(model.log_joint({**evidence, **best.assignment}))
    states = jt.most_probable(model, evidence, targets=["k", "m"])
    joint = jt.infer(model, evidence).joint("k", "m")
    assert math.exp(states.log_prob) == pytest.approx(joint.values.max())
    with pytest.raises(jt.errors.Unsupported, match="the mode of 'x' with k, m, y summed out"):
        jt.most_probable(model, evidence, targets=["x"])
    with pytest.raises(jt.errors.Unsupported, match="has no bound: one of them has the variance 0"):
        jt.most_probable(small_network())


def test_rows_of_best_assignments():
    model = small_network(noise=0.5)
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match="1 of 3 rows"):
        found = jt.most_probable(model, [{"z": 4.0}, {"z": 1.0, "k": "a"}, {"z": 1.0, "k": "b", "m": 2}])
    alone = jt.most_probable(model, {"z": 4.0})
    first = {name: column[0] for name, column in found.assignments.to_dict().items()}
    assert first == {**alone.assignment}
    assert found.assignments.to_dict()["k"][1:] == ["a", None]
    assert math.isnan(found.log_prob[2])


def test_pictures_of_best_assignments_have_densities_and_few_digits():
    model = small_network(noise=0.5)
    ranked, rows = jt.most_probable(model, {"z": 4.0}, k=2), jt.most_probable(model, [{"z": 4.0}, {"z": 1.0}])
    number = f"{ranked[0].assignment['x']:.6g}"
    for shown in (jt.draw(ranked).svg, jt.draw(rows).svg):
        assert "log density" in shown
        assert "%" not in shown
    for shown in (jt.draw(ranked).svg, jt.draw(rows).svg, ranked[0]._repr_html_(), rows._repr_html_()):
        assert number in shown
        assert str(ranked[0].assignment["x"]) not in shown
    assert ranked[0].is_density


def test_best_rows_with_ties_and_with_peaks_that_cannot_occur():
    """Given k = a, z is 0 and x is known, so that its density has no bound; a third state is as good as the second."""
    coin = jt.Variable("coin", 3)
    model = jt.BayesianNetwork(
        [
            jt.Conditional(K, [], [0.5, 0.5]),
            jt.Conditional(coin, [K], [[0.2, 0.4, 0.4], [0.2, 0.4, 0.4]]),
            jt.LinearGaussian(X, [K], [[], []], [0.0, 1.0], [0.0, 1.0]),
            jt.LinearGaussian(Z, [K, X], [[0.0], [1.0]], [0.0, 0.0], [0.0, 1.0]),
        ]
    )
    found = jt.most_probable(model, [{"z": 3.0}, {"z": 2.0}]).assignments.to_dict()
    assert found == {"k": ["b", "b"], "coin": [1, 1], "x": [2.0, 1.5]}
    assert jt.most_probable(model, {"z": 3.0}).assignment == {"k": "b", "coin": 1, "x": 2.0}
    with pytest.raises(jt.errors.Unsupported, match="has no bound"):
        jt.most_probable(model, [{"z": 3.0}, {"z": 0.0}])


def test_further_findings_interventions_and_plans():
    model = small_network()
    both = jt.infer(model, {"z": 4.0, "m": 1})
    assert jt.infer(model, {"z": 4.0}).with_evidence({"m": 1})["x"].mean == both["x"].mean
    assert both.conflict == pytest.approx(
        jt.infer(model, {"z": 4.0}).log_evidence + jt.infer(model, {"m": 1}).log_evidence - both.log_evidence
    )
    done = jt.infer(jt.do(model, {"x": 1.0}), {"k": "a"})
    assert (done["x"].mean, done["x"].variance) == (1.0, 0.0)
    assert done["y"].mean == pytest.approx(0.2 * 1.0 + 0.3 * 0.0 + 0.5 * 2.5)
    with pytest.raises(jt.ImpossibleEvidence, match="x=2"):
        jt.infer(jt.do(model, {"x": 1.0}), {"x": 2.0})
    plan = jt.compile(model, observed=["z"], targets=["k"])
    assert plan.run(model, {"z": 4.0})["k"]["a"] == jt.infer(model, {"z": 4.0})["k"]["a"]
    assert jt.cost(model, observed=["m"], targets=["y"]).largest_table == 2
    assert jt.cost(model, targets=["y"]).largest_table == 6


def test_log_prob_sums_out_what_is_missing():
    model = small_network()
    rows = [{"k": "a", "m": 2, "x": 0.5, "y": 1.0, "z": 3.0}, {"x": 0.5}, {"z": 3.0, "m": 2}, {"y": 1.0, "z": 3.5}]
    found = jt.log_prob(model, rows)
    assert found[0] == pytest.approx(model.log_joint(rows[0]))
    assert found[1:3] == pytest.approx([jt.infer(model, row).log_evidence for row in rows[1:3]])
    assert found[3] == -math.inf


def test_evidence_off_an_exact_relation_is_impossible_beyond_the_tolerance():
    model = small_network()
    assert jt.infer(model, {"y": 1e6, "z": 2e6 + 1 + 1e-4}).log_evidence < 0
    with pytest.raises(
        jt.ImpossibleEvidence, match=r"z=.*, y=.* cannot occur together|y=.*, z=.* cannot occur together"
    ):
        jt.infer(model, {"y": 1.0, "z": 3.001})
    loose = jt.messages.StrongJunctionTree(tolerance=1e-3)
    assert jt.infer(model, {"y": 1.0, "z": 3.001}, method=loose).log_evidence == pytest.approx(
        jt.infer(model, {"y": 1.0}).log_evidence
    )


def test_an_exact_relation_that_holds_outweighs_noise():
    exact = jt.BayesianNetwork(
        [jt.Conditional(K, [], [0.01, 0.99]), jt.LinearGaussian(X, [K], [[], []], [0.0, 0.0], [0.0, 1.0])]
    )
    assert jt.infer(exact, {"x": 0.0})["k"]["a"] == 1.0
    assert jt.infer(exact, {"x": 0.0}).log_evidence == pytest.approx(math.log(0.01))
    assert jt.infer(exact, {"x": 1e-3})["k"]["a"] == 0.0
    marginal = jt.infer(exact)["x"]
    assert [marginal.cdf(-1e-12), marginal.cdf(0.0)] == pytest.approx([0.495, 0.505])
    assert marginal.quantile(0.5) == 0.0
    assert (marginal.log_prob(0.0), marginal.quantile([0.0, 1.0]).tolist()) == (math.inf, [-math.inf, math.inf])
    with pytest.raises(jt.errors.Unsupported, match=r"'x' is 0 with the probability 0\.01"):
        jt.infer(exact).mixture("x")


def test_scales_from_tiny_to_huge_lose_no_digits():
    """Standard deviations from 1e-8 to 1e6 in one chain, against the same recursion in fractions."""
    deviations = [Fraction(1, 10**8), Fraction(10**6), Fraction(1, 10**4), Fraction(10**2), Fraction(1, 10**6)]
    slopes = [Fraction(3, 2), Fraction(1, 10**6), Fraction(10**5), Fraction(1, 3)]
    names = [jt.Variable(f"x{at}") for at in range(5)]
    parts = [jt.Conditional(K, [], [0.5, 0.5])]
    parts.append(jt.LinearGaussian(names[0], [K], [[], []], [1.0, 1.0], [float(deviations[0] ** 2)] * 2))
    for at, slope in enumerate(slopes):
        noise = float(deviations[at + 1] ** 2)
        parts.append(jt.LinearGaussian(names[at + 1], [K, names[at]], [[float(slope)]] * 2, [0.0, 0.0], [noise] * 2))
    mean, variance, covariances = (
        Fraction(1),
        Fraction(float(deviations[0] ** 2)),
        [Fraction(float(deviations[0] ** 2))],
    )
    for at, slope in enumerate(slopes):
        ratio = Fraction(float(slope))
        mean, variance = ratio * mean, ratio**2 * variance + Fraction(float(deviations[at + 1] ** 2))
        covariances.append(ratio * covariances[-1])
    last, gain = 12345.0, covariances[-1] / variance
    beliefs = jt.infer(jt.BayesianNetwork(parts), {"x4": last})
    assert beliefs["x0"].mean == pytest.approx(float(1 + gain * (Fraction(last) - mean)), rel=1e-15)
    assert beliefs["x0"].variance == pytest.approx(float(covariances[0] - gain * covariances[-1]), rel=1e-12)
    log_density = -0.5 * (float((Fraction(last) - mean) ** 2 / variance) + math.log(2 * math.pi * float(variance)))
    assert beliefs.log_evidence == pytest.approx(log_density, rel=1e-13)


def test_a_long_exact_chain():
    """Sums without noise: the last of 60 numbers decides the first, in every configuration."""
    names = [jt.Variable(f"x{at}") for at in range(60)]
    parts = [jt.Conditional(K, [], [0.5, 0.5]), jt.LinearGaussian(names[0], [K], [[], []], [0.0, 1.0], [1.0, 1.0])]
    parts += [jt.LinearGaussian(b, [a], [1.1], 0.1, 0.0) for a, b in pairwise(names)]
    start, value = 0.7, 0.7
    for _ in names[1:]:
        value = 1.1 * value + 0.1
    beliefs = jt.infer(jt.BayesianNetwork(parts), {"x59": value})
    assert beliefs["x0"].mean == pytest.approx(start, rel=1e-12)
    assert beliefs["x0"].variance == 0.0
    weights = np.exp([-0.5 * start**2, -0.5 * (start - 1) ** 2])
    assert beliefs["k"].values == pytest.approx(weights / weights.sum(), abs=1e-12)


def test_what_is_too_large_is_refused_with_its_size_and_the_rest_is_answered():
    model = chain(29)
    beliefs = jt.infer(model, memory_limit=2**22)
    assert beliefs["x9"].mean == pytest.approx(0.5 * sum(0.5**at for at in range(10)))
    for name in ("x28", "x27"):
        with pytest.raises(jt.TooLarge, match=rf"the posterior of {name} would need .* configurations"):
            beliefs[name]
    assert beliefs["s28"].values.tolist() == [0.5, 0.5]
    assert "too large to compute" in repr(jt.infer(model, targets=["x28"], memory_limit=2**22))
    assert "too large to compute" in jt.draw(model, beliefs).svg
    seen = jt.infer(model, {"x26": 1.0}, memory_limit=2**22)  # which separates the last two from the rest
    assert seen["x28"].mean == pytest.approx(0.5 * (0.5 * 1.0 + 0.5) + 0.5)
    with pytest.raises(jt.TooLarge, match="the probability of the evidence would need"):
        seen.log_evidence  # noqa: B018
    known = {f"s{at}": 1 for at in range(27)}  # observed parents are cut off
    assert jt.infer(model, known, memory_limit=2**20)["x28"].num_components == 4
    assert jt.cost(model, targets=["x28"]).largest_table == 2**29
    with pytest.raises(jt.TooLarge, match=r"1\.61e\+60 configurations"):  # at once, and whatever the limit
        jt.infer(chain(200), memory_limit=10**90)["x199"]


def test_a_child_with_states_of_a_real_parent_is_refused_by_name():
    logistic = jt.Logistic(K, [X], [1.0], 0.0)
    model = jt.BayesianNetwork(
        [
            jt.Conditional(M, [], [0.2, 0.3, 0.5]),
            jt.LinearGaussian(X, [M], [[], [], []], [0, 1, 2.0], [1, 1, 1.0]),
            logistic,
        ]
    )
    for question in (lambda: jt.infer(model), lambda: jt.infer(model, {"k": "a"}), lambda: jt.most_probable(model)):
        with pytest.raises(
            jt.errors.Unsupported,
            match=r"cannot take Logistic\(k \| x\): its parent 'x' is real.*samples can: jt.sample",
        ):
            question()
    assert jt.infer(model, {"m": 1}, targets=["x"])["x"].mean == pytest.approx(1.0)  # what the answer does not need
    assert len(jt.sample(model, 5, rng=0)) == 5


def test_a_logistic_child_of_observed_numbers_is_a_table():
    """Against the joint density of full rows, for all states; rows are a batch, with numbers of their own."""
    model = jt.BayesianNetwork(
        [
            jt.Conditional(M, [], [0.2, 0.3, 0.5]),
            jt.LinearGaussian(X, [M], [[], [], []], [0, 1, 2.0], [1, 1, 1.0]),
            jt.Logistic(K, [X, M], [1.0, -0.5], 0.2),
            jt.LinearGaussian(Y, [K, X], [[1.0], [-1.0]], [0.0, 1.0], [0.5, 1.0]),
        ]
    )
    rows = [{"x": 0.7, "y": 1.2}, {"x": -3.0}, {"x": 2.0, "y": 0.0, "k": "b"}]
    beliefs = jt.infer(model, rows)
    for number, row in enumerate(rows):
        seen = {"k": K.labels, "m": M.labels} | {name: [value] for name, value in row.items()}
        cells = [dict(zip(seen, states, strict=True)) for states in product(*seen.values())]
        part = model if "y" in row else jt.BayesianNetwork(model.conditionals[:3])
        logs = np.array([part.log_joint(cell) for cell in cells])
        assert beliefs.log_evidence[number] == pytest.approx(np.log(np.exp(logs).sum()), rel=1e-12)
        shares = np.exp(logs - beliefs.log_evidence[number])
        for name in ("k", "m"):
            for state in model.variable(name).labels:
                share = sum(p for p, cell in zip(shares, cells, strict=True) if cell[name] == state)
                assert beliefs[name][state][number] == pytest.approx(share, abs=1e-12)
    best = jt.most_probable(model, rows[0])
    assert best.log_joint == pytest.approx(model.log_joint({**rows[0], **best.assignment}))
    drawn = jt.sample(model, 20_000, given=rows[0], rng=0)
    assert np.mean(drawn.columns["k"] == 0) == pytest.approx(beliefs["k"]["a"][0], abs=0.015)
    with pytest.raises(
        jt.errors.Unsupported, match=r"Logistic\(k \| x, m\): its parent 'x' is real-valued, and not observed"
    ):
        jt.infer(model, {"y": 1.2})


def test_answers_print_and_become_frames():
    model = small_network()
    one, many = jt.infer(model, {"z": 4.0}), jt.infer(model, [{"z": 4.0}, {"k": "a"}])
    assert "x: mean" in repr(one)
    frame = one.to_pandas()
    assert frame.loc[frame.variable == "x", "mean"].item() == one["x"].mean
    assert frame.loc[(frame.variable == "k") & (frame.state == "a"), "probability"].item() == one["k"]["a"]
    wide = many.to_frame()
    assert wide["mean of x"].tolist() == pytest.approx(many["x"].mean.tolist())
    assert wide["k=a"].tolist() == pytest.approx([one["k"]["a"], 1.0])
    assert one.to_dict()["x"] == {"mean": one["x"].mean, "variance": one["x"].variance}
    for beliefs in (one, many):
        assert "x" in beliefs._repr_html_()
        assert jt.draw(beliefs).svg.startswith("<svg")
    with pytest.raises(jt.errors.InvalidData, match="'k' has states"):
        one.mixture("k")


def test_purely_real_networks_agree_with_their_own_engine():
    model = jt.BayesianNetwork(
        [
            jt.LinearGaussian(X, [], [], 1.0, 2.0),
            jt.LinearGaussian(Y, [X], [0.5], 0.0, 1.0),
            jt.LinearGaussian(Z, [X, Y], [1, 1], 0, 0),
        ]
    )
    mine, other = (
        jt.infer(model, {"z": 2.0}, method=name) for name in ("strong-junction-tree", "gaussian-elimination")
    )
    assert mine.log_evidence == pytest.approx(other.log_evidence, rel=1e-13)
    assert (mine["x"].mean, mine["x"].variance) == pytest.approx((other["x"].mean, other["x"].variance), rel=1e-13)
    assert other.mixture("x").mean == pytest.approx(mine["x"].mean)
