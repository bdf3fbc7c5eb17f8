"""Projections of distributions of vectors, such as mixtures of Gaussians, onto the multivariate Gaussians and others.

KL(p ‖ q) is least for the member with the moments of p, which are averages over the components of a mixture.

KL(q ‖ p) = -E_q log p(x) - H(q) has a minimum for each mode, or group of modes, that a Gaussian q can settle on. With
x = m + L z and z ~ N(0, I) its gradient is -E ∇log p(x) for m and -E ∇log p(x) zᵀ - L⁻ᵀ for L. The expectations are
sums over nodes, with more of them until the minimum stays. Components with one covariance differ only in the plane of
their means. Orthogonally to that plane, in whitened coordinates, the best q is p itself (the chain rule of the
divergence), so that the search is in as many dimensions as the plane has: one for two components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from juncture.components.mixture import Mixture
from juncture.errors import InvalidData, Unsupported
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Family
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.numerics.stable import LOG_TWO_PI, log_sum_exp

FEWEST_NODES, MOST_NODES = 24, 2**18  # of an axis at first, and of all axes together
REACH = 8.5  # of the nodes, in standard deviations of q
MOST_DIMENSIONS = 3
TOLERANCE = 1e-8  # by which a minimum may still move where there are more nodes
STATIONARY = 1e-6  # the largest slope that an optimum may have
SAME = 1e-4  # optima nearer to each other than this are one


class VectorProjection(NamedTuple):
    """A Gaussian at which the divergence has a minimum, and its value there."""

    member: MultivariateGaussian
    divergence: float


def is_of_vectors(p: Any) -> bool:
    """Whether this is a distribution of vectors that is a family or a mixture of families."""
    return isinstance(p, Mixture | Family) and len(p.event_shape) == 1


def parts_of(p: Any) -> list[tuple[float, Any]]:
    """The components that weigh something, with their weights; a family is one."""
    if isinstance(p, Mixture):
        return [(float(weight), part) for weight, part in zip(p.weights, p, strict=True) if weight > 0]
    if p.batch_shape:
        raise InvalidData("one distribution is projected at a time; this is a batch")
    return [(1.0, p)]


def match_vector_moments(p: Any, family: type[Family], known: dict[str, Any]) -> Any:
    """The member with E u(X) as under p: of Gaussians by mean and covariance, else by the averages over components."""
    parts = parts_of(p)
    if family is MultivariateGaussian and not known:
        if not all(hasattr(part, "covariance") for _, part in parts):
            raise Unsupported("the covariance of a component has no closed form; project rows drawn from it")
        mean = np.sum([weight * np.asarray(part.mean) for weight, part in parts], axis=0)
        shifts = [np.asarray(part.mean) - mean for _, part in parts]
        terms = zip(parts, shifts, strict=True)
        covariance = np.sum([w * (np.asarray(part.covariance) + np.outer(s, s)) for (w, part), s in terms], axis=0)
        if not np.isfinite(covariance).all():
            raise InvalidData(f"{p!r} has no MultivariateGaussian nearest to it: its covariance is infinite")
        return MultivariateGaussian(mean, covariance)
    if issubclass(family, ExponentialFamily) and all(type(part) is family for _, part in parts):
        return family.from_mean_parameters(sum(weight * part.mean_parameters for weight, part in parts), **known)
    raise Unsupported(
        f"vectors are projected onto MultivariateGaussian, or mixtures of one exponential family onto it; got"
        f" {family.__name__}{' with known parameters' if known else ''}"
    )


def project_vectors(p: Any, family: type[Family], alpha: float, known: dict[str, Any]) -> list[VectorProjection]:
    """The minima of KL(q ‖ p) for alpha = 0, of KL(p ‖ q) for alpha = 1, over Gaussians q; p is a mixture of such."""
    parts = parts_of(p)
    if family is not MultivariateGaussian or known or not all(isinstance(part, family) for _, part in parts):
        raise Unsupported(
            "the I-projection of vectors is searched for mixtures of MultivariateGaussians, among MultivariateGaussians"
            " of which nothing is known"
        )
    if alpha not in (0, 1):
        raise Unsupported(f"vectors are projected with alpha 0 or 1; got {alpha:g}")
    plane = Plane.of(parts)
    if alpha == 1:
        member = match_vector_moments(p, family, known)
        return [VectorProjection(member, plane.mixture.divergence_to(*plane.inside(member)))]
    found: list[tuple[np.ndarray, float]] = []
    for start in plane.mixture.starts():
        minimum = refined_minimum(plane.mixture, start)
        if minimum is not None and all(np.abs(minimum[0] - other).max(initial=0.0) > SAME for other, _ in found):
            found.append(minimum)
    if not found:
        raise Unsupported("no Gaussian with a smallest divergence was found from the moments or a component of p")
    size = plane.mixture.means.shape[1]
    members = [VectorProjection(plane.outside(*unpack(free, size)), max(value, 0.0)) for free, value in found]
    return sorted(members, key=lambda one: round(one.divergence, 9))


class GaussianMixture(NamedTuple):
    """A mixture of Gaussians as arrays."""

    weights: np.ndarray  # (component,)
    means: np.ndarray  # (component, d)
    covariances: np.ndarray  # (component, d, d)

    def log_prob_and_slope(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log p(x), (row,), and its gradient, (row, d)."""
        precisions = np.linalg.inv(self.covariances)
        away = self.means - x[:, None, :]  # (row, component, d)
        pulls = np.einsum("kij,nkj->nki", precisions, away)
        sizes = np.linalg.slogdet(self.covariances)[1] + x.shape[1] * LOG_TWO_PI
        logs = np.log(self.weights) - 0.5 * (sizes + (away * pulls).sum(axis=2))
        total = log_sum_exp(logs, axis=1)
        return total, np.einsum("nk,nki->ni", np.exp(logs - total[:, None]), pulls)

    @property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        mean = self.weights @ self.means
        away = self.means - mean
        return mean, np.tensordot(self.weights, self.covariances + away[:, :, None] * away[:, None, :], axes=1)

    def starts(self) -> Iterable[np.ndarray]:
        """The moments of all, and each component."""
        pairs = [self.moments, *zip(self.means, self.covariances, strict=True)]
        return [pack(mean, np.linalg.cholesky(covariance)) for mean, covariance in pairs]

    def divergence_to(self, mean: np.ndarray, covariance: np.ndarray) -> float:
        """KL(p ‖ q) of a Gaussian q, with more nodes until it stays."""
        other = GaussianMixture(np.ones(1), mean[None], covariance[None])
        roots = np.linalg.cholesky(self.covariances)

        def value(nodes: np.ndarray, weights: np.ndarray) -> float:
            total = 0.0
            for share, center, root in zip(self.weights, self.means, roots, strict=True):
                points = center + nodes @ root.T
                gap = self.log_prob_and_slope(points)[0] - other.log_prob_and_slope(points)[0]
                total += float(share * (weights @ gap))
            return total

        return max(settled(value, len(mean)), 0.0)


