"""Generalised linear models against SciPy's optimisers on the densities of the families, scikit-learn, closed forms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from scipy.optimize import approx_fprime, minimize

import juncture as jt
from juncture.supervised import (
    ConstantStep,
    DecreasingStep,
    GeneralizedLinearModel,
    LinearBasis,
    LinearRegression,
    Link,
    LogisticRegression,
)
from juncture.supervised.regression import fisher_scoring
from support.curve import T, X

PLAIN = LinearBasis(intercept=False)
seeds = st.integers(0, 10**6)
CASES = [  # family, link, coefficients, options
    (jt.Gaussian, "identity", [1.0, 2.0], {}),
    (jt.Gaussian, "log", [0.5, 0.8], {}),
    (jt.Bernoulli, "logit", [0.3, 1.0], {}),
    (jt.Bernoulli, "probit", [0.3, 1.0], {}),
    (jt.Bernoulli, "complementary log-log", [-0.3, 0.7], {}),
    (jt.Binomial, "logit", [0.3, 1.0], {"trials": 5}),
    (jt.Poisson, "log", [0.5, 1.0], {}),
    (jt.Poisson, "square root", [2.0, 1.0], {}),
    (jt.Poisson, "identity", [3.0, 2.0], {}),
    (jt.Geometric, "log", [0.5, 0.7], {}),
    (jt.NegativeBinomial, "log", [0.5, 0.7], {"successes": 2.5}),
    (jt.Exponential, "inverse", [1.0, 4.0], {}),
    (jt.Exponential, "log", [0.2, 0.4], {}),
    (jt.Gamma, "inverse", [1.0, 2.0], {}),
    (jt.Gamma, "log", [0.2, 0.4], {}),
    (jt.Gamma, "inverse squared", [1.0, 2.0], {}),
]


def draw_case(family, link, coefficients, options, seed=0, num_rows=80):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, num_rows)
    known = {key: value for key, value in options.items() if key == "successes"}
    spread = 0.2 if family in (jt.Gaussian, jt.Gamma) else 1.0
    model = GeneralizedLinearModel(family, coefficients, link, dispersion=spread, **known)
    trials = {key: value for key, value in options.items() if key == "trials"}
    return x, model.predict(x, **trials).sample(rng=rng), model


@pytest.mark.parametrize(("family", "link", "coefficients", "options"), CASES, ids=lambda value: str(value)[:30])
def test_the_fit_is_the_maximum_of_the_density(family, link, coefficients, options):
    """S4-071: of the family's own densities, by a search of SciPy that knows no gradient."""
    x, targets, _ = draw_case(family, link, coefficients, options)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(x))
    fit = jt.fit(GeneralizedLinearModel, x, targets, family=family, link=link, weights=weights, **options)
    trials = {key: value for key, value in options.items() if key == "trials"}
    known = {key: value for key, value in options.items() if key == "successes"}

    def loss(point):
        try:
            other = GeneralizedLinearModel(family, point, link, dispersion=fit.model.dispersion, **known)
            return -weights @ other.predict(x, **trials).log_prob(targets)
        except jt.JunctureError:
            return np.inf

    assert -loss(fit.model.coefficients) == pytest.approx(fit.log_likelihood)
    found = minimize(loss, coefficients, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000})
    np.testing.assert_allclose(fit.model.coefficients, found.x, atol=2e-4)
    assert loss(fit.model.coefficients) <= found.fun + 1e-8
    if family not in (jt.Gaussian, jt.Gamma):  # canonical or not, the deviance is twice the loss of likelihood
        saturated = fit.log_likelihood + 0.5 * fit.deviance
        assert saturated >= fit.log_likelihood
        assert fit.model.dispersion == 1.0


