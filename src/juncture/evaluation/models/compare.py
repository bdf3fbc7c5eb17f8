"""`compare_models`: models of any kind by any criteria, in one table that says how good each number is.

What the criteria need of a model is found by its class: `facts_of`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_array, check_choice, check_count, check_iterable, check_mapping, shown
from juncture.base.kinds import verb_modules
from juncture.base.options import as_generator
from juncture.base.shown import Shown
from juncture.components.mixture import Mixture
from juncture.drawing.notebook import html_table
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, Unsupported
from juncture.evaluation.models.bayes_factors import log_prior_of
from juncture.evaluation.models.criteria import CRITERIA, OF_EVIDENCE, Criterion, Options, evaluate
from juncture.evaluation.models.facts import Candidate, Facts
from juncture.evaluation.models.facts_of_families import facts_of_family, facts_of_member
from juncture.evaluation.models.facts_of_models import (
    facts_of_generalized_prior,
    facts_of_graph,
    facts_of_hidden_markov,
    facts_of_mixture,
    facts_of_model,
)
from juncture.evaluation.models.facts_of_regressions import (
    facts_of_bayesian,
    facts_of_generalized,
    facts_of_linear,
    facts_of_logistic,
    facts_of_posterior,
)
from juncture.evaluation.models.predictive import read_draws
from juncture.factors.printed_tables import align_columns
from juncture.families.family import Family
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.undirected import UndirectedGraph
from juncture.learning.fit import Fit
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics.stable import softmax
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.supervised.regression.bayesian import BayesianLinearRegression, ConjugateLinearRegression, PosteriorFit
from juncture.supervised.regression.generalized_linear import GeneralizedLinearFit, GeneralizedLinearModel
from juncture.supervised.regression.linear import LinearFit, LinearRegression
from juncture.supervised.regression.logistic import LogisticFit, LogisticRegression

if TYPE_CHECKING:
    import pandas as pd

    from juncture.variables import Model

HEADS = (
    "criterion", "model", "score", "difference", "standard_error", "weight", "num_parameters", "quality", "note",
)  # fmt: skip


def compare_models(
    models: Mapping[str, Any],
    data: Any = None,
    criteria: Iterable[str] = ("bic", "cv"),
    prior: Mapping[str, float] | None = None,
    *,
    folds: int = 10,
    draws: int = 4000,
    order: Any = None,
    rng: Any = None,
) -> ModelComparison:
    """Compare models of any kind on the same rows by any of the criteria of model choice.

    Parameters
    ----------
    models
        Models by name, learned from these rows where they have parameters: a network, a mixture, a model of factors or
        of sequences, or its `Fit`; a regression of `jt.supervised` or its fit; a prior of a regression, such as
        `BayesianLinearRegression`. A member of a family, such as `jt.Bernoulli(0.5)`, is a distribution without free
        parameters; a class, such as `jt.Poisson`, and a `jt.DirectedGraph` are learned here. A
        `jt.evaluation.Candidate(model, prior)` has a prior of its parameters. An array (draw, row) or (chain, draw,
        row) holds the log-likelihoods of posterior draws of any model.
    data
        The rows, as the models take them; for regressions the pair (X, y). Regressions that were learned
        from tables with names take their columns of the inputs. A mapping with the names of the models has a pair for
        each regression, with the same targets: so those of arrays without names are compared on different columns.
    criteria
        "aic", "aicc", "bic"; "evidence": log p(data), the parameters integrated out; "prequential": predictions of each
        row from those before it; "mdl": the bits of a two-part code; "cv": predictions of rows from the other folds,
        for which models are learned again; "loo": of each row from all others, in closed form or from posterior draws;
        "waic".
    prior
        The prior probability of each model, by name; all models are as probable by default.
    folds
        The number of folds of "cv".
    draws
        The number of posterior draws of "waic", and of "loo" where it has no closed form.
    order
        The positions of the rows in the order in which "prequential" predicts them; by default as they are.
    rng
        The seed for folds and draws, or a generator; fresh by default.

    Returns
    -------
    ModelComparison
        Scores, differences to the best, their standard errors, weights; and for each number whether it is exact,
        approximate, a bound, or not defined for the model, and why.

    Examples
    --------
    >>> import juncture as jt
    >>> flips = [1, 1, 0, 1, 1, 1, 0, 1, 1, 1]
    >>> models = {"fair": jt.Bernoulli(0.5), "any": jt.evaluation.Candidate(jt.Bernoulli, jt.Beta(1, 1))}
    >>> print(compare_models(models, flips, ["evidence"]))
    evidence     score  difference  error  weight  parameters  quality
    any       -6.20456           0          0.674           1    exact
    fair      -6.93147     -0.7269          0.326           0    exact
      any: the integral over the conjugate prior
      fair: a distribution without free parameters
    """
    named = {str(name): model for name, model in check_mapping(models, "the models").items()}
    wanted = [check_choice(name, CRITERIA, "a criterion") for name in check_iterable(criteria, "the criteria")]
    if not named or not wanted:
        raise InvalidData("a comparison needs at least one model by its name, and at least one criterion")
    log_prior = dict(zip(named, log_prior_of(prior, tuple(named)).tolist(), strict=True))
    numbers = check_count(folds, "folds", least=2), check_count(draws, "draws", least=100)
    rows = rows_of_models(data, tuple(named))
    facts = {name: facts_of(model, rows[name]) for name, model in named.items()}
    num_rows = check_same_rows(facts)
    source = as_generator(rng)
    options = Options(*numbers, check_order(order, num_rows), source, int(source.integers(2**31)))
    scores = [score for name in dict.fromkeys(wanted) for score in rank(name, facts, options, log_prior)]
    return ModelComparison(tuple(scores), num_rows)


@dataclass(frozen=True)
class ModelComparison:
    """Models compared by several criteria.

    Attributes
    ----------
    scores
        A `ModelScore` for each criterion and model: the criteria in the order asked, the best model first.
    num_rows
        The number of rows or sequences.
    """

    scores: tuple[ModelScore, ...]
    num_rows: int

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria, in the order asked."""
        return tuple(dict.fromkeys(score.criterion for score in self.scores))

    def ranked(self, criterion: str) -> tuple[ModelScore, ...]:
        """The scores by one criterion, the best first; undefined ones last."""
        check_choice(criterion, self.criteria, "the criterion")
        return tuple(score for score in self.scores if score.criterion == criterion)

    def best(self, criterion: str) -> str:
        """The name of the best model by a criterion."""
        first = self.ranked(criterion)[0]
        if first.score is None:
            raise InvalidData(f"{criterion!r} is defined for none of the models: {first.note}")
        return first.model

    def probabilities(self, criterion: str = "evidence") -> dict[str, float]:
        """The weights of the models by a criterion; by "evidence" the posterior over models."""
        return {score.model: score.weight for score in self.ranked(criterion) if score.weight is not None}

    def to_pandas(self) -> pd.DataFrame:
        """A row for each criterion and model."""
        import pandas as pd

        return pd.DataFrame([vars(score) for score in self.scores], columns=list(HEADS))

    def plot(self, **options: Any) -> Any:
        """The scores against the number of parameters, a panel for each criterion."""
        return plot(self, **options)

    def __str__(self) -> str:
        lines = []
        for criterion in self.criteria:
            cells = [[criterion, "score", "difference", "error", "weight", "parameters", "quality"]]
            ranked = self.ranked(criterion)
            cells += [[score.model, *format_numbers(score), score.quality] for score in ranked]
            lines += [
                *align_columns(cells, 1),
                *(f"  {score.model}: {score.note}" for score in ranked if score.note),
                "",
            ]
        return "\n".join(lines[:-1])

    def _repr_html_(self) -> str:
        rows = (
            [score.criterion, score.model, *format_numbers(score), score.quality, score.note] for score in self.scores
        )
        return html_table([head.replace("_", " ") for head in HEADS], rows, num_labels=2)


