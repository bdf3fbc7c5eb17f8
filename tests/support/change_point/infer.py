"""Questions to a change-point model, by enumeration of the change points; and rows drawn from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_count
from juncture.base.methods import register_methods, resolve_method
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.data.dataset import Dataset
from juncture.data.rows import Rows, as_dataset
from juncture.errors import InvalidData
from juncture.inference.engines.contract import Cost
from juncture.inference.engines.verb_options import (
    check_evidence,
    check_limits,
    check_num_rows,
    check_policy,
)
from juncture.inference.most_probable import MostProbable, MostProbableRows
from juncture.numerics import stable
from support.change_point.beliefs import ChangePointBeliefs
from support.change_point.model import PoissonChangePoint


def infer_change(
    model: PoissonChangePoint,
    evidence: Any,
    *,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> ChangePointBeliefs:
    """The beliefs about the change point of one row of counts, or of each of many; what is missing is summed out."""
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    read, shape = Rows.of(evidence, model.feature_names), (model.num_steps,)
    rows, is_single = read.numbers(shape), read.is_single(shape)
    cells = rows.size
    cost = Cost(0, model.num_steps, 8 * 6 * cells, 20 * cells)
    check_limits(cost, f"the change points of {number_of(len(rows), 'row')}", budget, memory_limit)
    beliefs = ChangePointBeliefs(model, model.log_joint(rows), is_single, algorithm)
    check_evidence(
        beliefs.log_evidences,
        lambda row: "no change point can make it; counts are whole numbers of at least 0",
        is_single=is_single,
        on_impossible=on_impossible,
        single="the row",
    )
    return beliefs


def most_probable_change(
    model: PoissonChangePoint,
    evidence: Any,
    *,
    k: int | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> MostProbable | MostProbableRows | list[MostProbable]:
    """The most probable change point of one row, or of each of many; with `k` the k best of one row."""
    algorithm = resolve_method(model, "most_probable", method)
    limits: dict[str, Any] = {"budget": budget, "memory_limit": memory_limit}
    beliefs = infer_change(model, evidence, method=algorithm, on_impossible=on_impossible, **limits)
    if k is not None and not beliefs.is_single:
        raise InvalidData("k goes with one row; ask for the k best of each row alone")
    if beliefs.is_single:
        best = best_changes(beliefs, 1 if k is None else check_count(k, "k", least=1))
        return best[0] if k is None else best
    codes, log_joint = beliefs.log_joint.argmax(axis=1), beliefs.log_joint.max(axis=1)
    codes[list(beliefs.impossible)] = -1
    log_prob = stable.log(beliefs.posterior).max(axis=1)
    chosen = Dataset.from_codes(model.variables, {"change_point": codes})
    return MostProbableRows(chosen, log_prob, log_joint, beliefs.impossible, algorithm)


def best_changes(beliefs: ChangePointBeliefs, k: int) -> list[MostProbable]:
    """The change points of one row, best first; those that are impossible are left out."""
    log_joint, log_prob = beliefs.log_joint[0], stable.log(beliefs.posterior[0])
    order = np.argsort(-log_joint, kind="stable")[:k].tolist()
    return [
        MostProbable({"change_point": step}, float(log_prob[step]), float(log_joint[step]), beliefs.method)
        for step in order
        if log_joint[step] > -np.inf
    ]


def log_prob_counts(model: PoissonChangePoint, rows: Any, *, method: Any = "auto") -> Any:
    """log p(row): a float of one row, an array of many."""
    resolve_method(model, "log_prob", method)
    read, shape = Rows.of(rows, model.feature_names), (model.num_steps,)
    found = stable.log_sum_exp(model.log_joint(read.numbers(shape)), axis=1)
    return float(found[0]) if read.is_single(shape) else found


def sample_counts(
    model: PoissonChangePoint, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto"
) -> Dataset:
    """`n` rows of counts; with `given`, one row, `n` change points from its posterior."""
    algorithm = resolve_method(model, "sample", method)
    if given is not None:
        beliefs = infer_change(model, given, method=algorithm)
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=rng)
    count, generator = check_num_rows(n, 24 * model.num_steps), as_generator(rng)
    change = generator.choice(model.num_steps, count, p=model.change / model.change.sum())
    rates = np.where(np.arange(model.num_steps) < change[:, None], model.before, model.after)
    return as_dataset(generator.poisson(rates).astype(np.float64), model.feature_names)


for each in ("infer", "log_prob", "most_probable", "sample"):
    register_methods(PoissonChangePoint, each, "enumeration")
