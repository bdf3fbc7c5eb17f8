"""Naive Bayes with a family per column, discriminant analysis, exponential families: as scikit-learn classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

pytest.importorskip("sklearn")

import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn import discriminant_analysis, naive_bayes
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import juncture as jt
from juncture.errors import RegularizedWarning, UnseenStatesWarning
from juncture.estimators import (
    ExponentialFamilyClassifier,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)


def draw_rows(seed=0, num_rows=300, number=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, number, num_rows)
    mixing = rng.normal(size=(number, 3, 3))
    return np.einsum("rij,rj->ri", mixing[y], rng.normal(size=(num_rows, 3))) + y[:, None], y


# --- naive Bayes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_each_family_is_that_of_scikit_learn(weighted):
    """S0-265, S0-366, S2-187: Gaussian, Bernoulli, multinomial and categorical columns."""
    rng = np.random.default_rng(0)
    cells, y = draw_rows()
    weights = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    ones, counts = (cells > 0).astype(float), rng.poisson(np.exp(0.3 * cells))
    peers = {
        "gaussian": (cells, naive_bayes.GaussianNB(var_smoothing=0.0)),
        "bernoulli": (ones, naive_bayes.BernoulliNB(alpha=0.5)),
        "multinomial": (counts, naive_bayes.MultinomialNB(alpha=0.5)),
        "categorical": (np.minimum(counts, 2), naive_bayes.CategoricalNB(alpha=0.5)),
    }
    for family, (rows, peer) in peers.items():
        mine = NaiveBayes(family, 0.5).fit(rows, y, sample_weight=weights)
        theirs = peer.fit(rows, y, sample_weight=weights)
        assert mine.predict_proba(rows) == pytest.approx(theirs.predict_proba(rows), abs=1e-9)
    assert NaiveBayes().fit(ones, y).families_ == {"x0": "bernoulli", "x1": "bernoulli", "x2": "bernoulli"}
    assert NaiveBayes().fit(cells, y).families_["x0"] == "gaussian"


def mixed_frame():
    cells, y = draw_rows(1)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "size": cells[:, 0],
            "sex": np.where(cells[:, 1] > 0, "f", "m"),
            "visits": rng.poisson(1 + y),
            "smokes": cells[:, 2] > 0,
            "wait": rng.exponential(1.0 + y),
        }
    )
    return frame, np.array(["low", "mid", "high"])[y]


def test_columns_that_a_mapping_leaves_out_are_guessed():
    rows = np.column_stack([np.arange(6.0), [0, 1, 0, 1, 1, 0]])
    for given, wanted in (({}, "gaussian"), ({0: "poisson"}, "poisson"), ({"x0": "exponential"}, "exponential")):
        found = NaiveBayes(given).fit(rows, [0, 0, 0, 1, 1, 1]).families_
        assert found == {"x0": wanted, "x1": "bernoulli"}


def test_mixed_columns_are_a_product_of_their_own_classifiers():
    """S2-185: p(y) Π p(column | y); families by what the columns hold, or by name."""
    frame, y = mixed_frame()
    mine = NaiveBayes({"visits": "poisson", "wait": jt.Exponential}).fit(frame, y)
    wanted = {
        "size": "gaussian",
        "sex": "categorical",
        "visits": "poisson",
        "smokes": "bernoulli",
        "wait": "Exponential",
    }
    assert mine.families_ == wanted
    logs = np.log(mine.class_prior_) * (1 - len(frame.columns))
    for name in frame:
        given = {"visits": "poisson", "wait": "exponential"}.get(name, "auto")
        logs = logs + NaiveBayes(given).fit(frame[[name]], y).predict_log_proba(frame[[name]])
    assert mine.predict_proba(frame) == pytest.approx(softmax(logs, axis=1))
    assert mine.classes_.tolist() == ["high", "low", "mid"]
    assert mine.num_parameters_ == 2 + 3 * (2 + 1 + 1 + 1 + 1)


def test_every_kind_of_rows_gives_the_same():
    frame, y = mixed_frame()
    mine = NaiveBayes().fit(frame, y)
    expected = mine.predict_proba(frame)
    for rows in (pl.from_pandas(frame), frame.to_dict("list"), frame.to_dict("records"), frame[list(frame)[::-1]]):
        assert mine.predict_proba(rows) == pytest.approx(expected)
        assert NaiveBayes().fit(rows, y).predict_proba(frame) == pytest.approx(expected)
    again = NaiveBayes(target="y").fit(frame.assign(y=y))
    assert again.predict_proba(frame) == pytest.approx(expected)
    assert again.score(frame.assign(y=y)) == mine.score(frame, y)


def test_missing_cells_and_columns_drop_out():
    frame, y = mixed_frame()
    mine = NaiveBayes().fit(frame, y)
    holes = frame.astype({"smokes": object}).copy()
    holes.loc[::2, ["size", "smokes"]] = None
    holes.loc[1::3, "sex"] = None
    found = mine.predict_proba(holes)
    part = mine.predict_proba(frame[["visits", "wait", "sex"]])
    assert found[6] == pytest.approx(part[6])
    assert mine.predict_proba(frame[[]].assign(size=np.nan))[0] == pytest.approx(mine.class_prior_)
    learned = NaiveBayes().fit(holes, y)
    seen = holes["size"].notna().to_numpy()
    means = [frame["size"][seen & (y == label)].mean() for label in mine.classes_]
    assert learned.model_.densities.parts[0].means.ravel() == pytest.approx(means)
    with pytest.warns(UnseenStatesWarning, match="sex 1"):
        odd = mine.predict_proba(frame[:1].assign(sex="x"))
    assert odd == pytest.approx(mine.predict_proba(frame[:1].drop(columns="sex")))


def test_rows_in_parts_are_rows_at_once():
    """S0-372: streaming statistics are those of the batch, for each family and for Gaussian vectors."""
    frame, y = mixed_frame()
    cells, labels = draw_rows(2)
    given = {"visits": "poisson", "wait": "exponential"}
    for estimator, rows, own in (
        (NaiveBayes(given), frame, y),
        (NaiveBayes(given, estimate="bayes"), frame, y),
        (LinearDiscriminantAnalysis(), cells, labels),
        (QuadraticDiscriminantAnalysis(), cells, labels),
    ):
        whole = estimator.fit(rows, own).predict_proba(rows)
        streamed = type(estimator)(**estimator.get_params())
        for part in (slice(0, 90), slice(90, 200), slice(200, None)):
            streamed.partial_fit(rows[part], own[part], classes=np.unique(own))
        assert streamed.predict_proba(rows) == pytest.approx(whole)
    with pytest.raises(jt.errors.UnknownState, match=r"'other'.*classes=\["):
        streamed.partial_fit(cells[:2], ["other", "other"])
    with pytest.raises(jt.errors.Unsupported, match="use fit"):
        streamed.partial_fit(np.full((3, 3), np.nan), [0, 1, 2])


def test_parameters_are_counted():
    """S4-194: T = 3 classes and W = 5 words have (T-1) + TW = 17 parameters; two classes and 4 columns 9, beside 31."""
    rng = np.random.default_rng(0)
    cells, y = rng.integers(0, 2, (60, 5)), np.arange(60) % 3
    assert NaiveBayes("bernoulli").fit(cells, y).num_parameters_ == 17
    assert LinearDiscriminantAnalysis().fit(draw_rows()[0], draw_rows()[1]).num_parameters_ == 2 + 9 + 6
    assert LinearDiscriminantAnalysis("spherical").fit(*draw_rows()).num_parameters_ == 2 + 9 + 1
    assert QuadraticDiscriminantAnalysis("diagonal").fit(*draw_rows()).num_parameters_ == 2 + 18


SPAM = ["win money now", "money money win prize", "cheap prize now", "win cheap money"]
HAM = ["meeting at noon", "lunch at noon today", "notes of the meeting", "today the meeting"]


def test_a_toy_corpus_by_hand():
    """S2-188, S3-018, S0-268, S3-009: word shares per class; unseen words are ignored; word order is irrelevant."""
    words = CountVectorizer().fit(SPAM + HAM)
    cells, y = words.transform(SPAM + HAM), ["spam"] * 4 + ["ham"] * 4
    mine = NaiveBayes(prior=1.0).fit(cells, y)
    assert set(mine.families_.values()) == {"multinomial"}
    size, money = len(words.vocabulary_), words.vocabulary_["money"]
    assert mine.model_.densities.table[1, money] == pytest.approx((4 + 1) / (13 + size))
    assert mine.model_.densities.table[0, money] == pytest.approx(1 / (14 + size))
    pipeline = make_pipeline(CountVectorizer(), NaiveBayes()).fit(SPAM + HAM, y)
    assert pipeline.predict(["money prize", "noon meeting"]).tolist() == ["spam", "ham"]
    unseen = pipeline.predict_proba(["zebra quagga"])
    assert unseen[0] == pytest.approx([0.5, 0.5])
    assert pipeline.predict_proba(["win money now"]) == pytest.approx(pipeline.predict_proba(["now money win"]))
    binary = make_pipeline(CountVectorizer(binary=True), NaiveBayes("bernoulli")).fit(SPAM + HAM, y)
    assert binary.predict_proba(["win"]) == pytest.approx(binary.predict_proba(["win win win"]))
    theirs = make_pipeline(CountVectorizer(binary=True), naive_bayes.BernoulliNB()).fit(SPAM + HAM, y)
    assert binary.predict_proba(SPAM) == pytest.approx(theirs.predict_proba(SPAM))
    never = NaiveBayes(prior=0.0).fit(sp.csr_matrix([[1.0, 0.0], [2.0, 0.0]]), [0, 1])
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match="1 of 1 rows"):
        found = never.predict_proba(sp.csr_matrix([[0.0, 1.0]]))
    assert found[0] == pytest.approx([0.5, 0.5])


def test_rows_without_a_label_are_learned_from():
    """S2-004, S4-195: EM on naive Bayes; without such rows, the fit is the supervised one."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    cells = (rng.random((400, 8)) < np.where(y[:, None] == 1, 0.8, 0.2)).astype(float)
    labels = np.where(np.arange(400) < 8, y, -1).astype(object)
    labels[8:] = None
    some, few = NaiveBayes().fit(cells, labels), NaiveBayes().fit(cells[:8], y[:8])
    assert some.n_iter_ > 2
    truth = np.where([[0], [1]], 0.8, 0.2)
    errors = [np.abs(each.model_.densities.probabilities - truth).mean() for each in (some, few)]
    assert errors[0] < 0.5 * errors[1]
    assert some.score(cells, y) > few.score(cells, y)
    assert some.score(cells, labels) == np.mean(some.predict(cells[:8]) == y[:8])


