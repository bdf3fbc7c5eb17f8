"""`sample_log_density`: draws from any differentiable log-density, by HMC or NUTS of blackjax (the extra `jax`).

Hamiltonian Monte Carlo moves along the gradient of the log-density (Neal 2011); the No-U-Turn sampler chooses the
length of the path itself (Hoffman and Gelman 2014). The step size and the masses are learned in the warm-up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_choice, check_count, check_function, check_number
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.errors import InvalidData, InvalidModel, MissingExtra, NotConvergedWarning, warn_user
from juncture.inference.sampling.draws import Draws

METHODS = ("nuts", "hmc")
ONLY = "z"  # the name of draws that start as one array


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
    >>> draws = jt.sample_log_density(lambda z: -0.5 * (z**2).sum(), [0.0, 0.0], rng=0)  # doctest: +SKIP
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
    with enable_doubles(jax):
        values, num_divergent = run_chains(jax, blackjax, target, point, method, counts, width, as_generator(rng))
    if num_divergent:
        warn_user(
            f"{number_of(num_divergent, 'path')} diverged: the draws may miss places where the density is steep; write"
            " the model in other coordinates, or take a longer warmup",
            NotConvergedWarning,
        )
    return Draws(values)


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
