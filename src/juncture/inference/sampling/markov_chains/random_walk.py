"""`random_walk`: a Metropolis chain on real numbers, for any log-density that can be evaluated.

A step adds Gaussian noise; it is accepted with probability min(1, ratio of densities). In the warm-up the noise takes
the covariance of the draws so far, and its scale is led to the acceptance rate that is best for many numbers, 0.234, or
0.44 for one; afterwards both are fixed, so that the density is stationary. Haario, Saksman and Tamminen (2001). For
many numbers, or strong dependencies, `sample_log_density` needs far fewer draws: it follows the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.base.checks import as_float, check_array, check_count, check_function, check_number, shown
from juncture.base.options import as_generator
from juncture.errors import InvalidData
from juncture.inference.sampling.draws import Draws

NAME = "z"
RATES = (0.44, 0.234)  # of acceptance, for one number and for many
ROUND = 50  # steps between two looks at the covariance


def random_walk(
    log_density: Callable[[np.ndarray], Any],
    start: Any,
    *,
    draws: int = 1000,
    chains: int = 4,
    warmup: int = 1000,
    thin: int = 1,
    scale: float = 1.0,
    rng: Any = None,
) -> Draws:
    """Draw from a density of real numbers by a random walk, given its logarithm up to a constant.

    Parameters
    ----------
    log_density
        A function of one point, an array of the shape of `start`, that gives a number; -inf outside the support.
    start
        The point around which the chains start, where the density is positive: a number or an array.
    draws, chains, warmup, thin
        The number of draws of each chain, the number of chains, the steps of each chain before its first draw, in which
        the size of the steps is learned, and the number of steps from one draw to the next.
    scale
        The standard deviation of the first steps, and of the starts about `start`.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    Draws
        Of "z", (chain, draw, …) with the shape of `start`.

    Examples
    --------
    >>> import juncture as jt
    >>> draws = jt.random_walk(lambda x: -0.5 * float(x @ x), [0.0, 0.0], rng=0)
    >>> draws["z"].shape, bool(abs(draws["z"].mean()) < 0.2)
    ((4, 1000, 2), True)
    """
    check_function(log_density, "log_density")
    first = check_array(start, "start")
    sizes = check_count(draws, "draws", least=1), check_count(warmup, "warmup"), check_count(thin, "thin", least=1)
    count = check_count(chains, "chains", least=1)
    check_number(scale, "scale", above=0, finite=True)

    def log_prob(point: np.ndarray) -> float:
        given = log_density(point.reshape(first.shape))
        value = as_float(given)
        if np.isnan(value) or value == np.inf:
            raise InvalidData(f"log_density must give a number below ∞; it gave {shown(given)} at {point.tolist()}")
        return value

    walks = [walk(log_prob, first.ravel(), sizes, scale, child) for child in as_generator(rng).spawn(count)]
    return Draws({NAME: np.array(walks).reshape(count, sizes[0], *first.shape)})


def walk(
    log_prob: Callable[[np.ndarray], float],
    first: np.ndarray,
    sizes: tuple[int, int, int],
    scale: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """(draw, number): one chain."""
    draws, warmup, thin = sizes
    present, value = find_start(log_prob, first, scale, rng)
    root = scale * np.eye(len(first))
    log_scale, rate, seen = 0.0, RATES[min(1, len(first) - 1)] if len(first) else 1.0, np.empty((warmup, len(first)))
    kept = np.empty((draws, len(first)))
    for step in range(warmup + draws * thin):
        point = present + np.exp(log_scale) * root @ rng.standard_normal(len(first))
        proposed = log_prob(point)
        chance = np.exp(min(0.0, proposed - value))
        if rng.random() < chance:
            present, value = point, proposed
        if step < warmup:
            seen[step] = present
            log_scale += (chance - rate) / np.sqrt(step + 1.0)
            if step >= 2 * ROUND and step % ROUND == 0 and step <= warmup // 2:
                root, log_scale = covariance_root(seen[step // 2 : step], root), 0.0
        elif (step - warmup + 1) % thin == 0:
            kept[(step - warmup) // thin] = present
    return kept


def find_start(
    log_prob: Callable[[np.ndarray], float], first: np.ndarray, scale: float, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """A point near the start with positive density, and its log-density."""
    if log_prob(first) == -np.inf:
        raise InvalidData(f"the start {first.tolist()} has density zero; give a start inside the support")
    for shrink in 0.5 ** np.arange(20):
        point = first + shrink * scale * rng.standard_normal(len(first))
        value = log_prob(point)
        if value > -np.inf:
            return point, value
    return first.copy(), log_prob(first)


def covariance_root(points: np.ndarray, root: np.ndarray) -> np.ndarray:
    """A root of 2.38² / d times the covariance of some points, with a little of the former one for safety."""
    size = points.shape[1]
    covariance = np.atleast_2d(np.cov(points.T)) + 1e-3 * root @ root.T / max(
        1.0, float(np.trace(root @ root.T)) / size
    )
    try:
        return np.asarray(2.38 / np.sqrt(size) * np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        return root
