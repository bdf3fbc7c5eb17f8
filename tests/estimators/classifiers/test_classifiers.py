"""The classifiers are `fit` and `infer` behind scikit-learn's names."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import polars as pl
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import juncture as jt
from juncture.data.discretization import Discretizer
from juncture.errors import UnseenStatesWarning
from juncture.estimators import BayesianNetworkClassifier, TreeAugmentedNaiveBayes
from juncture.inference.engines.relevance import relevant_evidence

ASIA = jt.example("asia")
ROWS = jt.sample(ASIA, 400, rng=1)
FRAME = ROWS.to_pandas()
QUERY = jt.sample(ASIA, 50, rng=2).to_pandas().drop(columns="lung")


def with_holes(frame, share: float, seed: int = 0):
    rng = np.random.default_rng(seed)
    return frame.astype(object).mask(rng.random(frame.shape) < share, None)


@pytest.fixture
def asia() -> BayesianNetworkClassifier:
    return BayesianNetworkClassifier(ASIA.graph, target="lung").fit(FRAME)


# --- equal to fit and infer -----------------------------------------------------------------------------------------


def test_fit_is_fit(asia):
    fitted = jt.fit(ASIA.graph, FRAME, prior=1.0)
    assert asia.model_ == fitted.model
    assert asia.fit_.log_likelihood == fitted.log_likelihood
    assert asia.classes_.tolist() == ["no", "yes"]
    assert asia.feature_names_in_.tolist() == [name for name in FRAME.columns if name != "lung"]
    assert asia.n_features_in_ == 7


@pytest.mark.parametrize("target", ["lung", "smoke", "dysp", "asia"])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_any_target_from_any_columns_with_holes(asia, target, share):
    """What is not known is summed out; the columns that tell nothing may be left unread."""
    rows = with_holes(QUERY.drop(columns=target, errors="ignore"), share)
    for columns in (list(rows), ["dysp", "xray"], ["bronc"], []):
        kept = rows[[name for name in columns if name in rows]]
        expected = jt.infer(asia.model_, kept, targets=[target])[target]
        found = asia.predict_proba(kept, target=target)
        assert found.shape == (len(kept), 2)
        assert np.allclose(found, expected.values, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_columns_that_are_left_unread_tell_nothing(seed):
    """Over random graphs, orders of columns and holes in some columns only."""
    rng = np.random.default_rng(seed)
    names = [f"v{place}" for place in range(8)]
    edges = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :] if rng.random() < 0.3]
    variables = {name: jt.Variable(name, int(rng.integers(2, 4))) for name in names}
    graph = jt.DirectedGraph(edges, names)
    model = jt.BayesianNetwork(
        jt.Conditional(
            variables[name],
            [variables[parent] for parent in graph.parents(name)],
            rng.dirichlet(
                np.ones(variables[name].num_states), [variables[parent].num_states for parent in graph.parents(name)]
            ),
        )
        for name in names
    )
    rows = jt.sample(model, 60, rng=seed)
    holed = {name for name in names if rng.random() < 0.4}
    columns = {
        name: np.where((rng.random(60) < 0.5) & (name in holed), -1, column) for name, column in rows.columns.items()
    }
    shown = [name for name in names[1:] if rng.random() < 0.8]
    query = jt.Dataset.from_codes([variables[name] for name in shown], columns) if shown else jt.Dataset({})
    if not shown:
        return
    found = BayesianNetworkClassifier.from_model(model, "v0").predict_proba(query)
    assert np.allclose(found, jt.infer(model, query, targets=["v0"])["v0"].values, rtol=1e-10)


def test_only_the_markov_blanket_is_read_of_complete_rows():
    alarm = jt.example("alarm")
    for target in alarm.variables.names:
        others = set(alarm.variables.names) - {target}
        assert set(relevant_evidence(alarm.graph, target, others, lambda _: True)) == alarm.graph.markov_blanket(target)


def test_evidence_beyond_a_variable_is_read_where_that_has_holes():
    graph = jt.DirectedGraph([("target", "hidden"), ("hidden", "near"), ("near", "far"), ("far", "last")])
    observed = {"near", "far", "last"}
    for holes, relevant in (({}, ("near",)), ({"near"}, ("near", "far")), ({"near", "far"}, ("near", "far", "last"))):
        assert relevant_evidence(graph, "target", observed, lambda name, holes=holes: name not in holes) == relevant


def test_every_kind_of_rows_gives_the_same(asia):
    expected = asia.predict_proba(QUERY)
    coded = jt.Dataset(QUERY, variables=asia.model_.variables)
    records = QUERY.to_dict("records")
    array = QUERY[list(asia.feature_names_in_)].to_numpy()
    for rows in (coded, pl.from_pandas(QUERY), QUERY.to_dict("list"), records, QUERY[list(QUERY)[::-1]]):
        assert np.array_equal(asia.predict_proba(rows), expected)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert np.array_equal(asia.predict_proba(array), expected)
    assert np.array_equal(asia.predict(QUERY), asia.classes_[expected.argmax(axis=1)])
    assert np.array_equal(asia.predict_log_proba(QUERY), np.log(expected))


def test_the_column_of_the_target_is_not_used(asia):
    whole = jt.sample(ASIA, 50, rng=2).to_pandas()
    assert np.array_equal(asia.predict_proba(whole), asia.predict_proba(QUERY))


def test_weights_are_given_or_those_of_the_dataset():
    weights = np.random.default_rng(0).random(400)
    given = BayesianNetworkClassifier(target="lung").fit(FRAME, sample_weight=weights)
    own = BayesianNetworkClassifier(target="lung").fit(jt.Dataset(FRAME, weights=weights))
    assert given.model_ == own.model_
    assert own.score(jt.Dataset(FRAME)) == own.score(FRAME) == np.mean(own.predict(FRAME) == FRAME["lung"])
    assert given.model_ != BayesianNetworkClassifier(target="lung").fit(FRAME).model_


def test_no_rows_have_no_predictions(asia):
    assert asia.predict_proba(QUERY[:0]).shape == (0, 2)
    assert asia.predict(QUERY[:0]).shape == (0,)


def test_a_network_without_fitting():
    classifier = BayesianNetworkClassifier.from_model(ASIA, "lung")
    expected = jt.infer(ASIA, QUERY, targets=["lung"])["lung"]
    assert np.allclose(classifier.predict_proba(QUERY)[:, 1], expected["yes"])


# --- naive Bayes ----------------------------------------------------------------------------------------------------


def test_naive_bayes_is_the_categorical_one():
    """With as many rows of each class a pseudo-count on the classes, which the other has not, changes nothing."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (200, 5)), np.repeat([0, 1], 100)  # noqa: N806
    mine, other = BayesianNetworkClassifier(prior=1.0).fit(X, y), CategoricalNB(alpha=1.0).fit(X, y)
    assert np.allclose(mine.predict_proba(X), other.predict_proba(X), rtol=1e-12)
    weights = rng.integers(1, 4, 200) * np.where(y == 0, 1.0, 1.0)
    weights[y == 1] *= weights[y == 0].sum() / weights[y == 1].sum()
    mine.fit(X, y, sample_weight=weights)
    other.fit(X, y, sample_weight=weights)
    assert np.allclose(mine.predict_proba(X), other.predict_proba(X), rtol=1e-12)


