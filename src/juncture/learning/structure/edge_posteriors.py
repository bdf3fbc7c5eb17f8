"""`posteriors`: the posterior probability of every edge, by Markov chains over orders of the variables.

Given an order, in which parents come before their children, the children choose their parents independently:

    p(data, order) ∝ Π_i Σ_{S before i} exp score(i, S),

so that the sum over all graphs that fit an order, and the probability of every edge given the order, are sums over sets
of parents. A step exchanges two variables and is accepted by the rule of Metropolis; only the variables between the two
places see other variables before them. Cost of a step: the number of sets of parents of these variables, if they were
not seen before (Friedman and Koller 2003).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_choice, check_count
from juncture.base.dispatch import one_path
from juncture.base.options import as_generator
from juncture.base.values import Value, content_key, read_only
from juncture.drawing.diagram import Diagram
from juncture.drawing.notebook import diagram_html
from juncture.errors import InvalidData, NotConvergedWarning, TooLarge, UnknownVariable, warn_user
from juncture.inference.sampling.diagnostics import LEAST_DRAWS, effective_sample_size, r_hat, standard_error
from juncture.inference.sampling.draws import Draws
from juncture.learning.structure.constraints import Constrained, EdgeConstraints
from juncture.learning.structure.data import Cases, read_cases, settle
from juncture.learning.structure.scores.local_scores import NOTHING, LocalScores
from juncture.learning.structure.scores.scores import scores_and_bounds
from juncture.learning.structure.sets import Positions, members, set_of
from juncture.learning.structure.strength import EdgeStrengths
from juncture.runtime.memory import check_memory
from juncture.variables import Variable

SHOWN = 5  # edges that the repr shows
PRIORS = ("graphs", "orders")
MAX_ORDERS = 100_000  # sets of variables that counting the orders of a graph may take
WORST_R_HAT = 1.05
MAX_VARIABLES = 62  # sets are 64-bit numbers
MAX_SETS = 2_000_000  # sets of parents of one variable
MAX_KEPT = 50_000  # sums that are kept, of children and of sets before them
BYTES_PER_SET = 24


class EdgePosteriors(Value):
    """Posterior probabilities of edges, with their standard errors.

    Attributes
    ----------
    names
        The variables, in the order of the rows and columns of the matrices.
    probabilities
        (i, j): the posterior probability of the edge i -> j.
    standard_errors
        (i, j): the Monte Carlo standard error of it.
    draws
        Of each chain: `log_score` of the orders, and `edges`, (chain, draw, i, j): the probabilities given each order,
        or the edges of drawn graphs, with weights, where every graph is equally probable beforehand.
    r_hat, effective_sample_size
        Of the scores of the orders.
    """

    names: tuple[str, ...]
    probabilities: np.ndarray
    standard_errors: np.ndarray
    draws: Draws
    r_hat: float
    effective_sample_size: float
    bounds: EdgeConstraints

    def __init__(self, names: tuple[str, ...], draws: Draws, bounds: EdgeConstraints) -> None:
        means, errors = weighted_means(draws["edges"], draws.weights * len(draws))
        scores = draws["log_score"]
        self._set(
            names=names,
            probabilities=read_only(np.clip(means, 0.0, 1.0)),
            standard_errors=read_only(errors),
            draws=draws,
            r_hat=float(r_hat(scores)),
            effective_sample_size=float(effective_sample_size(scores)),
            bounds=bounds,
        )

    def __getitem__(self, edge: tuple[str, str]) -> float:
        """The probability of an edge (tail, head)."""
        if not isinstance(edge, tuple) or len(edge) != 2:
            raise InvalidData(f"an edge is a pair of names (tail, head); got {edge!r}")
        for name in edge:
            if name not in self.names:
                raise UnknownVariable.among(name, self.names, where="the graph")
        return float(self.probabilities[self.names.index(edge[0]), self.names.index(edge[1])])

    def __repr__(self) -> str:
        edges = self.strengths().strongest()
        shown = [f"{tail} -> {head} {strength * share:.2f}" for tail, head, strength, share in edges[:SHOWN]]
        return f"EdgePosteriors({', '.join(shown)}{', …' if len(edges) > SHOWN else ''}; R-hat {self.r_hat:.3f})"

    def strengths(self) -> EdgeStrengths:
        """The same as strengths: the probabilities of edges in either direction, an average graph, and a picture."""
        return EdgeStrengths(self.names, self.probabilities, self.bounds)

    def _key(self) -> Hashable:
        return content_key((self.names, self.draws))

    def to_diagram(self) -> Diagram:
        """What is drawn: that of `strengths`."""
        return self.strengths().to_diagram()

    def _repr_html_(self) -> str:
        return diagram_html(repr(self), self.to_diagram())


@one_path
def posteriors(  # noqa: PLR0913 (options of one algorithm)
    data: Any,
    *,
    score: Any = "auto",
    prior: str = "orders",
    draws: int = 500,
    chains: int = 4,
    warmup: int = 500,
    thin: int | None = None,
    variables: Iterable[Variable] | None = None,
    weights: Any = None,
    rng: Any = None,
    **constraints: Any,
) -> EdgePosteriors:
    """The posterior probability of every edge, averaged over graphs by Markov chains over orders of the variables.

    Parameters
    ----------
    data, variables, weights
        As in `learn_structure`.
    score
        The log of p(data | graph), a sum over families: "bdeu" for states, "bge" for numbers ("auto" takes one of
        these), or another score such as "bic", which approximates it.
    prior
        "orders": every order of the variables is equally probable beforehand, so that a graph counts as often as it
        has orders that fit. "graphs": every graph is equally probable beforehand; drawn graphs are weighted by one over
        their number of orders, which is counted: for up to some 15 variables.
    draws, chains
        The number of draws that each chain keeps, and the number of chains.
    warmup
        Steps before the first draw.
    thin
        Steps from draw to draw; by default as many as there are variables.
    rng
        A seed or a generator: the same seed gives the same answer, whatever the number of threads.
    **constraints
        `required`, `forbidden`, `tiers` and `max_parents`, as in `HillClimbing`.

    Returns
    -------
    EdgePosteriors
        `probabilities`, `standard_errors`, `draws`, and `strengths()` with an average graph and a picture.

    Examples
    --------
    >>> import juncture as jt
    >>> rows = jt.sample(jt.example("fuel"), 2000, rng=0)
    >>> posterior = jt.structure.posteriors(rows, rng=0)
    >>> posterior["B", "G"] + posterior["G", "B"] > 0.99
    True
    """
    check_choice(prior, PRIORS, "prior")
    dataset = read_cases(data, variables, weights)
    cache_of_scores, bounds = scores_and_bounds(Constrained(**constraints), as_score(score, dataset), dataset)
    size = len(bounds.names)
    steps = check_count(size if thin is None else thin, "thin", least=1)
    count, first = check_count(draws, "draws", least=LEAST_DRAWS), check_count(warmup, "warmup")
    generators = as_generator(rng).spawn(check_count(chains, "chains", least=1))
    check_memory(8 * len(generators) * count * size**2, "the draws of all edges", "draw fewer")
    scores = settle(dataset, lambda: OrderScores(cache_of_scores.scores, bounds))
    runs = [OrderChain(scores, child).run(first, count, steps) for child in generators]
    drawn = edges_given_orders(scores, runs) if prior == "orders" else drawn_graphs(scores, runs, generators)
    found = EdgePosteriors(bounds.names, drawn, bounds)
    if found.r_hat > WORST_R_HAT:
        warn_user(
            f"the chains over orders disagree (R-hat {found.r_hat:.3f}): take more draws or a longer warm-up",
            NotConvergedWarning,
        )
    return found


def as_score(score: Any, data: Cases) -> Any:
    if not isinstance(score, str) or score != "auto":
        return score
    kinds = {variable.is_real for variable in data.variables}
    return "bic" if len(kinds) > 1 else "bge" if True in kinds else "bdeu"


Runs = list[list[tuple[list[int], float]]]  # of each chain and draw: what comes before each variable, the log-score


def edges_given_orders(scores: OrderScores, runs: Runs) -> Draws:
    """The probability of every edge given each order: a Rao-Blackwell estimate."""
    columns = range(scores.size)
    edges = [
        [np.stack([scores.of(child, before[child]).edges for child in columns], axis=1) for before, _ in run]
        for run in runs
    ]
    return Draws({"log_score": [[score for _, score in run] for run in runs], "edges": np.array(edges)})


def drawn_graphs(scores: OrderScores, runs: Runs, generators: list[np.random.Generator]) -> Draws:
    """A graph drawn from each order, weighted by one over the number of orders that fit it (Ellis and Wong 2008)."""
    log_count = cache(lambda parents: float(np.log(float(count_orders(parents, MAX_ORDERS)))))
    edges = np.zeros((len(runs), len(runs[0]), scores.size, scores.size))
    log_weights = np.empty(edges.shape[:2])
    for chain, (run, rng) in enumerate(zip(runs, generators, strict=True)):
        for number, (before, _) in enumerate(run):
            parents = tuple(scores.draw_parents(child, before[child], rng) for child in range(scores.size))
            log_weights[chain, number] = -log_count(parents)
            for child, one in enumerate(parents):
                edges[chain, number, :, child] = one >> np.arange(scores.size) & 1
    log_scores = [[score for _, score in run] for run in runs]
    return Draws({"log_score": log_scores, "edges": edges}, log_weights=log_weights)


def weighted_means(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of chains with weights w of mean 1, and their errors by the delta method: those of w (x - mean)."""
    means = np.einsum("cd,cd...->...", weights, values) / weights.size
    errors = standard_error(weights[..., np.newaxis, np.newaxis] * (values - means))
    return means, np.asarray(errors)


