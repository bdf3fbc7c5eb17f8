"""The default search: no worse than a textbook climb, GES or hill climbing; walks and restarts never end lower."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juncture import structure
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.formats.bundled import example
from juncture.graphs.directed import DirectedGraph
from juncture.learning.conditionals.table import BDeu
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.local_scores import ScoreCache, rounding
from juncture.learning.structure.scores.scores import as_local_scores
from juncture.learning.structure.searches.combined import CombinedSearch
from juncture.learning.structure.searches.hill_climbing import HillClimbing, ScoredGraph, perturb
from juncture.learning.structure.sets import graph_of
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable
from juncture.verbs import sample
from support.builders import random_table
from support.structure_examples import keeps, random_reals, random_rows

SCORES = ["bic", "aic", BDeu(10), "k2"]


def network_rows(rng: np.random.Generator, num_variables: int, num_rows: int) -> Dataset:
    """Rows of a random network: peaks are many where families are large."""
    variables = [Variable(f"n{index}", int(rng.integers(2, 4))) for index in range(num_variables)]
    order = rng.permutation(num_variables)
    parts = []
    for number, index in enumerate(order):
        chosen = rng.choice(order[:number], size=min(number, int(rng.integers(0, 4))), replace=False)
        parts.append(random_table(rng, variables[index], Scope(variables[one] for one in sorted(chosen))))
    data = sample(BayesianNetwork(parts), num_rows, rng=rng)
    return data.only([variable.name for variable in variables])


class TextbookClimb:
    """From the empty graph, the legal addition, deletion or reversal that gains most, until none gains.

    It knows nothing of the library's searches: every neighbour is checked for cycles and scored family by family.
    """

    def __init__(self, data: Dataset, score) -> None:
        self.names, self.families, self.known = tuple(data.columns), as_local_scores(score, data), {}

    def family(self, child: int, parents: frozenset) -> float:
        if (child, parents) not in self.known:
            *rest, last = sorted(parents) or [-1]
            self.known[child, parents] = float(self.families.score_extensions(child, rest, [last])[0])
        return self.known[child, parents]

    def total(self, parents: tuple[frozenset, ...]) -> float:
        return sum(self.family(child, one) for child, one in enumerate(parents))

    def neighbours(self, parents: tuple[frozenset, ...]):
        """Additions, then deletions, then reversals, each by tail and head."""
        pairs = [(tail, head) for tail in range(len(parents)) for head in range(len(parents)) if tail != head]
        edges = [(tail, head) for tail, head in pairs if tail in parents[head]]
        apart = [(tail, head) for tail, head in pairs if tail not in parents[head] and head not in parents[tail]]
        for tail, head in (*apart, *edges):
            yield tuple(one ^ {tail} if child == head else one for child, one in enumerate(parents))
        for tail, head in edges:
            turned = {head: parents[head] - {tail}, tail: parents[tail] | {head}}
            yield tuple(turned.get(child, one) for child, one in enumerate(parents))

    def climb(self) -> float:
        here: tuple[frozenset, ...] = (frozenset(),) * len(self.names)
        while True:
            best, total = here, self.total(here)
            for other in filter(is_acyclic, self.neighbours(here)):
                if self.total(other) > total + 1e-6:  # of equals the first
                    best, total = other, self.total(other)
            if best is here:
                return total
            here = best


def is_acyclic(parents: tuple[frozenset, ...]) -> bool:
    left = set(range(len(parents)))
    while ends := [one for one in left if not parents[one] & left]:
        left -= set(ends)
    return not left


@settings(max_examples=6)
@given(st.integers(0, 10**6), st.sampled_from(SCORES))
def test_no_climb_ends_below_the_textbook(seed, score):
    rng = np.random.default_rng(seed)
    data = network_rows(rng, 7, int(rng.integers(100, 1000)))
    textbook = TextbookClimb(data, score).climb()
    for options in ({}, {"method": "hill-climbing"}, {"reinsert": False}, {"tabu": 5}, {"restarts": 1}):
        graph = learn_structure(data, score=score, **options)
        assert structure.score(graph, data, score) >= textbook - 1e-5, options


@pytest.mark.parametrize("score", ["bic", BDeu(10)], ids=str)
def test_the_order_of_the_columns_matters_less_to_the_default(score):
    """Equal gains are decided by the order of the columns. It is a matter of chance whose climb ends higher then."""
    lower = {"auto": 0, "hill-climbing": 0}
    for seed in range(15):
        rng = np.random.default_rng(seed)
        data = network_rows(rng, 7, 400)
        orders = [[list(data.columns)[index] for index in rng.permutation(7)] for _ in range(3)]
        highest = max(TextbookClimb(data.only(order), score).climb() for order in orders)
        for method in lower:
            lower[method] += structure.score(learn_structure(data, method, score=score), data, score) < highest - 1e-5
    assert lower["auto"] < lower["hill-climbing"]


@settings(max_examples=6)
@given(st.integers(0, 10**6), st.sampled_from(SCORES))
def test_walks_and_restarts_never_end_below_the_search_without_them(seed, score):
    rng = np.random.default_rng(seed)
    data = network_rows(rng, 7, int(rng.integers(100, 1000)))
    for method in ("auto", "hill-climbing"):
        plain = structure.score(learn_structure(data, method, score=score), data, score)
        for options in ({"tabu": 3}, {"tabu": 10}, {"restarts": 2}, {"tabu": 5, "restarts": 1}):
            graph = learn_structure(data, method, score=score, rng=seed, **options)
            assert structure.score(graph, data, score) >= plain - 1e-5, options


@pytest.mark.parametrize("score", SCORES, ids=str)
def test_the_default_is_the_better_of_both(score):
    winners = set()
    for seed in range(8):
        data = network_rows(np.random.default_rng(seed), 8, 300)
        found = structure.search(data, score=score, rng=0)
        both = [
            learn_structure(data, "hill-climbing", score=score),
            learn_structure(data, "ges", score=score, directed=True),
        ]
        reached = structure.score(found.graph, data, score)
        assert reached >= max(structure.score(graph, data, score) for graph in both) - 1e-5
        assert reached == pytest.approx(max(found.scores.values()), abs=1e-5)
        assert reached == pytest.approx(found.scores[found.method], abs=1e-5)
        winners.add(found.method)
    assert winners <= {"hill-climbing", "ges", "restarts"}


def test_restarts_find_higher_peaks():
    """They change the graph often; the perturbation was once undone by the next climb."""
    better = 0
    for seed in range(12):
        data = network_rows(np.random.default_rng(seed), 12, 400)
        plain, restarted = (
            structure.score(learn_structure(data, "hill-climbing", score="aic", restarts=times, rng=0), data, "aic")
            for times in (0, 5)
        )
        better += restarted > plain + rounding(plain)
    assert better >= 3


@given(st.integers(0, 10**6))
def test_a_perturbed_graph_keeps_the_constraints(seed):
    rng = np.random.default_rng(seed)
    data = random_rows(rng, 60, [2, 3, 2, 2, 3, 2])
    limits = {"required": [("n0", "n1")], "forbidden": [("n2", "n3")], "max_parents": 2}
    scores = ScoreCache(as_local_scores("bic", data))
    bounds = HillClimbing(**limits).bounds(scores.names)
    graph = graph_of(scores.names, perturb(ScoredGraph(scores, bounds, bounds.needed), rng))
    assert keeps(graph, **limits)


def test_graphs_that_cannot_change_are_left_alone():
    data = random_rows(np.random.default_rng(0), 60, [2, 3, 2])
    assert learn_structure(data, max_parents=0, restarts=2, tabu=2, rng=0).edges == ()
    assert learn_structure({"a": [0, 1, 0]}, restarts=2, rng=0).edges == ()


def test_greedy_equivalence_search_is_left_out_where_it_would_take_long():
    """Under the likelihood alone every edge helps: the classes are cliques, with all their subsets."""
    data = random_rows(np.random.default_rng(0), 200, [2] * 14)
    for limit in (None, 3):
        found = structure.search(data, score="log-likelihood", max_parents=limit, rng=0)
        assert list(found.scores) == ["hill-climbing", "restarts"]
        assert len(found.graph.edges) > 2 * 14
    assert "ges" in structure.search(data, max_parents=3, rng=0).scores


def test_what_is_told_of_other_searches():
    rows = sample(example("asia"), 300, rng=0)
    assert structure.search(rows, "exact", max_parents=2).method == "exact"
    assert structure.search(rows.to_pandas().mask(np.eye(300, 8) > 0), rng=0).method == "structural-em"
    found = structure.search(DirectedGraph.parse("a -> b"), "pc")
    assert (found.method, found.scores) == ("pc", {})
    again = structure.search(rows, rng=0)
    assert pickle.loads(pickle.dumps(again)) == structure.search(rows, rng=0)  # noqa: S301
    assert repr(found) == "SearchResult(PartiallyDirectedGraph('a -- b'), by pc)"
    assert "; hill-climbing -" in repr(structure.search(rows, rng=0))


def test_steps_count_on_and_the_score_never_falls():
    reported = []
    learn_structure(
        random_reals(np.random.default_rng(0), 50, 5),
        progress=lambda step, score: reported.append((step, score)),
        rng=0,
    )
    steps, scores = zip(*reported, strict=True)
    assert steps == tuple(range(1, len(reported) + 1))
    assert list(scores) == sorted(scores)


def test_options_are_checked_and_strengths_take_the_quick_search():
    with pytest.raises(InvalidData, match="restarts must be a whole number"):
        CombinedSearch(restarts=1.5)
    rows = sample(example("asia"), 200, rng=0)
    assert structure.strengths(rows, draws=5, rng=0) == structure.strengths(rows, "hill-climbing", draws=5, rng=0)
