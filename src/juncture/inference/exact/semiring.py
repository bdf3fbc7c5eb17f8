"""`Semiring`: elimination with any two operations of which one distributes over the other.

Summing variables out of a product needs no more than that a · (b + c) = a · b + a · c. With the maximum in place of the
sum elimination finds the largest product, with minimum and sum the least cost, with "or" and "and" whether constraints
can be met, with whole numbers in how many ways (Aji and McEliece 2000; Kohlas and Wilson 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from juncture.base.checks import shown
from juncture.base.options import as_variable_names, resolve
from juncture.data.findings import Findings
from juncture.errors import InvalidData, InvalidModel
from juncture.evidence import as_findings
from juncture.inference.engines.lowering import check_factors
from juncture.inference.exact.elimination import (
    Elimination,
    EliminationStep,
    eliminate_in_order,
    plan_elimination,
)
from juncture.inference.exact.log_tables import Nodes, combine
from juncture.numerics import stable
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

Operation = Callable[[Any, Any], Any]
Table: TypeAlias = tuple[tuple[int, ...], np.ndarray]
"""Variables by their numbers, and a table of elements with an axis for each."""


def same(values: np.ndarray) -> np.ndarray:
    return values


@dataclass(frozen=True)
class Semiring:
    """Two operations on arrays, element by element, and their neutral elements.

    Parameters
    ----------
    add
        What takes the place of the sum: associative and commutative.
    multiply
        What takes the place of the product: associative, commutative, and distributive over `add`.
    zero, one
        The neutral elements of `add` and of `multiply`; a product with `zero` is `zero`.
    lift
        What turns the entries of tables and likelihoods into elements; by default they are elements. Arrays of any
        type, also of objects, will do.

    Examples
    --------
    >>> from juncture.factors.factor import Factor
    >>> from juncture.networks.factor_product import MarkovNetwork
    >>> from juncture.variables import Variable
    >>> costs = Factor([Variable("x", 2), Variable("y", 2)], [[5, 2], [3, 4]])
    >>> cheapest = Semiring(np.minimum, np.add, np.inf, 0.0)
    >>> eliminate(MarkovNetwork([costs]), cheapest, keep=["y"]).tolist()
    [3.0, 2.0]
    """

    add: Operation
    multiply: Operation
    zero: Any
    one: Any
    lift: Callable[[np.ndarray], np.ndarray] = same

    def __post_init__(self) -> None:
        for name in ("add", "multiply", "lift"):
            if not callable(getattr(self, name)):
                raise InvalidData(f"{name} of a semiring is a function of arrays; got {shown(getattr(self, name))}")
        try:
            zero, one = np.asarray(self.zero), np.asarray(self.one)
            rules = {
                "zero + one is one": (self.add(zero, one), one),
                "one · one is one": (self.multiply(one, one), one),
                "zero · one is zero": (self.multiply(zero, one), zero),
            }
        except (TypeError, ValueError) as error:
            raise InvalidModel(f"the operations of a semiring take its elements zero and one: {error}") from error
        for rule, (found, wanted) in rules.items():
            if not np.all(np.asarray(found) == wanted):
                raise InvalidModel(f"a semiring has neutral elements: {rule}; these operations give {found!r}")

    def sum_out(self, table: np.ndarray, axis: int = -1) -> np.ndarray:
        """Add up the entries along one axis."""
        if isinstance(self.add, np.ufunc):
            return np.asarray(self.add.reduce(table, axis=axis))
        return np.asarray(reduce(self.add, np.moveaxis(table, axis, 0)))

    def product(self, tables: Sequence[Table], nodes: Sequence[int]) -> np.ndarray:
        """The product of tables over nodes, with an axis for each of `nodes`."""
        return combine(tables, tuple(nodes), self.multiply, self.one)

    def sum_to(self, table: np.ndarray, nodes: Nodes, kept: Nodes = ()) -> np.ndarray:
        """The table with all nodes summed out, one after the other from the last, but those kept."""
        for axis in reversed(range(len(nodes))):
            if nodes[axis] not in kept:
                table = self.sum_out(table, axis)
        return table

    def ones(self, sizes: Sequence[int]) -> list[Table]:
        """A table of ones for each node, by which a product gets them all."""
        return [((node,), np.full(size, self.one)) for node, size in enumerate(sizes)]

    def likelihoods(self, findings: Findings, variables: Scope) -> list[Table]:
        """The lifted likelihood of each finding of a single row."""
        logs = [(variables.axis(name), np.asarray(findings.log_likelihood(name))) for name in findings.names]
        return [((node,), np.asarray(self.lift(np.exp(log)[0]))) for node, log in logs]

    def tables_of(self, model: Network, evidence: Any = None) -> list[Table]:
        """The lifted tables of a model's factors and of one row of evidence, with the numbers of their variables."""
        check_factors(model, "a semiring")
        findings = as_findings(evidence, model.variables)
        if not findings.is_single:
            raise InvalidData(f"a semiring takes one row of evidence; got {findings.num_rows} rows")
        names = {name: node for node, name in enumerate(model.variables.names)}
        tables = [
            (tuple(names[name] for name in factor.scope.names), np.asarray(self.lift(np.array(factor.values))))
            for factor in model.factors
        ]
        return [*tables, *self.likelihoods(findings, model.variables)]


