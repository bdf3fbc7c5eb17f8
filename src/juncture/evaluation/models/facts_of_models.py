"""Facts of models that have the verbs: networks, mixtures, factor models, models of sequences.

Bayesian networks whose tables have Dirichlet priors have everything in closed form where rows are complete. Hidden
Markov models of tables and generalised linear models have Laplace's evidence. Tables are given by log-odds, in which
the mode of the posterior is that of pseudo-counts added to expected counts: where a Dirichlet has the density
Π p^(α-1) / B(α) of probabilities, their log-odds have Π p^α / B(α).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

from juncture.base.checks import as_float, shown
from juncture.components.categorical import CategoricalEmissions
from juncture.components.mixture import MixturePrior
from juncture.data.dataset import Dataset
from juncture.data.rows import Rows
from juncture.data.sources.sequence_source import SequenceModel
from juncture.errors import InvalidData, NotConvergedWarning, RegularizedWarning, UnseenParentsWarning, Unsupported
from juncture.evaluation.models.facts import NO_PRIOR, Candidate, Evidence, Facts, check_logs
from juncture.evaluation.models.facts_of_regressions import facts_of_generalized, read_pair
from juncture.factors.conditional import AnyConditional, Conditional, signature
from juncture.families.posteriors.laplace import laplace_approximation, laplace_evidence
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.graphs.directed import DirectedGraph
from juncture.latent.mixtures.number_of_components import evidence_bound
from juncture.learning.conditionals.table import prior_of, pseudo_counts
from juncture.learning.networks.estimation import resolve_prior
from juncture.learning.structure.scores import scores
from juncture.learning.structure.scores.gaussian import BGe
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.numerics.curvature import hessian
from juncture.numerics.stable import softmax
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.supervised.regression.generalized_linear import GeneralizedLinearFit, GeneralizedLinearModel
from juncture.verbs import fit, log_prob, statistics

if TYPE_CHECKING:
    from juncture.variables import Model

SINGULAR = {
    "Mixture": "components may coincide or vanish",
    "HiddenMarkovModel": "states may coincide or never be visited",
    "LatentDirichletAllocation": "topics may coincide",
    "LinearFactors": "loadings of superfluous factors vanish, and factors may be rotated",
}
NO_EVIDENCE = "there is no evidence of this kind of model here, also with a prior: take 'cv'"
QUIET = (NotConvergedWarning, RegularizedWarning, UnseenParentsWarning)


def facts_of_model(candidate: Candidate, data: Any) -> Facts:
    """A model that was learned from the rows: its likelihood, its parameters, and rows held out by learning again."""
    model = candidate.model
    rows, take = separable_rows(model, data)
    logs = check_logs(log_prob(model, rows), type(model).__name__)
    return Facts(
        num_rows=len(logs),
        sample_size=sample_size(model, rows, len(logs)),
        num_parameters=count_parameters(model),
        log_likelihoods=lambda: logs,
        log_evidence=NO_PRIOR if candidate.prior is None else NO_EVIDENCE,
        ahead=NO_PRIOR if candidate.prior is None else NO_EVIDENCE,
        held_out=lambda train, test: learn_and_score(candidate, take(train), take(test)),
        singular=singular_reason(model),
    )


def singular_reason(model: Model) -> str:
    names = [kind.__name__ for kind in type(model).__mro__]
    return next((reason for name, reason in SINGULAR.items() if name in names), "")


def count_parameters(model: Model) -> int:
    """The number of free parameters; of a product of factors, those of its minimal form."""
    if isinstance(model, FactorProduct):
        return int(model.minimal_form().num_parameters)
    return int(model.num_parameters)


def separable_rows(model: Model, data: Any) -> tuple[Any, Any]:
    """The rows as the verbs take them, and a function that picks some of them."""
    if isinstance(model, BayesianNetwork | FactorProduct):
        table = Rows.of(data).codes(model.variables)
        if table.weights is not None:
            raise InvalidData("rows with weights are not compared on: give each row as often as it counts")
        return table, table.take
    if isinstance(model, SequenceModel):
        listed = list_sequences(model, data)
        return listed, lambda index: [listed[place] for place in index]
    rows = Rows.of(data).numbers(getattr(model, "event_shape", None))
    return rows, lambda index: rows[index]


def list_sequences(model: SequenceModel, data: Any) -> list[Any]:
    """The sequences, one by one; a single sequence is a list of one."""
    return [data] if model.sequences(data).is_single else list(data)


def sample_size(model: Model, rows: Any, number: int) -> float:
    """n of BIC: rows, or the steps of all sequences."""
    return float(model.sequences(rows).num_steps) if isinstance(model, SequenceModel) else float(number)


def learn_and_score(candidate: Candidate, train: Any, test: Any) -> np.ndarray:
    """log p(test rows) under the model learned from the training rows, started at the model given."""
    with warnings.catch_warnings():
        for category in QUIET:
            warnings.simplefilter("ignore", category)
        learned = fit(candidate.model, train, **({} if candidate.prior is None else {"prior": candidate.prior}))
    return np.asarray(log_prob(learned.model, test))


def facts_of_mixture(candidate: Candidate, data: Any) -> Facts:
    """A mixture; with a `MixturePrior`, a lower bound of its evidence."""
    facts, rows = facts_of_model(candidate, data), separable_rows(candidate.model, data)[0]
    prior = candidate.prior
    if not isinstance(prior, MixturePrior):
        return replace(facts, log_evidence=NO_PRIOR if prior is None else "the prior of a mixture is a MixturePrior")

    def bound() -> Evidence:
        learned = fit(candidate.model, rows, prior=prior)
        return Evidence(evidence_bound(learned, prior), "bound", "a lower bound (Cheeseman and Stutz 1996)")

    return replace(facts, log_evidence=bound)


def facts_of_graph(candidate: Candidate, data: Any) -> Facts:
    """A graph or a network with a prior: learned by maximum likelihood, with the evidence of its tables."""
    if isinstance(candidate.model, BayesianNetwork) and candidate.prior is None:
        return facts_of_model(candidate, data)
    table = data if isinstance(data, Dataset) else Dataset(data)
    is_graph = isinstance(candidate.model, DirectedGraph)
    learned = fit(candidate.model, table.only(candidate.model.nodes) if is_graph else data).model
    template = learned if is_graph else candidate.model
    facts = facts_of_model(Candidate(learned), data if not is_graph else table.only(template.variables.names))
    rows, take = separable_rows(learned, data if not is_graph else table.only(template.variables.names))
    facts = replace(
        facts,
        held_out=lambda train, test: learn_and_score(Candidate(template, candidate.prior), take(train), take(test)),
    )
    if isinstance(candidate.prior, BGe):
        return add_lines(facts, template, candidate.prior, rows)
    return facts if candidate.prior is None else add_tables(facts, template, candidate.prior, rows)


def add_lines(facts: Facts, template: BayesianNetwork, prior: BGe, rows: Dataset) -> Facts:
    """The facts of a network of real variables, with its evidence under a normal-Wishart prior."""
    how = "the integral over the normal-Wishart prior of its lines"
    reason = "predictions from some of the rows are not there for this prior"
    return replace(
        facts,
        log_evidence=lambda: Evidence(scores.score(template.graph, rows, prior), "exact", how),
        ahead=reason,
        left_out=reason,
        held_out=reason,
    )


def add_tables(facts: Facts, template: BayesianNetwork, prior: Any, rows: Dataset) -> Facts:
    """The facts with those of Dirichlet posteriors, which complete rows have in closed form."""
    reason = check_tables(template, prior, rows)
    if reason:
        return replace(facts, log_evidence=reason, ahead=reason, left_out=reason)
    tables = pseudo_tables(template, prior)
    parts = [(tables[part.child.name], cells_of(part, rows)) for part in template.conditionals]
    counts = statistics(template, rows)

    def evidence() -> Evidence:
        values = [
            log_table_evidence(counts[part.child.name].counts, tables[part.child.name])
            for part in template.conditionals
        ]
        return Evidence(float(sum(values)), "exact", "the integral over the Dirichlet priors of its tables")

    def ahead(order: np.ndarray) -> np.ndarray:
        return np.sum([score_table(alpha, codes[order], count_before) for alpha, codes in parts], axis=0)

    def left_out() -> np.ndarray:
        return np.sum([score_table(alpha, codes, count_others) for alpha, codes in parts], axis=0)

    return replace(facts, log_evidence=evidence, ahead=ahead, left_out=left_out)


def check_tables(template: BayesianNetwork, prior: Any, rows: Dataset) -> str:
    """Why there is no closed form; nothing where there is."""
    for part in template.conditionals:
        if not isinstance(part, Conditional):
            return f"the evidence in closed form is that of tables; {signature(part)} is no table"
        if prior_of(resolve_prior(prior, template), part.child.name) is None:
            return f"the table of {part.child.name!r} has no prior"
    return "" if rows.is_complete else "with holes in the rows the evidence has no closed form"


def pseudo_tables(template: BayesianNetwork, prior: Any) -> dict[str, np.ndarray]:
    """The pseudo-counts of each table; all must be positive, or there is no evidence."""
    resolved, found = resolve_prior(prior, template), {}
    for part in template.conditionals:
        name = part.child.name
        found[name] = pseudo_counts(prior_of(resolved, name), part.child, part.parents)
        if not (found[name] > 0).all():
            raise Unsupported(f"the prior of {name!r} has cells without pseudo-counts: the evidence needs all positive")
    return found


def cells_of(part: AnyConditional, rows: Dataset) -> np.ndarray:
    """(row, 2): the combination of the parents' states, and the state of the child, as whole numbers."""
    parents = [rows.columns[parent.name] for parent in part.parents]
    shape = tuple(parent.num_states for parent in part.parents)
    given = np.ravel_multi_index(tuple(parents), shape) if parents else np.zeros(len(rows), np.int64)
    return np.stack([given, rows.columns[part.child.name]], axis=1).astype(np.int64)


