"""`fit`, `log_prob` and `sample` of families of distributions: what their own methods give."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import juncture as jt
from juncture.errors import InvalidData, Unsupported
from juncture.families.registry import PAIRS
from support.family_examples import EXAMPLES, MEMBERS, members_of, over_providing_families

NUM_ROWS = 40


@over_providing_families("_estimate")
def test_fit_is_the_estimate_of_the_statistics(family):
    """Of a member that knows what cannot be estimated; rows of weight 2 count twice."""
    for member in members_of(family)[:2]:
        rows = member.sample(NUM_ROWS, rng=1)
        statistics = member.statistics(rows)
        try:
            wanted = family.estimate(statistics)
        except (InvalidData, Unsupported) as refusal:
            with pytest.raises(type(refusal), match=re.escape(str(refusal))):
                jt.fit(member, rows)
            continue
        fitted = jt.fit(member, rows)
        assert fitted.model == wanted
        assert fitted.seed is None
        assert fitted.log_likelihood == pytest.approx(float(np.sum(wanted.log_prob(rows))), rel=1e-12)
        known = {name: member._known()[name] for name in family.required}
        assert jt.fit(family, rows, **known).model == family.estimate(family.statistics(rows, **known))
        if isinstance(rows, np.ndarray):
            twice = jt.fit(member, np.concatenate([rows, rows[:10]]))
            weighted = jt.fit(member, rows, weights=np.r_[np.full(10, 2.0), np.ones(NUM_ROWS - 10)])
            assert weighted.log_likelihood == pytest.approx(twice.log_likelihood, rel=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_a_prior_gives_the_mode_of_the_posterior(pair):
    family = pair.likelihood
    member = members_of(family)[0]
    prior = next(iter(members_of(pair.prior)))
    rows = member.sample(NUM_ROWS, rng=2)
    try:
        wanted = family.estimate(member.statistics(rows), prior)
    except (InvalidData, Unsupported) as refusal:
        with pytest.raises(type(refusal)):
            jt.fit(member, rows, prior=prior)
        return
    assert jt.fit(member, rows, prior=prior).model == wanted


def test_columns_of_frames_and_parts_of_rows():
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "k": [1, 0, 3]})
    assert jt.fit(jt.Gaussian, frame["x"]).model == jt.fit(jt.Gaussian, [1.0, 2.0, 4.0]).model
    assert jt.fit(jt.Binomial(10, 0.5), frame["k"]).model == jt.Binomial(10, 4 / 30)
    both = jt.fit(jt.Independent([jt.Gaussian(0.0, 1.0), jt.Poisson(1.0)]), frame.to_numpy()).model
    assert both == jt.Independent([jt.fit(jt.Gaussian, frame["x"]).model, jt.fit(jt.Poisson, frame["k"]).model])


@pytest.mark.parametrize("name", EXAMPLES)
def test_log_prob_and_sample_are_those_of_the_member(name):
    member = EXAMPLES[name][0]
    drawn = jt.sample(member, 3, rng=0)
    own = member.sample(3, rng=0)
    assert all(
        np.array_equal(*pair) for pair in (zip(drawn, own, strict=True) if isinstance(own, tuple) else [(drawn, own)])
    )
    assert np.array_equal(jt.log_prob(member, own), member.log_prob(own))


def test_what_is_refused():
    for verb in (jt.infer, jt.most_probable):
        with pytest.raises(Unsupported, match="is the distribution of one quantity"):
            verb(MEMBERS[0], [1])
    with pytest.raises(InvalidData, match="needs the trials"):
        jt.fit(jt.Binomial, [1, 2])
    with pytest.raises(InvalidData, match="one weight a row"):
        jt.fit(jt.Gaussian, [1.0, 2.0], weights=np.ones((2, 2)))
    with pytest.raises(InvalidData, match="knows nothing of 'spread'"):
        jt.fit(jt.Gaussian, [1.0, 2.0], spread=1.0)
