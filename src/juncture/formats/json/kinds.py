"""The kinds of conditionals that JSON holds: for each, which of its fields are written and how they are read.

A new kind is one entry in `KINDS`. Its keys are fields of the class, written as nested lists; its reader makes the
conditional from a `Part`, and may leave the checks of shapes and ranges to the class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.base.documents.node import Node
from juncture.errors import FormatError
from juncture.factors.conditional import AnyConditional, Conditional, signature
from juncture.factors.deterministic import Deterministic
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.factors.logistic import Logistic
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.formats.rows import RowRepair
from juncture.variables import Scope, Variable


@dataclass(frozen=True)
class Part:
    """A conditional being read: its variables, and the fields of its kind."""

    child: Variable
    parents: Scope
    fields: dict[str, Node]
    repair: RowRepair

    def table(self, key: str) -> np.ndarray:
        return self.fields[key].table()

    def probabilities(self, node: Node, parents: Scope) -> np.ndarray:
        """A table of rows that sum to 1, or nearly."""
        table = node.table()
        shape = (*parents.shape, self.child.num_states)
        if table.shape != shape:
            raise node.error(
                f"must have the shape {shape}, one axis per parent, then the child's; it has {table.shape}"
            )
        with node.locate_errors():
            return self.repair.repair(self.child, parents, table)


def read_conditional(part: Part) -> Conditional:
    return Conditional(part.child, part.parents, part.probabilities(part.fields["values"], part.parents))


def read_deterministic(part: Part) -> Deterministic:
    return Deterministic(part.child, part.parents, part.fields["codes"].codes())


def read_noisy_or(part: Part) -> NoisyOr:
    return NoisyOr(part.child, part.parents, part.table("probabilities"), part.fields["leak"].number())


def read_noisy_max(part: Part) -> NoisyMax:
    nodes = part.fields["tables"].items()
    if len(nodes) != len(part.parents):
        raise part.fields["tables"].kind_error(f"a list of {len(part.parents)} tables, one per parent")
    tables = [part.probabilities(node, Scope([parent])) for node, parent in zip(nodes, part.parents, strict=True)]
    return NoisyMax(part.child, part.parents, tables, part.probabilities(part.fields["leak"], Scope()))


def read_logistic(part: Part) -> Logistic:
    return Logistic(part.child, part.parents, part.table("weights"), part.table("bias"))


def read_linear_gaussian(part: Part) -> LinearGaussian:
    numbers = (part.table(key) for key in ("coefficients", "intercept", "variance"))
    return LinearGaussian(part.child, part.parents, *numbers)


def read_constant(part: Part) -> Constant:
    if part.parents:
        raise FormatError("a Constant has no parents")
    return Constant(part.child, part.table("value"))


class Kind(NamedTuple):
    keys: tuple[str, ...]
    read: Callable[[Part], AnyConditional]


KINDS: dict[type, Kind] = {
    Conditional: Kind(("values",), read_conditional),
    Deterministic: Kind(("codes",), read_deterministic),
    NoisyOr: Kind(("probabilities", "leak"), read_noisy_or),
    NoisyMax: Kind(("tables", "leak"), read_noisy_max),
    Logistic: Kind(("weights", "bias"), read_logistic),
    LinearGaussian: Kind(("coefficients", "intercept", "variance"), read_linear_gaussian),
    Constant: Kind(("value",), read_constant),
}
KIND_NAMES = {kind.__name__: kind for kind in KINDS}


def encode_conditional(conditional: AnyConditional) -> dict[str, Any]:
    """A conditional as plain values; a kind that is not in the registry is refused by name."""
    kind = KINDS.get(type(conditional))
    if kind is None:
        known = ", ".join(KIND_NAMES)
        raise FormatError(f"JSON cannot hold {signature(conditional)}: its kind is none of {known}")
    numbers = {key: to_lists(getattr(conditional, key)) for key in kind.keys}
    names = {"child": conditional.child.name, "parents": list(conditional.parents.names)}
    return {"kind": type(conditional).__name__, **names, **numbers}


def to_lists(value: Any) -> Any:
    """Arrays, also those in a tuple, as nested lists."""
    return [to_lists(item) for item in value] if isinstance(value, tuple) else np.asarray(value).tolist()