@pytest.mark.parametrize("family", [jt.Poisson, jt.Gamma])
def test_agreement_with_scikit_learn(family):
    from sklearn.linear_model import GammaRegressor, PoissonRegressor

    x, targets, _ = draw_case(family, "log", [0.5, 1.0], {})
    theirs = {jt.Poisson: PoissonRegressor, jt.Gamma: GammaRegressor}[family](alpha=0.0, tol=1e-10, max_iter=10_000)
    theirs.fit(x[:, None], targets)
    ours = jt.fit(GeneralizedLinearModel, x, targets, family=family, link="log").model
    np.testing.assert_allclose(ours.coefficients, [theirs.intercept_, *theirs.coef_], rtol=1e-5)


def published_sets():
    """(family, inputs, targets, options, coefficients and errors by statsmodels) of Gill's three examples."""
    api = pytest.importorskip("statsmodels.api")
    star, scotland, crime = (getattr(api.datasets, name).load_pandas() for name in ("star98", "scotland", "cpunish"))
    passed, punished = star.endog.to_numpy(), crime.exog.to_numpy(copy=True)
    punished[:, 3] = np.log(punished[:, 3])
    links = api.families.links
    cases = [
        (jt.Binomial, api.families.Binomial(), star.exog.to_numpy(), passed, {"trials": passed.sum(axis=1)}),
        (
            jt.Gamma, api.families.Gamma(links.InversePower()), scotland.exog.to_numpy(), scotland.endog.to_numpy(), {},
        ),
        (jt.Poisson, api.families.Poisson(), punished, crime.endog.to_numpy(), {}),
    ]  # fmt: skip
    for family, theirs, inputs, targets, options in cases:
        fit = api.GLM(targets, api.add_constant(inputs), family=theirs).fit(tol=1e-13)
        yield family, inputs, targets if targets.ndim == 1 else targets[:, 0], options, fit.params, fit.bse


@pytest.mark.filterwarnings("ignore")  # of statsmodels, about the domain of the inverse link
def test_published_standard_errors():
    """star98's constant has the error 1.5467, not 1.5286; statsmodels computes by the pseudo-inverse of √W X."""
    for family, inputs, targets, options, coefficients, errors in published_sets():
        fit = jt.fit(GeneralizedLinearModel, inputs, targets, family=family, **options)
        np.testing.assert_allclose(fit.model.coefficients, coefficients, rtol=1e-8)
        np.testing.assert_allclose(fit.standard_errors, errors, rtol=1e-8)
        if family is jt.Binomial:
            assert fit.standard_errors[0] == pytest.approx(1.5467120017, abs=5e-11)


def test_a_column_of_timestamps():
    """Against rational arithmetic: the information of a Bernoulli at its maximum, inverted exactly."""
    rng = np.random.default_rng(5)
    seconds = 1.7e9 + np.round(rng.uniform(0, 1e5, 40))
    x = np.column_stack([seconds, np.round(rng.normal(size=40), 3)])
    targets = (rng.uniform(size=40) < 0.5).astype(int)
    for fit in (
        jt.fit(GeneralizedLinearModel, x, targets, family=jt.Bernoulli),
        jt.fit(LogisticRegression, x, targets),
    ):
        coefficients = fit.model.coefficients.reshape(-1)
        centered = x - [1.7e9, 0.0]
        scores = coefficients[0] + coefficients[1] * 1.7e9 + centered @ coefficients[1:]
        p = 1 / (1 + np.exp(-scores))
        weights = [Fraction(float(number)) for number in p * (1 - p)]
        rows = [[Fraction(1), *map(Fraction, row)] for row in x.tolist()]
        exact = inverse([
            [sum(w * row[i] * row[j] for w, row in zip(weights, rows, strict=True)) for j in range(3)] for i in range(3)
        ])  # fmt: skip
        errors = np.sqrt([float(exact[place][place]) for place in range(3)])
        np.testing.assert_allclose(fit.standard_errors.reshape(-1), errors, rtol=1e-9)


def inverse(matrix):
    """Of rational numbers, by elimination."""
    size = len(matrix)
    rows = [[*row, *(Fraction(int(place == other)) for other in range(size))] for place, row in enumerate(matrix)]
    for pivot in range(size):
        rows[pivot] = [number / rows[pivot][pivot] for number in rows[pivot]]
        for other in range(size):
            if other != pivot:
                share = rows[other][pivot]
                rows[other] = [one - share * two for one, two in zip(rows[other], rows[pivot], strict=True)]
    return [row[size:] for row in rows]


