"""PageRank: the source's numbers, the exact solution against power iteration and a chain's stationary distribution."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import juncture as jt
from juncture.errors import InvalidData, NotConvergedWarning, TooLarge, UnknownVariable, Unsupported
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.sequences.markov_chains.page_rank import page_rank
from support.processor_time import takes_at_most

THREE = [(1, 2), (1, 3), (2, 3), (3, 1)]


@st.composite
def link_matrices(draw) -> np.ndarray:
    """Weights of links between up to 7 pages, with pages without links, and links of pages to themselves."""
    size = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.random((size, size)) * (rng.random((size, size)) < draw(st.sampled_from([0.1, 0.4, 0.9])))


def surfer(weights: np.ndarray, damping: float) -> MarkovChain:
    """The oracle: the reader as a Markov chain."""
    others = weights * (1 - np.eye(len(weights)))
    totals = others.sum(axis=1, keepdims=True)
    follow = np.where(totals > 0, others / np.where(totals > 0, totals, 1), 1 / len(weights))
    return MarkovChain(damping * follow + (1 - damping) / len(weights))


@pytest.mark.parametrize("method", ["exact", "power"])
def test_the_numbers_of_the_source(method):
    """S4-183: three and four pages, with the ranks summing to the number of pages."""
    ranks = page_rank(THREE, normalized=False, method=method)
    assert ranks.values == pytest.approx([1.16336914, 0.64443188, 1.19219898], abs=5e-9)
    assert ranks.values.sum() == pytest.approx(3, rel=1e-12)
    four = page_rank([*THREE, (4, 3)], normalized=False, method=method)
    assert four.values == pytest.approx([1.49010741, 0.78329565, 1.57659695, 0.15], abs=5e-9)
    assert page_rank(THREE, method=method).values == pytest.approx(ranks.values / 3, rel=1e-12)


@given(link_matrices(), st.sampled_from([0.0, 0.5, 0.85, 0.99]))
def test_ranks_are_the_stationary_law_of_the_reader(weights, damping):
    expected = surfer(weights, damping).stationary
    exact = page_rank(weights, damping, method="exact")
    assert exact.values == pytest.approx(expected, rel=1e-10)
    power = page_rank(weights, damping, method="power")
    assert power.values == pytest.approx(expected, abs=1e-12)
    assert power.trace.converged
    errors = -np.array(power.trace.values)
    assert (np.diff(errors) <= 1e-12).all()


@given(link_matrices(), st.sampled_from([0.3, 0.85]))
def test_the_equation_as_it_stands(weights, damping):
    """S4-183: p = (1 - d) + d Σ (L/C) p, where pages without links pass nothing on."""
    ranks = page_rank(weights, damping, normalized=False, dangling="none").values
    others = weights * (1 - np.eye(len(weights)))
    totals = others.sum(axis=1)
    shares = others / np.where(totals > 0, totals, 1)[:, None]
    assert ranks == pytest.approx((1 - damping) + damping * shares.T @ ranks, rel=1e-10)
    unnormalized = page_rank(weights, damping, normalized=False).values
    assert unnormalized.sum() == pytest.approx(len(weights), rel=1e-12)
    assert ranks / ranks.sum() == pytest.approx(unnormalized / unnormalized.sum(), rel=1e-10)


def test_every_way_to_tell_of_links():
    weights = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    expected = page_rank(weights)
    named = [("a", "b"), ("a", "c"), ("b", "c")]
    assert page_rank(named).to_dict() == dict(zip("abc", expected.values.tolist(), strict=True))
    assert page_rank(jt.DirectedGraph(named, nodes=["c"])).pages == ("c", "a", "b")
    assert page_rank(jt.DirectedGraph(named))["c"] == expected[2]
    for form in (sparse.csr_array(weights), sparse.coo_matrix(weights), sparse.csc_array(weights.astype(float))):
        assert page_rank(form) == expected
    assert page_rank([*named, named[0], ("b", "b")]).to_dict() == page_rank(named).to_dict()
    assert page_rank(2 * weights) == expected
    assert page_rank(link for link in named).pages == ("a", "b", "c")
    assert page_rank({"a": ["b", "c"], "b": {"c"}}).to_dict() == page_rank(named).to_dict()
    assert page_rank({"d": [], "a": ("b",)}).pages == ("d", "a", "b")
    assert page_rank([["a", "b"], ["a", "c"], ["b", "c"]]) == page_rank(named)


def test_heavier_links_are_followed_more_often():
    ranks = page_rank(np.array([[0, 3, 1], [1, 0, 0], [1, 0, 0]]))
    assert ranks[1] - 0.05 == pytest.approx(3 * (ranks[2] - 0.05))


def test_what_ranks_say():
    ranks = page_rank(THREE)
    assert ranks.ranking() == [3, 1, 2]
    assert repr(ranks) == "PageRank(3 pages: 3 0.3974, 1 0.3878, 2 0.2148)"
    assert "<th>3</th><td>0.3974</td>" in ranks._repr_html_()
    assert "&lt;b&gt;" in page_rank([("a", "<b>")])._repr_html_()
    assert "of 12 pages" in page_rank(np.ones((12, 12)))._repr_html_()
    assert pickle.loads(pickle.dumps(ranks)) == ranks  # noqa: S301
    with pytest.raises(UnknownVariable, match="no page 4"):
        ranks[4]
    with pytest.raises(TypeError):
        iter(ranks)


@pytest.mark.parametrize(
    ("links", "options", "message"),
    [
        ([], {}, "no pages"),
        ("ab", {}, "list of pairs"),
        (3, {}, "list of pairs"),
        ([(1, 2, 3)], {}, "is a pair"),
        (["ab"], {}, "is a pair"),
        ([[0, 1, 1], [1, 0, 0], [1, 0, 0]], {}, r"got \[0, 1, 1\]: for a square array write np.array"),
        ([[0, -1], [1, 0]], {}, r"two links or a square array: for links write \[\(0, -1\), \(1, 0\)\]"),
        ({"a": "bc"}, {}, "page 'a' is to have a list"),
        ({"a": {"b": 0.5}}, {}, "page 'a' is to have a list"),
        ({"a": 3}, {}, "page 'a' is to have a list"),
        ([([1], [2])], {}, "hashable"),
        (jt.UndirectedGraph([("a", "b")]), {}, r"list\(graph.edges\)"),
        (np.ones((2, 3)), {}, "square"),
        (np.array([[0, -1], [1, 0]]), {}, "at least 0"),
        (np.array([[0, np.nan], [1, 0]]), {}, "finite"),
        (np.array([["a", "b"], ["c", "d"]]), {}, "numbers"),
        (THREE, {"damping": 1.0}, "below 1"),
        (THREE, {"damping": -0.1}, "at least 0"),
        (THREE, {"damping": np.nan}, "at least 0"),
        (THREE, {"dangling": "self"}, "dangling"),
        (THREE, {"tolerance": -1.0}, "tolerance"),
        (THREE, {"max_steps": 0}, "max_steps"),
    ],
)
def test_refusals(links, options, message):
    with pytest.raises(InvalidData, match=message):
        page_rank(links, **options)


def test_refused_methods_and_sizes():
    with pytest.raises(Unsupported, match="did you mean 'power'"):
        page_rank(THREE, method="powers")
    with pytest.raises(TooLarge, match='method="power"'):
        page_rank(sparse.eye_array(10_001), method="exact")
    with pytest.warns(NotConvergedWarning, match="stopped after 3 steps"):
        ranks = page_rank([*THREE, (4, 1)], method="power", max_steps=3)
    assert not ranks.trace.converged


def test_a_million_links_take_seconds():
    rng = np.random.default_rng(0)
    ends = rng.zipf(1.5, (2, 1_000_000)) % 200_000
    links = sparse.coo_array((np.ones(1_000_000), (rng.permutation(200_000)[ends[0]], ends[1])), (200_000, 200_000))
    with takes_at_most(10):
        ranks = page_rank(links)
    assert ranks.trace.converged
    assert ranks.values.sum() == pytest.approx(1, rel=1e-12)
    part = sparse.csr_array(links)[:1500, :1500]
    exact, power = page_rank(part, method="exact"), page_rank(part, method="power")
    assert power.values == pytest.approx(exact.values, abs=1e-10)