@dataclass(frozen=True)
class ModelScore(Shown):
    """The score of one model by one criterion.

    Attributes
    ----------
    criterion, model
        Their names.
    score
        On the scale of log p(data), the higher the better; by "mdl" in bits, the lower the better. None if undefined.
    difference
        The score less that of the best model.
    standard_error
        Of the difference over the rows, where the criterion is a sum over rows: "cv", "loo" and "waic".
    weight
        In proportion to exp(score), times the prior probability by "bic", "evidence", "prequential" and "mdl", where
        it is the posterior probability of the model, or an approximation of it.
    num_parameters
        Free parameters, None where they are not known.
    quality
        "exact", "approximate", "bound" (of the score from below), or "undefined".
    note
        How the score was obtained, what is irregular, or why there is none.
    """

    criterion: str
    model: str
    score: float | None
    difference: float | None
    standard_error: float | None
    weight: float | None
    num_parameters: int | None
    quality: str
    note: str


def format_numbers(score: ModelScore) -> list[str]:
    """The numbers of a line of the printed table; empty where there are none."""
    texts = [(score.score, "{:.6g}"), (score.difference, "{:.4g}"), (score.standard_error, "{:.3g}")]
    texts += [(score.weight, "{:.3f}"), (score.num_parameters, "{}")]
    return ["" if value is None else form.format(value) for value, form in texts]