# --- generative beside conditional -----------------------------------------------------------------------------------


def conditional_log_likelihood(weights, intercepts, cells, y):
    logits = cells @ weights.T + intercepts
    return float((logits - np.logaddexp.reduce(logits, axis=1)[:, None])[np.arange(len(y)), y].sum())


def test_a_generative_and_a_conditional_fit_of_one_form():
    """S0-272, S0-371, S3-024: on the rows learned from the conditional fit has the larger conditional likelihood.

    Where naive Bayes is true, both find the same weights as rows grow.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40_000)
    share = np.array([[0.2, 0.5, 0.7], [0.6, 0.4, 0.3]])
    cells = (rng.random((40_000, 3)) < share[y]).astype(float)
    mine = NaiveBayes(prior=0.0).fit(cells, y)
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(cells, y)
    form = mine.model_.linear_form()
    own = conditional_log_likelihood(form.weights, form.intercepts, cells, y)
    zero = np.zeros((1, 3))
    best = conditional_log_likelihood(np.vstack([zero, theirs.coef_]), np.append(0.0, theirs.intercept_), cells, y)
    assert own < best < own + 10.0
    assert mine.coef_ == pytest.approx(theirs.coef_, abs=0.1)
    assert mine.intercept_ == pytest.approx(theirs.intercept_, abs=0.1)
    truth = np.log(share / (1 - share))
    assert mine.coef_[0] == pytest.approx(truth[1] - truth[0], abs=0.1)


def test_duplicated_columns_mislead_naive_bayes():
    """S0-373: with a column four times, logistic regression has the smaller held-out log-loss."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    cells = rng.normal(size=(2000, 2)) + y[:, None]
    cells = np.column_stack([cells] + [cells[:, :1]] * 3)
    train, test = slice(0, 1000), slice(1000, None)
    losses = [
        log_loss(y[test], each.fit(cells[train], y[train]).predict_proba(cells[test]))
        for each in (NaiveBayes(), LogisticRegression())
    ]
    assert losses[1] < 0.8 * losses[0]