def test_a_gaussian_with_the_identity_is_least_squares():
    """S4-071: standard errors too; the dispersion is unbiased."""
    ours, plain = jt.fit(GeneralizedLinearModel, X, T, family=jt.Gaussian), jt.fit(LinearRegression, X, T)
    np.testing.assert_allclose(ours.model.coefficients, plain.model.coefficients)
    np.testing.assert_allclose(ours.standard_errors, plain.standard_errors)
    assert ours.deviance == pytest.approx(10 * plain.model.noise_variance)
    assert ours.null_deviance == pytest.approx(10 * T.var())


def test_a_bernoulli_with_the_logit_is_logistic_regression():
    """S0-270."""
    x, targets, _ = draw_case(jt.Bernoulli, "logit", [0.3, 1.0], {})
    ours, logistic = (
        jt.fit(GeneralizedLinearModel, x, targets, family=jt.Bernoulli),
        jt.fit(LogisticRegression, x, targets),
    )
    np.testing.assert_allclose(ours.model.coefficients, logistic.model.coefficients[0], rtol=1e-7)
    np.testing.assert_allclose(ours.standard_errors, logistic.standard_errors[0], rtol=1e-7)
    assert ours.log_likelihood == pytest.approx(logistic.log_likelihood)


def test_a_binomial_is_its_trials():
    x = np.array([0.0, 1.0, 2.0])
    counts, trials = np.array([1, 3, 4]), np.array([4, 6, 5])
    together = jt.fit(GeneralizedLinearModel, x, counts, family=jt.Binomial, trials=trials)
    single = np.concatenate([np.repeat([1, 0], [k, n - k]) for k, n in zip(counts, trials, strict=True)])
    apart = jt.fit(GeneralizedLinearModel, np.repeat(x, trials), single, family=jt.Bernoulli)
    np.testing.assert_allclose(together.model.coefficients, apart.model.coefficients, rtol=1e-8)
    np.testing.assert_allclose(together.standard_errors, apart.standard_errors, rtol=1e-8)


def test_successes_of_a_binomial_are_from_none_to_all():
    """Rows without a success and rows without a failure count; less, more and halves are refused."""
    x, trials = np.array([0.0, 1.0, 2.0, 3.0]), np.array([3, 4, 2, 5])
    counts = np.array([0, 1, 1, 5])
    together = jt.fit(GeneralizedLinearModel, x, counts, family=jt.Binomial, trials=trials)
    single = np.concatenate([np.repeat([1, 0], [k, n - k]) for k, n in zip(counts, trials, strict=True)])
    apart = jt.fit(GeneralizedLinearModel, np.repeat(x, trials), single, family=jt.Bernoulli)
    np.testing.assert_allclose(together.model.coefficients, apart.model.coefficients, rtol=1e-8)
    for wrong in (-1, 4, 0.5):
        with pytest.raises(jt.errors.InvalidData, match="whole numbers from 0 to the trials of their row"):
            jt.fit(GeneralizedLinearModel, x, [wrong, *counts[1:]], family=jt.Binomial, trials=trials)


@given(seeds)
def test_weights_are_repetitions(seed):
    x, targets, _ = draw_case(jt.Poisson, "log", [0.5, 1.0], {}, seed, 30)
    counts = np.random.default_rng(seed).integers(1, 4, 30)
    heavy = jt.fit(GeneralizedLinearModel, x, targets, family=jt.Poisson, weights=counts)
    repeated = jt.fit(GeneralizedLinearModel, np.repeat(x, counts), np.repeat(targets, counts), family=jt.Poisson)
    np.testing.assert_allclose(heavy.model.coefficients, repeated.model.coefficients, rtol=1e-7, atol=1e-9)
    assert heavy.deviance == pytest.approx(repeated.deviance)
    assert heavy.null_deviance == pytest.approx(repeated.null_deviance)


