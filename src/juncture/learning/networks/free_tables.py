"""The free tables of a network as one vector of numbers without constraints: logarithms, up to a constant a row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.errors import Unsupported
from juncture.factors.conditional import Conditional, signature
from juncture.factors.deterministic import Deterministic
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.conditionals.table import added_counts
from juncture.learning.networks.estimation import learned_groups, pool_statistics
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.learning.networks.templates import with_conditionals
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics.stable import softmax

SMALLEST = 1e-13  # the start of a probability of zero: its logarithm must be finite


@dataclass(frozen=True, eq=False)
class FreeTables:
    """Which tables may change, tied ones once, and the way between them and a vector."""

    template: BayesianNetwork
    fixed: frozenset[str]
    options: EstimationOptions

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The children of each free table: one, or all that are tied."""
        free = tuple(
            g for g in learned_groups(self.template, self.fixed) if not isinstance(self.template[g[0]], Deterministic)
        )
        for group in free:
            if not isinstance(self.template[group[0]], Conditional):
                raise Unsupported(
                    f"gradients and standard errors are for tables; {signature(self.template[group[0]])} is none:"
                    f" keep it with fixed=[{group[0]!r}], or learn by EM"
                )
        return free

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
        return with_conditionals(
            self.template, (made.get(part.child.name, part) for part in self.template.conditionals)
        )

    def gradient(self, model: BayesianNetwork, statistics: NetworkStatistics) -> np.ndarray:
        """The gradient in the logits: expected counts less the counts that the table predicts for as many rows."""
        parts = [(counts - expected).reshape(-1) for counts, expected in self._counts(model, statistics)]
        return np.concatenate([np.empty(0), *parts])

    def slopes(self, model: BayesianNetwork, statistics: NetworkStatistics) -> list[np.ndarray]:
        """What the objective gains by the unit of probability moved to an entry from its row; no entry may be zero."""
        counted = self._counts(model, statistics)
        return [(c - e) / table for (c, e), table in zip(counted, self.values(model), strict=True)]

    def _counts(self, model: BayesianNetwork, statistics: NetworkStatistics) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each table the expected counts, and the counts that the table itself predicts for as many rows."""
        shared, found = pool_statistics(model, statistics), []
        for group, table in zip(self.groups, self.values(model), strict=True):
            part = shared[group[0]]
            counts = part.counts + added_counts(self.options, part)
            found.append((counts, counts.sum(axis=-1, keepdims=True) * table))
        return found
