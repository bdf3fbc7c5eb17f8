"""`Fit`: the result of learning."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from juncture.base.values import Value
from juncture.drawing.notebook import html_table
from juncture.drawing.svg import to_svg
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.numerics.iteration import Trace
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.drawing.courses import Course

M = TypeVar("M")
# what a fit keeps that has standard errors, or a posterior of its tables: a function without arguments
ERRORS, POSTERIOR = "compute standard errors", "compute the posterior"


class Fit(Value, Generic[M]):
    """The result of learning.

    Attributes
    ----------
    model
        The learned model.
    log_likelihood
        The log-likelihood of the data under the model.
    trace
        The objective at each step, and whether the algorithm converged.
    statistics
        The sufficient statistics of the data; where rows had holes, the expected ones under the model.
    seed
        The seed of what was drawn at random, such as starts: `rng=fit.seed` repeats the result. None where nothing was.
    """

    model: M
    log_likelihood: float
    trace: Trace
    statistics: Any
    seed: int | None

    def __init__(self, model: M, log_likelihood: float, trace: Trace, statistics: Any, seed: int | None = None) -> None:
        check_learned(model)
        self._set(model=model, log_likelihood=log_likelihood, trace=trace, statistics=statistics, seed=seed)

    def with_model(self, model: M) -> Self:
        """The same result with another model in it, such as one that knows the names of its columns."""
        return self._replace(model=model)

    def _with_seed(self, seed: int | None) -> Self:
        """The same result with the seed of what was drawn."""
        return self._replace(seed=seed)

    def _replace(self, **fields: Any) -> Self:
        copy = object.__new__(type(self))
        copy._set(**{**{name: self.__dict__[name] for name in self._fields}, **fields})
        return copy

    @property
    def history(self) -> tuple[M, ...]:
        """The model at the start and after each step, one for each value of the trace, where `fit` had `history=True`.

        >>> import juncture as jt
        >>> start = jt.Mixture([0.5, 0.5], [jt.Gaussian(1.0, 1.0), jt.Gaussian(8.0, 1.0)])
        >>> fitted = jt.fit(start, [0.1, 0.3, 0.2, 9.1, 9.2, 9.0], history=True)
        >>> fitted.history[0] == start, len(fitted.history) == len(fitted.trace.values)
        (True, True)
        """
        models = self.trace.models
        if models is None and self.trace.num_steps < 1:
            models = (self.model,)  # which was learned without steps
        if models is None:
            raise Unsupported("this fit kept no models of its steps: learn by EM with history=True")
        names = getattr(self.model, "feature_names", None)
        return models if names is None else tuple(model._named(names) for model in models)

    @property
    def standard_errors(self) -> Any:
        """The standard errors of what was learned: of a network for each child an array in the shape of its table.

        Those of a network come from the inverse of the observed information, by the delta method. One is infinite where
        the data say nothing of an entry: for parents' states that were never seen, for entries on the boundary, and for
        entries that the data do not identify, which a `NotIdentifiedWarning` names. Where rows have holes, the fit
        keeps the rows for this as long as it lives; pickles and copies do not have them.

        >>> import juncture as jt
        >>> fitted = jt.fit(jt.DirectedGraph([], nodes=["a"]), {"a": [0] * 50 + [1] * 50})
        >>> fitted.standard_errors["a"]  # √(0.5 · 0.5 / 100)
        array([0.05, 0.05])
        """
        if ERRORS not in self.derived:
            raise Unsupported(
                "this fit has no standard errors: they are for regressions, and for the tables of a network that was"
                " fitted without a prior; pickles and copies of a fit of a network do not have them"
            )
        if "standard errors" not in self.derived:
            self.derived["standard errors"] = self.derived[ERRORS]()
        return dict(self.derived["standard errors"])

    @property
    def posterior(self) -> Any:
        """The posterior of the tables of a network, learned from complete rows: `jt.families.posterior` of its counts.

        The prior is that of the fit; a table without one has a pseudo-count of 1 for each cell, which is uniform. Its
        `interval` has the credible intervals of entries, and `jt.families.infer_posterior` those of answers.

        >>> import juncture as jt
        >>> fitted = jt.fit(jt.DirectedGraph([], nodes=["a"]), {"a": [0] * 50 + [1] * 50})
        >>> low, high = fitted.posterior.interval("a")
        >>> round(low[1], 3), round(high[1], 3)
        (0.419, 0.581)
        """
        if POSTERIOR not in self.derived:
            raise Unsupported(
                "this fit has no posterior: it is for networks of tables that were fitted to rows without holes;"
                " pickles and copies of a fit do not have it: ask jt.families.posterior(model, statistics, prior)"
            )
        return self.derived[POSTERIOR]()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, log-likelihood {self.log_likelihood:.6g}; {self.trace.reason})"

    def to_diagram(self) -> Course:
        """The objective at the start and after each step."""
        from juncture.drawing.courses import Course, Panel

        if self.trace.num_steps < 1:
            raise Unsupported(
                f"this fit took no steps ({self.trace.reason}), so there is no course to draw; draw fit.model"
            )
        return Course((Panel("objective", np.array(self.trace.values)),), note=self.trace.reason)

    def _repr_html_(self) -> str:
        """The model as it shows itself, and how learning went."""
        shown = getattr(self.model, "_repr_html_", None)
        model = f"<p><code>{escape(repr(self.model))}</code></p>" if shown is None else shown()
        facts = [
            ("log-likelihood", f"{self.log_likelihood:.6g}"),
            ("steps", self.trace.num_steps),
            ("converged", "yes" if self.trace.converged else "no"),
            ("stopped because", self.trace.reason),
        ]
        picture = to_svg(self.to_diagram()) if self.trace.num_steps > 0 else ""
        own = type(self).__repr__ is not Fit.__repr__  # of a kind that says more of itself
        words = f"<p><code>{escape(repr(self))}</code></p>" if own else ""
        return words + html_table(["Fit", ""], facts, num_labels=1) + picture + model


def check_learned(model: M) -> M:
    """The model, whose numbers pass the check of those that users give, also where its tables were not checked yet."""
    try:
        check_numbers(model)
    except InvalidModel as error:
        raise InvalidData(
            f"learning overflowed: {error}; sums of weights, of a prior or of squares of the rows are beyond doubles:"
            " divide the weights, the prior or the columns by one number"
        ) from error
    return model


@runtime_checkable
class ChecksNumbers(Protocol):
    """A value that can check its numbers again, where it was made without a check."""

    def check_numbers(self) -> None: ...


def check_numbers(value: Any) -> None:
    """Check a value and those that it is made of; what has no `check_numbers` was checked when it was made."""
    if isinstance(value, tuple | list) and not isinstance(value, Scope):
        for part in value:
            check_numbers(part)
    if isinstance(value, Value):
        if isinstance(value, ChecksNumbers):
            value.check_numbers()
        for name in value._fields:
            check_numbers(getattr(value, name, None))