def test_exposure_is_an_offset_of_its_logarithm():
    """Counts in proportion to the exposure have the rate of all: Σ counts / Σ exposure."""
    exposure, counts = np.array([1.0, 2.0, 5.0]), np.array([2, 3, 11])
    fit = jt.fit(GeneralizedLinearModel, np.zeros((3, 0)), counts, family=jt.Poisson, exposure=exposure)
    assert fit.model.coefficients[0] == pytest.approx(np.log(16 / 8))
    same = jt.fit(GeneralizedLinearModel, np.zeros((3, 0)), counts, family=jt.Poisson, offset=np.log(exposure))
    assert same.deviance == pytest.approx(fit.deviance) == pytest.approx(fit.null_deviance)
    assert fit.model.mean(np.zeros((2, 0)), exposure=[1.0, 10.0]).tolist() == pytest.approx([2.0, 20.0])


def test_a_link_of_ones_own():
    cube = Link("cube root", np.cbrt, lambda score: score**3, lambda score: 3 * score**2)
    x = np.linspace(1, 2, 30)
    targets = (0.5 + x) ** 3 + np.random.default_rng(0).normal(size=30) * 0.1
    fit = jt.fit(GeneralizedLinearModel, x, targets, family=jt.Gaussian, link=cube)
    np.testing.assert_allclose(fit.model.coefficients, [0.5, 1.0], atol=0.05)


def problem_2_2(seed):
    """100 rows, x uniform in the unit square, t ~ Exp(x·(1, 4))."""
    rng = np.random.default_rng(seed)
    x = rng.random((100, 2))
    return x, rng.exponential(1 / (x @ [1.0, 4.0]))


@given(seeds)
def test_the_gradient_of_problem_2_2(seed):
    """S4-073: ∇ log p = x (1 / w·x - t), and the maximum is where it sums to 0."""
    x, t = problem_2_2(seed)
    fit = jt.fit(GeneralizedLinearModel, x, t, basis=PLAIN, family=jt.Exponential, start=[2.0, 2.0])
    w = fit.model.coefficients
    np.testing.assert_allclose(x.T @ (1 / (x @ w) - t), 0.0, atol=1e-5)
    rate = 1 / fit.model.mean(x)
    np.testing.assert_allclose(rate, x @ w)

    def loss(w):
        return float(-(np.log(x @ w) - t * (x @ w)).sum())

    np.testing.assert_allclose(approx_fprime(w, loss, 1e-6), 0.0, atol=1e-2)


def test_stochastic_gradient_of_problem_2_2():
    """S4-072, S4-073: rate .1, 500 steps from (2, 2); over 20 seeds the means of the inventory within five errors."""
    ends, best, falls = [], [], []
    for seed in range(20):
        x, t = problem_2_2(seed)
        course = jt.fit(
            GeneralizedLinearModel,
            x,
            t,
            method="gradient",
            basis=PLAIN,
            family=jt.Exponential,
            start=[2.0, 2.0],
            learning_rate=ConstantStep(0.1),
            max_steps=500,
            rng=seed,
        )
        ends.append(course.model.coefficients)
        best.append(
            jt.fit(
                GeneralizedLinearModel, x, t, basis=PLAIN, family=jt.Exponential, start=[2.0, 2.0]
            ).model.coefficients
        )
        falls.append(course.trace.values[-1] > course.trace.values[0])
    np.testing.assert_allclose(np.mean(ends, axis=0), [1.45, 3.32], atol=5 * 0.47 / np.sqrt(20))
    np.testing.assert_allclose(np.mean(best, axis=0), [1.09, 3.94], atol=5 * 0.60 / np.sqrt(20))
    assert np.mean(falls) > 0.95


