"""`elbo`: the evidence lower bound of a distribution q, in its three forms, with its gap and its multi-sample form.

log p(x) = L(q) + KL(q ‖ p(z | x)), and L(q) = E log p(x, z) + H(q) = E log p(x | z) - KL(q ‖ p(z)), with expectations
under q. With K draws from q the bound E log 1/K Σ p(x, zₖ) / q(zₖ) rises with K towards log p(x) (Burda et al. 2016).
The bounds are values: `EvidenceBound` of one row, `RowBounds` of many, `EstimatedBound` from draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, singledispatch
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from juncture.base.checks import check_count, check_mapping, shown
from juncture.base.dispatch import load_implementation
from juncture.base.kinds import verb_modules
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.errors import InvalidData, TooLarge, Unsupported
from juncture.evidence import as_findings
from juncture.factors.factor import Factor
from juncture.families.family import Distribution
from juncture.families.log_factorial import log_factorial
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.contract import Query
from juncture.inference.engines.lowering import check_factors
from juncture.inference.exact.enumeration import Enumeration, JointTable
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.numerics import stable
from juncture.numerics.stable import as_probabilities
from juncture.variables import Model, Scope

MAX_CELLS = 2**20
MAX_SAMPLES = 10**6  # sets of draws that are listed
EXCLUDED = "q gives probability to assignments that the model excludes: its bound is -inf"


def elbo(
    model: Model | Callable[..., Any], q: Any, evidence: Any = None, *, draws: int = 1000, rng: Any = None
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
    draws, rng
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
    if callable(model) and not isinstance(model, Model):
        return estimate_bound(model, q, check_count(draws, "draws", least=2), rng)
    found: EvidenceBound | RowBounds = load_implementation(bound_of, type(model), verb_modules)(model, q, evidence)
    return found


@singledispatch
def bound_of(model: Network, q: Any, evidence: Any) -> Any:
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


def exact_bound(model: Network, joint: JointTable, hidden: Scope, table: np.ndarray) -> EvidenceBound:
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
    if not isinstance(q, Distribution):
        raise Unsupported(f"q is a distribution with sample and log_prob, such as Gaussian(0, 1); got {shown(q)}")
    draws = q.sample(num_samples, rng=as_generator(rng))
    logs = np.asarray(log_joint(draws), dtype=float)
    if logs.shape != (num_samples,):
        raise InvalidData(f"log_joint takes {num_samples} draws and gives as many numbers; it gave {shown(logs)}")
    return EstimatedBound(logs - np.asarray(q.log_prob(draws)))


@dataclass(frozen=True)
class EvidenceBound:
    """The evidence lower bound of a distribution q over the unobserved variables z of a discrete model.

    Attributes
    ----------
    expected_log_joint, entropy
        E log p(x, z), and H(q): their sum is the bound.
    log_evidence, gap
        log p(x), and KL(q ‖ p(z | x)): their difference is the bound.
    expected_log_likelihood, prior_divergence
        E log p(x | z), and KL(q ‖ p(z)): their difference is the bound. None for undirected models, without a prior.
    """

    expected_log_joint: float
    entropy: float
    log_evidence: float
    gap: float
    expected_log_likelihood: float | None
    prior_divergence: float | None
    weights: tuple[tuple[float, float], ...]  # (q, log p(x, z) / q) of each z that q allows

    @property
    def value(self) -> float:
        """The bound, E log p(x, z) + H(q)."""
        return self.expected_log_joint + self.entropy

    @property
    def forms(self) -> dict[str, float]:
        """The same number, computed in each way."""
        forms = {
            "expected log joint + entropy": self.value,
            "log evidence - divergence from the posterior": self.log_evidence - self.gap,
        }
        if self.expected_log_likelihood is not None and self.prior_divergence is not None:
            difference = self.expected_log_likelihood - self.prior_divergence
            forms["expected log likelihood - divergence from the prior"] = difference
        return forms

    def multi_sample(self, num_samples: int) -> float:
        """E log 1/K Σ p(x, zₖ) / q(zₖ) over K independent draws from q, exactly; 1 draw gives the bound itself."""
        shares, logs = np.array(self.weights).T
        return float(average_sets(shares[None], logs[None], num_samples)[0])

    def __repr__(self) -> str:
        return f"EvidenceBound(value={self.value:.6g}, log_evidence={self.log_evidence:.6g}, gap={self.gap:.6g})"


def average_sets(shares: np.ndarray, logs: np.ndarray, num_samples: Any) -> np.ndarray:
    """(row,): E log 1/K Σ exp(logs[row, zₖ]) over K draws z from shares (row, state); 0 · -inf counts 0."""
    count, size = check_count(num_samples, "num_samples", least=1), shares.shape[1]
    sets = math.comb(size + count - 1, count)
    if sets > MAX_SAMPLES:
        raise TooLarge(
            f"there are {sets:.2g} sets of {count} draws among {size} assignments; the limit is"
            f" {MAX_SAMPLES:,}: estimate it by elbo(log_joint, q, num_samples=...)"
        )
    drawn = np.array(list(combinations_with_replacement(range(size), count)))  # (set, draw)
    counts = np.apply_along_axis(np.bincount, 1, drawn, minlength=size)  # (set, state)
    orders = math.lgamma(count + 1) - log_factorial(counts).sum(axis=1)
    found = np.empty(len(shares))
    rows_at_once = max(1, MAX_SAMPLES // counts.size)
    for start in range(0, len(shares), rows_at_once):
        some = slice(start, start + rows_at_once)
        log_shares = np.where(shares[some] > 0, stable.log(shares[some]), -np.inf)
        terms = np.where(counts > 0, counts * np.where(counts > 0, log_shares[:, None], 0.0), 0.0)
        sums = stable.log_sum_exp(logs[some, None] + stable.log(counts), axis=-1)  # (row, set)
        probabilities = np.exp(orders + terms.sum(axis=-1))
        found[some] = (probabilities * np.where(probabilities > 0, sums - math.log(count), 0.0)).sum(axis=-1)
    return found


@dataclass(frozen=True, eq=False)
class RowBounds:
    """The evidence lower bounds of many rows; what is hidden in one row is independent of the other rows.

    Attributes
    ----------
    expected_log_joint, entropy
        (row,): E log p(row, z), and H(q): their sum is the bound.
    log_evidence, gap
        (row,): log p(row), and KL(q ‖ p(z | row)): their difference is the bound.
    expected_log_likelihood, prior_divergence
        (row,): E log p(row | z), and KL(q ‖ p(z)): their difference is the bound.
    """

    expected_log_joint: np.ndarray
    entropy: np.ndarray
    log_evidence: np.ndarray
    gap: np.ndarray
    expected_log_likelihood: np.ndarray
    prior_divergence: np.ndarray

    @property
    def values(self) -> np.ndarray:
        """(row,): the bound of each row."""
        return self.expected_log_joint + self.entropy

    @property
    def value(self) -> float:
        """The bound of all rows."""
        return float(self.values.sum())

    @property
    def forms(self) -> dict[str, float]:
        """The bound of all rows, computed in each way."""
        return {
            "expected log joint + entropy": self.value,
            "log evidence - divergence from the posterior": float((self.log_evidence - self.gap).sum()),
            "expected log likelihood - divergence from the prior": float(
                (self.expected_log_likelihood - self.prior_divergence).sum()
            ),
        }

    def __len__(self) -> int:
        return len(self.gap)

    def __repr__(self) -> str:
        totals = f"log_evidence={self.log_evidence.sum():.6g}, gap={self.gap.sum():.6g}"
        return f"{type(self).__name__}({number_of(len(self), 'row')}; value={self.value:.6g}, {totals})"


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteRowBounds(RowBounds):
    """The bounds of rows with one hidden state each: also the multi-sample bound, exactly."""

    shares: np.ndarray  # (row, state): q
    log_weights: np.ndarray  # (row, state): log p(row, state) / q(state); 0 where q is 0

    @classmethod
    def of(cls, shares: np.ndarray, log_joint: np.ndarray, log_prior: np.ndarray) -> DiscreteRowBounds:
        """From q and log p(row, state), (row, state), and log p(state), (state,)."""
        is_met = shares > 0
        if not np.isfinite(log_joint[is_met]).all():
            raise InvalidData(EXCLUDED)

        def expect(values: np.ndarray) -> np.ndarray:
            return (shares * np.where(is_met, values, 0.0)).sum(axis=1)

        log_q, log_evidence = stable.log(shares), stable.log_sum_exp(log_joint, axis=1)
        with np.errstate(invalid="ignore"):  # -inf less -inf, where q is 0
            weights = np.where(is_met, log_joint - log_q, 0.0)
            gap = expect(log_q - (log_joint - log_evidence[:, None]))
            likelihood, divergence = expect(log_joint - log_prior), expect(log_q - log_prior)
        return cls(expect(log_joint), -expect(log_q), log_evidence, gap, likelihood, divergence, shares, weights)

    def multi_sample(self, num_samples: int) -> np.ndarray:
        """(row,): E log 1/K Σ p(row, zₖ) / q(zₖ) over K draws from q; 1 draw gives the bounds themselves."""
        return average_sets(self.shares, self.log_weights, num_samples)


@dataclass(frozen=True, eq=False)
class EstimatedBound:
    """An evidence lower bound estimated from draws: `log_weights` are log p(x, z) / q(z) at draws z from q."""

    log_weights: np.ndarray  # (draw,)

    @property
    def value(self) -> float:
        """The mean of log p(x, z) / q(z)."""
        return float(self.log_weights.mean())

    @property
    def standard_error(self) -> float:
        return float(self.log_weights.std(ddof=1) / math.sqrt(len(self.log_weights)))

    @cached_property
    def log_evidence(self) -> float:
        """log 1/N Σ p(x, z) / q(z) over all N draws: the importance sampling estimate, which is no bound."""
        return float(stable.log_sum_exp(self.log_weights)) - math.log(len(self.log_weights))

    def multi_sample(self, num_samples: int) -> float:
        """The mean of log 1/K Σ p(x, zₖ) / q(zₖ) over groups of K draws; draws that fill no group are left out."""
        count = check_count(num_samples, "num_samples", least=1)
        groups = len(self.log_weights) // count
        if not groups:
            raise InvalidData(f"a group of {count} draws needs as many; there are {len(self.log_weights)}")
        logs = self.log_weights[: groups * count].reshape(groups, count)
        return float(stable.log_sum_exp(logs, axis=1).mean()) - math.log(count)

    def __repr__(self) -> str:
        return f"EstimatedBound(value={self.value:.6g}, standard_error={self.standard_error:.2g})"