def log_table_evidence(counts: np.ndarray, alpha: np.ndarray) -> float:
    """Σ over the parents' states of log B(counts + α) - log B(α)."""
    totals = gammaln(alpha.sum(axis=-1)) - gammaln((alpha + counts).sum(axis=-1))
    return float((totals + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=-1)).sum())


def score_table(alpha: np.ndarray, codes: np.ndarray, count: Any) -> np.ndarray:
    """(row,): log (α + n of the cell) / Σ (α + n), where n counts other rows."""
    flat = alpha.reshape(-1, alpha.shape[-1])
    cell = codes[:, 0] * flat.shape[1] + codes[:, 1]
    up = flat[codes[:, 0], codes[:, 1]] + count(cell)
    return np.asarray(np.log(up) - np.log(flat.sum(axis=1)[codes[:, 0]] + count(codes[:, 0])))


def count_before(numbers: np.ndarray) -> np.ndarray:
    """(row,): how many rows before it have the same number."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    found = np.empty(len(numbers), np.int64)
    found[order] = np.arange(len(numbers)) - np.repeat(starts, np.diff(np.r_[starts, len(numbers)]))
    return found


def count_others(numbers: np.ndarray) -> np.ndarray:
    """(row,): how many other rows have the same number."""
    return np.bincount(numbers)[numbers] - 1


MANY = 60  # parameters whose second derivatives are not taken by differences


def facts_of_hidden_markov(candidate: Candidate, sequences: Any) -> Facts:
    """A hidden Markov model; with a pseudo-count for every cell of its tables, Laplace's evidence."""
    facts, model, count = facts_of_model(candidate, sequences), candidate.model, as_float(candidate.prior)
    if candidate.prior is None:
        return facts
    if not isinstance(model.emissions, CategoricalEmissions) or not 0 < count < np.inf:
        reason = "Laplace's evidence of a hidden Markov model is that of tables with one positive pseudo-count for all"
        return replace(facts, log_evidence=reason, ahead=reason)
    if any((table == 0).any() for table in tables_of(model)) or facts.num_parameters > MANY:  # type: ignore[operator]
        reason = f"Laplace's evidence is for tables without zeros, with at most {MANY} free parameters"
        return replace(facts, log_evidence=reason, ahead=reason)

    def evidence() -> Evidence:
        mode = fit(model, sequences, prior=count, point="mean").model
        return Evidence(
            log_evidence_around(mode, sequences, count),
            "approximate",
            "Laplace's approximation around one mode; the equal modes of other orders of the states are not counted",
        )

    return replace(facts, log_evidence=evidence, ahead="predictions one sequence ahead have no closed form")


