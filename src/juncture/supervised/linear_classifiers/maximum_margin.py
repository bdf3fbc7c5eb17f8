"""Support vector machines: the hyperplane of maximum margin, hard or soft, with proofs of its optimality.

The dual is solved by sequential minimal optimisation, then exactly on its active set. With β_n = t_n λ_n it is the
maximum of Σ t_n β_n - ½ βᵀKβ, where Σ β_n = 0 and each t_n β_n is in [0, C]. A step moves two entries along e_i - e_j
(Platt), chosen by the second-order rule of Fan, Chen and Lin. Entries strictly inside their ends solve a linear system;
once they are known, that system gives the solution to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_count, check_number
from juncture.base.options import Options
from juncture.base.shown import shown_html
from juncture.base.values import number_of, read_only
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, NotConvergedWarning, Unsupported, warn_user
from juncture.numerics.iteration import Trace
from juncture.supervised.linear_classifiers.decision_function import (
    TRUTH,
    DecisionFit,
    DecisionFunction,
    check_binary,
    check_labels,
    check_points,
    read_binary_rows,
    read_points,
)
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane, find_separation
from juncture.supervised.linear_classifiers.kernels import Kernel, LinearKernel, check_kernel
from juncture.supervised.regression.inputs_and_targets import decode_classes
from juncture.variables import State


class MaximumMargin(DecisionFunction):
    """A support vector machine: a(x) = Σ t_n λ_n k(x, x_n) + b, with the points it was learned from.

    `jt.fit(jt.supervised.MaximumMargin, X, y)` learns one: the least ½‖w‖² + C Σ slack with t (w·φ(x) + b) ≥ 1 - slack
    and slack ≥ 0, with the options of `MarginOptions`. Build one from the multipliers of another solver to check them.

    Parameters
    ----------
    points
        (point, coordinate), or (point,) on a line.
    labels
        True (or 1) for points of the second class, False (or 0) for those of the first.
    multipliers
        (point,): λ.
    bias
        b.
    cost
        C, the price of a unit of slack; infinite for a hard margin.
    kernel
        k.
    classes
        The labels of the first and the second class; by default False and True.

    Examples
    --------
    >>> machine = MaximumMargin([[0.0, 0.0], [2.0, 2.0]], [0, 1], [0.25, 0.25], -1.0)
    >>> machine.hyperplane, round(machine.margin, 6), machine.duality_gap
    (Hyperplane([0.5, 0.5], -1.0), 1.414214, 0.0)
    >>> import juncture as jt
    >>> found = jt.fit(MaximumMargin, [[0.0, 0.0], [2.0, 2.0], [3.0, 3.0]], ["a", "b", "b"])
    >>> found.model.support.tolist(), found.model.predict([[2.0, 1.0]]).tolist()
    ([0, 1], ['b'])
    """

    kind: ClassVar[str] = "maximum-margin classifier"
    points: np.ndarray
    labels: np.ndarray
    multipliers: np.ndarray
    bias: float
    cost: float
    kernel: Kernel
    classes: tuple[State, State]

    def __init__(
        self,
        points: Any,
        labels: Any,
        multipliers: Any,
        bias: float,
        *,
        cost: float = math.inf,
        kernel: Kernel | None = None,
        classes: Any = TRUTH,
    ) -> None:
        places, names = read_points(points)
        found = check_array(multipliers, "multipliers", ndim=1)
        if len(found) != len(places) or not np.isfinite(found).all():
            raise InvalidData(f"multipliers are one finite number a point, {len(places)} here; got {len(found)}")
        self._set(
            points=read_only(places),
            labels=read_only(check_labels(labels, len(places))),
            multipliers=read_only(found),
            bias=check_number(bias, "bias", finite=True),
            cost=check_number(cost, "cost", above=0),
            kernel=LinearKernel() if kernel is None else check_kernel(kernel),
            classes=check_binary(classes),
        )
        if names is not None:
            self._set(feature_names=names)

    @property
    def num_columns(self) -> int:
        """The number of coordinates."""
        return int(self.points.shape[1])

    @property
    def num_parameters(self) -> int:
        """The number of free parameters: the multipliers of its points, and the bias."""
        return len(self.multipliers) + 1

    @property
    def signs(self) -> np.ndarray:
        """(point,): 1 for the second class, -1 for the first."""
        return np.where(self.labels, 1.0, -1.0)

    def activation(self, X: Any) -> np.ndarray:
        """(point,): a(x), of which the sign is the class."""
        places = check_points(X, self.feature_names)
        return np.asarray(self.kernel(places, self.points) @ (self.signs * self.multipliers) + self.bias)

    def predict(self, X: Any) -> np.ndarray:
        """(point,): the second class where a(x) > 0, else the first."""
        return decode_classes(self.classes, (self.activation(X) > 0).astype(np.int64))

    @property
    def support(self) -> np.ndarray:
        """The positions of the support vectors, whose multipliers are positive."""
        return np.flatnonzero(self.multipliers > 0)

    @property
    def hyperplane(self) -> Hyperplane:
        """w = Σ t λ x and b, for the linear kernel."""
        if type(self.kernel) is not LinearKernel:
            raise Unsupported(f"the boundary of {self.kernel!r} is a hyperplane of its features only: use activation")
        boundary = Hyperplane((self.signs * self.multipliers) @ self.points, self.bias, self.classes)
        return boundary._with_names(self.feature_names, self._target_name)

    @property
    def norm(self) -> float:
        """‖w‖ in the space of the features."""
        return math.sqrt(max(self._square, 0.0))

    @property
    def margin(self) -> float:
        """1 / ‖w‖: half the width of the band between the classes."""
        return 1.0 / self.norm

    @property
    def slacks(self) -> np.ndarray:
        """(point,): max(0, 1 - t a): 0 outside the band, above 1 on the wrong side."""
        return np.maximum(0.0, 1.0 - self.signs * self._activations)

    @property
    def primal_objective(self) -> float:
        """½‖w‖² + C Σ slack; of a hard margin without the slacks, which the residuals report."""
        return 0.5 * self._square + (self.cost * float(self.slacks.sum()) if math.isfinite(self.cost) else 0.0)

    @property
    def dual_objective(self) -> float:
        """Σ λ - ½‖w‖², at most the primal optimum."""
        return float(self.multipliers.sum()) - 0.5 * self._square

    @property
    def duality_gap(self) -> float:
        """The primal objective less the dual one: 0 at the solution."""
        return self.primal_objective - self.dual_objective

    @property
    def residuals(self) -> OptimalityResiduals:
        """How far the conditions of optimality are from holding."""
        margins, slacks = self.signs * self._activations, self.slacks
        is_hard = not math.isfinite(self.cost)
        outside = np.maximum(-self.multipliers, 0.0 if is_hard else self.multipliers - self.cost)
        loose = self.multipliers * np.abs(margins - 1.0 + (0.0 if is_hard else slacks))
        priced = np.zeros(1) if is_hard else (self.cost - self.multipliers) * slacks
        return OptimalityResiduals(
            float(slacks.max(initial=0.0)) if is_hard else 0.0,
            max(float(outside.max(initial=0.0)), 0.0),
            abs(float(self.signs @ self.multipliers)),
            float(max(loose.max(initial=0.0), np.abs(priced).max(initial=0.0))),
        )

    @property
    def _activations(self) -> np.ndarray:
        if "activations" not in self.derived:
            self.derived["activations"] = read_only(self.activation(self.points))
        return np.asarray(self.derived["activations"])

    @property
    def _square(self) -> float:
        return float((self.signs * self.multipliers) @ (self._activations - self.bias))

    def plot(self, **options: Any) -> Any:
        """The hyperplane in a plane with its margin and support vectors; `jt.plot`."""
        return plot(self, **options)

    def __repr__(self) -> str:
        kind = "hard" if math.isinf(self.cost) else f"cost={self.cost:g}"
        return f"MaximumMargin({number_of(len(self.support), 'support vector')}, {kind}, {self.kernel!r})"


@dataclass(frozen=True)
class SequentialMinimalOptimization(Options):
    """Steps that move two multipliers at a time, and the exact solution of the active set (Platt; Fan, Chen and Lin).

    Parameters
    ----------
    tolerance
        The steps end once the conditions of optimality hold within the tolerance.
    max_steps
        The largest number of steps, after which a warning says so.
    """

    tolerance: float = 1e-8
    max_steps: int = 100_000

    def __post_init__(self) -> None:
        check_number(self.tolerance, "tolerance", above=0)
        check_count(self.max_steps, "max_steps", least=1)

    def solve(self, places: np.ndarray, is_second: np.ndarray, cost: float, kernel: Kernel) -> DualSolution:
        """The multipliers and the bias; a hard margin that is infeasible is refused."""
        gram = kernel.matrix(places, places)
        if math.isinf(cost) and find_separation(gram, is_second) is None:
            raise InvalidData(
                "no hyperplane separates the classes: a hard margin is infeasible; give a finite cost, which allows"
                " points inside the margin, or a kernel with more features"
            )
        found = maximize_dual(gram, np.where(is_second, 1.0, -1.0), cost, self.tolerance, self.max_steps)
        if found.violation > self.tolerance:
            warn_user(
                f"the conditions of optimality hold within {found.violation:.3g} only, not {self.tolerance:g}: give"
                " more max_steps",
                NotConvergedWarning,
            )
        return found


@dataclass(frozen=True)
class MarginOptions(Options):
    """How a support vector machine is learned; both classes must occur.

    Parameters
    ----------
    cost
        C. Infinite, the default, is a hard margin: classes that no hyperplane separates are refused.
    kernel
        The inner product of the features; by default that of the points, or that of the machine that is given.
    method
        "smo", or a `jt.supervised.SequentialMinimalOptimization` with its options.
    """

    cost: float = math.inf
    kernel: Kernel | None = None
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"smo": SequentialMinimalOptimization}

    def __post_init__(self) -> None:
        check_number(self.cost, "cost", above=0)
        if self.kernel is not None:
            check_kernel(self.kernel)


def fit_maximum_margin(
    model: MaximumMargin | type[MaximumMargin],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    rng: Any = None,
    options: MarginOptions,
) -> DecisionFit:
    """The machine of maximum margin; nothing is drawn. Of one that is given the classes and the kernel stay."""
    rows = read_binary_rows(model, data, y, weights)
    rows.check_both("a margin lies")
    rows.check_unweighted("a support vector machine")
    kernel = options.kernel or (LinearKernel() if isinstance(model, type) else model.kernel)
    found = options.method.solve(rows.places, rows.is_second, options.cost, kernel)
    machine = MaximumMargin(
        rows.places, rows.is_second, np.abs(found.signed), found.bias, cost=options.cost, kernel=kernel,
        classes=rows.classes,
    )  # fmt: skip
    is_done = found.violation <= options.method.tolerance
    reason = f"the conditions of optimality hold within {found.violation:.2g}"
    trace = Trace((machine.primal_objective,), is_done, reason)
    error = rows.error_of(machine._activations)
    return DecisionFit(machine._with_names(rows.names, rows.target_name), trace, error)


class OptimalityResiduals(NamedTuple):
    """How far multipliers and bias are from the conditions of Karush, Kuhn and Tucker; all are 0 at the solution.

    Attributes
    ----------
    primal
        The largest 1 - t a of a point, where no slack is allowed; 0 for a soft margin, whose slacks make up for it.
    dual
        The largest distance of a multiplier from [0, cost].
    stationarity
        |Σ t λ|; w = Σ t λ φ(x) holds by construction.
    complementarity
        The largest λ |t a - 1 + slack| and (cost - λ) slack.
    """

    primal: float
    dual: float
    stationarity: float
    complementarity: float

    def _repr_html_(self) -> str:
        return shown_html(self)


EXACT_EVERY = 20  # steps between two attempts to solve for the active set


class DualSolution(NamedTuple):
    """Signed multipliers β, the bias, and the largest violation of the conditions of optimality."""

    signed: np.ndarray  # (point,)
    bias: float
    violation: float


def maximize_dual(gram: np.ndarray, signs: np.ndarray, cost: float, tolerance: float, max_steps: int) -> DualSolution:
    """The solution once the violation is within the tolerance, else the last one."""
    low, high = np.where(signs > 0, 0.0, -cost), np.where(signs > 0, cost, 0.0)
    signed, errors = np.zeros(len(signs)), signs.copy()
    best = measure(signed, errors, low, high)
    for step in range(max_steps):
        if best.violation <= tolerance:
            break
        signed, errors = move_pair(gram, signed, errors, low, high)
        best = measure(signed, errors, low, high)
        if step % EXACT_EVERY == EXACT_EVERY - 1 or best.violation <= 1e-3:
            exact = solve_active(gram, signs, signed, low, high)
            if exact is not None and exact.violation <= min(tolerance, best.violation):
                return exact
            if exact is not None and dual(gram, signs, exact.signed) > dual(gram, signs, signed):
                signed, errors, best = exact.signed, signs - gram @ exact.signed, exact
    return best


def dual(gram: np.ndarray, signs: np.ndarray, signed: np.ndarray) -> float:
    """Σ t β - ½ βᵀKβ."""
    return float(signs @ signed - 0.5 * signed @ (gram @ signed))


def move_pair(
    gram: np.ndarray, signed: np.ndarray, errors: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One step: the entry that most wants to rise, and the one whose fall beside it gains most."""
    diagonal = np.diag(gram)
    rising = int(np.where(signed < high, errors, -np.inf).argmax())
    gains = errors[rising] - errors
    curvature = np.maximum(diagonal[rising] + diagonal - 2 * gram[rising], 1e-12)
    falling = int(np.where((signed > low) & (gains > 0), gains**2 / curvature, -np.inf).argmax())
    length = min(gains[falling] / curvature[falling], high[rising] - signed[rising], signed[falling] - low[falling])
    moved = signed.copy()
    moved[rising] += length
    moved[falling] -= length
    return moved, errors - length * (gram[rising] - gram[falling])