# --- discriminant analysis -------------------------------------------------------------------------------------------


def test_discriminants_are_those_of_scikit_learn_by_maximum_likelihood():
    """S4-112: scikit-learn's solver "lsqr" divides by n; coefficients of two classes are those of the log odds."""
    for number in (2, 3):
        cells, y = draw_rows(3, number=number)
        mine = LinearDiscriminantAnalysis().fit(cells, y)
        theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr").fit(cells, y)
        assert mine.predict_proba(cells) == pytest.approx(theirs.predict_proba(cells))
        assert mine.covariance_ == pytest.approx(theirs.covariance_)
        if number == 2:
            assert mine.coef_ == pytest.approx(theirs.coef_)
            assert mine.intercept_ == pytest.approx(theirs.intercept_)
    quadratic = QuadraticDiscriminantAnalysis().fit(cells, y)
    for label in range(3):
        assert quadratic.covariance_[label] == pytest.approx(np.cov(cells[y == label].T, bias=True))
    diagonal = QuadraticDiscriminantAnalysis("diagonal").fit(cells, y)
    assert diagonal.predict_proba(cells) == pytest.approx(NaiveBayes("gaussian").fit(cells, y).predict_proba(cells))


@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical"])
@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_covariances_of_each_kind_have_the_largest_likelihood(kind, covariance):
    """S2-087, S4-205: a numerical maximum of the likelihood of the covariance, the means at those of the classes."""
    cells, y = draw_rows(4, 60, 2)
    mine = kind(covariance).fit(cells, y)
    shared = kind is LinearDiscriminantAnalysis
    size = {"full": 6, "diagonal": 3, "spherical": 1}[covariance]
    centred = cells - np.array([cells[y == label].mean(axis=0) for label in (0, 1)])[y]

    def loss(vector):
        total = 0.0
        for label, own in enumerate(vector.reshape(-1, size)):
            factor = np.zeros((3, 3))
            if covariance == "full":
                factor[np.tril_indices(3)] = own
                np.fill_diagonal(factor, np.exp(np.diagonal(factor)))
            else:
                np.fill_diagonal(factor, np.exp(own))
            rows = centred if shared else centred[y == label]
            white = np.linalg.solve(factor, rows.T)
            total += 0.5 * (white**2).sum() + len(rows) * (np.log(np.diagonal(factor)).sum() + 1.5 * np.log(2 * np.pi))
        return total

    best = minimize(loss, np.zeros(size if shared else 2 * size)).fun
    found = mine.model_.log_joint(cells)[np.arange(60), y] - np.log(mine.class_prior_)[y]
    assert -found.sum() == pytest.approx(best, rel=1e-7)