class Plane(NamedTuple):
    """A mixture in whitened coordinates, in the plane of its means where all components have one covariance."""

    mixture: GaussianMixture
    center: np.ndarray  # (d,)
    root: np.ndarray  # (d, d)
    basis: np.ndarray  # (d, dimension of the plane): orthonormal, in whitened coordinates

    @classmethod
    def of(cls, parts: list[tuple[float, Any]]) -> Plane:
        weights = np.array([weight for weight, _ in parts])
        means = np.stack([np.asarray(part.mean) for _, part in parts])
        covariances = np.stack([np.asarray(part.covariance) for _, part in parts])
        whole = GaussianMixture(weights / weights.sum(), means, covariances)
        is_shared = np.allclose(covariances, covariances[0], rtol=1e-12, atol=0)
        center, spread = whole.moments
        root = np.linalg.cholesky(covariances[0] if is_shared else spread)
        white = np.linalg.solve(root, (means - center).T).T
        basis = np.eye(len(center))
        if is_shared:
            _, lengths, directions = np.linalg.svd(white, full_matrices=False)
            basis = directions[lengths > 1e-12 * max(1.0, float(lengths.max(initial=0.0)))].T
        if basis.shape[1] > MOST_DIMENSIONS:
            raise Unsupported(
                f"the components differ in {basis.shape[1]} dimensions; the expectations of a search are summed in at"
                f" most {MOST_DIMENSIONS}"
            )
        turned = basis.T @ np.linalg.solve(root, np.swapaxes(np.linalg.solve(root, covariances), 1, 2)) @ basis
        turned = 0.5 * (turned + np.swapaxes(turned, 1, 2))
        return cls(GaussianMixture(whole.weights, white @ basis, turned), center, root, basis)

    def inside(self, member: MultivariateGaussian) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the covariance in the plane."""
        toward = np.linalg.solve(self.root.T, self.basis)
        return (np.asarray(member.mean) - self.center) @ toward, toward.T @ np.asarray(member.covariance) @ toward

    def outside(self, mean: np.ndarray, factor: np.ndarray) -> MultivariateGaussian:
        """The Gaussian with this mean and factor of its covariance in the plane, and like p orthogonally to it."""
        out = self.root @ self.basis
        rest = self.root - out @ self.basis.T  # what the plane leaves of the whitened axes
        inner = out @ factor
        return MultivariateGaussian(self.center + out @ mean, inner @ inner.T + rest @ rest.T)


# --- the search ------------------------------------------------------------------------------------------------------
def pack(mean: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Free numbers: the mean, the logarithms of the diagonal of the factor, and what is below it."""
    return np.concatenate([mean, np.log(np.diagonal(factor)), factor[np.tril_indices(len(mean), -1)]])