def measure(signed: np.ndarray, errors: np.ndarray, low: np.ndarray, high: np.ndarray) -> DualSolution:
    """The bias between the two sides' limits, and the gap between these.

    t - Kβ may not exceed the bias where β could rise, nor be below it where β could fall.
    """
    rise, fall = errors[signed < high].max(initial=-np.inf), errors[signed > low].min(initial=np.inf)
    return DualSolution(signed, 0.5 * (rise + fall), max(rise - fall, 0.0))


def solve_active(
    gram: np.ndarray, signs: np.ndarray, signed: np.ndarray, low: np.ndarray, high: np.ndarray
) -> DualSolution | None:
    """The best with the entries at their ends held, or as far as the first end on the way; None if all are held."""
    is_free = (signed > low) & (signed < high)
    number = int(is_free.sum())
    if not number:
        return None
    fixed = np.where(is_free, 0.0, signed)
    system = np.ones((number + 1, number + 1))
    system[:-1, :-1], system[-1, -1] = gram[np.ix_(is_free, is_free)], 0.0
    wanted = np.append((signs - gram @ fixed)[is_free], -fixed.sum())
    solution = np.linalg.lstsq(system, wanted, rcond=None)[0]
    moved = fixed.copy()
    moved[is_free] = solution[:-1]
    share = reach(signed, moved, low, high)
    moved = np.clip(signed + share * (moved - signed), low, high)
    return measure(moved, signs - gram @ moved, low, high)


def reach(signed: np.ndarray, wanted: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """The largest share of the way, at most all of it, on which every entry stays within its ends."""
    way = wanted - signed
    room = np.where(way > 0, high - signed, low - signed)
    shares = np.divide(room, way, out=np.ones_like(way), where=(way != 0) & np.isfinite(room))
    return float(min(1.0, shares.min(initial=1.0)))