def test_without_a_structure_it_is_naive_bayes():
    mine = BayesianNetworkClassifier(target="lung").fit(FRAME)
    assert mine.model_ == BayesianNetworkClassifier(target="lung").fit(FRAME).model_
    assert set(mine.model_.graph.edges) == {("lung", name) for name in FRAME if name != "lung"}


# --- holes ----------------------------------------------------------------------------------------------------------


def test_a_partly_observed_class_is_learned_from():
    """Semi-supervised learning is EM with a class that has holes."""
    y = FRAME["lung"].astype(object).mask(np.arange(len(FRAME)) % 3 > 0, None)
    X = FRAME.drop(columns="lung")  # noqa: N806
    mine = BayesianNetworkClassifier(ASIA.graph).fit(X, y)
    expected = jt.fit(ASIA.graph, X.assign(lung=y), prior=1.0)
    assert mine.target_ == "lung"
    assert mine.fit_.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-9)
    assert mine.fit_.trace.num_steps > 0
    assert mine.score(X, y) == pytest.approx(np.mean(mine.predict(X)[::3] == FRAME["lung"][::3]))
    numbers = np.where(np.arange(len(FRAME)) % 3 > 0, np.nan, FRAME["lung"] == "yes")
    assert BayesianNetworkClassifier().fit(X, numbers).classes_.tolist() == [0.0, 1.0]


