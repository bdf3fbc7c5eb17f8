"""A model's names and labels beside its packed tree: what the hot path looks up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.inference.exact.junction_tree.packed_tree import PackedTree
from juncture.variables import Scope, State


@dataclass(frozen=True, eq=False)
class PackedModel:
    """The variables of a model, the tree that holds its tables, and each node's number, hidden nodes last."""

    variables: Scope
    nodes: dict[str, int]
    tree: PackedTree

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self.variables.names

    @cached_property
    def everything(self) -> np.ndarray:
        """The nodes of all variables; hidden ones come after."""
        return np.arange(len(self.variables))

    @cached_property
    def starts(self) -> list[int]:
        """Where each node's states start in an array of all marginals."""
        return [0, *np.cumsum(self.tree.plan.num_states).tolist()]

    @cached_property
    def views(self) -> dict[str, tuple[Scope, slice]]:
        """Name → (its scope, where its states lie in an array of all marginals)."""
        ends = zip(self.variables, self.starts, self.starts[1:], strict=False)
        return {variable.name: (Scope([variable]), slice(start, stop)) for variable, start, stop in ends}

    @cached_property
    def labels(self) -> dict[str, tuple[int, dict[State, int]]]:
        """Name → (node, label → code), for labels that are text or whole numbers: these match by being equal."""
        return {
            variable.name: (
                node,
                {label: code for code, label in enumerate(variable.labels) if type(label) in {str, int}},
            )
            for node, variable in enumerate(self.variables)
        }
