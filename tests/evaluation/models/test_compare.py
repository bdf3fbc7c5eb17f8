"""`compare_models`: the numbers of the sources, laws over kinds of models, and what is not defined."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy.stats import norm, poisson

import juncture as jt
from juncture.data.sequences import Sequence
from juncture.supervised import (
    BayesianLinearRegression,
    ConjugateLinearRegression,
    GeneralizedLinearModel,
    LaplaceLogistic,
    LinearRegression,
    LogisticRegression,
    PolynomialBasis,
)
from support.curve import T, X

evaluation = jt.evaluation
Candidate, compare = evaluation.Candidate, evaluation.compare_models
ALL = ("aic", "aicc", "bic", "evidence", "prequential", "mdl", "cv", "loo", "waic")


def score_of(comparison, criterion, model):
    return next(score for score in comparison.ranked(criterion) if score.model == model)


def bernoulli_rows(number):
    return np.repeat([1, 0], [3 * number // 10, number - 3 * number // 10])


@pytest.mark.parametrize(("number", "gap"), [(10, 0.074549), (100, 0.131799), (1000, 0.137929), (10_000, 0.138546)])
def test_how_far_bic_is_from_the_evidence(number, gap):
    """S0-343: 30 % ones, a uniform prior; the gap tends to ½ log 2π + ½ log 0.21 = 0.138615."""
    found = compare({"coin": Candidate(jt.Bernoulli, jt.Beta(1, 1))}, bernoulli_rows(number), ("bic", "evidence"))
    bic, evidence = (score_of(found, name, "coin").score for name in ("bic", "evidence"))
    assert evidence - bic == pytest.approx(gap, abs=1e-6)


FAMILIES = {
    "bernoulli": (jt.Bernoulli, jt.Beta(1.5, 0.7), {}, [1, 0, 1, 1, 0, 1, 1]),
    "poisson": (jt.Poisson, jt.Gamma(2.0, 1.0), {}, [3, 0, 1, 4, 2]),
    "exponential": (jt.Exponential, jt.Gamma(2.0, 1.0), {}, [0.3, 2.0, 1.1, 0.7]),
    "binomial": (jt.Binomial, jt.Beta(1.0, 2.0), {"trials": 5}, [3, 1, 5, 2]),
    "categorical": (jt.Categorical, jt.Dirichlet([1.0, 2.0, 0.5]), {"num_states": 3}, [0, 2, 1, 1, 1, 0]),
    "normal": (jt.Gaussian, jt.NormalInverseGamma(0.0, 1.0, 2.0, 1.5), {}, [0.3, -1.0, 2.2, 0.5, 1.1]),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_prequential_scores_add_up_to_the_evidence_in_any_order(name):
    """S0-342, S4-018; and leaving out a row is the evidence of all rows over that of the others."""
    family, prior, known, rows = FAMILIES[name]
    rows = np.array(rows)
    order = np.random.default_rng(0).permutation(len(rows))
    found = compare({"m": Candidate(family, prior, **known)}, rows, ("evidence", "prequential", "loo"), order=order)
    evidence, ahead, loo = (score_of(found, criterion, "m").score for criterion in ("evidence", "prequential", "loo"))
    assert evidence == pytest.approx(prior.log_evidence(family.statistics(rows, **known)), abs=1e-9)
    assert ahead == pytest.approx(evidence, abs=1e-9)
    others = [np.delete(rows, index) for index in range(len(rows))]
    parts = [prior.posterior(family.statistics(other, **known)).predictive() for other in others]
    wanted = sum(part.log_prob(row) for part, row in zip(parts, rows, strict=True))
    assert loo == pytest.approx(wanted, abs=1e-8)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=12), st.floats(0.5, 3.0), st.floats(0.5, 3.0))
def test_the_evidence_of_one_parameter_by_quadrature(flips, a, b):
    """S0-339, S0-365."""
    prior = jt.Beta(a, b)
    found = compare({"m": Candidate(jt.Bernoulli, prior)}, flips, ["evidence"]).scores[0]

    def height(theta):
        return theta ** sum(flips) * (1 - theta) ** (len(flips) - sum(flips)) * prior.prob(theta)

    with np.errstate(all="ignore"):
        total = integrate.quad(height, 0.0, 1.0, limit=200)[0]
    assert found.score == pytest.approx(math.log(total), abs=1e-6)
    assert found.quality == "exact"


def test_the_evidence_of_two_parameters_by_quadrature():
    """S0-339: mean and variance of a Gaussian under a normal-inverse-gamma prior."""
    family, prior, _, rows = FAMILIES["normal"]
    found = compare({"m": Candidate(family, prior)}, rows, ["evidence"]).scores[0]

    mean, log_variance = np.meshgrid(np.linspace(-15, 15, 1501), np.linspace(-8, 12, 1001), indexing="ij")
    variance = np.exp(log_variance)
    logs = prior.log_prob((mean, variance)) + log_variance
    logs += sum(jt.Gaussian(mean, variance).log_prob(row) for row in rows)
    total = integrate.trapezoid(integrate.trapezoid(np.exp(logs), dx=0.02), dx=0.02)
    assert found.score == pytest.approx(math.log(total), abs=1e-6)


def network_rows(seed, number=60):
    rng = np.random.default_rng(seed)
    a, c = rng.integers(0, 2, number), rng.integers(0, 3, number)
    return {"a": a, "b": np.where(rng.random(number) < 0.8, a, 1 - a), "c": c}


@pytest.mark.parametrize("prior", [jt.BDeu(4.0), jt.K2(), 0.7])
def test_networks_with_dirichlet_priors(prior):
    """Evidence = score of the structure = prequential in any order; leave-one-out by learning without each row."""
    graph, rows = jt.DirectedGraph.parse("a -> b; c"), network_rows(0, 12)
    order = np.random.default_rng(1).permutation(12)
    found = compare(
        {"m": Candidate(graph, prior)}, rows, ("evidence", "prequential", "loo", "cv"), order=order, folds=12
    )
    evidence, ahead, loo, cv = (score_of(found, name, "m").score for name in ("evidence", "prequential", "loo", "cv"))
    assert ahead == pytest.approx(evidence, abs=1e-9)
    assert loo == pytest.approx(cv, abs=1e-9)  # with as many folds as rows, refitted one by one
    if not isinstance(prior, float):
        assert evidence == pytest.approx(jt.structure.score(graph, rows, prior), abs=1e-9)
    assert score_of(found, "evidence", "m").quality == "exact"


def test_bic_and_aic_of_a_network_are_the_scores_of_its_structure():
    """S4-132, S0-343."""
    graph, rows = jt.DirectedGraph.parse("a -> b; c"), network_rows(1)
    found = compare({"graph": graph, "fit": jt.fit(graph, rows)}, rows, ("aic", "bic"))
    for score in found.scores:
        assert score.score == pytest.approx(jt.structure.score(graph, rows, score.criterion), abs=1e-9)
    assert score_of(found, "bic", "fit").num_parameters == 1 + 2 + 2


def regression_rows(number=40):
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, number)
    return x, 1.0 - 2.0 * x + 0.3 * rng.normal(size=number)


@pytest.mark.parametrize("kind", [BayesianLinearRegression, ConjugateLinearRegression])
def test_bayesian_regressions(kind):
    """S4-017, S4-018: the chain of predictions is the evidence; leave-one-out by learning without each row."""
    x, t = regression_rows(15)
    prior, order = kind.standard(2, 0.5), np.random.default_rng(2).permutation(15)
    found = compare({"m": prior}, (x, t), ("evidence", "prequential", "loo", "cv", "waic"), folds=15, order=order)
    values = {name: score_of(found, name, "m").score for name in found.criteria}
    assert values["evidence"] == pytest.approx(prior.log_evidence(x, t), abs=1e-9)
    assert values["prequential"] == pytest.approx(values["evidence"], abs=1e-8)
    assert values["loo"] == pytest.approx(values["cv"], abs=1e-9)
    assert values["waic"] == pytest.approx(values["loo"], abs=0.5)


def test_draws_agree_with_the_closed_form_of_leave_one_out():
    """The importance weights of posterior draws estimate what the closed form gives."""
    x, t = regression_rows(30)
    prior = ConjugateLinearRegression.standard(2, 0.5)
    exact = compare({"m": prior}, (x, t), ["loo"]).scores[0]
    from juncture.evaluation.models.compare import facts_of

    draws = facts_of(prior, (x, t)).draws(4000, np.random.default_rng(0))
    estimate = compare({"m": draws}, criteria=["loo"]).scores[0]
    assert (exact.quality, estimate.quality) == ("exact", "approximate")
    assert estimate.score == pytest.approx(exact.score, abs=0.1)
    assert "Pareto k" in estimate.note


def test_laplace_for_logistic_regression_with_a_proper_prior():
    x, t = regression_rows(40)
    labels = t > np.median(t) + 0.3 * np.sin(9 * t)
    prior = {"penalty": jt.L2(0.5), "penalize_constant": True}
    proper, flat = (jt.fit(LogisticRegression, x, labels, **options) for options in (prior, {}))
    found = compare({"proper": proper, "flat": flat}, (x, labels), ("evidence", "aic", "loo", "cv"))
    score = score_of(found, "evidence", "proper")
    assert score.quality == "approximate"
    assert score.score == pytest.approx(jt.fit(LaplaceLogistic, x, labels, **prior).model.log_evidence)
    assert "flat prior" in score_of(found, "evidence", "flat").note
    assert score_of(found, "aic", "flat").score == pytest.approx(flat.log_likelihood - 2)
    assert score_of(found, "loo", "proper").score == pytest.approx(score_of(found, "cv", "proper").score, abs=1.0)


def test_information_criteria_of_regressions():
    """S4-132: log-likelihoods by SciPy at the coefficients of NumPy; the noise variance counts as a parameter."""
    x, t = regression_rows()
    line = np.polyfit(x, t, 1)
    errors = t - np.polyval(line, x)
    total = norm.logpdf(errors, scale=math.sqrt(np.mean(errors**2))).sum()
    found = compare({"m": jt.fit(LinearRegression, x, t)}, (x, t), ("aic", "aicc", "bic"))
    costs = {"aic": 3.0, "aicc": 3.0 * 40 / (40 - 3 - 1), "bic": 1.5 * math.log(40)}
    for name, cost in costs.items():
        assert score_of(found, name, "m").score == pytest.approx(total - cost)
    counts = np.random.default_rng(0).poisson(np.exp(0.5 + x))
    fitted = jt.fit(GeneralizedLinearModel, x, counts, family=jt.Poisson)
    total = poisson.logpmf(counts, np.exp(fitted.model.coefficients @ [np.ones(40), x])).sum()
    found = compare({"m": fitted}, (x, counts), ["aic"])
    assert found.scores[0].score == pytest.approx(total - 2)


def test_the_evidence_picks_the_degree_of_the_ten_points():
    """S4-019: α = 5e-3, β = 11.1, the degrees 0 to 9."""
    degrees = range(10)
    models = {
        f"{degree}": BayesianLinearRegression.standard(degree + 1, 5e-3, 11.1, PolynomialBasis(degree))
        for degree in degrees
    }
    found = compare(models, (X, T), ("evidence", "prequential"))
    expected = [
        -23.1027, -17.8842, -20.3088, -13.9341, -13.7129, -14.3587, -14.9812, -15.4811, -15.9059, -16.2903,
    ]  # fmt: skip
    scores = [score_of(found, "evidence", str(degree)).score for degree in degrees]
    np.testing.assert_allclose(scores, expected, atol=5e-5)
    assert found.best("evidence") == found.best("prequential") == "4"
    assert sum(found.probabilities().values()) == pytest.approx(1.0)


def test_mixtures_are_singular_and_have_a_bound():
    rng = np.random.default_rng(0)
    rows = np.r_[rng.normal(0, 1, 60), rng.normal(6, 1, 60)]
    one = jt.Mixture([1.0], [jt.Gaussian(3.0, 9.0)])
    two = jt.Mixture([0.5, 0.5], [jt.Gaussian(0.0, 1.0), jt.Gaussian(6.0, 1.0)])
    prior = jt.MixturePrior(1.0, jt.NormalInverseGamma(3.0, 0.1, 2.0, 2.0))
    models = {"one": Candidate(one, prior), "two": Candidate(two, prior), "fit": jt.fit(two, rows)}
    found = compare(models, rows, ("bic", "evidence", "cv"))
    assert found.best("evidence") == found.best("cv") == "two"
    assert score_of(found, "evidence", "two").quality == "bound"
    assert "singular" in score_of(found, "bic", "fit").note
    total = float(jt.fit(two, rows).model.log_prob(rows).sum())
    assert score_of(found, "bic", "fit").score == pytest.approx(total - 2.5 * math.log(120))
    family = compare({"m": Candidate(jt.Gaussian, prior.components)}, rows, ["evidence"]).scores[0]
    assert score_of(found, "evidence", "one").score == pytest.approx(family.score)  # one component: the evidence


def test_sequences_count_steps_and_fold_over_sequences():
    chain = jt.MarkovChain(initial=[0.5, 0.5], transition=[[0.9, 0.1], [0.2, 0.8]])
    sequences = [[0, 0, 1, 1], [1, 1, 0], [0, 0, 0, 0, 1]]
    fitted = jt.fit(chain, sequences)
    found = compare({"m": fitted}, sequences, ("bic", "cv", "evidence"))
    total = float(np.sum(jt.log_prob(fitted.model, sequences)))
    assert score_of(found, "bic", "m").score == pytest.approx(total - 0.5 * fitted.model.num_parameters * math.log(12))
    assert score_of(found, "evidence", "m").quality == "undefined"
    assert found.num_rows == 3


def test_the_table_is_a_ranking():
    """Best first, differences to the best, weights sum to 1, bits = -log2; undefined models last, with a reason."""
    rows = np.random.default_rng(0).poisson(3.0, 50)
    models = {"poisson": Candidate(jt.Poisson, jt.Gamma(1.0, 0.3)), "geometric": jt.Geometric, "fixed": jt.Poisson(2.0)}
    found = compare(models, rows, ALL, prior={"poisson": 1, "geometric": 2, "fixed": 1})
    for criterion in found.criteria:
        ranked = found.ranked(criterion)
        defined = [score for score in ranked if score.score is not None]
        assert defined == list(ranked[: len(defined)])
        assert sum(score.weight for score in defined) == pytest.approx(1.0)
        sign = -1 if criterion == "mdl" else 1
        assert all(sign * score.difference <= 0 for score in defined)
        assert all(score.note for score in ranked[len(defined) :])
    bits = {score.model: score.score for score in found.ranked("mdl")}
    for score in found.ranked("bic"):
        assert bits[score.model] == pytest.approx(-score.score / math.log(2))
    posterior = evaluation.model_posterior(
        {score.model: score.score for score in found.ranked("evidence") if score.score is not None}
    )
    assert found.probabilities() == pytest.approx(posterior)
    assert len(found.to_pandas()) == 3 * len(ALL)
    assert "undefined" in str(found)
    assert "<table>" in found._repr_html_()


def test_standard_errors_are_those_of_paired_differences():
    rows = np.random.default_rng(0).normal(size=30)
    found = compare({"a": jt.Gaussian(0.0, 1.0), "b": jt.Gaussian(0.5, 1.0)}, rows, ["loo"])
    differences = jt.Gaussian(0.0, 1.0).log_prob(rows) - jt.Gaussian(0.5, 1.0).log_prob(rows)
    assert found.ranked("loo")[1].standard_error == pytest.approx(math.sqrt(30 * np.var(differences)))


@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_frames_are_rows(frames):
    library = pytest.importorskip(frames)
    rows = network_rows(2)
    graph = jt.DirectedGraph.parse("a -> b; c")
    plain = compare({"m": Candidate(graph, 1.0)}, rows, ["evidence"]).scores[0].score
    frame = library.DataFrame(rows)
    assert compare({"m": Candidate(graph, 1.0)}, frame, ["evidence"]).scores[0].score == pytest.approx(plain)
    numbers = library.DataFrame({"x": [1.0, 2.0, 4.0]})
    assert compare({"m": jt.Exponential}, numbers, ["aic"]).scores[0].score == pytest.approx(
        compare({"m": jt.Exponential}, [1.0, 2.0, 4.0], ["aic"]).scores[0].score
    )


def test_wrong_input_is_refused_in_a_sentence():
    rows, models = [1, 0, 1], {"m": jt.Bernoulli}
    wrong = [
        lambda: compare({}, rows),
        lambda: compare(models, rows, ["gini"]),
        lambda: compare(models, rows, "bic"),
        lambda: compare(models, rows, ["bic"], prior={"other": 1.0}),
        lambda: compare({"m": "a model"}, rows),
        lambda: compare({"m": Candidate(jt.Bernoulli(0.5), jt.Beta(1, 1))}, rows),
        lambda: compare({"m": Candidate(jt.DirectedGraph([], ["a"]), trials=3)}, {"a": rows}),
        lambda: compare({"m": jt.UndirectedGraph(["a"], [])}, rows),
        lambda: compare({"m": jt.fit(LinearRegression, [0.0, 1.0, 2.0], [1.0, 2.0, 4.0])}, [1.0, 2.0]),
        lambda: compare(models, rows, ["prequential"], order=[0, 0, 1]),
        lambda: compare({"m": jt.Gaussian(0.0, 1.0), "n": np.zeros((10, 4))}, [0.1, 0.2, 0.3], ["loo"]),
    ]
    for call in wrong:
        with pytest.raises(jt.errors.JunctureError):
            call()


def test_pictures_show_differences_against_parameters():
    x, t = regression_rows(20)
    models = {f"{m}": jt.fit(LinearRegression, x, t, basis=PolynomialBasis(m)) for m in range(4)}
    found = compare(models, (x, t), ("bic", "cv", "evidence"))
    panels = found.plot()
    assert [axes.get_title() for axes in panels] == ["bic", "cv"]  # no evidence without priors
    ordered = sorted(found.ranked("bic"), key=lambda score: score.num_parameters)
    places, heights = panels[0].lines[0].get_data()
    assert list(places) == [2, 3, 4, 5]
    np.testing.assert_allclose(heights, [score.difference for score in ordered])
    only = compare(models, (x, t), ["evidence"])
    with pytest.raises(jt.errors.InvalidData, match="nothing to draw"):
        only.plot()
    with pytest.raises(jt.errors.InvalidData, match="none of the models"):
        only.best("evidence")


def test_hidden_markov_models_and_factor_models():
    rng = np.random.default_rng(0)
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.3, 0.7]])
    sequences = [jt.sample(hmm, 100, rng=rng).observations for _ in range(4)]
    fitted = jt.fit(hmm, sequences)
    found = compare({"hmm": fitted}, sequences, ("bic", "cv", "loo"), folds=2)
    wanted = float(jt.log_prob(fitted.model, sequences).sum()) - 0.5 * fitted.model.num_parameters * math.log(400)
    assert score_of(found, "bic", "hmm").score == pytest.approx(wanted)
    assert "singular" in score_of(found, "bic", "hmm").note
    assert math.isfinite(score_of(found, "cv", "hmm").score)
    assert "take 'cv'" in score_of(found, "loo", "hmm").note
    rows = rng.normal(size=(60, 1)) @ rng.normal(size=(1, 4)) + 0.3 * rng.normal(size=(60, 4))
    models = {f"{k}": jt.fit(jt.ProbabilisticPCA(np.eye(4)[:, :k], np.zeros(4), 0.5), rows) for k in (1, 2)}
    found = compare(models, rows, ("bic", "cv"))
    for name, fitted in models.items():
        penalty = 0.5 * fitted.model.num_parameters * math.log(60)
        assert score_of(found, "bic", name).score == pytest.approx(fitted.log_likelihood - penalty)
    assert found.best("bic") == "1"


def test_bic_finds_the_true_graph_as_rows_become_many():
    """S0-345: b depends on a, weakly; with few rows the empty graph may win, with many the true one does."""
    graphs = {"apart": jt.DirectedGraph([], ["a", "b"]), "true": jt.DirectedGraph.parse("a -> b")}
    shares = []
    for number in (20, 2000):
        rng, hits = np.random.default_rng(number), 0
        for _ in range(5):
            a = rng.integers(0, 2, number)
            rows = {"a": a, "b": np.where(rng.random(number) < 0.62, a, 1 - a)}
            hits += compare(graphs, rows, ["bic"]).best("bic") == "true"
        shares.append(hits)
    assert shares[0] < shares[1] == 5


def test_training_likelihood_never_falls_and_held_out_peaks():
    """S0-337, S0-338: nested polynomials."""
    x, t = regression_rows(25)
    fits = {f"{m}": jt.fit(LinearRegression, x, t, basis=PolynomialBasis(m)) for m in range(9)}
    training = [fit.log_likelihood for fit in fits.values()]
    assert all(np.diff(training) >= -1e-9)
    assert compare(fits, (x, t), ["cv"]).best("cv") == "1"


def test_networks_of_real_variables_have_the_evidence_of_their_lines():
    """The arrow between two variables has no direction that rows could tell: equivalent graphs have one evidence."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    rows = {"x": x, "y": 0.8 * x + rng.normal(size=40)}
    graphs = {
        text: Candidate(jt.DirectedGraph.parse(text), jt.structure.BGe()) for text in ("x -> y", "y -> x", "x; y")
    }
    found = compare(graphs, rows, ("evidence", "bic", "cv"))
    scores = {score.model: score.score for score in found.ranked("evidence")}
    assert scores["x -> y"] == pytest.approx(scores["y -> x"])
    assert scores["x -> y"] == pytest.approx(
        jt.structure.score(jt.DirectedGraph.parse("x -> y"), rows, jt.structure.BGe())
    )
    assert scores["x; y"] < scores["x -> y"]
    assert {score.quality for score in found.ranked("cv")} == {"undefined"}


