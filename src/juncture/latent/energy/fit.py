"""`fit` for energy models: the mean log-likelihood by its gradient, the negative phase less the positive phase."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.latent.energy.model import EnergyModel
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress, check_stopping_rule
from juncture.numerics.stable import as_numbers

IMPOSSIBLE = 1e100  # the objective where Z is infinite: a line search steps back from there


def fit_energy(
    model: EnergyModel,
    data: Any,
    prior: None = None,
    *,
    tolerance: float = 1e-6,
    max_steps: int = 500,
    progress: ProgressCallback | None = None,
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
    tolerance, max_steps, progress
        The search ends when no entry of the two phases differs by more.
    """
    check_options(prior, tolerance, max_steps, progress)
    rows = as_numbers(data, np.shape(data), name="the rows")
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

    return ascend(model, rows, downhill, record, values, tolerance, max_steps)


def ascend(
    model: EnergyModel,
    rows: np.ndarray,
    downhill: Any,
    record: Any,
    values: list[float],
    tolerance: float,
    max_steps: int,
) -> Fit[EnergyModel]:
    from scipy.optimize import minimize

    start = -downhill(model.parameters)[0] * len(rows)
    options = {"maxiter": max_steps, "gtol": tolerance, "ftol": 0.0}
    found = minimize(downhill, model.parameters, jac=True, method="L-BFGS-B", callback=record, options=options)
    left = float(np.abs(downhill(found.x)[1]).max(initial=0.0))
    learned = model.with_parameters(found.x)
    reason = f"the largest difference of the two phases is {left:.2g}"
    trace = Trace((start, *values), left <= max(tolerance, 1e-6), reason)
    return Fit(learned, float(learned.log_prob(rows).sum()), trace, learned.phases(rows))


def check_options(prior: Any, tolerance: float, max_steps: int, progress: Any) -> None:
    if prior is not None:
        raise Unsupported("an energy model has no conjugate prior: leave prior out")
    check_stopping_rule(tolerance, max_steps)
    check_progress(progress)


def log_prob_energy(model: EnergyModel, rows: Any) -> np.ndarray:
    return model.log_prob(rows)