def negative_log(values: np.ndarray) -> np.ndarray:
    return -stable.log(values)


def is_positive(values: np.ndarray) -> np.ndarray:
    return np.asarray(values) > 0


def count_positive(values: np.ndarray) -> np.ndarray:
    return (np.asarray(values) > 0).astype(np.int64)


SEMIRINGS = {
    "sum-product": Semiring(np.add, np.multiply, 0.0, 1.0),
    "max-product": Semiring(np.maximum, np.multiply, 0.0, 1.0),
    "log-sum-exp": Semiring(np.logaddexp, np.add, -np.inf, 0.0, stable.log),
    "max-sum": Semiring(np.maximum, np.add, -np.inf, 0.0, stable.log),
    "min-sum": Semiring(np.minimum, np.add, np.inf, 0.0, negative_log),
    "boolean": Semiring(np.logical_or, np.logical_and, False, True, is_positive),
    "counting": Semiring(np.add, np.multiply, 0, 1, count_positive),
}


def as_semiring(semiring: Any) -> Semiring:
    """A semiring, or one of `SEMIRINGS` by its name."""
    found = resolve(semiring, {name: partial(SEMIRINGS.__getitem__, name) for name in SEMIRINGS}, what="semiring")
    if not isinstance(found, Semiring):
        raise InvalidData(f"a semiring is a jt.messages.Semiring or one of {', '.join(map(repr, SEMIRINGS))}")
    return found


def eliminate(
    model: Network,
    semiring: Any = "sum-product",
    evidence: Any = None,
    *,
    keep: Sequence[str] = (),
    order: Sequence[str] | None = None,
) -> np.ndarray:
    """Sum all variables but some out of the product of a model's factors, by the operations of a semiring.

    Parameters
    ----------
    model
        A network or a factor graph whose variables have states.
    semiring
        A `Semiring`, or "sum-product", "max-product", "log-sum-exp", "max-sum", "min-sum", "boolean" (whether an
        assignment of positive weight exists) or "counting" (how many exist).
    evidence
        One row, as in `infer`; likelihoods are lifted as tables are.
    keep
        The variables that are kept.
    order
        The order of elimination; by default one with small tables.

    Returns
    -------
    ndarray
        An element for each joint state of the kept variables, an axis each, in the order of `keep`.

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> int(eliminate(example("asia"), "counting"))
    128
    >>> eliminate(example("asia"), "boolean", {"lung": "yes"}, keep=["either"]).tolist()
    [True, False]
    """
    ring = as_semiring(semiring)
    check_factors(model, "eliminate")
    sizes, names = list(model.variables.shape), model.variables.names
    kept = [model.variables.axis(name) for name in as_variable_names(keep, "keep")]
    given = None if order is None else [model.variables.axis(name) for name in as_variable_names(order, "order")]
    left = set() if given is None else set(range(len(sizes))) - {*given, *kept}
    if left:
        raise InvalidData(f"the order of elimination leaves out {names[min(left)]!r}, which is not kept")
    tables = [*ring.tables_of(model, evidence), *ring.ones(sizes)]
    plan = plan_elimination([scope for scope, _ in tables], sizes, keep=frozenset(kept), memory_limit=None, order=given)
    return ring.product(eliminate_steps(ring, plan, tables), kept)


def eliminate_steps(
    semiring: Semiring,
    plan: Elimination,
    tables: Sequence[Table],
    eliminate: Callable[[EliminationStep, np.ndarray], np.ndarray] | None = None,
) -> list[Table]:
    """The tables that are left after all steps of an elimination.

    `eliminate` takes a step's node, the last axis, out of the product of its bucket; by default it is summed out.
    """

    def replace(index: int, bucket: Sequence[Table]) -> list[Table]:
        step = plan.steps[index]
        product = semiring.product(bucket, (*step.nodes, step.node))
        return [(step.nodes, semiring.sum_out(product) if eliminate is None else eliminate(step, product))]

    return eliminate_in_order([step.node for step in plan.steps], tables, replace)