class ParentSum(NamedTuple):
    """For a child and the variables before it: the log of the sum over its sets of parents, and its edges' shares."""

    log_sum: float
    edges: np.ndarray  # (parent,)


@dataclass(frozen=True, eq=False)
class ParentSets:
    """All sets of parents of one child that may be, as bits, and their scores."""

    sets: np.ndarray  # (set,)
    scores: np.ndarray  # (set,)
    has_parent: np.ndarray  # (set, parent)

    def fitting(self, before: Positions) -> tuple[np.ndarray, np.ndarray, float]:
        """The indices of the sets within `before`, their shares, and the log of the sum of exp(score)."""
        indices = np.flatnonzero((self.sets & ~np.int64(before)) == 0)
        scores = self.scores[indices]
        if not len(indices) or (highest := scores.max()) == -np.inf:
            return indices, np.zeros(len(indices)), -np.inf
        shares = np.exp(scores - highest)
        total = shares.sum()
        return indices, shares / total, float(highest + np.log(total))


class OrderScores:
    """The sums of all children, each computed once while they are among the last that were asked."""

    def __init__(self, local: LocalScores, bounds: EdgeConstraints) -> None:
        self.bounds, self.size = bounds, len(bounds.names)
        if self.size > MAX_VARIABLES:
            raise TooLarge(f"chains over orders take at most {MAX_VARIABLES} variables; the data have {self.size}")
        self.children = [list_parent_sets(local, bounds, child) for child in range(self.size)]
        self._kept: OrderedDict[tuple[int, Positions], ParentSum] = OrderedDict()

    def of(self, child: int, before: Positions) -> ParentSum:
        key = (child, before)
        found = self._kept.get(key)
        if found is None:
            indices, shares, log_sum = self.children[child].fitting(before)
            found = self._kept[key] = ParentSum(log_sum, shares @ self.children[child].has_parent[indices])
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return found

    def draw_parents(self, child: int, before: Positions, rng: np.random.Generator) -> Positions:
        """A set of parents of the child, given what comes before it."""
        indices, shares, _ = self.children[child].fitting(before)
        place = min(int(np.searchsorted(np.cumsum(shares), rng.random(), side="right")), len(indices) - 1)
        return int(self.children[child].sets[indices[place]])


