"""Long data go through compiled passes: what they find is what the plain way finds, short data never wait for them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from juncture.errors import InvalidData
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.categorical import Categorical
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.registry import FAMILIES
from juncture.families.statistics import long_data
from juncture.families.statistics.long_data import LONG, merge_moments, moments_of
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.runtime import parallel as cores
from juncture.runtime.parallel import BLOCK, map_blocks

NUM_ROWS = LONG + 4_321  # no whole number of blocks, of tiles or of lanes


def correlated(dimension: int) -> MultivariateGaussian:
    factor = np.tril(np.random.default_rng(3).normal(size=(dimension, dimension))) + 2 * np.eye(dimension)
    return MultivariateGaussian(np.arange(dimension, dtype=float), factor @ factor.T)


MEMBERS = [
    Bernoulli(0.3), Bernoulli(1.0), Geometric(0.2), Binomial(12, 0.4), NegativeBinomial(3, 0.4), Poisson(4.0),
    Poisson(30_000.0), Categorical([0.1, 0.0, 0.6, 0.3]), Exponential(2.0), Gaussian(1.0, 4.0), Gaussian(1e3, 1e-3),
    correlated(1), correlated(2), correlated(5),
]  # fmt: skip
over_members = pytest.mark.parametrize(
    "member", MEMBERS, ids=[f"{i}-{type(m).__name__}" for i, m in enumerate(MEMBERS)]
)


@pytest.fixture
def plain_way(monkeypatch):
    """Switch the compiled passes off."""

    def switch() -> None:
        monkeypatch.setattr(long_data, "LONG", sys.maxsize)

    return switch


def rows_of(member, number=NUM_ROWS, seed=0):
    return np.array(member.sample(number, rng=seed))


def forms(x):
    """The same numbers as programs hand them over."""
    frozen = x.copy()
    frozen.setflags(write=False)
    yield from (frozen, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2])
    if x.dtype.kind == "i":
        yield from (x.astype(float), x.astype(np.int32))


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max(initial=1.0))


def numbers_of(statistics):
    names = ("weight", "center", "scatter") if hasattr(statistics, "scatter") else ("weight", "total", "log_base")
    return [np.asarray(getattr(statistics, name)) for name in names]


@over_members
def test_log_prob_is_that_of_the_plain_way(member, plain_way):
    x = rows_of(member)
    found = [member.log_prob(form) for form in (x, *forms(x))]
    plain_way()
    expected = member.log_prob(x)
    for one in found:
        np.testing.assert_allclose(one, expected, rtol=1e-12, atol=1e-12)


@over_members
@pytest.mark.parametrize("weighting", ["none", "fractions", "mostly zero", "columns"])
def test_statistics_are_those_of_the_plain_way(member, weighting, plain_way):
    rng = np.random.default_rng(1)
    weights = {
        "none": None,
        "fractions": rng.random(NUM_ROWS),
        "mostly zero": np.where(np.arange(NUM_ROWS) > NUM_ROWS - 50, 0.5, 0.0),
        "columns": rng.random((NUM_ROWS, 2, 3)) * (np.arange(NUM_ROWS) > 1_000)[:, None, None],
    }[weighting]
    x = rows_of(member)
    found = [member.statistics(form, weights) for form in (x, *forms(x))]
    plain_way()
    expected = numbers_of(member.statistics(x, weights))
    for one in found:
        for mine, theirs in zip(numbers_of(one), expected, strict=True):
            assert mine.shape == theirs.shape
            same(mine, theirs)


@over_members
def test_a_missing_value_is_refused_with_its_row(member):
    x = rows_of(member).astype(float)
    x[NUM_ROWS - 7] = np.nan
    with pytest.raises(InvalidData, match="missing"):
        member.log_prob(x)
    for weights in (None, np.zeros(NUM_ROWS)):
        with pytest.raises(InvalidData, match=f"row {NUM_ROWS - 7} "):
            member.statistics(x, weights)


@over_members
def test_values_outside_have_probability_zero_and_no_statistics(member):
    x = rows_of(member).astype(float)
    outside = (np.inf, -np.inf) if not member.support.is_discrete else (-1.0, 0.5, np.inf, -(2.0**63))
    for place, value in enumerate(outside):
        x[NUM_ROWS - 9 + place] = value
    log_prob = member.log_prob(x)
    assert (log_prob[NUM_ROWS - 9 : NUM_ROWS - 9 + len(outside)] == -np.inf).all()
    same(log_prob[: NUM_ROWS - 9], member.log_prob(x[: NUM_ROWS - 9]))
    with pytest.raises(InvalidData, match=f"row {NUM_ROWS - 9} "):
        member.statistics(x)


@pytest.mark.parametrize("member", [Bernoulli(0.3), Categorical([0.5, 0.5]), Binomial(5, 0.5)], ids=repr)
def test_labels_outside_are_refused_also_where_they_weigh_nothing(member):
    x = rows_of(member)
    x[70] = 6
    with pytest.raises(InvalidData, match="row 70 "):
        member.statistics(x, (np.arange(NUM_ROWS) > 100).astype(float))
    assert member.log_prob(x)[70] == -np.inf


def test_labels_far_apart_are_not_tabulated():
    x = np.zeros(NUM_ROWS, np.int64)
    x[5], x[6] = np.iinfo(np.int64).max // 2, 100_000
    assert np.isfinite(Poisson(2.0).log_prob(x)[7:]).all()
    assert Geometric(0.5).statistics(x.astype(float)).total[0] == float(x[5]) + 100_000
    late = np.zeros(5 * BLOCK, np.int64)
    late[-1] = 3_000  # beyond the table that the first block suggests
    assert Poisson(2.0).log_prob(late)[-1] == Poisson(2.0).log_prob(3_000)


@pytest.mark.parametrize("offset", [0.0, 1e8, -1e12])
@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_moments_lose_nothing_far_from_zero(offset, dimension):
    """The offset is a whole number and values are multiples of 2^-8, so that adding it is exact."""
    rng = np.random.default_rng(2)
    x = np.round(rng.normal(size=(3 * BLOCK, dimension)) * 256) / 256
    weights = rng.random((3 * BLOCK, 2))
    weights[: BLOCK + 100, 1] = 0.0
    x[:300] += 1e3  # the first tile lies elsewhere
    weight, center, _, scatter = moments_of(x + offset, weights)
    for column in range(2):
        w = weights[:, column].astype(np.longdouble)
        mean = w @ x / w.sum()
        expected = (w[:, None] * (x - mean)).T @ (x - mean)
        np.testing.assert_allclose(weight[column], float(w.sum()), rtol=1e-13)
        np.testing.assert_allclose(center[column], (mean + offset).astype(float), rtol=1e-12, atol=1e-12)
        scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected))).astype(float)
        assert (np.abs(scatter[column] - expected.astype(float)) <= 1e-12 * scale).all()


def test_parts_without_weight_do_not_move_the_rest():
    weights, pivots = np.array([[0.0], [2.0], [2.0]]), np.array([[[0.0]], [[1e9]], [[1e9]]])
    centers, scatters = np.array([[[0.0]], [[-1.0]], [[1.0]]]), np.array([[[[0.0]]], [[[3.0]]], [[[4.0]]]])
    weight, center, _, scatter = merge_moments(weights, pivots, centers, scatters)
    assert (weight.item(), center.item(), scatter.item()) == (4.0, 1e9, 11.0)


@over_members
def test_answers_do_not_depend_on_the_cores(member, monkeypatch):
    x = rows_of(member, 4 * BLOCK)
    weights = np.random.default_rng(4).random(len(x))
    answers = []
    for number in (1, 3):
        monkeypatch.setattr(cores, "num_cores", lambda number=number: number)
        answers.append((member.log_prob(x), *numbers_of(member.statistics(x, weights))))
    for first, second in zip(*answers, strict=True):
        assert (first == second).all()


def test_the_first_error_is_raised_and_settings_reach_all_blocks():
    def refuse(block):
        if block.start >= 30:
            raise ValueError(str(block.start))
        return np.geterr()["over"]

    with pytest.raises(ValueError, match=r"^30$"):
        map_blocks(refuse, 1_000, 10)
    with np.errstate(over="ignore"):
        assert map_blocks(refuse, 30, 2) == ["ignore"] * 15


def test_families_that_sum_values_have_no_other_statistics():
    summing = [family for family in FAMILIES.values() if family.sums_values]
    assert len(summing) >= 3
    for family in summing:
        x = np.array([0.0, 1.0])
        assert (family._sufficient(x, {}) == x[:, None]).all()
        assert np.ndim(family._log_base(x, {})) == 0


def test_short_data_do_not_bring_the_compiler():
    code = """
import sys, numpy
from juncture.families.registry import FAMILIES
family = FAMILIES["Gaussian"](0.0, 1.0)
family.log_prob(0.3), family.statistics(numpy.zeros(1000)), FAMILIES["Poisson"](2.0).statistics([1, 2])
sys.exit("numba" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