def test_a_stochastic_course_repeats_with_its_seed_and_shrinking_steps_gain():
    x, t = problem_2_2(0)
    options = {"start": [2.0, 2.0], "learning_rate": DecreasingStep(1.0), "max_steps": 3000}
    one, other = (
        jt.fit(GeneralizedLinearModel, x, t, method="gradient", basis=PLAIN, family=jt.Exponential, rng=3, **options)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.course.points, other.course.points)
    assert one.seed == 3
    np.testing.assert_array_equal(one.model.coefficients, one.course.point)
    best = jt.fit(GeneralizedLinearModel, x, t, basis=PLAIN, family=jt.Exponential, start=[2.0, 2.0])
    assert 0.5 * best.deviance <= -one.trace.values[-1] < -one.trace.values[0]
    assert one.deviance == pytest.approx(-2 * one.trace.values[-1])


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (
            lambda: jt.fit(GeneralizedLinearModel, X, T, family=jt.Poisson),
            jt.errors.InvalidData,
            "row 0 of the targets is 0.349486",
        ),
        (
            lambda: jt.fit(GeneralizedLinearModel, X, [*T[:9], np.nan], family=jt.Gaussian),
            jt.errors.InvalidData,
            "row 9 of the targets",
        ),
        (
            lambda: jt.fit(GeneralizedLinearModel, X, T, family=jt.Laplace),
            jt.errors.Unsupported,
            "is one of the classes Gaussian",
        ),
        (
            lambda: jt.fit(GeneralizedLinearModel, X, [1] * 10, family=jt.Binomial),
            jt.errors.InvalidData,
            "needs trials=",
        ),
        (
            lambda: jt.fit(GeneralizedLinearModel, X, [1] * 10, family=jt.NegativeBinomial),
            jt.errors.InvalidData,
            "needs successes=",
        ),
        (
            lambda: jt.fit(GeneralizedLinearModel, X, [1] * 10, family=jt.Poisson, trials=3),
            jt.errors.InvalidData,
            "for jt.Binomial only",
        ),
        (
            lambda: jt.fit(GeneralizedLinearModel, X, [1] * 10, family=jt.Poisson, link="cube"),
            jt.errors.InvalidData,
            "link must be",
        ),
        (
            lambda: jt.fit(GeneralizedLinearModel, X, [1] * 10, family=jt.Poisson, link="identity", exposure=2.0),
            jt.errors.InvalidData,
            "an exposure multiplies the mean",
        ),
        (
            lambda: jt.fit(GeneralizedLinearModel, X, X > 0.5, family=jt.Bernoulli),
            jt.errors.InvalidData,
            "grow without end",
        ),
        (
            lambda: jt.fit(GeneralizedLinearModel, X, [0] * 10, family=jt.Poisson),
            jt.errors.InvalidData,
            "no start was found",
        ),
        (
            lambda: jt.fit(GeneralizedLinearModel, X, T**2 + 1, family=jt.Exponential, start=[-1.0, 0.0]),
            jt.errors.InvalidData,
            "no start was found",
        ),
        (
            lambda: GeneralizedLinearModel(jt.Exponential, [1.0, -1.0]).mean([0.5, 2.0]),
            jt.errors.InvalidData,
            "row 1 of the inputs has the score -1",
        ),
        (
            lambda: jt.fit(
                GeneralizedLinearModel,
                [[1.0], [1.0]],
                [9.0, 9.0],
                method="gradient",
                basis=PLAIN,
                family=jt.Exponential,
                start=[0.2],
                learning_rate=ConstantStep(10.0),
                rng=0,
            ),
            jt.errors.InvalidData,
            "take shorter steps",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(ask, error, words):
    with pytest.raises(error, match=words):
        ask()


def counted_rows(monkeypatch):
    """The numbers of rows of all expansions from now on."""
    sizes, expand = [], fisher_scoring.Problem.expand

    def count(self, point):
        sizes.append(len(self.targets))
        return expand(self, point)

    monkeypatch.setattr(fisher_scoring.Problem, "expand", count)
    return sizes


def test_many_rows_start_at_the_maximum_of_a_few(monkeypatch):
    """The same maximum, from fewer passes over all rows; each point is expanded once."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 3)) + 10.0
    counts = rng.poisson(np.exp(rows @ [0.3, -0.2, 0.1] + 0.2))
    sizes = counted_rows(monkeypatch)
    plain = jt.fit(GeneralizedLinearModel, rows, counts, family=jt.Poisson)
    num_plain = len(sizes)
    assert num_plain == plain.trace.num_steps + 1
    monkeypatch.setattr(fisher_scoring, "MANY_ROWS", 2000)
    monkeypatch.setattr(fisher_scoring, "FEW_ROWS", 400)
    near = jt.fit(GeneralizedLinearModel, rows, counts, family=jt.Poisson)
    assert near.model.coefficients == pytest.approx(plain.model.coefficients, rel=1e-10)
    assert near.standard_errors == pytest.approx(plain.standard_errors, rel=1e-8)
    assert sizes[num_plain:].count(4000) < num_plain


@pytest.mark.parametrize("is_rare", [False, True])
def test_many_rows_that_have_no_maximum_are_refused(monkeypatch, is_rare):
    """Separated by a column, which only some rows have where it is rare."""
    monkeypatch.setattr(fisher_scoring, "MANY_ROWS", 200)
    monkeypatch.setattr(fisher_scoring, "FEW_ROWS", 50)
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    rows[:, 1] = np.arange(400) % 8 == 3 if is_rare else 2.0 * labels - 1.0
    labels[np.arange(400) % 8 == 3] = 1
    with pytest.raises(jt.errors.InvalidData, match="no maximum"):
        jt.fit(GeneralizedLinearModel, rows, labels, family=jt.Bernoulli)


@given(seeds)
def test_stochastic_steps_of_a_logistic_regression_with_long_steps(seed):
    """S4-117, problem 3.1 f: rate 1 from (-5.5, 1, .01) takes its 80 steps, those of a loop with these draws.

    Means come to 0 and 1 to the last digit; gradients and log-likelihoods are still those of the scores.
    """
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal([5.0, 3.4], 0.35, (40, 2)), rng.normal([6.6, 3.0], 0.5, (40, 2))])
    t = np.repeat([0.0, 1.0], 40)
    method = jt.StochasticGradient(learning_rate=1.0, max_steps=80)
    found = jt.fit(
        GeneralizedLinearModel, x, t, family=jt.Bernoulli, method=method, start=[-5.5, 1.0, 0.01], rng=seed
    )  # fmt: skip
    features, points = np.column_stack([np.ones(80), x]), found.course.points
    assert points[0].tolist() == [-5.5, 1.0, 0.01]
    drawn = np.random.default_rng(seed).integers(80, size=80)
    for row, here, there in zip(drawn, points, points[1:], strict=False):  # by steps: rounding grows ninefold in one
        step = (t[row] - special.expit(features[row] @ here)) * features[row]
        assert there == pytest.approx(here + step, rel=1e-12, abs=1e-12)
    assert len(points) == 81
    etas = points @ features.T
    wrong = np.where(t == 1, -etas, etas)  # log p(t | x, w) = -log(1 + e^wrong)
    logs = -(np.maximum(wrong, 0) + np.log1p(np.exp(-np.abs(wrong)))).sum(axis=1)
    assert found.trace.values == pytest.approx(logs, rel=1e-9)
    assert found.log_likelihood == pytest.approx(logs[-1], rel=1e-7)
    assert found.deviance == pytest.approx(-2 * logs[-1], rel=1e-7)
    assert np.isfinite(found.pearson)


def test_scores_of_any_size_have_a_likelihood_under_stochastic_steps():
    """At scores of ±1000 all means are 0 or 1 to the last digit; a step of 0 / 1 targets moves by whole features."""
    x, t = np.array([[1000.0], [-1000.0]]), np.array([0.0, 1.0])  # both wrong at the start
    options = {"family": jt.Bernoulli, "basis": PLAIN, "start": [1.0], "rng": 0}
    method = jt.StochasticGradient(learning_rate=1e-6, max_steps=1)
    found = jt.fit(GeneralizedLinearModel, x, t, method=method, **options)
    assert found.trace.values == pytest.approx([-2000.0, -1998.0], rel=1e-12)
    assert found.model.coefficients == pytest.approx([0.999], rel=1e-12)
    assert found.log_likelihood == pytest.approx(-1998.0, rel=1e-12)
    counts = jt.fit(GeneralizedLinearModel, x, [1, 3], method=method, **{**options, "family": jt.Binomial}, trials=4)
    eta = 1000 * counts.model.coefficients[0]  # log-odds of the first row, whose likelihood is that of the second
    assert counts.log_likelihood == pytest.approx(2 * (np.log(4) + eta - 4 * eta), rel=1e-12)


# --- penalties, robust errors, tables of coefficients ----------------------------------------------------------------


@pytest.mark.parametrize(("family", "link"), [(jt.Gaussian, None), (jt.Poisson, None), (jt.Gamma, "log")])
@pytest.mark.parametrize("options", [{}, {"penalize_constant": True}, {"standardize": True}], ids=str)
def test_a_ridge_penalty_has_its_minimum(family, link, options):
    """The gradient of half the deviance is minus that of the penalty, also where features depend on others."""
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(40, 2)) * [1.0, 30.0]
    inputs = np.column_stack([inputs, inputs[:, 0] - 2 * inputs[:, 1]])
    targets = rng.gamma(2.0, size=40) if family is not jt.Poisson else rng.poisson(2.0, size=40).astype(float)
    found = jt.fit(GeneralizedLinearModel, inputs, targets, family=family, link=link, penalty=jt.L2(2.0), **options)
    units = np.append(1.0 if options.get("penalize_constant") else 0.0, inputs.std(axis=0))
    units[1:] = units[1:] if options.get("standardize") else 1.0
    model, features = found.model, np.column_stack([np.ones(40), inputs])
    means = model.mean(inputs)
    slope = model.link.derivative(features @ model.coefficients) / model.response.variance(means)
    gradient = features.T @ (slope * (means - targets))
    assert gradient == pytest.approx(-2.0 * units**2 * model.coefficients, abs=1e-6 * np.abs(features).sum())
    assert found.deviance == pytest.approx(model.response.deviance(targets, means).sum())


def test_ridge_is_that_of_the_path_and_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(2)
    inputs = rng.normal(size=(50, 3))
    targets = rng.poisson(np.exp(0.5 + inputs @ [0.5, -0.3, 0.0])).astype(float)
    ridge = jt.fit(GeneralizedLinearModel, inputs, targets, family=jt.Gaussian, penalty=3.0)
    path = jt.supervised.ridge_path(inputs, targets, [3.0], penalize_constant=False)
    assert ridge.model.coefficients == pytest.approx(path.coefficients[0])
    theirs = linear_model.PoissonRegressor(alpha=3.0 / 50, tol=1e-10, solver="newton-cholesky").fit(inputs, targets)
    ours = jt.fit(GeneralizedLinearModel, inputs, targets, family=jt.Poisson, penalty=3.0).model.coefficients
    assert ours == pytest.approx(np.append(theirs.intercept_, theirs.coef_), abs=1e-7)
    with pytest.raises(jt.errors.InvalidData, match=r"is jt.L2\(strength\)"):
        jt.fit(GeneralizedLinearModel, inputs, targets, family=jt.Poisson, penalty=jt.L1(1.0))


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3", "clusters"])
@pytest.mark.parametrize("family", [jt.Gaussian, jt.Poisson])
def test_robust_errors_are_the_sandwich(family, kind):
    """Written out in the features as given; weights are repetitions, and linear regression agrees."""
    rng = np.random.default_rng(3)
    inputs, groups = rng.normal(size=(30, 2)), rng.integers(0, 6, size=30)
    targets = rng.poisson(np.exp(0.5 + inputs @ [0.5, -0.3])).astype(float)
    errors = {"clusters": groups} if kind == "clusters" else {"robust": kind}
    found = jt.fit(GeneralizedLinearModel, inputs, targets, family=family, **errors)
    features, means = np.column_stack([np.ones(30), inputs]), found.model.mean(inputs)
    spread = np.ones(30) if family is jt.Gaussian else means
    bread = np.linalg.inv(features.T @ (features * spread[:, None]))
    scores = features * (targets - means)[:, None]
    leverage = spread * np.einsum("ij,jk,ik->i", features, bread, features)
    factor = {"HC1": np.sqrt(30 / 27), "HC2": (1 - leverage) ** -0.5, "HC3": 1 / (1 - leverage)}.get(kind, 1.0)
    scores = scores * np.reshape(factor, (-1, 1))
    if kind == "clusters":
        scores = np.array([scores[groups == group].sum(axis=0) for group in range(6)]) * np.sqrt(6 / 5 * 29 / 27)
    expected = bread @ scores.T @ scores @ bread
    assert found.covariance == pytest.approx(expected)
    weights = np.random.default_rng(4).integers(0, 4, size=30)
    again = {"clusters": np.repeat(groups, weights)} if kind == "clusters" else errors
    many = jt.fit(GeneralizedLinearModel, inputs.repeat(weights, 0), targets.repeat(weights), family=family, **again)
    heavy = jt.fit(GeneralizedLinearModel, inputs, targets, family=family, weights=weights, **errors)
    assert heavy.covariance == pytest.approx(many.covariance)
    if family is jt.Gaussian:
        table = {"a": inputs[:, 0], "b": inputs[:, 1], "group": groups, "y": targets}
        named = {"clusters": "group"} if kind == "clusters" else errors
        columns = table if kind == "clusters" else {name: table[name] for name in "aby"}
        assert jt.fit(LinearRegression, columns, "y", **named).covariance == pytest.approx(expected)


def test_tables_of_coefficients_are_those_of_statsmodels():
    statsmodels = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(3)
    inputs, groups = rng.normal(size=(60, 2)), np.arange(60) // 5
    targets = rng.poisson(np.exp(0.5 + inputs @ [0.5, -0.3])).astype(float)
    features, above = statsmodels.add_constant(inputs), (targets > 1).astype(int)
    counts = statsmodels.GLM(targets, features, statsmodels.families.Poisson())
    least, logit = statsmodels.OLS(targets, features), statsmodels.Logit(above, features)
    within = {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
    pairs = [
        (jt.fit(GeneralizedLinearModel, inputs, targets, family=jt.Poisson), counts.fit(tol=1e-12)),
        (jt.fit(GeneralizedLinearModel, inputs, targets, family=jt.Poisson, clusters=groups), counts.fit(**within)),
        (jt.fit(LinearRegression, inputs, targets), least.fit()),
        (jt.fit(LinearRegression, inputs, targets, robust="HC3"), least.fit(cov_type="HC3", use_t=True)),
        (jt.fit(LinearRegression, inputs, targets, clusters=groups), least.fit(**within, use_t=True)),
        (jt.fit(LogisticRegression, inputs, above), logit.fit(disp=0, tol=1e-12)),
    ]
    for ours, theirs in pairs:
        table = ours.coefficient_table(confidence=0.95)
        assert table.estimates == pytest.approx(theirs.params, abs=1e-7)
        assert table.standard_errors == pytest.approx(theirs.bse, rel=1e-6)
        assert table.p_values == pytest.approx(theirs.pvalues, abs=1e-6)
        assert np.column_stack([table.low, table.high]) == pytest.approx(theirs.conf_int(), abs=1e-6)


def test_a_table_of_coefficients_shows_itself():
    names = {"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 3.0]}
    classes = jt.fit(LogisticRegression, names, ["x", "y", "z", "x"], penalty=1.0).coefficient_table()
    assert classes.names == ("y: constant", "y: a", "y: b", "z: constant", "z: a", "z: b")
    cubic = jt.fit(LinearRegression, X, T, basis=jt.supervised.PolynomialBasis(2)).coefficient_table()
    assert cubic.names == ("constant", "x0[1]", "x0[2]")
    assert cubic.to_pandas().columns.tolist() == ["estimate", "standard error", "t", "p", "low", "high"]
    assert "t with 7 degrees of freedom" in str(cubic)
    assert "<th>x0[2]</th>" in cubic._repr_html_()
