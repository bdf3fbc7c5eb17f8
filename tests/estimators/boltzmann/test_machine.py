"""The estimator of restricted Boltzmann machines beside the model, and beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn.neural_network import BernoulliRBM

import juncture as jt
from juncture.estimators import RestrictedBoltzmannMachine

ROWS = np.random.default_rng(0).permutation(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]] * 40)).astype(float)


def test_features_and_scores_are_those_of_the_model():
    machine = RestrictedBoltzmannMachine(3, learning_rate=0.2, n_iter=30).fit(ROWS)
    same = BernoulliRBM(3)
    same.components_, same.intercept_hidden_ = machine.components_, machine.intercept_hidden_
    same.intercept_visible_ = machine.intercept_visible_
    assert machine.transform(ROWS) == pytest.approx(same.transform(ROWS), abs=1e-12)
    assert machine.model_.free_energy(ROWS) == pytest.approx(same._free_energy(ROWS), abs=1e-10)
    assert machine.score_samples(ROWS) == pytest.approx(jt.log_prob(machine.model_, ROWS), abs=1e-12)
    assert machine.log_partition_error_ == 0.0
    assert machine.score(ROWS) > -np.log(16) + 0.2  # -log 16 is the first score, -log 3 the best
    assert set(np.unique(machine.gibbs(ROWS))) <= {0.0, 1.0}
    assert machine.get_feature_names_out().tolist() == [f"restrictedboltzmannmachine{unit}" for unit in range(3)]


def test_partial_fits_go_on():
    machine = RestrictedBoltzmannMachine(3, learning_rate=0.2)
    scores = [machine.partial_fit(ROWS).score(ROWS) for _ in range(40)]
    assert scores[-1] > scores[0] + 0.5


@pytest.mark.parametrize("visible", ["bernoulli", "gaussian", "softmax"])
def test_holes_and_weights_are_taken(visible):
    rows = ROWS.copy()
    rows[::7, 1] = np.nan
    frame = pd.DataFrame(rows, columns=list("abcd"))
    options = {"learning_rate": 0.1 if visible != "gaussian" else 0.02, "n_iter": 20, "visible": visible}
    machine = RestrictedBoltzmannMachine(3, **options).fit(frame, sample_weight=np.ones(len(rows)))
    assert machine.transform(frame).shape == (len(rows), 3)
    filled = machine.impute(frame)
    assert not np.isnan(filled).any()
    assert np.array_equal(filled[~np.isnan(rows)], rows[~np.isnan(rows)])
    with pytest.raises(jt.errors.InvalidData, match="use impute"):
        machine.gibbs(frame)


def test_a_large_machine_says_that_its_log_z_is_estimated():
    rows = np.random.default_rng(1).integers(0, 2, (20, 24)).astype(float)
    machine = RestrictedBoltzmannMachine(24, n_iter=1, random_state=None).fit(rows)
    assert machine.log_partition_error_ > 0
    estimate = machine.log_partition_
    assert machine.log_partition_ == estimate
    assert np.isfinite(machine.score_samples(rows)).all()


def test_wrong_options_get_a_sentence():
    with pytest.raises(jt.errors.InvalidData, match="n_components"):
        RestrictedBoltzmannMachine(0).fit(ROWS)
    with pytest.raises(jt.errors.InvalidData, match="visible"):
        RestrictedBoltzmannMachine(2, visible="poisson").fit(ROWS)
    with pytest.raises(jt.errors.InvalidData, match="0 or 1"):
        RestrictedBoltzmannMachine(2, binarize=None).fit(ROWS + 1)


def test_learning_leaves_log_z_to_those_who_ask(monkeypatch):
    """It would take longer than the epochs."""
    for name in ("log_partition", "annealed_log_partition"):
        monkeypatch.setattr(jt.RestrictedBoltzmannMachine, name, property(lambda self: pytest.fail("log Z is taken")))
    for hidden in (3, 24):
        RestrictedBoltzmannMachine(hidden, n_iter=2).fit(ROWS).partial_fit(ROWS).transform(ROWS[:1])