def list_parent_sets(local: LocalScores, bounds: EdgeConstraints, child: int) -> ParentSets:
    """Every set of parents within the constraints, with its score: each set of k parents extends one of k - 1."""
    needed = bounds.needed[child]
    free = members(bounds.candidates[child] & ~needed)
    most = min(bounds.max_parents - needed.bit_count(), len(free))
    check_number_of_sets(len(free), most, bounds.names[child], len(bounds.names))
    base = members(needed)
    sets = [needed]
    scores = [float(local.score_extensions(child, base, [NOTHING])[0])]
    layer: list[tuple[int, ...]] = [()]
    for _ in range(most):
        longer = []
        for chosen in layer:
            later = [one for one in free if not chosen or one > chosen[-1]]
            if later:
                scores += local.score_extensions(child, [*base, *chosen], later).tolist()
                longer += [(*chosen, one) for one in later]
        sets += [needed | set_of(chosen) for chosen in longer]
        layer = longer
    numbers = np.array(sets, dtype=np.int64)
    has_parent = (numbers[:, np.newaxis] >> np.arange(len(bounds.names)) & 1).astype(np.float64)
    return ParentSets(numbers, np.array(scores), has_parent)


def check_number_of_sets(free: int, most: int, name: str, size: int) -> None:
    from math import comb

    count = sum(comb(free, k) for k in range(most + 1))
    if count > MAX_SETS:
        raise TooLarge(f"{name!r} has {count:,} possible sets of parents: set max_parents, of which 3 is usual")
    check_memory(count * (BYTES_PER_SET + 8 * size) * size, "the sets of parents", "set max_parents")