def test_latent_variables_are_declared():
    graph = jt.DirectedGraph([("h", "smoke"), ("h", "bronc"), ("h", "dysp")])
    hidden = jt.Variable("h", 2)
    mine = BayesianNetworkClassifier(graph, target="dysp", variables=[hidden]).fit(FRAME)
    assert mine.model_.variable("h") == hidden
    assert mine.predict_proba(QUERY, target="h").shape == (50, 2)


def test_states_that_fit_has_not_seen_are_missing_with_one_warning(asia):
    rows = QUERY.drop(columns=["either", "tub", "asia"])
    odd = rows.assign(xray="blurred", bronc="maybe")
    with pytest.warns(UnseenStatesWarning, match="xray 50") as caught:
        found = asia.predict_proba(odd)
    assert len(caught) == 1
    assert np.allclose(found, asia.predict_proba(rows.drop(columns=["xray", "bronc"])))


def test_impossible_rows_get_the_class_by_itself_and_a_warning():
    classifier = BayesianNetworkClassifier.from_model(ASIA, "lung")
    rows = [{"either": "no", "tub": "yes"}, {"either": "yes"}]
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match="1 of 2 rows"):
        found = classifier.predict_proba(rows)
    assert found[0] == pytest.approx([0.945, 0.055])
    assert found[1, 1] == jt.infer(ASIA, {"either": "yes"})["lung"]["yes"]


# --- what columns hold ----------------------------------------------------------------------------------------------


def test_numbers_are_cut_and_whole_ones_are_states():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = {"size": rng.normal(size=300) + 3 * y, "code": np.where(y == 1, 7.0, np.nan), "sex": list("ab" * 150)}  # noqa: N806
    mine = BayesianNetworkClassifier().fit(X, y)
    assert list(mine.discretizer_.cuts) == ["size"]
    assert mine.model_.variable("code").labels == (7,)
    assert mine.model_.variable("size").num_states == 5
    assert mine.score(X, y) > 0.9
    assert (
        BayesianNetworkClassifier(discretize=Discretizer(8, "entropy")).fit(X, y).model_.variable("size").num_states < 5
    )
    real = BayesianNetworkClassifier(discretize=None).fit(X | {"code": np.where(y == 1, 7.0, 8.0)}, y)
    assert real.model_.variable("size").is_real
    assert real.model_.variable("code").labels == (7, 8)


def test_a_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "rows.csv"
    jt.Dataset({"x": [0, 1, 1, 0], "y": [0, 1, 1, 0]}).to_csv(path)
    mine = BayesianNetworkClassifier(target="y").fit(path)
    assert mine.classes_.tolist() == [0, 1]
    assert mine.score(path) == 1.0


def test_states_come_from_a_network_or_are_declared():
    few = FRAME[FRAME["asia"] == "no"]
    mine = BayesianNetworkClassifier(ASIA, target="lung").fit(few)
    assert mine.model_.variables == ASIA.variables
    declared = BayesianNetworkClassifier(target="lung", variables=[ASIA.variable("asia")]).fit(few)
    assert declared.model_.variable("asia").labels == ("yes", "no")
    assert mine.classes_.tolist() == ["no", "yes"]
    assert mine.predict_proba(QUERY) == pytest.approx(
        jt.infer(mine.model_, QUERY, targets=["lung"])["lung"].values[:, ::-1]
    )


# --- among scikit-learn's own ---------------------------------------------------------------------------------------


