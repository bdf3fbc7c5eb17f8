"""States that share a row or a distribution: what may be shared, from where it starts, and what fixed parts allow."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import juncture as jt

WEATHER = jt.HiddenMarkovModel(
    [0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]], states=("dry", "wet"), symbols=("walk", "shop")
)
DAYS = [["walk", "shop", "walk"], ["shop", "shop"]]


def with_parts(transition=WEATHER.transition, emissions=WEATHER.emissions):
    return jt.HiddenMarkovModel([0.5, 0.5], transition, emissions, states=WEATHER.states)


@pytest.mark.parametrize("part", ["transition", "emissions"])
def test_what_is_fixed_and_tied_must_be_alike(part):
    with pytest.raises(
        jt.errors.InvalidData, match=f"{part} (is|are) both tied and fixed, but .* 'dry' and 'wet' differ"
    ):
        jt.fit(WEATHER, DAYS, fixed=[part], tied=[part])
    alike = with_parts([[0.8, 0.2]] * 2, jt.HiddenMarkovModel([1], [[1]], [[0.3, 0.7]]).emissions.take([0, 0]))
    codes = [[0, 1, 0], [1, 1]]
    fitted = jt.fit(alike, codes, fixed=[part], tied=[part]).model
    assert np.array_equal(fitted.transition, alike.transition) or part == "emissions"
    assert list(fitted.emissions) == list(alike.emissions) or part == "transition"


def test_rows_with_different_zeros_are_not_shared():
    with pytest.raises(jt.errors.InvalidData, match="share a row of transition, but have zeros at different positions"):
        jt.fit(with_parts([[1.0, 0.0], [0.3, 0.7]]), DAYS, tied=["transition"])


@pytest.mark.parametrize(
    "distributions",
    [
        [jt.Gaussian(0.0, 1.0), jt.Laplace(0.0, 1.0)],
        [[1.0, 0.0], [0.5, 0.5]],
        [jt.Binomial(5, 0.5), jt.Binomial(9, 0.5)],
        [jt.Bernoulli(0.0), jt.Bernoulli(0.5)],
        [jt.Mixture([1.0], [jt.Poisson(2.0)]), jt.Mixture([0.5, 0.5], jt.Poisson([2.0, 3.0]))],
        [jt.Independent([jt.Bernoulli(0.0)]), jt.Independent([jt.Bernoulli(0.5)])],
    ],
)
def test_distributions_that_learning_cannot_make_alike_are_not_shared(distributions):
    data = np.zeros((3, 1)) if isinstance(distributions[0], jt.Independent) else [0, 1, 0]
    with pytest.raises(
        jt.errors.InvalidData, match=r"share a distribution, but have .* of one kind, with the same zeros"
    ):
        jt.fit(with_parts(emissions=distributions), data, tied=["emissions"])


def test_a_group_label_is_wanted_for_each_state():
    with pytest.raises(jt.errors.InvalidData, match=r"has 2 group labels, one for each state; got \[0, 0, 1\]"):
        jt.fit(WEATHER, DAYS, tied={"emissions": [0, 0, 1]})


def test_shared_emissions_have_what_ordinary_ones_have():
    fitted = jt.fit(WEATHER, DAYS, tied=["emissions"]).model
    assert fitted.emissions.probabilities == pytest.approx(np.array([[0.4, 0.6]] * 2))
    assert fitted.emissions.symbols == ("walk", "shop")
    assert pickle.loads(pickle.dumps(fitted)) == copy.deepcopy(fitted) == fitted  # noqa: S301
    with pytest.raises(AttributeError, match="no attribute 'mean'"):
        _ = fitted.emissions.mean
    tied = jt.fit(with_parts(emissions=jt.Gaussian([0.0, 1.0], [1.0, 1.0])), [1.0, 2.0, 3.0], tied=["emissions"])
    assert tied.model.emissions.mean == pytest.approx([2.0, 2.0])
