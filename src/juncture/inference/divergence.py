"""The Kullback–Leibler divergence of two Bayesian networks, exact, family by family.

KL(p ‖ q) = Σ E_p [log p(x | parents in p) - log q(x | parents in q)], a term for each variable x. A term needs the
joint under p of x and its parents, which the exact engine for p has; no joint of all variables is made. Where x has the
same parents in both, its term is the expected divergence of the two conditionals, which is never negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from juncture.base.dispatch import one_path
from juncture.errors import InvalidModel, Unsupported, hint
from juncture.factors.conditional import AnyConditional, signature
from juncture.factors.factor import Factor
from juncture.factors.gaussian import LinearGaussian
from juncture.inference.engines.posterior_mixtures import MixedJoint
from juncture.information.common_points import log_ratio, weigh
from juncture.information.divergences import divergence
from juncture.networks.bayesian_network import BayesianNetwork, to_factor
from juncture.numerics import stable
from juncture.variables import Scope, Variable
from juncture.verbs import infer


@one_path
def network_divergence(p: BayesianNetwork, q: Any) -> float:
    """KL(p ‖ q) in nats, of two networks over the same variables, whose states are matched by their labels."""
    if not isinstance(q, BayesianNetwork):
        raise InvalidModel(f"a BayesianNetwork is compared with a BayesianNetwork; got {type(q).__name__}")
    check_same_variables(p, q)
    pairs = [(part, q[part.child.name]) for part in p.conditionals]
    check_kinds(pairs)
    beliefs = infer(p, method="exact")
    return max(0.0, sum(term(*pair, beliefs) for pair in pairs))


divergence.register(BayesianNetwork, network_divergence)


def check_same_variables(p: BayesianNetwork, q: BayesianNetwork) -> None:
    """Both are over the same names, and of each name both know the same states."""
    for one, other, where in ((p, q, "the second network"), (q, p, "the first network")):
        for variable in one.variables:
            if variable.name not in other.variables.names:
                known = other.variables.names
                raise InvalidModel(
                    f"{where} has no variable {variable.name!r}, and both must be over the same variables;"
                    f" {hint(variable.name, known)}"
                )
            check_same_states(variable, other.variable(variable.name), where)


def check_same_states(variable: Variable, other: Variable, where: str) -> None:
    if variable.is_real != other.is_real:
        raise InvalidModel(f"{variable.name!r} is a real number in one network and has states in the other")
    for label in () if variable.is_real else variable.labels:
        if other.find(label) is None:
            raise InvalidModel(
                f"in {where} {variable.name!r} has no state {label!r}, and both must have the same states: where one is"
                " learned from rows, declare them by fit(…, variables=model.variables)"
            )


def check_kinds(pairs: Sequence[tuple[AnyConditional, AnyConditional]]) -> None:
    """Tables and linear Gaussians; where a variance is 0, the densities of all families must be over the same lines."""
    real = [pair for pair in pairs if pair[0].child.is_real]
    for part in (part for pair in real for part in pair):
        if not isinstance(part, LinearGaussian):
            raise Unsupported(
                f"the divergence of networks takes tables and LinearGaussian; {signature(part)} is neither"
            )
    is_singular = any((part.variance == 0).any() for pair in real for part in pair)  # type: ignore[attr-defined]
    turned = [one.child.name for one, other in real if set(one.parents.names) != set(other.parents.names)]
    if is_singular and turned:
        raise Unsupported(
            f"a conditional has the variance 0, and {turned[0]!r} has other parents in the two networks: the divergence"
            " of such networks is not computed; give each LinearGaussian a positive variance"
        )


def term(p: AnyConditional, q: AnyConditional, beliefs: Any) -> float:
    """E_p [log p(x | parents) - log q(x | parents)]; infinite where only q is 0."""
    if isinstance(p, LinearGaussian) and isinstance(q, LinearGaussian):
        return real_term(p, q, beliefs)
    return table_term(p, q, beliefs)


# --- variables with states -------------------------------------------------------------------------------------------


def table_term(p: AnyConditional, q: AnyConditional, beliefs: Any) -> float:
    """The term of a variable with states."""
    if set(p.parents.names) == set(q.parents.names):
        scope = Scope((*p.parents, p.child))
        ratio = log_ratio(to_factor(p).log_values, log_table(q, scope))
        return expected(beliefs, scope, ratio)
    mine, scope = Scope((*p.parents, p.child)), Scope(beliefs.model.variable(v.name) for v in (*q.parents, q.child))
    return expected(beliefs, mine, to_factor(p).log_values) - expected(beliefs, scope, log_table(q, scope))


def log_table(part: AnyConditional, scope: Scope) -> np.ndarray:
    """The logarithms of a conditional's table, with the axes and the states of another network in their order."""
    table: Factor = to_factor(part).reorder(*scope.names)
    codes = [[own.find(label) for label in variable.labels] for own, variable in zip(table.scope, scope, strict=True)]
    return np.asarray(table.log_values[np.ix_(*codes)])


def expected(beliefs: Any, scope: Scope, values: np.ndarray) -> float:
    """The mean of a table under p, whose cells with probability 0 do not count."""
    joint = beliefs.joint(*scope.names)
    return float(weigh(joint.log_values, values).sum())


