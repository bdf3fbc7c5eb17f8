"""The learners of Boltzmann machines: stochastic gradient ascent, whose negative phase is drawn by chains or summed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from juncture.base.checks import check_count, check_flag, check_number
from juncture.base.options import Options
from juncture.errors import Unsupported
from juncture.learning.undirected.penalties import L1, L2, check_penalty

RATE, STEPS = 0.1, 1  # of restricted machines, by default
DEEP_RATE, DEEP_STEPS = 0.05, 5  # of deep Boltzmann machines


@dataclass(frozen=True)
class LikelihoodGradient(Options):
    """Stochastic gradient ascent of the log-likelihood of a machine, in epochs over batches of rows.

    Parameters
    ----------
    learning_rate
        The length of a step, which falls to 0 over the second half of the epochs: by default 0.1, and 0.05 for deep
        Boltzmann machines.
    batch_size
        The number of rows of each step.
    epochs
        The number of passes over the rows.
    tolerance
        Learning also ends when an epoch moves the log-likelihood by less than this share of its rise since the start.
    penalty
        A number, or `jt.L2(strength)`: ½ strength Σ w² is subtracted from the mean log-likelihood of a row, so that
        weights are pulled to 0.
    """

    learning_rate: float | None = None
    batch_size: int = 50
    epochs: int = 20
    tolerance: float = 0.0
    penalty: Any = None

    def __post_init__(self) -> None:
        if self.learning_rate is not None:
            check_number(self.learning_rate, "learning_rate", least=0)
        check_count(self.batch_size, "batch_size", least=1)
        check_count(self.epochs, "epochs", least=1)
        check_number(self.tolerance, "tolerance", least=0)
        self._check_penalty()

    def _check_penalty(self) -> None:
        found = None if isinstance(self.penalty, int | float) and self.penalty == 0 else check_penalty(self.penalty)
        if isinstance(found, L1):
            raise Unsupported("the weights of a Boltzmann machine are held small by jt.L2; there is no step for jt.L1")
        object.__setattr__(self, "penalty", found)

    @property
    def decay(self) -> float:
        """The strength of the penalty: a step takes this share of the weights away, times the rate."""
        return self.penalty.squared if isinstance(self.penalty, L2) else 0.0


@dataclass(frozen=True)
class ContrastiveDivergence(LikelihoodGradient):
    """Stochastic gradient ascent with a negative phase from chains of block Gibbs steps (Hinton 2002; Tieleman 2008).

    It has the options of a `LikelihoodGradient` too.

    Parameters
    ----------
    steps
        Block Gibbs steps of the chains before each step of the gradient: by default 1, and 5 for deep Boltzmann
        machines.
    chains
        The number of chains that go on.
    persistent
        Whether the chains go on from where they were (persistent contrastive divergence); else each starts at a row of
        the batch, whose number is then that of the chains.

    Examples
    --------
    >>> import juncture as jt
    >>> rows = [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]]
    >>> start = jt.RestrictedBoltzmannMachine.random(3, 2, rng=0)
    >>> learner = jt.ContrastiveDivergence(learning_rate=0.5, chains=10, epochs=50)
    >>> fitted = jt.fit(start, rows, method=learner, rng=0)
    >>> bool(fitted.log_likelihood > jt.log_prob(start, rows).sum()), fitted.trace.num_steps
    (True, 50)
    """

    steps: int | None = None
    chains: int = 100
    persistent: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps is not None:
            check_count(self.steps, "steps", least=1)
        check_count(self.chains, "chains", least=1)
        check_flag(self.persistent, "persistent")


@dataclass(frozen=True)
class ExactGradient(LikelihoodGradient):
    """Stochastic gradient ascent with a negative phase that sums over all states of the smaller layer.

    It is for machines with up to 20 units in that layer. Its options are those of a `LikelihoodGradient`.

    Examples
    --------
    >>> import juncture as jt
    >>> rows = [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]]
    >>> start = jt.RestrictedBoltzmannMachine.random(3, 2, rng=0)
    >>> fitted = jt.fit(start, rows, method=jt.ExactGradient(learning_rate=0.5, epochs=50), rng=0)
    >>> bool(fitted.log_likelihood > jt.log_prob(start, rows).sum())
    True
    """


def with_defaults(learner: Any, rate: float = RATE, steps: int = STEPS) -> Any:
    """The learner with a rate, and a number of steps of its chains, where these were left out."""
    found = replace(learner, learning_rate=rate) if learner.learning_rate is None else learner
    is_drawn = isinstance(found, ContrastiveDivergence)
    return replace(found, steps=steps) if is_drawn and found.steps is None else found
