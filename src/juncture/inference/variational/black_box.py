"""`black_box_variational`: a member of a family q for any log p(x, z), by stochastic gradients of the lower bound.

Two estimates of the gradient of E log p(x, z) - log q(z). The score function needs only values of log p:
E (f - b) ∇ log q with f = log p - log q and a control variate b, here the mean of f over the other draws, which leaves
the expectation as it is and lowers the variance. Reparametrisation, z = m + s ε, needs the derivative of log p by z,
which JAX takes, and varies much less (Ranganath, Gerrish, Blei 2014; Kingma and Welling 2014).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_choice, check_count, check_function, check_number
from juncture.base.options import as_seed
from juncture.errors import InvalidModel, Unsupported
from juncture.evidence import as_findings
from juncture.families.discrete.categorical import Categorical
from juncture.inference.engines.factor_arrays import FactorArrays, factor_arrays, log_likelihoods
from juncture.inference.variational.elbo import EstimatedBound
from juncture.inference.variational.jax_families import SEEDS, Approximation, as_approximation, import_jax
from juncture.variables import Model

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

GRADIENTS = ("auto", "reparametrization", "score")
FINAL_DRAWS = 1000  # for the bound of the answer


@dataclass(frozen=True, eq=False)
class VariationalFit:
    """The answer of black-box variational inference.

    Attributes
    ----------
    q
        The distribution that was found, of the class of the start; for a discrete model a mapping from the names of
        unobserved variables to distributions.
    bound
        Its lower bound of log p(x), an `EstimatedBound` from fresh draws.
    trace
        (step,): the estimates of the bound while it was climbed; they vary.
    seed
        The seed of the draws: `rng=fit.seed` repeats the result.
    """

    q: Any
    bound: EstimatedBound
    trace: np.ndarray
    seed: int | None = None

    def __repr__(self) -> str:
        return f"VariationalFit({self.bound.value:.6g} ± {self.bound.standard_error:.2g} after {len(self.trace)} steps)"


def black_box_variational(  # noqa: PLR0913 (options of one algorithm)
    log_joint: Any,
    start: Any = None,
    data: Any = None,
    *,
    gradient: str = "auto",
    control_variate: bool = True,
    draws: int = 16,
    max_steps: int = 2000,
    learning_rate: float = 0.02,
    rng: Any = None,
) -> VariationalFit:
    """Fit a distribution q to the posterior of any model, by stochastic gradient ascent on the lower bound (JAX, Adam).

    Parameters
    ----------
    log_joint
        A function log p(x, z) in terms of `jax.numpy`, of one z and of the data; or a discrete model with positive
        tables, with its evidence as data.
    start
        The first q: a `Gaussian`, or a batch of them for independent latent variables; a `MultivariateGaussian`; a
        `Categorical` or a batch of them, whose draws are codes. For a discrete model, uniform distributions.
    data
        What `log_joint` takes as its second argument; for a model one row of evidence.
    gradient
        "reparametrization", which needs a `log_joint` that JAX can differentiate; "score", which needs its values only;
        "auto" takes the first for real numbers, the second for codes.
    control_variate
        Whether the score function subtracts the mean over the other draws, which lowers its variance.
    draws, max_steps, learning_rate
        Draws for each step, steps, and the rate of Adam, which falls to zero by the end.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    VariationalFit
        q, its lower bound with a standard error, and the course.

    Examples
    --------
    >>> import juncture as jt
    >>> start, log_joint = jt.Gaussian([0.0], [1.0]), lambda z, x: -0.5 * ((z - x) ** 2).sum()
    >>> jt.families.black_box_variational(log_joint, start, 3.0).q.mean.round(1)  # doctest: +SKIP
    array([3.])
    """
    check_choice(gradient, GRADIENTS, "gradient")
    options = Options(
        check_count(draws, "draws", least=2),
        check_count(max_steps, "max_steps", least=1),
        check_number(learning_rate, "learning_rate", above=0),
        as_seed(rng) % SEEDS,
    )
    if not callable(log_joint) or isinstance(log_joint, Model):
        return fit_model(log_joint, data, options, control_variate)
    check_function(log_joint, "log_joint")
    family = as_approximation(start)
    chosen = gradient if gradient != "auto" else ("reparametrization" if family.is_smooth else "score")
    if chosen == "reparametrization" and not family.is_smooth:
        raise Unsupported('codes are no smooth function of noise; gradient="score" takes them')
    target = (lambda z: log_joint(z, data)) if data is not None else (lambda z: log_joint(z, None))
    climb = Climb(target, family, chosen, control_variate)
    parameters, trace = climb.run(options)
    return VariationalFit(family.member(parameters), climb.bound(parameters, options), trace, options.seed)


@dataclass(frozen=True)
class Options:
    num_samples: int
    max_steps: int
    learning_rate: float
    seed: int


@dataclass(frozen=True, eq=False)
class Climb:
    """Gradient ascent on E log p(x, z) - log q(z)."""

    log_joint: Callable[[Any], Any]  # of one z
    family: Approximation
    gradient: str
    control_variate: bool

    def log_weights(self, parameters: Any, draws: Any) -> Any:
        """(draw,): log p(x, z) / q(z)."""
        jax, _ = import_jax()
        return jax.vmap(self.log_joint)(draws) - self.family.log_prob(parameters, draws)

    def surrogate(self, parameters: Any, key: Any, num_samples: int) -> tuple[Any, Any]:
        """A number whose gradient is minus the estimate of the gradient of the bound; and the estimate of the bound."""
        jax, _ = import_jax()
        draws = self.family.sample(parameters, key, num_samples)
        if self.gradient == "reparametrization":
            logs = self.log_weights(parameters, draws)
            return -logs.mean(), logs.mean()
        draws = jax.lax.stop_gradient(draws)
        logs = jax.lax.stop_gradient(self.log_weights(parameters, draws))
        others = (logs.sum() - logs) / (num_samples - 1) if self.control_variate else 0.0
        return -((logs - others) * self.family.log_prob(parameters, draws)).mean(), logs.mean()

    def run(self, options: Options) -> tuple[Any, np.ndarray]:
        """The last parameters, and the estimate of the bound at each step."""
        jax, optax = import_jax()
        adam = optax.adam(optax.cosine_decay_schedule(options.learning_rate, options.max_steps))
        parameters = jax.tree_util.tree_map(jax.numpy.asarray, self.family.init())

        def step(carry: Any, key: Any) -> Any:
            parameters, state = carry
            slope, bound = jax.grad(self.surrogate, has_aux=True)(parameters, key, options.num_samples)
            updates, state = adam.update(slope, state)
            return (optax.apply_updates(parameters, updates), state), bound

        keys = jax.random.split(jax.random.PRNGKey(options.seed), options.max_steps)
        (parameters, _), trace = jax.jit(lambda carry: jax.lax.scan(step, carry, keys))(
            (parameters, adam.init(parameters))
        )
        found = np.asarray(trace, float)
        if not np.isfinite(found).all():
            raise InvalidModel(
                f"log_joint is no finite number at draws of step {int(np.argmin(np.isfinite(found)))}; start nearer to"
                " where it is, or lower learning_rate"
            )
        return parameters, found

    def bound(self, parameters: Any, options: Options) -> EstimatedBound:
        jax, _ = import_jax()
        key = jax.random.PRNGKey(options.seed + 1)
        draws = self.family.sample(parameters, key, FINAL_DRAWS)
        return EstimatedBound(np.asarray(self.log_weights(parameters, draws), float))

    def gradients(self, num_repeats: int, num_samples: int, seed: int = 0) -> dict[str, np.ndarray]:
        """(repeat, …) of each parameter: estimates of the gradient of the bound at the start, to see how they vary."""
        jax, _ = import_jax()
        parameters = jax.tree_util.tree_map(jax.numpy.asarray, self.family.init())
        slope = jax.grad(self.surrogate, has_aux=True)
        keys = jax.random.split(jax.random.PRNGKey(seed), num_repeats)
        found = jax.jit(jax.vmap(lambda key: slope(parameters, key, num_samples)[0]))(keys)
        return {name: -np.asarray(values, float) for name, values in found.items()}


def fit_model(model: Network, evidence: Any, options: Options, control_variate: bool) -> VariationalFit:
    """Independent categoricals for the unobserved variables of a discrete model, by the score function."""
    arrays = factor_arrays(model)
    findings = as_findings(evidence, model.variables)
    fields = log_likelihoods(arrays, findings)[0]
    if np.isneginf(arrays.log_values).any():
        raise Unsupported("the score function needs a positive probability everywhere; method='mean-field' takes zeros")
    starts, most = arrays.state_starts, int(arrays.num_states.max())
    likelihoods = np.full((arrays.num_nodes, most), -np.inf)
    for node, size in enumerate(arrays.num_states):
        likelihoods[node, :size] = fields[starts[node] : starts[node + 1]]
    allowed = (likelihoods > -np.inf).astype(float)
    family = as_approximation(Categorical(allowed / allowed.sum(axis=1, keepdims=True)))
    climb = Climb(model_log_joint(arrays, likelihoods), family, "score", control_variate)
    parameters, trace = climb.run(options)
    shares = family.member(parameters).probabilities
    names = [name for name in model.variables.names if not findings.is_observed(name)[0]]
    numbers = {name: model.variables.axis(name) for name in names}
    q = {name: shares[node, : arrays.num_states[node]] for name, node in numbers.items()}
    return VariationalFit(q, climb.bound(parameters, options), trace, options.seed)


def model_log_joint(arrays: FactorArrays, likelihoods: np.ndarray) -> Callable[[Any], Any]:
    """The log of the product of all factors and likelihoods at the codes of all nodes, for JAX."""
    numpy = import_jax()[0].numpy
    tables = [
        (numpy.asarray(arrays.log_table(factor)), arrays.scope(factor).tolist()) for factor in range(arrays.num_factors)
    ]
    seen, nodes = numpy.asarray(likelihoods), np.arange(arrays.num_nodes)

    def log_joint(codes: Any) -> Any:
        total = seen[nodes, codes].sum()
        for table, scope in tables:
            total += table[tuple(codes[node] for node in scope)]
        return total

    return log_joint