def rows_of_models(data: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The rows of each model: its own pair (X, y) where data are pairs by name, else all of them."""
    if not (isinstance(data, Mapping) and data and all(is_pair(part) for part in data.values())):
        return dict.fromkeys(names, data)
    if set(data) != set(names):
        wrong = min(map(repr, set(data) ^ set(names)))
        raise InvalidData(f"data that are pairs have one for each model, by its name; {wrong} has only one of the two")
    first = np.asarray(data[names[0]][1])
    for name in names[1:]:
        if not np.array_equal(np.asarray(data[name][1]), first):
            raise InvalidData(
                f"regressions are compared on the same targets: those of {name!r} are not those of {names[0]!r}"
            )
    return {name: data[name] for name in names}


def is_pair(part: Any) -> bool:
    """Whether this is (X, y), and not a column of two cells."""
    return isinstance(part, tuple) and len(part) == 2 and all(np.ndim(one) > 0 for one in part)


def check_same_rows(facts: dict[str, Facts]) -> int:
    """The number of rows, which all models must share."""
    (first, found), *others = facts.items()
    for name, other in others:
        if other.num_rows != found.num_rows:
            raise InvalidData(
                f"models are compared on the same rows: {first!r} has {found.num_rows}, {name!r} {other.num_rows}"
            )
    if not found.num_rows:
        raise InvalidData("models are compared on at least one row; there is none")
    return found.num_rows


def check_order(order: Any, num_rows: int) -> np.ndarray | None:
    """Each position once."""
    if order is None:
        return None
    given = check_array(order, "the order", ndim=1)
    if sorted(given.tolist()) != list(range(num_rows)):
        raise InvalidData(f"the order has each of the positions 0 to {num_rows - 1} once")
    return given.astype(np.int64)


def rank(criterion: str, facts: dict[str, Facts], options: Options, log_prior: dict[str, float]) -> list[ModelScore]:
    """The scores of all models by one criterion, the best first."""
    found = {name: evaluate(criterion, part, options) for name, part in facts.items()}
    defined = {name: score for name, score in found.items() if isinstance(score, Criterion)}
    unit = -np.log(2.0) if criterion == "mdl" else 1.0  # bits, the lower the better
    order = sorted(defined, key=lambda name: -unit * defined[name].score)
    weights = weigh(np.array([unit * defined[name].score for name in order]), order, criterion, log_prior)
    scores = [
        describe(criterion, name, defined[name], defined[order[0]], weight, facts[name])
        for name, weight in zip(order, weights, strict=True)
    ]
    missing = [(name, reason) for name, reason in found.items() if isinstance(reason, str)]
    return scores + [
        ModelScore(criterion, name, None, None, None, None, number_in(facts[name]), "undefined", reason)
        for name, reason in missing
    ]


def weigh(logs: np.ndarray, names: list[str], criterion: str, log_prior: dict[str, float]) -> list[float | None]:
    """exp(score) in proportion, times the prior where scores are log-evidences; None where all are impossible."""
    if criterion in OF_EVIDENCE:
        logs = logs + np.array([log_prior[name] for name in names])
    if not len(logs) or not np.isfinite(logs.max()):
        return [None] * len(logs)
    return list(softmax(logs).tolist())


def describe(
    criterion: str, name: str, score: Criterion, best: Criterion, weight: float | None, facts: Facts
) -> ModelScore:
    """One line of the table."""
    with np.errstate(invalid="ignore"):
        difference = 0.0 if score is best else score.score - best.score
    if np.isnan(difference):  # both are infinite
        return ModelScore(criterion, name, score.score, None, None, weight, number_in(facts), score.quality, score.note)
    error = standard_error(score.rows, best.rows)
    return ModelScore(
        criterion, name, score.score, difference, error, weight, number_in(facts), score.quality, score.note
    )


def standard_error(rows: np.ndarray | None, best: np.ndarray | None) -> float | None:
    """Of Σ of the differences of rows, √(n variance)."""
    if rows is None or best is None or not (np.isfinite(rows).all() and np.isfinite(best).all()):
        return None
    return float(np.sqrt(len(rows) * np.var(rows - best)))


def number_in(facts: Facts) -> int | None:
    return None if isinstance(facts.num_parameters, str) else facts.num_parameters


REGRESSIONS: dict[tuple[type, ...], Any] = {
    (LinearRegression, LinearFit): facts_of_linear,
    (LogisticRegression, LogisticFit): facts_of_logistic,
    (GeneralizedLinearModel, GeneralizedLinearFit): facts_of_generalized,
    (BayesianLinearRegression, ConjugateLinearRegression): facts_of_bayesian,
    (PosteriorFit,): facts_of_posterior,
}
CANDIDATES: dict[tuple[type, ...], Any] = {
    (Family,): facts_of_member,
    (DirectedGraph, BayesianNetwork): facts_of_graph,
    (Mixture,): facts_of_mixture,
    (HiddenMarkovModel,): facts_of_hidden_markov,
    (GeneralizedLinearModel, GeneralizedLinearFit): facts_of_generalized_prior,
}
DRAWS_ONLY = "log-likelihoods of draws have no model: take 'loo' or 'waic'"


def facts_of(model: Model | type[Family] | Fit[Any] | Candidate | np.ndarray, data: Any) -> Facts:
    """What the criteria need of a model, a fit, a candidate, or the log-likelihoods of draws."""
    if isinstance(model, np.ndarray):
        return facts_of_draws(model)
    for classes, build in REGRESSIONS.items():
        if isinstance(model, classes):
            facts: Facts = build(model, data)
            return facts
    candidate = model if isinstance(model, Candidate) else Candidate(model.model if isinstance(model, Fit) else model)
    return facts_of_candidate(candidate, data)


def facts_of_candidate(candidate: Candidate, data: Any) -> Facts:
    """The facts of a family or a model that has the verbs."""
    model = candidate.model
    if isinstance(model, type) and issubclass(model, Family):
        return facts_of_family(candidate, data)
    if candidate.known:
        raise InvalidData(f"only parameters of families are known beforehand; got {', '.join(candidate.known)}")
    for classes, build in CANDIDATES.items():
        if isinstance(model, classes):
            facts: Facts = build(candidate, data)
            return facts
    if any(verb_modules(kind.__name__) for kind in type(model).__mro__) and not isinstance(model, UndirectedGraph):
        return facts_of_model(candidate, data)
    raise Unsupported(
        "a model to compare is a family, a network, a graph, a mixture, a model with hidden parts or of sequences, a"
        f" regression, the Fit or a Candidate of one, or an array of log-likelihoods (draw, row); got {shown(model)}"
    )


def facts_of_draws(log_likelihoods: np.ndarray) -> Facts:
    """Posterior draws of a model that is known by its log-likelihoods only."""
    draws = read_draws(log_likelihoods)
    return Facts(
        num_rows=draws.shape[1],
        sample_size=draws.shape[1],
        num_parameters=DRAWS_ONLY,
        log_likelihoods=DRAWS_ONLY,
        log_evidence=DRAWS_ONLY,
        ahead=DRAWS_ONLY,
        held_out=DRAWS_ONLY,
        draws=lambda number, rng: draws,
    )
