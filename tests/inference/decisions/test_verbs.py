"""Verbs that need a distribution say how a decision network, or a predictor, is asked."""

from __future__ import annotations

import pytest

import juncture as jt
from juncture.errors import Unsupported

VERBS = {
    "infer": jt.infer,
    "most_probable": jt.most_probable,
    "sample": lambda model: jt.sample(model, 3),
    "log_prob": lambda model: jt.log_prob(model, {}),
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_point_to_another_way(verb):
    with pytest.raises(Unsupported, match=f"{verb} does not take a DecisionNetwork.*with_policy"):
        VERBS[verb](jt.example("oil"))
    line = jt.fit(jt.supervised.Hyperplane, {"a": [1, 2], "b": ["x", "y"]}, "b").model
    with pytest.raises(Unsupported, match=r"decides without probabilities: model.predict"):
        VERBS[verb](line)
    with pytest.raises(Unsupported, match=f"{verb} takes a model; got list"):
        VERBS[verb]([])
