"""The options that `fit`, `statistics` and `estimate` share: declared variables, and the point of the posterior."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from juncture.base.options import Options
from juncture.learning.conditionals.contract import OnUnseen, Point, check_estimation
from juncture.variables import Scope, Variable


@dataclass(frozen=True)
class DeclaredVariables(Options):
    """The states of the columns of a table, where the rows alone do not say them.

    Parameters
    ----------
    variables
        Declares states, also of latent variables.
    """

    variables: Iterable[Variable] | None = None

    @property
    def declared(self) -> Scope | None:
        """The variables that are declared; None where none are."""
        return None if self.variables is None else Scope(self.variables)


@dataclass(frozen=True)
class DeclaredColumns(DeclaredVariables):
    """The kinds of the columns of a table, where these should be others than the cells show.

    Parameters
    ----------
    real
        The names of columns of numbers that are real-valued, however few they are.
    states
        The names of columns whose different values are states, however many they are.
    """

    real: Iterable[str] = ()
    states: Iterable[str] = ()


@dataclass(frozen=True)
class PointEstimate(Options):
    """Which point of the posterior is taken.

    Parameters
    ----------
    point
        "mean" or "mode" of the posterior; with a `Dirichlet` the mean adds its concentration to the counts, and the
        mode 1 less.
    on_unseen
        "uniform" or "error", for states of the parents, or states before, that no row has.
    """

    point: Point = "mean"
    on_unseen: OnUnseen = "uniform"

    def __post_init__(self) -> None:
        check_estimation(self.point, self.on_unseen)
