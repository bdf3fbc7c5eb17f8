"""Linear classifiers as kinds: how they are learned by `jt.fit`, and what they decide."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture import supervised as sv

RNG = np.random.default_rng(2)
POINTS = RNG.normal(size=(30, 2))
LABELS = np.where(POINTS @ [1.0, -0.5] > 0.2, "in", "out")
POINTS = POINTS + 0.3 * np.where(LABELS == "in", 1.0, -1.0)[:, None] * [1.0, -0.5]
GROUPS = np.array(["low", "middle", "high"])[np.digitize(POINTS[:, 0], [-0.5, 0.5])]
TABLE = {"size": POINTS[:, 0], "depth": POINTS[:, 1]}
METHODS = ["least-squares", "risk", "perceptron"]
MANY = [sv.OneVersusRest, sv.AllPairs, sv.OrderedClassifier]


@pytest.mark.parametrize("method", METHODS)
def test_labels_and_names_are_kept(method):
    fitted = jt.fit(sv.Hyperplane, TABLE, LABELS, method=method)
    model = fitted.model
    assert model.classes == ("in", "out")
    assert model.variables.names == ("size", "depth", "y")
    assert set(model.predict(TABLE)) == {"in", "out"}
    assert model.predict({"depth": POINTS[:, 1], "size": POINTS[:, 0]}).tolist() == model.predict(POINTS).tolist()
    assert fitted.training_error == np.mean(model.predict(TABLE) != LABELS)
    plain = jt.fit(sv.Hyperplane, POINTS, LABELS == "out", method=method).model
    assert plain.weights == pytest.approx(model.weights)
    assert plain.predict(POINTS).dtype == bool
    named = jt.fit(sv.Hyperplane, {**TABLE, "side": LABELS}, "side", method=method).model
    assert named.target.name == "side"
    assert named.with_target_name("y").weights == pytest.approx(model.weights)
    assert fitted.log_likelihood is None
    assert "training error" in repr(fitted)
    assert "training error" in fitted._repr_html_()
    assert model.margin(TABLE, LABELS) == pytest.approx(plain.margin(POINTS, LABELS == "out"))


def test_learners_are_objects_names_or_options():
    by_name = jt.fit(sv.Hyperplane, POINTS, LABELS, method="perceptron", epochs=7, margin=0.1, learning_rate=0.5)
    learner = sv.Perceptron(epochs=7, margin=0.1, learning_rate=0.5)
    assert jt.fit(sv.Hyperplane, POINTS, LABELS, method=learner).model == by_name.model
    assert (
        jt.fit(sv.Hyperplane, POINTS, LABELS).model
        == jt.fit(sv.Hyperplane, POINTS, LABELS, method=sv.LeastSquares).model
    )
    with pytest.raises(jt.errors.Unsupported, match="LeastSquares has no option 'epochs'"):
        jt.fit(sv.Hyperplane, POINTS, LABELS, epochs=3)
    with pytest.raises(jt.errors.Unsupported, match="no method of learning 'newton'"):
        jt.fit(sv.Hyperplane, POINTS, LABELS, method="newton")


def test_the_perceptron_starts_where_a_hyperplane_is():
    first = jt.fit(sv.Hyperplane, POINTS, LABELS, method="perceptron")
    again = jt.fit(first.model, POINTS, LABELS, method="perceptron")
    assert again.num_updates == 0
    assert again.model == first.model


def test_the_seed_of_the_order_repeats_the_result():
    found = jt.fit(sv.Hyperplane, POINTS, LABELS, method="perceptron", shuffle=True)
    again = jt.fit(sv.Hyperplane, POINTS, LABELS, method="perceptron", shuffle=True, rng=found.seed)
    assert again.model == found.model
    shuffled = sv.Perceptron(shuffle=True)
    many = jt.fit(sv.OneVersusRest, POINTS, LABELS, method=shuffled)
    assert jt.fit(sv.OneVersusRest, POINTS, LABELS, method=shuffled, rng=many.seed).model == many.model
    assert jt.fit(sv.OneVersusRest, POINTS, LABELS).seed is None


@pytest.mark.parametrize("kind", MANY)
def test_weights_are_repeated_rows(kind):
    counts = np.arange(30) % 3 + 1
    weighted = jt.fit(kind, POINTS, GROUPS, weights=counts)
    repeated = jt.fit(kind, np.repeat(POINTS, counts, axis=0), np.repeat(GROUPS, counts))
    assert weighted.model.activations(POINTS) == pytest.approx(repeated.model.activations(POINTS))
    assert weighted.training_error == pytest.approx(repeated.training_error)


@pytest.mark.parametrize("kind", MANY)
def test_many_classes_keep_their_order_and_names(kind):
    order = ["low", "middle", "high"]
    fitted = jt.fit(kind, {**TABLE, "level": GROUPS}, "level", classes=order, binary=sv.Hyperplane, method="risk")
    assert fitted.model.classes == tuple(order)
    assert fitted.model.variables.names == ("size", "depth", "level")
    assert fitted.training_error == np.mean(fitted.model.predict(TABLE) != GROUPS)
    again = jt.fit(fitted.model, TABLE, GROUPS, binary=lambda rows, y: jt.fit(sv.MaximumMargin, rows, y, cost=1.0))
    assert again.model.classes == tuple(order)
    assert {type(part) for part in again.model.discriminants} == {sv.MaximumMargin}
    own = jt.fit(
        kind, TABLE, GROUPS, classes=order, binary=lambda rows, y: jt.fit(sv.Hyperplane, rows, y, method="risk")
    )
    assert own.model.activations(TABLE) == pytest.approx(fitted.model.activations(TABLE))
    for wrong in ({"binary": sv.DecisionTree}, {"binary": lambda rows, y: None}, {"binary": "line"}, {"binary": []}):
        with pytest.raises(jt.JunctureError, match=r"binary|method activation"):
            jt.fit(kind, TABLE, GROUPS, **wrong)


def test_what_takes_no_weights_says_so():
    for kind, options in (
        (sv.Hyperplane, {"method": "risk"}),
        (sv.Hyperplane, {"method": "zero-one"}),
        (sv.MaximumMargin, {"cost": 1.0}),
        (sv.OneVersusRest, {"binary": sv.MaximumMargin}),
    ):
        with pytest.raises(jt.errors.Unsupported, match="without weights"):
            jt.fit(kind, POINTS[:8], LABELS[:8], weights=np.ones(8), **options)