def test_missing_inputs_and_labels():
    """A hole is summed out of the Gaussian; EM raises the likelihood of what is seen."""
    cells, y = draw_rows(5)
    cells = cells + 3 * y[:, None]
    holes = np.where(np.random.default_rng(0).random(cells.shape) < 0.15, np.nan, cells)
    labels = np.where(np.arange(300) % 3 == 0, np.nan, y)
    for kind in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        mine = kind().fit(holes, labels)
        assert mine.n_iter_ > 1
        assert mine.score(holes, y) > 0.8
        density = mine.model_.densities.full
        row = np.array([[0.5, np.nan, -0.5]])
        own = density.marginal([0, 2]).log_prob(row[:, None, [0, 2]])
        assert mine.predict_proba(row) == pytest.approx(softmax(own + np.log(mine.class_prior_), axis=1))


def test_bayesian_classes_are_wider():
    """S4-113: few rows in a class: Student t densities are less certain than Gaussians at their estimates."""
    cells, y = draw_rows(6, 30)
    point, bayes = (QuadraticDiscriminantAnalysis(estimate=each).fit(cells, y) for each in ("point", "bayes"))
    far = 10.0 * cells
    assert bayes.predict_proba(far).max(axis=1).mean() < point.predict_proba(far).max(axis=1).mean()
    assert isinstance(bayes.model_.densities[0], jt.families.MultivariateStudentT)


# --- exponential families --------------------------------------------------------------------------------------------