@dataclass(frozen=True, eq=False)
class OrderChain:
    """One chain: what comes before each variable after every kept step, and the log-score of the order."""

    scores: OrderScores
    rng: np.random.Generator

    def run(self, warmup: int, draws: int, thin: int) -> list[tuple[list[Positions], float]]:
        """(what comes before each variable, log-score) of each draw."""
        order = self.start()
        before = preceding(order)
        sums = [self.scores.of(child, before[child]).log_sum for child in range(len(order))]
        if -np.inf in sums:
            raise InvalidData("no graph within the constraints has a positive score for its families")
        kept = []
        for step in range(warmup + draws * thin):
            if len(order) > 1:
                self.move(order, before, sums)
            if step >= warmup and (step - warmup) % thin == thin - 1:
                kept.append((list(before), float(sum(sums))))
        return kept

    def start(self) -> list[int]:
        """A random order in which required parents come before their children."""
        left, order = set(range(self.scores.size)), list[int]()
        while left:
            ready = sorted(child for child in left if not self.scores.bounds.needed[child] & set_of(left))
            order.append(ready[int(self.rng.integers(len(ready)))])
            left.remove(order[-1])
        return order

    def move(self, order: list[int], before: list[Positions], sums: list[float]) -> None:
        """Exchange two places, neighbours half of the time, and accept by the ratio of the orders' scores."""
        size = len(order)
        first = int(self.rng.integers(size - 1))
        last = first + 1 if self.rng.random() < 0.5 else int(self.rng.integers(size))
        first, last = min(first, last), max(first, last)
        uniform = self.rng.random()
        if first == last:
            return
        changed = [order[last], *order[first + 1 : last], order[first]]
        seen = before[order[first]]
        new_before, new_sums = [], []
        for child in changed:
            new_before.append(seen)
            new_sums.append(self.scores.of(child, seen).log_sum)
            seen |= 1 << child
        gain = sum(new_sums) - sum(sums[child] for child in changed)
        if gain >= 0 or uniform < np.exp(gain):
            order[first : last + 1] = changed
            for child, sees, log_sum in zip(changed, new_before, new_sums, strict=True):
                before[child], sums[child] = sees, log_sum


def preceding(order: list[int]) -> list[Positions]:
    """For each variable, those that come before it."""
    found, seen = [0] * len(order), 0
    for child in order:
        found[child] = seen
        seen |= 1 << child
    return found


def count_orders(parents: tuple[Positions, ...], most: int) -> int:
    """The number of orders that fit a graph: its linear extensions, by sets that hold all their parents.

    More than `most` such sets raise `TooLarge`.
    """
    counts = {0: 1}
    for _ in parents:
        longer: dict[Positions, int] = {}
        for done, count in counts.items():
            for child, needed in enumerate(parents):
                if not done >> child & 1 and not needed & ~done:
                    longer[done | 1 << child] = longer.get(done | 1 << child, 0) + count
        if len(longer) > most:
            raise TooLarge("a drawn graph has too many orders to count; take prior='orders', or fewer variables")
        counts = longer
    return next(iter(counts.values()))
