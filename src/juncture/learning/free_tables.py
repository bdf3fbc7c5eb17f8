"""The free tables of a network as one vector of numbers without constraints: logarithms, up to a constant a row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.errors import Unsupported
from juncture.factors.conditional import Conditional, signature
from juncture.factors.deterministic import Deterministic
from juncture.learning.estimation import sum_of_tied
from juncture.learning.kinds.contract import Wishes
from juncture.learning.kinds.table import added_counts
from juncture.learning.network_statistics import NetworkStatistics
from juncture.learning.starts import rebuilt
from juncture.models.bayesian_network import BayesianNetwork
from juncture.numerics import softmax

SMALLEST = 1e-13  # what a probability of zero starts from: a logarithm must be finite


@dataclass(frozen=True, eq=False)
class FreeTables:
    """Which tables may change, tied ones once, and the way between them and a vector."""

    template: BayesianNetwork
    fixed: frozenset[str]
    wishes: Wishes

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The children of each free table: one, or all that are tied."""
        tied = {name: group for group in self.template.tied for name in group}
        firsts = dict.fromkeys(tied.get(part.child.name, (part.child.name,)) for part in self.template.conditionals)
        free = tuple(group for group in firsts if not self.fixed & set(group) and not self._is_determined(group[0]))
        for group in free:
            if not isinstance(self.template[group[0]], Conditional):
                raise Unsupported(
                    f"gradients and standard errors are for tables; {signature(self.template[group[0]])} is none:"
                    f" keep it with fixed=[{group[0]!r}], or learn by EM"
                )
        return free

    def _is_determined(self, name: str) -> bool:
        return isinstance(self.template[name], Deterministic)

    def values(self, model: BayesianNetwork) -> list[np.ndarray]:
        return [self._table(model, group[0]) for group in self.groups]

    def _table(self, model: BayesianNetwork, name: str) -> np.ndarray:
        part = model[name]
        assert isinstance(part, Conditional)  # noqa: S101 (`groups` has looked)
        return part.values

    def logits(self, model: BayesianNetwork) -> np.ndarray:
        parts = [np.log(np.maximum(table, SMALLEST)).reshape(-1) for table in self.values(model)]
        return np.concatenate([np.empty(0), *parts])

    def model(self, logits: np.ndarray) -> BayesianNetwork:
        """The network whose free tables are the softmax of the vector's parts."""
        made, start = {}, 0
        for group in self.groups:
            shape = self._table(self.template, group[0]).shape
            stop = start + int(np.prod(shape))
            table, start = softmax(logits[start:stop].reshape(shape)), stop
            parts = (self.template[name] for name in group)
            made.update({part.child.name: Conditional(part.child, part.parents, table) for part in parts})
        return rebuilt(self.template, (made.get(part.child.name, part) for part in self.template.conditionals))

    def gradient(self, model: BayesianNetwork, statistics: NetworkStatistics) -> np.ndarray:
        """Of the objective in the logits: expected counts less what the table itself would expect of as many rows."""
        parts = []
        for group, table in zip(self.groups, self.values(model), strict=True):
            part = sum_of_tied([statistics[name] for name in group])
            counts = part.counts + added_counts(self.wishes, part) * len(group)
            parts.append((counts - counts.sum(axis=-1, keepdims=True) * table).reshape(-1))
        return np.concatenate([np.empty(0), *parts])
