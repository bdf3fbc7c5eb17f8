"""`elbo`: the evidence lower bound of a distribution q, in its three forms, with its gap and its multi-sample form.

log p(x) = L(q) + KL(q ‖ p(z | x)), and L(q) = E log p(x, z) + H(q) = E log p(x | z) - KL(q ‖ p(z)), with expectations
under q. With K draws from q the bound E log 1/K Σ p(x, zₖ) / q(zₖ) rises with K towards log p(x) (Burda et al. 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.base.checks import check_count, check_mapping, shown
from juncture.base.dispatch import load_implementation
from juncture.base.options import as_generator
from juncture.errors import InvalidData, Unsupported
from juncture.evidence import as_findings
from juncture.factors.factor import Factor
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.contract import Query
from juncture.inference.engines.lowering import check_factors
from juncture.inference.exact.enumeration import Enumeration, JointTable
from juncture.inference.variational.bounds import EXCLUDED, EstimatedBound, EvidenceBound, RowBounds
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics import stable
from juncture.numerics.stable import as_probabilities
from juncture.variables import Scope
from juncture.verbs import KINDS

MAX_CELLS = 2**20


def elbo(
    model: Any, q: Any, evidence: Any = None, *, num_samples: int = 1000, rng: Any = None
) -> EvidenceBound | RowBounds | EstimatedBound:
    """The evidence lower bound of a distribution q over what is not observed.

    Parameters
    ----------
    model
        A small discrete model, of which all assignments are listed; a `Mixture`, a `FactorAnalysis` or a
        `ProbabilisticPCA`; or a function, log p(x, z) of an array of draws z with one draw a row.
    q
        For a network: a mapping from the names of unobserved variables to distributions, their product; a `Factor` over
        them; or beliefs of the model. For a mixture: probabilities of the components, (component,) or (row, component),
        or beliefs of a mixture with as many components. For factors: a `MultivariateGaussian` over them, for all rows
        or with one a row, or beliefs. For a function: a family, with `sample` and `log_prob`.
    evidence
        One row for a network; one row or many for mixtures and factors, with holes where cells are missing.
    num_samples, rng
        How many draws from q, for a function.

    Returns
    -------
    EvidenceBound, RowBounds or EstimatedBound
        `value` is the bound. For a model it has the three forms and the gap exactly, for many rows those of each row,
        for a function a standard error.

    Examples
    --------
    >>> import juncture as jt
    >>> z, x = jt.Variable("z", 2), jt.Variable("x", 2)
    >>> parts = [jt.Conditional(z, [], [0.5, 0.5]), jt.Conditional(x, [z], [[0.9, 0.1], [0.3, 0.7]])]
    >>> jt.elbo(jt.BayesianNetwork(parts), {"z": [0.5, 0.5]}, {"x": 1})
    EvidenceBound(value=-1.32963, log_evidence=-0.916291, gap=0.413339)
    >>> estimate = jt.elbo(lambda z: -(z**2), jt.Gaussian(0.0, 0.5), rng=0)  # ∫ exp(-z²) is the root of π
    >>> round(estimate.value, 6), round(float(np.log(np.pi)) / 2, 6)
    (0.572365, 0.572365)
    """
    if callable(model) and not hasattr(model, "variables"):
        return estimate_bound(model, q, check_count(num_samples, "num_samples", least=2), rng)
    found: EvidenceBound | RowBounds = load_implementation(bound_of, model, KINDS)(model, q, evidence)
    return found


@singledispatch
def bound_of(model: Any, q: Any, evidence: Any) -> Any:
    """The exact bound of a kind of model; of networks by listing all assignments."""
    check_factors(model, "elbo")
    findings = as_findings(evidence, model.variables)
    if not findings.is_single:
        raise InvalidData("elbo takes one row of evidence; ask for each row alone")
    joint = Enumeration(MAX_CELLS).compile(model, findings.names, model.variables.names).run(model, Query(findings))
    hidden = Scope(one for one in model.variables if not findings.is_observed(one.name)[0])
    return exact_bound(model, joint, hidden, spread(q, hidden))


def spread(q: Any, hidden: Scope) -> np.ndarray:
    """q as a table over the unobserved variables, in the order of the model."""
    if isinstance(q, Beliefs):
        return np.asarray(q.joint(*hidden.names).values) if len(hidden) else np.ones(())
    if isinstance(q, Factor):
        if set(q.scope.names) != set(hidden.names):
            raise InvalidData(
                f"q must be over the unobserved variables {', '.join(hidden.names)}; it is over"
                f" {', '.join(q.scope.names)}"
            )
        table = q.reorder(*hidden.names).values
        return as_probabilities(table.reshape(-1), (table.size,), name="q").reshape(table.shape)
    given = check_mapping(q, "q")
    missing = next((name for name in hidden.names if name not in given), None)
    strange = next((name for name in given if name not in hidden.names), None)
    if missing is not None or strange is not None:
        words = f"has nothing for {missing!r}" if missing is not None else f"has {shown(strange)}, which is not one"
        raise InvalidData(f"q gives a distribution of each unobserved variable; it {words}")
    total = np.ones(())
    for one in hidden:
        part = as_probabilities(given[one.name], (one.num_states,), name=f"q of {one.name!r}")
        total = np.multiply.outer(total, part)
    return total


def exact_bound(model: Any, joint: JointTable, hidden: Scope, table: np.ndarray) -> EvidenceBound:
    """All forms, by sums over the assignments."""
    order = [hidden.names.index(one.name) for one in joint.scope if one in hidden]
    weights = next(joint.log_weights())[0].reshape(joint.scope.shape)
    kept = tuple(axis for axis, one in enumerate(joint.scope) if one not in hidden)
    log_joint = stable.log_sum_exp(weights, axis=kept).reshape(-1)  # of observed states all but one are -inf
    shares = table.transpose(order).reshape(-1)
    is_met = shares > 0
    q, logs, log_q = shares[is_met], log_joint[is_met], np.log(shares[is_met])
    log_evidence = float(stable.log_sum_exp(log_joint))
    if not np.isfinite(logs).all():
        raise InvalidData(EXCLUDED)
    likelihood, divergence = None, None
    if isinstance(model, BayesianNetwork):
        prior = stable.log_sum_exp(joint.log_joint.reshape(joint.scope.shape), axis=kept).reshape(-1)[is_met]
        likelihood, divergence = float(q @ (logs - prior)), float(q @ (log_q - prior))
    return EvidenceBound(
        float(q @ logs),
        float(-q @ log_q),
        log_evidence,
        float(q @ (log_q - (logs - log_evidence))),
        likelihood,
        divergence,
        tuple(zip(q.tolist(), (logs - log_q).tolist(), strict=True)),
    )


def estimate_bound(log_joint: Callable[..., Any], q: Any, num_samples: int, rng: Any) -> EstimatedBound:
    if not hasattr(q, "sample") or not hasattr(q, "log_prob"):
        raise Unsupported(f"q is a distribution with sample and log_prob, such as Gaussian(0, 1); got {shown(q)}")
    draws = q.sample(num_samples, rng=as_generator(rng))
    logs = np.asarray(log_joint(draws), dtype=float)
    if logs.shape != (num_samples,):
        raise InvalidData(f"log_joint takes {num_samples} draws and gives as many numbers; it gave {shown(logs)}")
    return EstimatedBound(logs - np.asarray(q.log_prob(draws)))
