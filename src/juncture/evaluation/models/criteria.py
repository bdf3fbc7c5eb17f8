"""The criteria of model choice, each a function of the facts of a model.

All but "mdl" are on the scale of log p(data), the higher the better: on the scale of a deviance they are -2 times that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.base.values import number_of
from juncture.errors import JunctureError, Unsupported
from juncture.evaluation.models.bayes_factors import description_length
from juncture.evaluation.models.facts import Facts
from juncture.evaluation.models.predictive import PredictiveScore, psis_loo, waic
from juncture.evaluation.protocols.folds import make_folds


@dataclass(frozen=True)
class Options:
    """What the criteria that draw, divide or order rows are given."""

    folds: int
    draws: int
    order: np.ndarray | None
    rng: np.random.Generator
    seed: int


class Criterion(NamedTuple):
    """A criterion: its score and the part of each row where scores of rows are comparable; how good it is; and how."""

    score: float
    rows: np.ndarray | None
    quality: str  # "exact", "approximate" or "bound"
    note: str


def obtain(given: Any) -> Any:
    """The function that gives a fact, or `Unsupported` with the reason why there is none."""
    if isinstance(given, str):
        raise Unsupported(given)
    return given


def fitted(facts: Facts) -> tuple[float, int, str]:
    """The largest log-likelihood, the number of parameters, and what is irregular."""
    total = float(obtain(facts.log_likelihoods)().sum())
    note = f"a singular model, as {facts.singular}: the penalty is too large" if facts.singular else ""
    return total, obtain(facts.num_parameters), "; ".join(filter(None, [note, *facts.notes]))


def penalize(facts: Facts, cost: Callable[[int, float], float]) -> Criterion:
    """The log-likelihood less the cost of the parameters."""
    total, number, note = fitted(facts)
    return Criterion(total - cost(number, facts.sample_size), None, "approximate", note)


def score_aic(facts: Facts, options: Options) -> Criterion:
    """log p(data | θ̂) - k (Akaike 1974)."""
    return penalize(facts, lambda number, size: float(number))


def score_aicc(facts: Facts, options: Options) -> Criterion:
    """log p(data | θ̂) - k n / (n - k - 1), exact for linear regressions with unknown noise (Hurvich and Tsai 1989)."""

    def cost(number: int, size: float) -> float:
        if size <= number + 1:
            raise Unsupported(f"{number_of(size, 'row')} are too few for {number_of(number, 'parameter')}: n > k + 1")
        return number * size / (size - number - 1)

    return penalize(facts, cost)


def score_bic(facts: Facts, options: Options) -> Criterion:
    """log p(data | θ̂) - ½ k log n (Schwarz 1978), an approximation of the log-evidence up to a constant."""
    return penalize(facts, lambda number, size: 0.5 * number * math.log(max(size, 1.0)))


def score_mdl(facts: Facts, options: Options) -> Criterion:
    """The bits of a two-part code: ½ log2 n for each parameter (Rissanen 1978), then the data."""
    total, number, note = fitted(facts)
    bits = description_length(total, -0.5 * number * math.log(max(facts.sample_size, 1.0)))
    return Criterion(bits, None, "approximate", note)


def score_evidence(facts: Facts, options: Options) -> Criterion:
    """log p(data), the parameters integrated out."""
    found = obtain(facts.log_evidence)()
    return Criterion(found.value, None, found.quality, found.how)


def score_prequential(facts: Facts, options: Options) -> Criterion:
    """Σ log p(row | the rows before it), in the order that is given."""
    order = np.arange(facts.num_rows) if options.order is None else options.order
    scores = obtain(facts.ahead)(order)
    how = "in the order of the rows" if options.order is None else "in the order given"
    return Criterion(float(scores.sum()), None, "exact", f"predictions one row ahead, {how}")


def score_cv(facts: Facts, options: Options) -> Criterion:
    """Σ log p(row | the rows of the other folds)."""
    learn = obtain(facts.held_out)
    if facts.num_rows < 2:
        raise Unsupported("there is one row or sequence only, which cannot be divided into folds")
    scores = np.empty(facts.num_rows)
    number = min(options.folds, facts.num_rows)
    for train, test in make_folds(facts.num_rows, number, rng=options.seed):
        scores[test] = learn(train, test)
    zeros = int(np.isneginf(scores).sum())
    note = f"{number_of(zeros, 'row')} impossible under what the other folds teach: give a prior" if zeros else ""
    return Criterion(float(scores.sum()), scores, "approximate", "; ".join(filter(None, [f"{number} folds", note])))


def score_loo(facts: Facts, options: Options) -> Criterion:
    """Σ log p(row | the other rows), in closed form or by Pareto-smoothed importance sampling."""
    if not isinstance(facts.left_out, str):
        scores = facts.left_out()
        return Criterion(float(scores.sum()), scores, "exact", "in closed form")
    if isinstance(facts.draws, str):
        raise Unsupported(facts.left_out)
    return of_draws(psis_loo(facts.draws(options.draws, options.rng)))


def score_waic(facts: Facts, options: Options) -> Criterion:
    """Σ log of the mean p(row | θ) over posterior draws, less the variance of log p(row | θ)."""
    return of_draws(waic(obtain(facts.draws)(options.draws, options.rng)))


def of_draws(found: PredictiveScore) -> Criterion:
    """A score of draws, with the rows that it is not reliable for."""
    what = "Pareto k above 0.7" if found.criterion == "loo" else "a variance above 0.4"
    doubt = f"{number_of(found.num_unreliable, 'row')} with {what}" if found.num_unreliable else ""
    worst = "" if found.pareto_k is None else f"largest Pareto k {found.pareto_k.max(initial=-np.inf):.2f}"
    note = "; ".join(filter(None, ["posterior draws", worst, doubt]))
    return Criterion(found.value, found.rows, "approximate", note)


CRITERIA: dict[str, Callable[[Facts, Options], Criterion]] = {
    "aic": score_aic,
    "aicc": score_aicc,
    "bic": score_bic,
    "evidence": score_evidence,
    "prequential": score_prequential,
    "mdl": score_mdl,
    "cv": score_cv,
    "loo": score_loo,
    "waic": score_waic,
}
OF_EVIDENCE = frozenset({"bic", "evidence", "prequential", "mdl"})  # whose weights are a posterior over models


def evaluate(name: str, facts: Facts, options: Options) -> Criterion | str:
    """The score of a model, or the reason why it has none."""
    try:
        return CRITERIA[name](facts, options)
    except JunctureError as error:
        return str(error)