def unpack(free: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    factor = np.diag(np.exp(free[size : 2 * size]))
    factor[np.tril_indices(size, -1)] = free[2 * size :]
    return free[:size], factor


def value_and_slope(
    p: GaussianMixture, free: np.ndarray, nodes: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    """KL(q ‖ p) and its gradient in the free numbers of q."""
    size = p.means.shape[1]
    mean, factor = unpack(free, size)
    logs, slopes = p.log_prob_and_slope(mean + nodes @ factor.T)
    diagonal = np.diagonal(factor)
    value = -float(weights @ logs) - 0.5 * size * (1 + LOG_TWO_PI) - float(np.log(diagonal).sum())
    weighted = weights[:, None] * slopes
    bends = -weighted.T @ nodes
    slope = [-weighted.sum(axis=0), np.diagonal(bends) * diagonal - 1.0, bends[np.tril_indices(size, -1)]]
    return value, np.concatenate(slope)


def refined_minimum(p: GaussianMixture, start: np.ndarray) -> tuple[np.ndarray, float] | None:
    """The minimum that a quasi-Newton descent reaches, with more nodes until it stays; None if it reaches none."""
    from scipy.optimize import minimize

    size, free, before = p.means.shape[1], start, np.inf
    if size == 0:
        return free, 0.0
    for number in node_numbers(size):
        nodes = grid_of(size, number)
        found = minimize(
            lambda each, nodes=nodes: value_and_slope(p, each, *nodes), free, jac=True, method="BFGS",
            options={"gtol": 1e-10},
        )  # fmt: skip
        slope = value_and_slope(p, found.x, *nodes)[1]
        moved, free, value = float(np.abs(found.x - free).max()), found.x, float(found.fun)
        if abs(value - before) <= TOLERANCE * (1 + abs(value)) and moved < 1e-5:
            if np.abs(slope).max() > STATIONARY * (1 + abs(value)):
                return None
            return (free, value) if is_minimum(p, free, nodes) else None
        before = value
    raise Unsupported("the expectations of the search do not settle: components are too narrow beside the others")


def is_minimum(p: GaussianMixture, free: np.ndarray, nodes: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether the curvature, by differences of the slope, is positive: a saddle is no minimum."""
    steps = np.eye(len(free)) * 1e-4
    sides = [[value_and_slope(p, free + sign * step, *nodes)[1] for sign in (1, -1)] for step in steps]
    rows = np.array([(above - below) / 2e-4 for above, below in sides])
    bends = np.linalg.eigvalsh((rows + rows.T) / 2)
    return bool(bends[0] > -1e-6 * max(bends[-1], 1.0))


def settled(value: Callable[[np.ndarray, np.ndarray], float], size: int) -> float:
    """A sum over nodes, with more of them until it stays."""
    if size == 0:
        return 0.0
    before = np.inf
    for number in node_numbers(size):
        found = value(*grid_of(size, number))
        if abs(found - before) <= TOLERANCE * (1 + abs(found)):
            return found
        before = found
    raise Unsupported("the divergence does not settle: components are too narrow beside the others")


def node_numbers(size: int) -> list[int]:
    """The numbers of nodes of an axis to try."""
    numbers = [int(FEWEST_NODES * np.sqrt(2) ** power) for power in range(14)]
    return [number for number in numbers if number**size <= MOST_NODES]


@cache
def grid_of(size: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of the trapezoidal rule, (node, d), and their weights, for E f(z) under N(0, I); the far ones left out.

    Its error falls exponentially with the number of nodes, also where log p bends sharply between two components, which
    Gauss-Hermite rules need many more for.
    """
    line = np.linspace(-REACH, REACH, number)
    nodes = np.stack(np.meshgrid(*[line] * size, indexing="ij"), axis=-1).reshape(-1, size)
    squares = (nodes**2).sum(axis=1)
    nodes, squares = nodes[squares <= REACH**2], squares[squares <= REACH**2]
    weights = np.exp(-0.5 * squares)
    return nodes, weights / weights.sum()
