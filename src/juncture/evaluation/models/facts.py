"""`Facts`: what the criteria of model choice need of a model and data. A text in place of a function says why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from juncture.base.checks import check_mapping, shown
from juncture.base.values import Value
from juncture.errors import InvalidData

NO_PRIOR = "its parameters have no prior: give jt.evaluation.Candidate(model, prior)"
NO_DRAWS = "there are no posterior draws: give the log-likelihoods of draws, (draw, row)"

Logs: TypeAlias = Callable[[], np.ndarray] | str


class Evidence(NamedTuple):
    """log p(data | model), how good it is ("exact", "approximate" or "bound"), and how it was obtained."""

    value: float
    quality: str
    how: str


@dataclass(frozen=True)
class Facts:
    """A model and data, as the criteria see them.

    `sample_size` is n in BIC: rows, or steps of sequences. `log_likelihoods` are log p(row | θ̂) at the maximum of the
    likelihood; `ahead(order)` log p(row | rows before it), in the order given; `left_out` log p(row | the others);
    `held_out(train, test)` log p(test row | training rows); `draws(number, rng)` log p(row | θ) of posterior draws.
    """

    num_rows: int
    sample_size: float
    num_parameters: int | str = NO_PRIOR
    log_likelihoods: Logs = NO_PRIOR
    log_evidence: Callable[[], Evidence] | str = NO_PRIOR
    ahead: Callable[[np.ndarray], np.ndarray] | str = NO_PRIOR
    left_out: Logs = "the parameters after leaving out a row have no closed form: take 'cv'"
    held_out: Callable[[np.ndarray, np.ndarray], np.ndarray] | str = "it is not learned from rows"
    draws: Callable[[int, np.random.Generator], np.ndarray] | str = NO_DRAWS
    singular: str = ""  # why the regularity conditions of AIC and BIC fail
    notes: tuple[str, ...] = field(default_factory=tuple)


class Candidate(Value):
    """A model whose parameters are learned from the data that models are compared on, with a prior where there is one.

    Parameters
    ----------
    model
        A family such as `jt.Poisson`, the class; or a `BayesianNetwork`, a `DirectedGraph`, a `Mixture`, a
        `HiddenMarkovModel` or a `GeneralizedLinearModel`.
    prior
        Of a family, a conjugate prior such as `jt.Gamma(2, 1)`; any density of its only parameter, or a pair of them
        for two; or a `HierarchicalPrior`. Of a network, a pseudo-count, `jt.BDeu(10)`, `jt.K2()`, a `jt.Dirichlet`, or
        a mapping from children to these; of real variables `jt.structure.BGe()`. Of a mixture, a `MixturePrior`. Of a
        `HiddenMarkovModel` of tables, a pseudo-count. Of a generalised linear model, a `MultivariateGaussian`.
    **known
        The parameters of a family that are not learned, such as `trials=10` of a binomial.

    Examples
    --------
    >>> import juncture as jt
    >>> Candidate(jt.Bernoulli, jt.Beta(1, 1))
    Candidate(Bernoulli, prior=Beta(a=1.0, b=1.0))
    """

    model: Any
    prior: Any
    known: dict[str, Any]

    def __init__(self, model: Any, prior: Any = None, **known: Any) -> None:
        if isinstance(model, Candidate):
            raise InvalidData("the model of a Candidate is a Candidate already")
        if model is None or isinstance(model, str | bytes | bool | int | float | list | tuple | dict | set):
            raise InvalidData(f"a Candidate is a family or a model; got {shown(model)}")
        self._set(model=model, prior=prior, known=dict(check_mapping(known, "what is known")))

    def __repr__(self) -> str:
        name = self.model.__name__ if isinstance(self.model, type) else repr(self.model)
        known = "".join(f", {key}={value!r}" for key, value in self.known.items())
        prior = "" if self.prior is None else f", prior={self.prior!r}"
        return f"Candidate({name}{prior}{known})"


def check_logs(logs: Any, name: str) -> np.ndarray:
    """Log-likelihoods without NaN, which would mean a hole in a row."""
    found = np.atleast_1d(np.asarray(logs, dtype=float))
    if np.isnan(found).any():
        raise InvalidData(f"row {int(np.isnan(found).argmax())} has no probability under {name}: does it have a hole?")
    return found