def tables_of(model: HiddenMarkovModel) -> list[np.ndarray]:
    """The rows of probabilities: initial, transitions, emissions, each (row, state)."""
    return [model.initial[None], model.transition, model.emissions.probabilities]  # type: ignore[attr-defined]


def log_evidence_around(mode: HiddenMarkovModel, sequences: Any, count: float) -> float:
    """log p(data, θ̂) + (k/2) log 2π - ½ log |information|, with θ the log-odds against the last column."""
    tables = tables_of(mode)
    start = np.concatenate([(np.log(table[:, :-1]) - np.log(table[:, -1:])).reshape(-1) for table in tables])

    def log_joint(point: np.ndarray) -> float:
        found = tables_at(point, [table.shape for table in tables])
        emissions = CategoricalEmissions(found[2], mode.emissions.symbols)
        model = HiddenMarkovModel(found[0][0], found[1], emissions, states=mode.states)
        return float(np.sum(log_prob(model, sequences))) + sum(log_density(table, count) for table in found)

    if not len(start):
        return log_joint(start)
    return laplace_evidence(log_joint(start), -hessian(log_joint, start))


def tables_at(point: np.ndarray, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Probabilities from their log-odds."""
    found, place = [], 0
    for rows, columns in shapes:
        odds = point[place : place + rows * (columns - 1)].reshape(rows, columns - 1)
        found.append(softmax(np.concatenate([odds, np.zeros((rows, 1))], axis=1)))
        place += odds.size
    return found


def log_density(table: np.ndarray, count: float) -> float:
    """Σ over rows of the log-density of their log-odds, α log p - log B(α)."""
    rows, columns = table.shape
    beta = columns * gammaln(count) - gammaln(columns * count)
    return float(count * np.log(table).sum() - rows * beta)


def facts_of_generalized_prior(candidate: Candidate, data: Any) -> Facts:
    """A generalised linear model whose coefficients have a Gaussian prior: evidence and draws by Laplace."""
    given, prior = candidate.model, candidate.prior
    line = given.model if isinstance(given, GeneralizedLinearFit) else given
    size = len(line.coefficients)
    facts = facts_of_generalized(given, data)
    if prior is None:
        return facts
    if not isinstance(prior, MultivariateGaussian) or prior.event_shape != (size,) or prior.batch_shape:
        raise InvalidData(f"the prior of {size} coefficients is one MultivariateGaussian over them; got {shown(prior)}")
    if line.response.has_dispersion:
        raise Unsupported(f"the dispersion of a {line.family.__name__} has no prior here: leave out the prior")
    inputs, targets = read_pair(data, line)

    def log_likelihoods(coefficients: np.ndarray) -> np.ndarray:
        model = GeneralizedLinearModel(line.family, coefficients, line.link, successes=line.successes, basis=line.basis)
        return np.asarray(model.predict(inputs).log_prob(targets))

    def approximate() -> Any:
        return laplace_approximation(
            lambda point: float(log_likelihoods(point).sum() + prior.log_prob(point)), line.coefficients
        )

    def draws(number: int, rng: np.random.Generator) -> np.ndarray:
        return np.stack([log_likelihoods(point) for point in approximate().family.sample(number, rng=rng)])

    how = "Laplace's approximation around the mode"
    return replace(
        facts,
        log_evidence=lambda: Evidence(approximate().log_evidence, "approximate", how),
        ahead="predictions one row ahead have no closed form",
        draws=draws,
    )
