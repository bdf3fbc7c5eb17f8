"""What the verbs answer of generative classifiers, which are joint distributions of a row and its class."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import juncture as jt
from juncture.supervised import GenerativeClassifier

RNG = np.random.default_rng(1)
CODES = RNG.integers(0, 2, 40)
ROWS = {"a": RNG.normal(size=40) + 2.0 * CODES, "b": RNG.normal(size=40) - CODES}
LABELS = np.array(["left", "right"])[CODES]


@pytest.fixture(name="model", params=["gaussian", "qda", "lda"])
def _model(request):
    return jt.fit(GenerativeClassifier, ROWS, LABELS, families=request.param).model


def test_probabilities_are_joint(model):
    joint = model.log_joint(ROWS)
    total = np.logaddexp.reduce(joint, axis=1)
    beliefs = jt.infer(model, ROWS)
    assert beliefs["y"].values == pytest.approx(np.exp(joint - total[:, None]))
    assert beliefs.log_evidence == pytest.approx(total)
    assert jt.log_prob(model, ROWS) == pytest.approx(total)
    own = joint[np.arange(40), CODES]
    for found in (
        jt.log_prob(model, ROWS, LABELS),
        jt.log_prob(model, {**ROWS, "y": LABELS}),
        model.log_prob(ROWS, LABELS),
    ):
        assert found == pytest.approx(own)
    assert jt.infer(model, {**ROWS, "y": LABELS}).log_evidence == pytest.approx(own)
    some = [label if row % 2 else None for row, label in enumerate(LABELS)]
    assert jt.log_prob(model, ROWS, some) == pytest.approx(np.where(np.arange(40) % 2, own, total))
    best = jt.most_probable(model, ROWS)
    assert best.log_joint == pytest.approx(joint.max(axis=1))
    assert jt.fit(GenerativeClassifier, ROWS, LABELS).log_likelihood == pytest.approx(
        jt.log_prob(jt.fit(GenerativeClassifier, ROWS, LABELS).model, ROWS, LABELS).sum()
    )


def test_what_one_row_leaves_out_is_summed_out(model):
    found = jt.infer(model, {"b": 0.5})
    log_joint = model.log_joint({"a": [np.nan], "b": [0.5]})[0]
    assert found.log_evidence == pytest.approx(np.logaddexp.reduce(log_joint))
    assert found["y"].values == pytest.approx(np.exp(log_joint - np.logaddexp.reduce(log_joint)))
    assert jt.log_prob(model, {"b": 0.5, "y": "right"}) == pytest.approx(log_joint[1])
    assert jt.infer(model, {}).log_evidence == pytest.approx(0.0)
    assert jt.infer(model, {})["y"].values == pytest.approx(model.prior)


def test_draws_have_all_variables(model):
    drawn = jt.sample(model, 5000, rng=0)
    assert tuple(drawn.variables) == tuple(model.variables)
    is_right = drawn.columns["y"] == 1
    assert is_right.mean() == pytest.approx(model.prior[1], abs=0.03)
    rows = np.column_stack([drawn.columns[name] for name in ("a", "b")])
    assert rows[is_right].mean(axis=0) == pytest.approx(model.densities.means[1], abs=0.1)
    same = jt.sample(model, 5, given={"y": "left"}, rng=0)
    assert same.columns["y"].tolist() == [0] * 5
    given = jt.sample(model, 4000, given={"a": 0.7}, rng=0)
    share = jt.infer(model, {"a": 0.7})["y"]["right"]
    assert (given.columns["y"] == 1).mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 4000))


def test_a_classifier_learns_again_with_its_classes_and_families(model):
    again = jt.fit(model, ROWS, LABELS).model
    assert again == model
    one_class = {name: column[CODES == 0] for name, column in ROWS.items()}
    fewer = jt.fit(model, {name: column[:30] for name, column in ROWS.items()}, LABELS[:30]).model
    assert fewer.classes == model.classes
    with pytest.raises(jt.JunctureError, match="up"):
        jt.fit(model, one_class, ["up"] * len(one_class["a"]))
    assert jt.fit(GenerativeClassifier, {**ROWS, "side": LABELS}, "side").model.target.name == "side"


@pytest.mark.parametrize("families", [np.array(["gaussian", "qda"]), jt.Gaussian(0.0, 1.0), [], ""])
def test_families_are_names_or_classes(families):
    with pytest.raises(jt.JunctureError, match="famil"):
        jt.fit(GenerativeClassifier, ROWS, LABELS, families=families)


def test_options_of_em_stand_beside_the_others():
    some = [label if row < 10 else None for row, label in enumerate(LABELS)]
    short = jt.fit(GenerativeClassifier, ROWS, some, tolerance=1e-2)
    steps = []
    long = jt.fit(
        GenerativeClassifier, ROWS, some, method=jt.ExpectationMaximization(tolerance=1e-2),
        progress=lambda step, value: steps.append(value),
    )  # fmt: skip
    assert short.model == long.model
    assert len(steps) == long.trace.num_steps
    with pytest.raises(jt.errors.Unsupported, match="no option 'tolerence'"):
        jt.fit(GenerativeClassifier, ROWS, LABELS, tolerence=1.0)


def test_an_impossible_row_is_said():
    model = GenerativeClassifier([0.5, 0.5], jt.Exponential([1.0, 2.0]))
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match="1 of 2 rows have probability zero"):
        beliefs = jt.infer(model, [-1.0, 1.0])
    assert beliefs.log_evidence[0] == -np.inf
    assert np.isnan(beliefs.probabilities[0]).all()
    with pytest.raises(jt.ImpossibleEvidence, match="no class can have it"):
        jt.infer(model, {"x0": -1.0})


def test_sparse_counts_of_words_are_asked():
    counts = sp.csr_matrix(RNG.poisson(1.0 + CODES[:, None] * [0.0, 2.0, 1.0]).astype(float))
    model = jt.fit(GenerativeClassifier, counts, LABELS, families="multinomial", prior=0.5).model
    assert jt.infer(model, counts)["y"].values == pytest.approx(model.predict_proba(counts))
    assert jt.log_prob(model, counts) == pytest.approx(model.log_prob(counts))
