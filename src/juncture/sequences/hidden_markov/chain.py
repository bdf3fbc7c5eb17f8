"""`Chain`: a hidden Markov model as the arrays that kernels walk along, made once for each model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture import numerics
from juncture.components.contract import Emissions
from juncture.sequences.hidden_markov.model import HiddenMarkovModel

# With every transition at least this probable, a mass that vanishes beside the others can never matter again.
FORGETFUL = 1e-100
# A pair of steps counts 1 / transition at most; below this that is no ordinary number unless it is scaled.
LEAST_LINK = 1e-280
PAIR_SCALE = 2.0**-100

Road = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Chain:
    """Roads lead along the chain and back: a matrix and, target by target, the sources of its positive entries."""

    initial: np.ndarray  # (state,)
    ahead: Road
    back: Road
    log_initial: np.ndarray  # (state,)
    log_transition: np.ndarray  # (from, to)
    log_back: np.ndarray  # (to, from)
    emissions: Emissions
    is_exact: bool  # whether tiny masses must be kept
    pair_scale: float  # what pairs of steps are counted times, before they are multiplied by the transitions

    @classmethod
    def of(cls, model: HiddenMarkovModel) -> Chain:
        found: Chain | None = model.derived.get("chain")
        if found is None:
            found = model.derived["chain"] = cls._made(model)
        return found

    @classmethod
    def _made(cls, model: HiddenMarkovModel) -> Chain:
        is_minute = bool(((model.transition > 0) & (model.transition < LEAST_LINK)).any())
        return cls(
            model.initial.copy(),
            road(model.transition),
            road(model.transition.T),
            numerics.log(model.initial),
            numerics.log(model.transition),
            np.ascontiguousarray(numerics.log(model.transition).T),
            model.emissions,
            bool((model.transition < FORGETFUL).any()),
            PAIR_SCALE if is_minute else 1.0,
        )

    @property
    def num_states(self) -> int:
        return len(self.initial)

    @property
    def transition(self) -> np.ndarray:
        return self.ahead[0]


def road(matrix: np.ndarray) -> Road:
    targets, sources = np.nonzero(matrix.T)
    starts = np.searchsorted(targets, np.arange(len(matrix) + 1)).astype(np.int64)
    return np.array(matrix, order="C"), starts, sources.astype(np.int64), np.log(matrix[sources, targets])
