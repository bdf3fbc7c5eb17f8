"""Questions to mixtures: which component made a row, and how probable the row is; what is missing is summed out.

Draws from a mixture, and the bound of any distribution over the components, are here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count, shown
from juncture.base.methods import register_methods, resolve_method
from juncture.base.values import number_of
from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.data.findings import row_index
from juncture.data.rows import Rows, as_dataset, column_names
from juncture.errors import InvalidData
from juncture.inference.engines.contract import Cost
from juncture.inference.engines.ranked import RankedAnswers
from juncture.inference.engines.verb_options import check_evidence, check_limits, check_num_rows, check_policy
from juncture.inference.most_probable import MostProbable, MostProbableRows
from juncture.inference.variational.elbo import DiscreteRowBounds
from juncture.latent.mixtures.beliefs import MixtureBeliefs
from juncture.numerics import stable
from juncture.numerics.stable import as_probabilities


def infer_component(
    model: Mixture,
    evidence: Any,
    *,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> MixtureBeliefs:
    """The beliefs about the component of one row, or of each of many: numbers, vectors, a frame or a `Dataset`."""
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    read = Rows.of(evidence, model.feature_names)
    rows, is_single = read.numbers(model.event_shape), read.is_single(model.event_shape)
    if budget is not None or memory_limit is not None:
        check_cost(model, len(rows), budget, memory_limit)
    log_joint = model.component_log_prob(rows) + stable.log(model.weights)
    index = None if is_single else row_index(evidence)
    beliefs = MixtureBeliefs(model, log_joint, is_single, algorithm, index=index, rows=rows)
    check_evidence(
        log_joint.max(axis=1),  # -inf where no component is possible
        lambda row: "no component of the mixture can make it",
        is_single=is_single,
        on_impossible=on_impossible,
        single="the row",
    )
    return beliefs


def check_cost(model: Mixture, num_rows: int, budget: Any, memory_limit: Any) -> None:
    """Raise `TooLarge` for a run beyond the limits."""
    cells, size = num_rows * model.num_components, max(1, prod(model.event_shape))
    cost = Cost(0, model.num_components, 3 * 8 * cells, 10 * cells * size**2)
    check_limits(cost, f"the components of {number_of(num_rows, 'row')}", budget, memory_limit)


def most_probable_component(
    model: Mixture,
    evidence: Any,
    *,
    k: int | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> MostProbable | MostProbableRows | list[MostProbable]:
    """The most probable component of one row, or of each of many; with `k` a list of the k best of one row."""
    algorithm = resolve_method(model, "most_probable", method)
    limits: dict[str, Any] = {"budget": budget, "memory_limit": memory_limit}
    beliefs = infer_component(model, evidence, method=algorithm, on_impossible=on_impossible, **limits)
    if k is not None:
        return best_components(beliefs, check_count(k, "k", least=1))
    if beliefs.is_single:
        return best_components(beliefs, 1)[0]
    codes, log_joint = beliefs.log_joint.argmax(axis=1), beliefs.log_joint.max(axis=1)
    log_prob = stable.log(beliefs.responsibilities).max(axis=1)
    codes[list(beliefs.impossible)] = -1
    chosen = Dataset.from_codes(beliefs.scope, {"component": codes})
    return MostProbableRows(chosen, log_prob, log_joint, beliefs.impossible, algorithm)


def best_components(beliefs: MixtureBeliefs, k: int) -> list[MostProbable]:
    """The components of one row, best first; those that cannot have made it are left out."""
    if not beliefs.is_single:
        raise InvalidData("k goes with one row; ask for the k best of each row alone")
    log_joint, log_prob = beliefs.log_joint[0], stable.log(beliefs.responsibilities[0])
    order = np.argsort(-log_joint, kind="stable")[:k].tolist()
    return RankedAnswers(
        MostProbable({"component": code}, float(log_prob[code]), float(log_joint[code]), beliefs.method)
        for code in order
        if log_joint[code] > -np.inf
    )


def log_prob_mixture(model: Mixture, rows: Any, *, method: Any = "auto") -> Any:
    """log p(row): a number for one, an array for many."""
    resolve_method(model, "log_prob", method)
    read = Rows.of(rows, model.feature_names)
    if read.source is not None:
        return np.concatenate([model.log_prob(values) for values, _ in read.parts(model.event_shape)()])
    found = model.log_prob(read.numbers(model.event_shape))
    return float(found[0]) if read.is_single(model.event_shape) else found


for each in ("infer", "log_prob", "most_probable", "sample"):
    register_methods(Mixture, each, "enumeration")


def bound_mixture(model: Mixture, q: Any, evidence: Any) -> DiscreteRowBounds:
    """The bounds of rows, or of one; what is missing in a row is summed out."""
    rows = Rows.of(evidence, model.feature_names).numbers(model.event_shape)
    log_prior = stable.log(model.weights)
    return DiscreteRowBounds.of(as_shares(q, len(rows), model), model.component_log_prob(rows) + log_prior, log_prior)


def as_shares(q: Any, num_rows: int, model: Mixture) -> np.ndarray:
    """q as (row, component)."""
    wanted = (num_rows, model.num_components)
    if isinstance(q, MixtureBeliefs):
        shares = q.responsibilities
        if shares.shape != wanted or np.isnan(shares).any():
            raise InvalidData(f"q is of the shape {shares.shape} where {wanted} is wanted, or of impossible rows")
        return shares
    if isinstance(q, Mapping) and set(q) != {"component"}:
        raise InvalidData(f'q has a distribution of "component" and of nothing else; got {shown(q)}')
    table = check_array(q["component"] if isinstance(q, Mapping) else q, "q, the probabilities of the components,")
    return as_probabilities(np.broadcast_to(table, wanted) if table.shape == wanted[1:] else table, wanted, name="q")


def sample_mixture(model: Mixture, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto") -> Dataset:
    """`n` rows drawn from the mixture: a column "x" of numbers, or "x0", "x1", … of the entries of vectors.

    The columns of a mixture with `feature_names` have these names.

    With `given`, one row: `n` components from the posterior.
    """
    algorithm = resolve_method(model, "sample", method)
    if given is not None:
        beliefs = infer_component(model, given, method=algorithm)
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=rng)
    count = check_num_rows(n, 24 * len(column_names(model.event_shape)))
    return as_dataset(np.asarray(model.sample(count, rng=rng)), model.feature_names)