def test_clones_pickles_and_pipelines(asia):
    assert clone(asia).get_params()["structure"] == ASIA.graph
    assert np.array_equal(pickle.loads(pickle.dumps(asia)).predict_proba(QUERY), asia.predict_proba(QUERY))  # noqa: S301
    X, y = FRAME.drop(columns="lung"), FRAME["lung"]  # noqa: N806
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan)
    pipeline = make_pipeline(encoder, BayesianNetworkClassifier()).fit(X, y)
    assert np.allclose(pipeline.predict_proba(X), BayesianNetworkClassifier().fit(X, y).predict_proba(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenStatesWarning)
        search = GridSearchCV(BayesianNetworkClassifier(), {"prior": [0.5, 1.0]}, cv=2).fit(X, y)
        assert search.best_params_["prior"] in {0.5, 1.0}
        graph = BayesianNetworkClassifier(ASIA.graph, target="lung")
        assert cross_val_score(graph, FRAME, y, cv=2, scoring="neg_log_loss").mean() > -0.5


# --- refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (lambda: BayesianNetworkClassifier().fit(FRAME), "requires y to be passed"),
        (lambda: BayesianNetworkClassifier(target="lungs").fit(FRAME), "no column 'lungs'"),
        (lambda: BayesianNetworkClassifier(ASIA.graph, target="lungs").fit(FRAME, FRAME["lung"]), "no node 'lungs'"),
        (lambda: BayesianNetworkClassifier(ASIA.graph, target="age").fit(FRAME.assign(age=1)), "no node 'age'"),
        (lambda: BayesianNetworkClassifier(ASIA.graph).fit(FRAME, FRAME["lung"].to_numpy()), "which node"),
        (lambda: BayesianNetworkClassifier(7).fit(FRAME, FRAME["lung"]), "a structure is"),
        (
            lambda: BayesianNetworkClassifier("naif").fit(FRAME, FRAME["lung"]),
            "no structure 'naif'; did you mean 'naive'",
        ),
        (
            lambda: BayesianNetworkClassifier().fit(FRAME.rename(columns={"asia": "y"}), np.arange(400) % 2),
            "name it in target=",
        ),
        (lambda: BayesianNetworkClassifier().fit(FRAME, [None] * 400), "no row says its class"),
        (lambda: BayesianNetworkClassifier().fit(FRAME, [0, 1]), "y has 2 rows, X has 400"),
        (
            lambda: BayesianNetworkClassifier().fit(FRAME, FRAME["lung"], sample_weight=np.zeros(400)),
            "weights are zero",
        ),
        (lambda: BayesianNetworkClassifier().fit({"a": [np.nan] * 4}, [0, 1, 0, 1]), "'a' has no observed cell"),
    ],
)
def test_what_cannot_be_learned_is_refused_in_a_sentence(fit, words):
    with pytest.raises(jt.JunctureError, match=words):
        fit()


def test_nothing_to_compare_with_is_refused(asia):
    with pytest.raises(jt.errors.InvalidData, match="nothing to compare with"):
        asia.score(QUERY, [None] * 50)
    with pytest.raises(jt.errors.InvalidData, match="X has no column 'lung'"):
        asia.score(QUERY)


def test_unknown_columns_are_refused(asia):
    with pytest.raises(jt.errors.InvalidData, match="'smokes' was unseen at fit time; did you mean 'smoke'"):
        asia.predict(QUERY.rename(columns={"smoke": "smokes"}))


def test_a_tree_among_the_columns_tells_what_naive_bayes_cannot():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 3))  # noqa: N806
    y = X[:, 0] ^ X[:, 1]
    plain, augmented = BayesianNetworkClassifier().fit(X, y), TreeAugmentedNaiveBayes().fit(X, y)
    assert augmented.score(X, y) == 1.0
    assert plain.score(X, y) < 0.7
    graph = augmented.model_.graph
    assert {("x0", "x1"), ("x1", "x0")} & set(graph.edges)
    assert all("y" in graph.parents(name) and len(graph.parents(name)) <= 2 for name in ("x0", "x1", "x2"))


def test_a_tree_is_learned_from_rows_with_holes():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (400, 3)).astype(float)  # noqa: N806
    y = (X[:, 0] != X[:, 1]).astype(int)
    X[rng.random(X.shape) < 0.05] = np.nan
    whole = ~np.isnan(X[:, :2]).any(axis=1)
    assert TreeAugmentedNaiveBayes().fit(X, y).score(X[whole], y[whole]) == 1.0


def test_a_tree_that_costs_more_than_it_gains_is_left_out():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (200, 4)), rng.integers(0, 2, 200)  # noqa: N806
    sparse = TreeAugmentedNaiveBayes(tree_score="bic").fit(X, y).model_.graph
    assert len(sparse.edges) == 4 < len(TreeAugmentedNaiveBayes().fit(X, y).model_.graph.edges)
