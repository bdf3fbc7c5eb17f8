"""`fit` for linear-Gaussian state-space models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from juncture.base.options import as_generator, check_names
from juncture.errors import InvalidData, hint
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.learning.em.expectation_maximization import has_full_m_step, resolve_learner
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, check_progress
from juncture.sequences.hidden_markov.statistics import check_observed, nonempty_parts, weighted_parts
from juncture.sequences.state_space.em import StateSpaceProblem
from juncture.sequences.state_space.estimation import REGRESSIONS, StateSpaceOptions, estimate_state_space
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.noise_floor import report_floor


def fit_state_space(  # noqa: PLR0913 (one verb, many options)
    model: LinearGaussianStateSpace,
    data: Any,
    prior: Mapping[str, InverseWishart] | None = None,
    *,
    lengths: Any = None,
    group: str | None = None,
    weights: Any = None,
    fixed: Iterable[str] = (),
    method: Any = "em",
    rng: Any = 0,
    progress: ProgressCallback | None = None,
) -> Fit[LinearGaussianStateSpace]:
    """The state space that fits sequences best, by EM from the given model.

    Values and whole steps may be missing, and states may be given. All parts that the model has are learned, but for
    those named in `fixed`; parts that vary in time must be among these. With `group`, `data` is a table (a frame, a
    file, a query or a source): rows with the same cell in that column are one sequence, and `weights` names a column.
    `prior` maps noises ("transition_noise",
    "observation_noise", "initial_covariance") to an `InverseWishart`: the mode is taken. `weights` are those of the
    sequences. `method` may be an `ExpectationMaximization`, with restarts at random; as EM is slow where noises are
    small or much is missing, `ExpectationMaximization(acceleration="squarem")` is often worth it.

    The states are determined up to a change of their basis, which the start and the fixed parts settle. From one
    sequence, `initial_covariance` shrinks towards 0: fix it, or give it a prior. Where a model could pass through all
    that is observed, noises would vanish: they are kept above 1e-10 of the variance of the observations, or of the
    expected states, and above 1e-6 of their own where values' noises become all but the same; a warning names them.
    """
    learner = resolve_learner(method, "state spaces")
    check_progress(progress)
    options = StateSpaceOptions(fixed_parts(model, fixed), check_priors(model, prior, fixed))
    parts = weighted_parts(model, data, lengths, group, weights)
    check_observed(nonempty_parts(parts()))
    problem = StateSpaceProblem(model, lambda: nonempty_parts(parts()), options, as_generator(rng))
    found, trace = learner.run(problem, progress)
    if has_full_m_step(learner):
        report_floor(estimate_state_space(found.model, found.statistics, options, problem.observed)[1])
    return Fit(found.model, found.log_likelihood, trace, found.statistics)


# -- checks


def fixed_parts(model: LinearGaussianStateSpace, fixed: Iterable[str]) -> frozenset[str]:
    """The parts that stay as they are."""
    names = frozenset(check_names(fixed, "fixed"))
    for name in sorted(names):
        if name not in model.parts:
            raise InvalidData(f"the state space has no part {name!r} to be fixed; {hint(name, model.parts)}")
    for name in model.varying:
        if name not in names:
            raise InvalidData(f"{name} varies in time, and such parts are not learned: name it in fixed=[…]")
    for noise, coefficients in REGRESSIONS.values():
        for name in coefficients:
            if noise in model.varying and name in model.parts and name not in names:
                raise InvalidData(f"{name} is not learned where {noise} varies in time: name it in fixed=[…]")
    return names


def check_priors(model: LinearGaussianStateSpace, prior: Any, fixed: Iterable[str]) -> dict[str, InverseWishart]:
    """The priors of noises, by their names."""
    if not isinstance(prior, Mapping | None):
        raise InvalidData(
            f'the prior of a state space is a mapping such as {{"transition_noise": InverseWishart(…)}}; got {prior!r}'
        )
    noises = [noise for noise, _ in REGRESSIONS.values()]
    for name, own in (prior or {}).items():
        if name not in noises:
            raise InvalidData(f"a prior is one of a noise; {name!r} is none; {hint(name, noises)}")
        if name in fixed:
            raise InvalidData(f"{name} is fixed, so its prior has no effect; leave out one of the two")
        size = len(model.parts[name])
        if not isinstance(own, InverseWishart) or own.batch_shape or np.shape(own.scale) != (size, size):
            raise InvalidData(f"the prior of {name} is an InverseWishart of {size} × {size} matrices; got {own!r}")
    return dict(prior or {})