@pytest.mark.parametrize("named", [True, False])
def test_regressions_on_different_columns(named):
    """The commonest use of AIC: n log(RSS / n) + 2k but for a constant, of columns by name or of pairs by model."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    y = 1.0 + 2.0 * table["a"].to_numpy() - table["c"].to_numpy() + rng.normal(size=40)
    chosen = {"a": ["a"], "a and c": ["c", "a"], "all": ["a", "b", "c"]}
    inputs = {name: table[columns] if named else table[columns].to_numpy() for name, columns in chosen.items()}
    fits = {name: jt.fit(LinearRegression, x, y) for name, x in inputs.items()}
    data = (table, y) if named else {name: (x, y) for name, x in inputs.items()}
    found = compare(fits, data, ("aic", "bic", "cv"))
    for score in found.ranked("aic"):
        x = np.column_stack([np.ones(40), table[chosen[score.model]]])
        left = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        number = x.shape[1] + 1
        assert score.num_parameters == number
        wanted = -20 * (np.log(left @ left / 40) + np.log(2 * np.pi) + 1) - number
        assert score.score == pytest.approx(wanted)
    assert found.best("bic") == "a and c"
    alone = compare({"a": fits["a"]}, (inputs["a"], y), ("cv",)).ranked("cv")[0]
    assert {score.model: score.score for score in found.ranked("cv")}["a"] == pytest.approx(alone.score)


def test_kinds_of_regressions_on_different_columns():
    """Counts and classes too, and priors by the names that they were given."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    counts, labels = rng.poisson(np.exp(table["a"])), (table["a"] + rng.logistic(size=60) > 0).astype(int).to_numpy()
    for targets, learn in (
        (counts, lambda x: jt.fit(GeneralizedLinearModel, x, counts, family=jt.Poisson)),
        (labels, lambda x: jt.fit(LogisticRegression, x, labels)),
        (counts, lambda x: BayesianLinearRegression.standard(1 + x.shape[1]).with_feature_names(list(x))),
    ):
        one, both = learn(table[["a"]]), learn(table)
        found = compare({"one": one, "both": both}, (table, targets), ("aic", "cv"))
        alone = compare({"one": one}, (table[["a"]], targets), ("aic",)).ranked("aic")[0]
        assert {score.model: score.score for score in found.ranked("aic")}["one"] == pytest.approx(alone.score)


