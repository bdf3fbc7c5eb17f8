"""Facts of models that have the verbs: networks, mixtures, factor models, models of sequences."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from juncture.components.mixture import MixturePrior
from juncture.data.dataset import Dataset
from juncture.data.rows import rows_of
from juncture.errors import InvalidData, NotConvergedWarning, RegularizedWarning, UnseenParentsWarning
from juncture.evaluation.choice.facts import NO_PRIOR, Candidate, Evidence, Facts, check_logs
from juncture.latent.mixtures.number_of_components import evidence_bound
from juncture.networks.factor_product import FactorProduct
from juncture.verbs import fit, log_prob

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
    rows, take = read_rows(model, data)
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


def singular_reason(model: Any) -> str:
    names = [kind.__name__ for kind in type(model).__mro__]
    return next((reason for name, reason in SINGULAR.items() if name in names), "")


def count_parameters(model: Any) -> int | str:
    """Free parameters, or why their number is not known."""
    if hasattr(model, "num_parameters"):
        return int(model.num_parameters)
    if isinstance(model, FactorProduct):
        return int(model.minimal_form().num_parameters)
    return f"a {type(model).__name__} does not say how many free parameters it has"


def read_rows(model: Any, data: Any) -> tuple[Any, Any]:
    """The rows as the verbs take them, and a function that picks some of them."""
    if hasattr(model, "variables"):
        table = Dataset(data, variables=model.variables)
        if table.weights is not None:
            raise InvalidData("rows with weights are not compared on: give each row as often as it counts")
        return table, table.take
    if hasattr(model, "sequences"):
        listed = list_sequences(model, data)
        return listed, lambda index: [listed[place] for place in index]
    rows, _ = rows_of(data, getattr(model, "event_shape", None))
    return rows, lambda index: rows[index]


def list_sequences(model: Any, data: Any) -> list[Any]:
    """The sequences, one by one; a single sequence is a list of one."""
    return [data] if model.sequences(data).is_single else list(data)


def sample_size(model: Any, rows: Any, number: int) -> float:
    """n of BIC: rows, or the steps of all sequences."""
    return float(model.sequences(rows).num_steps) if hasattr(model, "sequences") else float(number)


def learn_and_score(candidate: Candidate, train: Any, test: Any) -> np.ndarray:
    """log p(test rows) under the model learned from the training rows, started at the model given."""
    with warnings.catch_warnings():
        for category in QUIET:
            warnings.simplefilter("ignore", category)
        learned = fit(candidate.model, train, **({} if candidate.prior is None else {"prior": candidate.prior}))
    return np.asarray(log_prob(learned.model, test))


def facts_of_mixture(candidate: Candidate, data: Any) -> Facts:
    """A mixture; with a `MixturePrior`, a lower bound of its evidence."""
    facts, rows = facts_of_model(candidate, data), read_rows(candidate.model, data)[0]
    prior = candidate.prior
    if not isinstance(prior, MixturePrior):
        return replace(facts, log_evidence=NO_PRIOR if prior is None else "the prior of a mixture is a MixturePrior")

    def bound() -> Evidence:
        learned = fit(candidate.model, rows, prior=prior)
        return Evidence(evidence_bound(learned, prior), "bound", "a lower bound (Cheeseman and Stutz 1996)")

    return replace(facts, log_evidence=bound)