# --- real variables --------------------------------------------------------------------------------------------------


class Configurations(NamedTuple):
    """The Gaussians whose mixture is the joint of some variables, one for each configuration of those with states."""

    weights: np.ndarray  # (configuration,)
    codes: dict[str, np.ndarray]  # name → (configuration,)
    means: np.ndarray  # (configuration, real variable)
    covariances: np.ndarray  # (configuration, real variable, real variable)


class Line(NamedTuple):
    """The parameters of a linear Gaussian at each configuration of its parents with states."""

    coefficients: np.ndarray  # (configuration, real variable)
    intercept: np.ndarray  # (configuration,)
    variance: np.ndarray  # (configuration,)


def real_term(p: LinearGaussian, q: LinearGaussian, beliefs: Any) -> float:
    """The term of a real variable."""
    child = p.child.name
    if set(p.parents.names) == set(q.parents.names):
        real = [parent.name for parent in p.parents if parent.is_real]
        joint = configurations(beliefs, real, [parent for parent in p.parents if not parent.is_real], child)
        mine, theirs = (line(part, real, joint, beliefs.model) for part in (p, q))
        gap = squared_mean(mine.coefficients - theirs.coefficients, mine.intercept - theirs.intercept, joint)
        return weighted(joint.weights, gaussian_divergence(mine.variance, theirs.variance, gap))
    total = 0.0
    for part, sign in ((p, 1.0), (q, -1.0)):
        real = [child, *(parent.name for parent in part.parents if parent.is_real)]
        joint = configurations(beliefs, real, [parent for parent in part.parents if not parent.is_real], child)
        at = line(part, real[1:], joint, beliefs.model)
        away = np.concatenate([np.ones((len(joint.weights), 1)), -at.coefficients], axis=1)
        squares = squared_mean(away, -at.intercept, joint)  # E (x - mean given the parents)²
        total -= sign * weighted(joint.weights, np.log(at.variance) + squares / at.variance) / 2
    return total


def configurations(beliefs: Any, real: Sequence[str], discrete: Sequence[Variable], child: str) -> Configurations:
    """The joint under p of the real variables that are named and of the parents with states."""
    names = [*real, *(variable.name for variable in discrete)]
    if not real:  # no parent is real: only their states count
        values = beliefs.joint(*names).values if names else np.ones(())
        cells = np.array(list(np.ndindex(values.shape)), dtype=np.int64).reshape(values.size, values.ndim)
        codes = {name: cells[:, axis] for axis, name in enumerate(names)}
        return Configurations(values.reshape(-1), codes, np.zeros((values.size, 0)), np.zeros((values.size, 0, 0)))
    joint = beliefs.joint(*names)
    if not isinstance(joint, MixedJoint):
        mean, covariance = np.atleast_1d(joint.mean), getattr(joint, "covariance", None)
        covariance = np.atleast_2d(joint.variance if covariance is None else covariance)
        return Configurations(np.ones(1), {}, mean[None], covariance[None])
    order = [joint.real.index(name) for name in real]
    parts = joint.components
    codes = {name: parts.codes[0, :, axis] for axis, name in enumerate(joint.discrete.names)}
    return Configurations(parts.weights[0], codes, parts.means[0][:, order], parts.covariances[0][:, order][..., order])


def line(part: LinearGaussian, real: Sequence[str], joint: Configurations, model: BayesianNetwork) -> Line:
    """A linear Gaussian at each configuration, with its coefficients in the order of `real`."""
    own = [parent.name for parent in part.parents if parent.is_real]
    index = []
    for parent in part.parents:
        if not parent.is_real:
            found = np.array([parent.code(label) for label in model.variable(parent.name).labels])
            index.append(found[joint.codes[parent.name]])
    count, at = len(joint.weights), tuple(index)
    coefficients = np.broadcast_to(part.coefficients[at], (count, len(own)))[:, [own.index(name) for name in real]]
    return Line(coefficients, np.broadcast_to(part.intercept[at], count), np.broadcast_to(part.variance[at], count))


def squared_mean(coefficients: np.ndarray, intercept: np.ndarray, joint: Configurations) -> np.ndarray:
    """E (Σ coefficient · x + intercept)² at each configuration."""
    means = np.einsum("ci,ci->c", coefficients, joint.means) + intercept
    spread = np.einsum("ci,cij,cj->c", coefficients, joint.covariances, coefficients)
    return np.asarray(means**2 + np.maximum(spread, 0.0))


def weighted(weights: np.ndarray, values: np.ndarray) -> float:
    """The mean of values, of which those without weight do not count."""
    return float(weights[weights > 0] @ values[weights > 0])


def gaussian_divergence(mine: np.ndarray, theirs: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """½ (σ²/s² - 1 - log σ²/s² + E gap²/s²); of two variances of 0, 0 on the same line, else infinite."""
    both = (mine > 0) & (theirs > 0)
    same = (mine == 0) & (theirs == 0) & (gap == 0)
    scale = np.where(both, theirs, 1.0)
    ratio = np.where(both, mine, 1.0) / scale
    found = (ratio - 1 - stable.log(ratio) + gap / scale) / 2
    return np.where(both, found, np.where(same, 0.0, np.inf))