def test_pairs_of_models_have_their_names_and_one_target():
    x, y = np.arange(6.0)[:, None], np.array([1.0, 2.0, 2.5, 4.0, 5.5, 5.0])
    fits = {"line": jt.fit(LinearRegression, x, y), "level": jt.fit(LinearRegression, np.zeros((6, 0)), y)}
    pairs = {"line": (x, y), "level": (np.zeros((6, 0)), y)}
    assert compare(fits, pairs, ("aic",)).best("aic") == "line"
    with pytest.raises(jt.errors.InvalidData, match="have one for each model, by its name"):
        compare(fits, {"line": (x, y), "levels": (x, y)}, ("aic",))
    with pytest.raises(jt.errors.InvalidData, match="compared on the same targets"):
        compare(fits, {**pairs, "level": (np.zeros((6, 0)), y + 1)}, ("aic",))


def test_one_sequence_is_a_list_of_one():
    """A sequence as a list of steps, and as a `Sequence`: one row, with all its steps."""
    chain = jt.MarkovChain(initial=[0.5, 0.5], transition=[[0.6, 0.4], [0.3, 0.7]])
    steps = [0, 0, 1, 1, 0, 1]
    for data in (steps, Sequence(np.array(steps))):
        found = compare({"chain": chain}, data, ("bic",))
        assert found.num_rows == 1
        wanted = float(jt.log_prob(chain, steps)) - 0.5 * chain.num_parameters * math.log(6)
        assert found.ranked("bic")[0].score == pytest.approx(wanted)
