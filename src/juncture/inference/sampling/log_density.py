"""Draws from a log-density of real numbers: `sample_log_density` by HMC or NUTS, `random_walk` by Metropolis steps.

`sample_log_density` takes a log-density that JAX can differentiate, and blackjax (the extra `jax`). Hamiltonian Monte
Carlo moves along the gradient of the log-density (Neal 2011); the No-U-Turn sampler chooses the length of the path
itself (Hoffman and Gelman 2014). The step size and the masses are learned in the warm-up.

`random_walk` takes any log-density that can be evaluated. A step adds Gaussian noise; it is accepted with probability
min(1, ratio of densities). In the warm-up the noise takes the covariance of the draws so far, and its scale is led to
the acceptance rate that is best for many numbers, 0.234, or 0.44 for one; afterwards both are fixed, so that the
density is stationary. Haario, Saksman and Tamminen (2001). For many numbers, or strong dependencies,
`sample_log_density` needs far fewer draws: it follows the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from juncture.base.checks import as_float, check_array, check_choice, check_count, check_function, check_number, shown
from juncture.base.options import as_generator, as_seed
from juncture.base.values import number_of
from juncture.errors import InvalidData, InvalidModel, MissingExtra, NotConvergedWarning, warn_user
from juncture.inference.sampling.draws import Draws

METHODS = ("nuts", "hmc")
ONLY = "z"  # the name of draws that start as one array
NAME = "z"
RATES = (0.44, 0.234)  # of acceptance, for one number and for many
ROUND = 50  # steps between two looks at the covariance


def sample_log_density(  # noqa: PLR0913 (options of one algorithm)
    log_density: Callable[[Any], Any],
    start: Any,
    *,
    method: str = "nuts",
    draws: int = 1000,
    chains: int = 4,
    warmup: int = 1000,
    path_steps: int = 20,
    spread: float = 1.0,
    rng: Any = None,
) -> Draws:
    """Draw from a distribution of real numbers, given the logarithm of its density up to a constant (JAX, blackjax).

    Parameters
    ----------
    log_density
        A function in terms of `jax.numpy` that JAX can differentiate, of one point: an array, or a mapping from names
        to arrays, as `start` is. The numbers must be free: for a positive number, take its logarithm and add the
        logarithm of the derivative.
    start
        The point around which the chains start: an array, or a mapping from names to arrays.
    method
        "nuts", which chooses the length of its paths, or "hmc".
    draws, chains, warmup
        The number of draws of each chain, the number of chains, and the steps of each chain before its first draw.
    path_steps
        The number of steps of a path of "hmc".
    spread
        Chains start uniformly within this distance of `start` in every number, so that R-hat can see disagreement.
    rng
        A seed or a generator: the same seed gives the same draws.

    Returns
    -------
    Draws
        By the names of `start`, or by "z" for one array. A `NotConvergedWarning` tells of paths that diverged.

    Examples
    --------
    >>> import juncture as jt
    >>> draws = jt.sampling.sample_log_density(lambda z: -0.5 * (z**2).sum(), [0.0, 0.0], rng=0)  # doctest: +SKIP
    >>> draws["z"].shape  # doctest: +SKIP
    (4, 1000, 2)
    """
    check_function(log_density, "log_density")
    check_choice(method, METHODS, "method")
    counts = [check_count(value, what, least=least) for value, what, least in (
        (draws, "draws", 1), (chains, "chains", 1), (warmup, "warmup", 1), (path_steps, "path_steps", 1),
    )]  # fmt: skip
    width = check_number(spread, "spread", least=0.0, finite=True)
    named = isinstance(start, Mapping)
    point = as_point(start)
    jax, blackjax = import_blackjax()
    target = log_density if named else lambda parts: log_density(parts[ONLY])
    seed = as_seed(rng)
    with enable_doubles(jax):
        values, num_divergent = run_chains(jax, blackjax, target, point, method, counts, width, as_generator(seed))
    if num_divergent:
        warn_user(
            f"{number_of(num_divergent, 'path')} diverged: the draws may miss places where the density is steep; write"
            " the model in other coordinates, or take a longer warmup",
            NotConvergedWarning,
        )
    return Draws(values).with_seed(seed)


def as_point(start: Any) -> dict[str, np.ndarray]:
    parts = start if isinstance(start, Mapping) else {ONLY: start}
    if not parts or not all(isinstance(name, str) for name in parts):
        raise InvalidData("start is an array, or a mapping from names to arrays")
    point = {name: check_array(value, f"the start of {name!r}") for name, value in parts.items()}
    for name, value in point.items():
        if not np.isfinite(value).all():
            raise InvalidData(f"the start of {name!r} must be finite")
    return point


def import_blackjax() -> tuple[Any, Any]:
    try:
        import blackjax
        import jax
    except ImportError:
        raise MissingExtra.named("jax and blackjax", "jax") from None
    return jax, blackjax


def enable_doubles(jax: Any) -> Any:
    """A context in which JAX computes with 64 bits."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64()


def run_chains(
    jax: Any,
    blackjax: Any,
    target: Callable[[Any], Any],
    point: dict[str, np.ndarray],
    method: str,
    counts: list[int],
    spread: float,
    rng: np.random.Generator,
) -> tuple[dict[str, np.ndarray], int]:
    """The draws of all chains, (chain, draw, …), and the number of paths that diverged."""
    num_draws, num_chains, warmup, path_steps = counts
    starts = {name: value + rng.uniform(-spread, spread, (num_chains, *value.shape)) for name, value in point.items()}
    check_starts(jax, target, starts)
    algorithm = getattr(blackjax, method)
    fixed = {"num_integration_steps": path_steps} if method == "hmc" else {}
    adaptation = blackjax.window_adaptation(algorithm, target, **fixed)

    def run_chain(key: Any, position: Any) -> tuple[Any, Any]:
        first, second = jax.random.split(key)
        (state, parameters), _ = adaptation.run(first, position, num_steps=warmup)
        step = algorithm(target, **{**fixed, **parameters}).step

        def advance(state: Any, one: Any) -> tuple[Any, Any]:
            state, info = step(one, state)
            return state, (state.position, info.is_divergent)

        return jax.lax.scan(advance, state, jax.random.split(second, num_draws))[1]

    keys = jax.random.split(jax.random.key(int(rng.integers(2**31))), num_chains)
    positions, divergent = jax.jit(jax.vmap(run_chain))(keys, starts)
    return {name: np.asarray(value) for name, value in positions.items()}, int(np.sum(divergent))


def check_starts(jax: Any, target: Callable[[Any], Any], starts: dict[str, np.ndarray]) -> None:
    values = np.asarray(jax.vmap(target)(starts))
    if values.ndim != 1:
        raise InvalidModel(f"log_density must return one number for one point; it has the shape {values.shape[1:]}")
    if not np.isfinite(values).all():
        raise InvalidModel("log_density is not finite at the start of some chain: take another start or less spread")


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
    >>> draws = jt.sampling.random_walk(lambda x: -0.5 * float(x @ x), [0.0, 0.0], rng=0)
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

    seed = as_seed(rng)
    walks = [walk(log_prob, first.ravel(), sizes, scale, child) for child in as_generator(seed).spawn(count)]
    return Draws({NAME: np.array(walks).reshape(count, sizes[0], *first.shape)}).with_seed(seed)


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
