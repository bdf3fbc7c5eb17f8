"""What the verbs do with families of distributions: `fit` estimates a member; `log_prob` and `sample` ask it."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from juncture import verbs
from juncture.base.dispatch import name_of_kind, register
from juncture.data.observations import as_rows
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, Unsupported
from juncture.families.family import Family
from juncture.learning.fit import Fit
from juncture.numerics.iteration import Trace


def fit_family(
    family: type[Family] | Family, data: Any, *, prior: Any = None, weights: Any = None, **known: Any
) -> Fit[Family]:
    """The member of maximum likelihood, or with a conjugate `prior` of largest posterior density.

    Rows are the first axis of the data. What a member that is given knows, such as the trials of a `Binomial`, is kept;
    with the class it is given by name.
    """
    if np.ndim(weights) > 1:
        raise InvalidData("fit takes one weight a row: fit once for each column of weights")
    statistics = family.statistics(data, weights, **known)
    kind = family if isinstance(family, type) else type(family)
    model = kind.estimate(statistics) if prior is None else kind.estimate(statistics, prior)
    log_likelihood = score_rows(model, data, weights)
    trace = Trace((log_likelihood,), True, "estimated from the sufficient statistics")
    return Fit(model, log_likelihood, trace, statistics)


def score_rows(model: Family, data: Any, weights: Any) -> float:
    """Σ weight · log p(row); of a batch, the sum over its members too."""
    rows = data if isinstance(data, tuple) else as_rows(data, model.event_shape, name=type(model).__name__)
    logs = np.asarray(model.log_prob(rows))
    heavy = as_weights(weights, len(logs))
    if heavy is None:
        return float(logs.sum())
    return float(heavy[heavy > 0] @ logs[heavy > 0].reshape(int((heavy > 0).sum()), -1).sum(axis=1))


def log_prob_family(member: Family, rows: Any) -> Any:
    """The logarithm of the density, or of the probability, at each value."""
    return member.log_prob(rows)


def sample_family(member: Family, n: Any, *, rng: Any = None) -> Any:
    """An array of `n` draws."""
    return member.sample(n, rng=rng)


def refuse_inference(member: Family, evidence: Any = None, **options: Any) -> NoReturn:
    """Raise: a distribution of one quantity has no other quantities to infer."""
    raise Unsupported(
        f"{name_of_kind(member)} is the distribution of one quantity, beside which nothing is to be inferred: ask its"
        " mean, mode or variance; the distribution of its parameters given data is prior.posterior(statistics)"
    )


register(verbs.fit, Family, fit_family, takes_class=True)
register(verbs.log_prob, Family, log_prob_family)
register(verbs.sample, Family, sample_family)
register(verbs.infer, Family, refuse_inference)
register(verbs.most_probable, Family, refuse_inference)