def test_tied_bernoulli_classes():
    """S4-118, S4-235: p_t = ones / (D N_t); MAP with Beta(a, a); the log odds depend on the number of ones only."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    cells = (rng.random((200, 10)) < np.where(y[:, None] == 1, 0.6, 0.3)).astype(float)
    for alpha in (0.0, 2.0):
        mine = ExponentialFamilyClassifier("bernoulli", tied=True, prior=alpha).fit(cells, y)
        ones = np.array([cells[y == label].sum() for label in (0, 1)])
        total = 10 * np.bincount(y)
        p = (ones + alpha) / (total + 2 * alpha)
        assert mine.model_.densities.column.family.probability == pytest.approx(p)
        number = cells.sum(axis=1)
        odds = np.log(np.bincount(y)[1] / np.bincount(y)[0])
        odds = odds + number * np.log(p[1] / p[0]) + (10 - number) * np.log((1 - p[1]) / (1 - p[0]))
        found = mine.predict_log_proba(cells)
        assert found[:, 1] - found[:, 0] == pytest.approx(odds)
        assert mine.coef_[0] == pytest.approx(np.full(10, np.ptp(np.log(p / (1 - p)))))
    assert mine.num_parameters_ == 3


@pytest.mark.parametrize("family", [jt.Gamma, jt.Laplace, "poisson", jt.Geometric])
def test_any_family_makes_classes(family):
    """S4-110, S2-091: with many rows the classifier is that of the distributions drawn from."""
    rng = np.random.default_rng(0)
    kind = jt.Poisson if family == "poisson" else family
    members = {
        jt.Gamma: (jt.Gamma(2.0, 1.0), jt.Gamma(5.0, 1.0)),
        jt.Laplace: (jt.Laplace(0.0, 1.0), jt.Laplace(2.0, 2.0)),
        jt.Poisson: (jt.Poisson(2.0), jt.Poisson(5.0)),
        jt.Geometric: (jt.Geometric(0.5), jt.Geometric(0.2)),
    }[kind]
    cells = np.concatenate([each.sample(4000, rng=rng) for each in members]).astype(float)[:, None]
    y = np.repeat([0, 1], 4000)
    found = ExponentialFamilyClassifier(family, prior=0.0).fit(cells, y).predict_proba(cells)
    exact = jt.supervised.GenerativeClassifier([0.5, 0.5], members).predict_proba(cells[:, 0])
    assert np.abs(found - exact).mean() < 0.02


# --- among scikit-learn's own ----------------------------------------------------------------------------------------


def test_grid_searches_and_pipelines():
    cells, y = draw_rows(7)
    search = GridSearchCV(NaiveBayes("bernoulli"), {"prior": [0.5, 2.0]}, cv=3).fit(cells > 0, y)
    assert search.best_params_["prior"] in {0.5, 2.0}
    found = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(cells, y)
    assert found.predict_proba(cells) == pytest.approx(LinearDiscriminantAnalysis().fit(cells, y).predict_proba(cells))


def test_classes_of_one_value_are_reported():
    with pytest.warns(RegularizedWarning, match="the class 0"):
        NaiveBayes("gaussian").fit([[1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda cells, y: NaiveBayes("normal").fit(cells, y), "the family of a column must be"),
        (lambda cells, y: NaiveBayes({"size": "poisson"}).fit(cells, y), "families names the column 'size'"),
        (lambda cells, y: NaiveBayes(["gaussian"]).fit(cells, y), "X has 3, got 1"),
        (lambda cells, y: NaiveBayes(prior=-1).fit(cells, y), "the pseudo-count must be"),
        (lambda cells, y: NaiveBayes(estimate="ml").fit(cells, y), "estimate must be"),
        (
            lambda cells, y: NaiveBayes(class_prior=[0.5, 0.5]).fit(cells, y),
            "the prior of the classes has one probability for each, 3 here",
        ),
        (lambda cells, y: NaiveBayes("bernoulli").fit(cells, y), "zeros and ones"),
        (lambda cells, y: NaiveBayes().fit(cells, y[:5]), "y has 5 rows, X has 300"),
        (lambda cells, y: NaiveBayes().fit(cells), "requires y to be passed"),
        (lambda cells, y: NaiveBayes(target="z").fit({"a": [1.0, 2.0]}), "no column 'z'"),
        (lambda cells, y: NaiveBayes().fit({"a": [np.nan] * 4}, [0, 1, 0, 1]), "'a' has no observed cell"),
        (lambda cells, y: NaiveBayes().fit(np.full((4, 1), np.nan), [0, 1, 0, 1]), "'x0' has no observed cell"),
        (lambda cells, y: NaiveBayes().fit({"a": [np.inf, 1.0]}, [0, 1]), "'a' is infinite"),
        (lambda cells, y: NaiveBayes().fit(cells, [None] * 300), "no row says its class"),
        (lambda cells, y: NaiveBayes().fit(cells, y, sample_weight=np.zeros(300)), "weights are zero"),
        (
            lambda cells, y: NaiveBayes().fit({"a": [1.0, 3.0, 2.0, 4.0]}, [0, 0, 1, 1]).predict({"b": [1.0]}),
            "unseen at fit time",
        ),
        (lambda cells, y: LinearDiscriminantAnalysis("round").fit(cells, y), "covariance must be"),
        (lambda cells, y: LinearDiscriminantAnalysis(estimate="bayes").fit(cells, y), "closed form"),
        (lambda cells, y: ExponentialFamilyClassifier("categorical").fit(cells, y), "those of NaiveBayes"),
        (lambda cells, y: ExponentialFamilyClassifier(tied="yes").fit(cells, y), "tied must be"),
    ],
)
def test_what_cannot_be_learned_is_said_in_a_sentence(ask, words):
    cells, y = draw_rows()
    with pytest.raises(jt.JunctureError, match=words):
        ask(cells, y)


@pytest.mark.parametrize("columns", [1, 4])
def test_discriminant_directions_are_those_of_scikit_learn(columns):
    """But for signs, and for √(n / (n - K)) where scikit-learn divides the covariance by n - K, as it did."""
    from sklearn.datasets import load_iris

    rows, labels = load_iris(return_X_y=True)
    rows = rows[:, :columns] * 10.0 ** np.arange(columns) + 1e3
    ours, theirs = LinearDiscriminantAnalysis(), discriminant_analysis.LinearDiscriminantAnalysis()
    found, wanted = ours.fit_transform(rows, labels), theirs.fit(rows, labels).transform(rows)
    assert found.shape == wanted.shape == (150, min(2, columns))
    signs = np.sign((found * wanted).sum(axis=0))
    ratio = np.linalg.norm(found) / np.linalg.norm(wanted)
    assert min(abs(ratio - 1), abs(ratio - np.sqrt(150 / 147))) < 1e-9
    np.testing.assert_allclose(found * signs / ratio, wanted, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8)
    assert ours.get_feature_names_out().tolist() == [f"lineardiscriminantanalysis{k}" for k in range(found.shape[1])]
    one = LinearDiscriminantAnalysis(n_components=1).fit(rows, labels)
    np.testing.assert_allclose(one.transform(rows), found[:, :1])
    scores = ours.decision_function(rows)
    np.testing.assert_allclose(
        scores - scores[:, :1], ours.predict_log_proba(rows) - ours.predict_log_proba(rows)[:, :1]
    )
    with pytest.raises(jt.errors.InvalidData, match="n_components cannot be larger"):
        LinearDiscriminantAnalysis(n_components=3).fit(rows, labels)


def test_the_expected_projection_of_a_row_with_holes():
    """Against the mean of many draws of the missing cell, given the others."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 60)
    rows = rng.normal(size=(180, 3)) @ rng.normal(size=(3, 3)) + np.array([[0, 0, 0], [2, 1, 0], [0, 2, 2]])[labels]
    fitted = LinearDiscriminantAnalysis().fit(rows, labels)
    row = np.array([[1.0, np.nan, 0.5]])
    grid = np.linspace(-40, 40, 20_001)
    filled = np.column_stack([np.full(len(grid), 1.0), grid, np.full(len(grid), 0.5)])
    density = np.exp(fitted.score_samples(filled) - fitted.score_samples(filled).max())
    expected = density @ fitted.transform(filled) / density.sum()
    np.testing.assert_allclose(fitted.transform(row)[0], expected, rtol=1e-9)


def test_decisions_between_two_classes_are_log_odds():
    rng = np.random.default_rng(1)
    rows, labels = rng.normal(size=(40, 2)), np.repeat(["a", "b"], 20)
    for kind in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        fitted = kind().fit(rows, labels)
        p = fitted.predict_proba(rows)
        np.testing.assert_allclose(fitted.decision_function(rows), np.log(p[:, 1] / p[:, 0]))
