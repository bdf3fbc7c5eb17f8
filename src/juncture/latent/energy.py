"""`EnergyModel`: p(x) = exp(-E(x, θ)) / Z(θ), for any energy on a finite domain or on an interval of the line.

Energies need not be linear in the parameters, as those of log-linear models are: a product of Student-t experts has
E(x, θ) = Σ_k α_k ln(1 + (θ_k x)²). `MarkovNetwork.from_energies` and `from_features` are for tables over large models.
`fit` ascends the mean log-likelihood by its gradient, the negative phase less the positive phase; both are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from juncture import verbs
from juncture.base.checks import check_array, check_function, check_kind
from juncture.base.dispatch import register
from juncture.base.methods import register_names, resolve_method
from juncture.base.options import Options, as_generator
from juncture.base.values import SameContent, number_of, read_only
from juncture.data.dataset import Dataset
from juncture.data.rows import Rows
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.inference.engines.verb_options import check_num_rows
from juncture.information.density import Density
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress, check_stopping_rule
from juncture.numerics.stable import log_sum_exp
from juncture.runtime.memory import check_memory
from juncture.variables import Scope, Variable

Energy = Callable[[np.ndarray, np.ndarray], Any]
IMPOSSIBLE = 1e100  # the objective where Z is infinite: a line search steps back from there


@dataclass(frozen=True, eq=False, repr=False)
class EnergyModel(SameContent):
    """p(x) = exp(-E(x, θ)) / Z(θ).

    Parameters
    ----------
    energy
        A function of x and θ, which gives one energy for each row of x; infinity forbids a row.
    gradient
        A function of x and θ, which gives ∂E/∂θ as (row, parameter).
    parameters
        θ, an array of numbers.
    domain
        A `Scope` of variables with states that are numbers: x is (row, variable), and Z is a sum over all joint states.
        Or None for the line: x is (row,), and Z an integral.

    Examples
    --------
    >>> from juncture.latent.energy import student_t_energy
    >>> import juncture as jt
    >>> model = student_t_energy(strengths=[2.0], slopes=[3**-0.5])  # ν = 2 α - 1 = 3
    >>> bool(np.isclose(jt.log_prob(model, [0.7])[0], jt.StudentT(3.0, 0.0, 1.0).log_prob(0.7)))
    True
    """

    kind: ClassVar[str] = "energy model"
    energy: Energy
    gradient: Energy
    parameters: np.ndarray
    domain: Scope | None = None

    def __post_init__(self) -> None:
        check_function(self.energy, "energy")
        check_function(self.gradient, "gradient")
        vector = check_array(self.parameters, "the parameters", ndim=1, error=InvalidModel)
        if not np.isfinite(vector).all():
            raise InvalidModel("the parameters of an energy must be finite numbers")
        object.__setattr__(self, "parameters", read_only(vector))
        if self.domain is not None:
            scope = Scope(check_kind(self.domain, (tuple, list), "the domain", error=InvalidModel))
            check_memory(32 * scope.size * (len(scope) + len(vector)), "all joint states", "take fewer variables")
            object.__setattr__(self, "domain", scope)

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}  # without what was computed

    @property
    def variables(self) -> Scope:
        """The variables of the domain, or "x" on the line."""
        return Scope([Variable("x")]) if self.domain is None else self.domain

    @property
    def num_parameters(self) -> int:
        """The number of parameters."""
        return len(self.parameters)

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of a row: () on the line, else (variable,)."""
        return () if self.domain is None else (len(self.domain),)

    def with_parameters(self, parameters: Any) -> EnergyModel:
        """The model with other parameters."""
        return replace(self, parameters=parameters)

    @property
    def log_partition(self) -> float:
        """Log Z(θ)."""
        return self._density.log_normalizer if self.domain is None else float(log_sum_exp(-self._state_energies))

    def log_prob(self, x: Any) -> np.ndarray:
        """log p of each row of x."""
        return -self._energies(self._as_rows(x)) - self.log_partition

    def phases(self, data: Any) -> Phases:
        """The mean of ∇E over the data, and its exact expectation under the model."""
        return Phases(self._gradients(self._as_rows(data)).mean(axis=0), self._expected_gradient())

    def _expected_gradient(self) -> np.ndarray:
        if self.domain is not None:
            weights = np.exp(-self._state_energies - self.log_partition)
            possible = weights > 0
            return weights[possible] @ self._gradients(self._states[possible])
        parts = range(len(self.parameters))
        return np.array([self._density.expectation(partial(self._gradient_part, part)) for part in parts])

    def _gradient_part(self, part: int, x: np.ndarray) -> np.ndarray:
        """The derivative of the energy at each x by one parameter."""
        return self._gradients(x)[:, part]

    @cached_property
    def _states(self) -> np.ndarray:
        """(joint state, variable): every assignment, as numbers."""
        numbers = [variable.numbers for variable in self.domain or ()]
        return np.array(list(product(*numbers)), dtype=float).reshape(-1, len(numbers))

    @cached_property
    def _state_energies(self) -> np.ndarray:
        return self._energies(self._states)

    @cached_property
    def _density(self) -> Density:
        return Density(self._log_density)

    def _log_density(self, x: np.ndarray) -> np.ndarray:
        """The log-density at each x, up to a constant."""
        return -self._energies(x)

    def _as_rows(self, x: Any) -> np.ndarray:
        rows = check_array(x, "the rows", ndim=1 if self.domain is None else 2)
        if self.domain is not None and rows.shape[1] != len(self.domain):
            raise InvalidData(f"a row has {number_of(len(self.domain), 'number')}; got {rows.shape[1]}")
        if np.isnan(rows).any():
            raise InvalidData("an energy takes complete rows; one has a hole")
        return rows

    def _energies(self, rows: np.ndarray) -> np.ndarray:
        return self._checked(self.energy(rows, self.parameters), (len(rows),), "energy")

    def _gradients(self, rows: np.ndarray) -> np.ndarray:
        return self._checked(self.gradient(rows, self.parameters), (len(rows), len(self.parameters)), "gradient")

    def _checked(self, values: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
        array = check_array(values, f"what {what} gives", error=InvalidModel)
        if array.shape != shape:
            raise InvalidModel(f"{what} must give an array of the shape {shape}; it gave {array.shape}")
        return array

    def __repr__(self) -> str:
        where = "the line" if self.domain is None else f"{self.domain.size:,} joint states"
        return f"EnergyModel({number_of(len(self.parameters), 'parameter')}, on {where})"


class Phases(NamedTuple):
    """The two parts of the gradient of the mean log-likelihood, which is negative - positive; 0 at its maximum."""

    positive: np.ndarray  # (parameter,): the mean of ∇E over the data, whose energy falls
    negative: np.ndarray  # (parameter,): the expectation of ∇E under the model, whose energy rises


@dataclass(frozen=True)
class EnergyOptions(Options):
    """How an energy model is learned: by L-BFGS, with both phases exact.

    Parameters
    ----------
    tolerance
        The search ends when no entry of the two phases differs by more.
    max_steps
        The largest number of steps.
    """

    tolerance: float = 1e-6
    max_steps: int = 500

    def __post_init__(self) -> None:
        check_stopping_rule(self.tolerance, self.max_steps)


def fit_energy(
    model: EnergyModel,
    data: Any,
    *,
    prior: None = None,
    progress: ProgressCallback | None = None,
    options: EnergyOptions,
) -> Fit[EnergyModel]:
    """The parameters of the largest likelihood near those of the model, by L-BFGS; both phases are exact.

    Parameters
    ----------
    model
        Its parameters are where the search starts. The likelihood of energies that are not linear in their parameters
        may have several maxima.
    data
        (row,) on the line, else (row, variable).
    prior
        None.
    progress
        A function that is called after each step.
    options
        When the search ends.
    """
    if prior is not None:
        raise Unsupported("an energy model has no conjugate prior: leave prior out")
    check_progress(progress)
    rows = Rows.of(data, None if model.domain is None else model.domain.names, extra="ignore").numbers(
        model.event_shape
    )
    if not len(rows):
        raise InvalidData("there are no rows to learn from")
    model.log_prob(rows)  # which raises what is wrong with the model or the rows
    values: list[float] = []

    def downhill(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            moved = model.with_parameters(parameters)
            phases = moved.phases(rows)
            return -float(moved.log_prob(rows).mean()), phases.positive - phases.negative
        except (InvalidModel, Unsupported):
            return IMPOSSIBLE, np.zeros(len(parameters))

    def record(intermediate_result: Any) -> None:
        values.append(-float(intermediate_result.fun) * len(rows))
        if progress is not None:
            progress(len(values), values[-1])

    return ascend(model, rows, downhill, record, values, options)


def ascend(
    model: EnergyModel,
    rows: np.ndarray,
    downhill: Any,
    record: Any,
    values: list[float],
    options: EnergyOptions,
) -> Fit[EnergyModel]:
    from scipy.optimize import minimize

    start = -downhill(model.parameters)[0] * len(rows)
    limits = {"maxiter": options.max_steps, "gtol": options.tolerance, "ftol": 0.0}
    found = minimize(downhill, model.parameters, jac=True, method="L-BFGS-B", callback=record, options=limits)
    left = float(np.abs(downhill(found.x)[1]).max(initial=0.0))
    learned = model.with_parameters(found.x)
    reason = f"the largest difference of the two phases is {left:.2g}"
    trace = Trace((start, *values), left <= max(options.tolerance, 1e-6), reason)
    return Fit(learned, float(learned.log_prob(rows).sum()), trace, learned.phases(rows))


def log_prob_energy(model: EnergyModel, rows: Any, *, method: Any = "auto") -> Any:
    """log p of each row, (row,); of one row a float."""
    resolve_method(model, "log_prob", method)
    read = Rows.of(rows, None if model.domain is None else model.domain.names)
    found = model.log_prob(read.numbers(model.event_shape))
    return float(found[0]) if read.is_single(model.event_shape) else found


def sample_energy(model: EnergyModel, n: Any, *, given: None = None, rng: Any = None) -> Dataset:
    """`n` independent rows: of all joint states by their probabilities, on the line by inverse cumulative ones."""
    if given is not None:
        raise Unsupported("an energy model has no hidden variables to draw given a row: leave given out")
    count, generator = check_num_rows(n, 16 * len(model.variables)), as_generator(rng)
    if model.domain is None:
        drawn = np.asarray(model._density.quantile(generator.random(count)), np.float64).reshape(count)
        return Dataset.from_codes(model.variables, {"x": drawn})
    shares = np.exp(-model._state_energies - model.log_partition)
    chosen = generator.choice(len(shares), count, p=shares / shares.sum())
    codes = np.unravel_index(chosen, model.domain.shape)
    return Dataset.from_codes(model.domain, dict(zip(model.domain.names, codes, strict=True)))


def student_t_energy(strengths: Any, slopes: Any) -> EnergyModel:
    """A product of Student-t experts on the line: E(x) = Σ_k α_k ln(1 + (θ_k x)²).

    With one expert it is `StudentT(ν, 0, s)`, where α = (ν + 1) / 2 and θ = 1 / (s √ν).

    Parameters
    ----------
    strengths
        α, positive numbers; Z is finite if their sum is above ½.
    slopes
        θ, one for each strength.

    Returns
    -------
    EnergyModel
        Its parameters are ln α, then θ.
    """
    alphas, thetas = (check_array(part, what, ndim=1) for part, what in ((strengths, "strengths"), (slopes, "slopes")))
    if len(alphas) != len(thetas) or not (alphas > 0).all():
        raise InvalidModel("strengths must be positive numbers, and there must be as many slopes")
    return EnergyModel(expert_energy, expert_gradient, np.concatenate([np.log(alphas), thetas]))


def expert_energy(x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    log_strengths, slopes = np.split(parameters, 2)
    return np.log1p((x[:, np.newaxis] * slopes) ** 2) @ np.exp(log_strengths)


def expert_gradient(x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """∂E/∂ln α = α ln(1 + (θx)²) and ∂E/∂θ = 2 α θ x² / (1 + (θx)²)."""
    log_strengths, slopes = np.split(parameters, 2)
    scaled, strengths = x[:, np.newaxis] * slopes, np.exp(log_strengths)
    by_slope = 2 * strengths * scaled / (1 + scaled**2) * x[:, np.newaxis]
    return np.concatenate([strengths * np.log1p(scaled**2), by_slope], axis=1)


register_names(EnergyModel, "log_prob", {"auto": "exact", "exact": "exact"})
register(verbs.log_prob, EnergyModel, log_prob_energy)
register(verbs.sample, EnergyModel, sample_energy)
register(verbs.fit, EnergyModel, fit_energy, EnergyOptions)
