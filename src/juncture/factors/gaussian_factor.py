"""`GaussianFactor`: a factor over real variables in canonical form, exp(log_scale + ηᵀx - ½ xᵀΛx)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from juncture.base.values import Value, read_only
from juncture.errors import InvalidModel, Unsupported
from juncture.factors.conditional import Columns
from juncture.numerics import stable
from juncture.variables import Scope, Variable

SYMMETRY = 1e-12  # relative to the largest entry of a precision matrix


class GaussianFactor(Value):
    """exp(log_scale + ηᵀx - ½ xᵀΛx) over real variables: a factor of a Gaussian Markov network.

    Parameters
    ----------
    scope
        Real-valued variables.
    loading
        η, (variable,).
    precision
        Λ, (variable, variable), symmetric. It need not be positive definite: the sum over all factors of a model must.
    log_scale
        The logarithm of the factor at x = 0.

    Examples
    --------
    >>> x, y = Variable("x"), Variable("y")
    >>> GaussianFactor([x, y], [0.0, 0.0], [[1.0, -1.0], [-1.0, 1.0]])
    GaussianFactor(x, y)
    """

    scope: Scope
    loading: np.ndarray
    precision: np.ndarray
    log_scale: np.ndarray

    def __init__(self, scope: Iterable[Variable], loading: Any, precision: Any, log_scale: Any = 0.0) -> None:
        scope = Scope(scope)
        what = f"of the factor over ({', '.join(scope.names)})"
        for variable in scope:
            if not variable.is_real or variable.dimension > 1:
                raise InvalidModel(f"a GaussianFactor is over single real numbers; {variable!r} is not")
        size = len(scope)
        loading = stable.as_numbers(loading, (size,), name=f"the loading {what}")
        precision = stable.as_numbers(precision, (size, size), name=f"the precision {what}")
        log_scale = stable.as_numbers(log_scale, (), name=f"the log_scale {what}")
        gap = np.abs(precision - precision.T).max(initial=0.0)
        if gap > SYMMETRY * np.abs(precision).max(initial=0.0):
            raise InvalidModel(f"the precision {what} must be symmetric; entries differ by {gap:.3g}")
        symmetric = read_only(0.5 * (precision + precision.T))
        self._set(scope=scope, loading=loading, precision=symmetric, log_scale=log_scale)

    def log_values_at(self, columns: Columns) -> np.ndarray:
        """The logarithm of the factor in each row of columns."""
        rows = [columns[name] for name in self.scope.names]
        if not rows:
            return self.log_scale
        x = np.stack(rows, axis=-1)
        return np.asarray(self.log_scale + x @ self.loading - 0.5 * ((x @ self.precision) * x).sum(axis=-1))

    @property
    def values(self) -> NoReturn:
        refuse_table(self)

    @property
    def log_values(self) -> NoReturn:
        refuse_table(self)

    def __repr__(self) -> str:
        return f"GaussianFactor({', '.join(self.scope.names)})"


def refuse_table(part: GaussianFactor) -> NoReturn:
    raise Unsupported(f"{part!r} has no table: its variables are real; infer, sample and log_prob take it")
