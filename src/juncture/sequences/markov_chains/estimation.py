"""A Markov chain from its counts: maximum likelihood, or with a prior the mean or mode of the posterior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.errors import InvalidData, UnseenParentsWarning, hint, warn_user
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.conditionals.table import TableCounts, added_counts, weighted_logs
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.sequences.markov_chains.statistics import MarkovChainStatistics

PARTS = ("initial", "transition")
SHOWN = 3


@dataclass(frozen=True, eq=False)
class Estimate:
    """A chain as tables: of how sequences begin, step by step, and of what follows what."""

    statistics: MarkovChainStatistics
    options: EstimationOptions

    @property
    def parts(self) -> Iterator[tuple[TableCounts, np.ndarray]]:
        """Each table's counts, and what they lead to; where there are none, all is equally likely."""
        for part in (*self.statistics.starts, self.statistics.transitions):
            counts = part.counts + added_counts(self.options, part)
            totals = counts.sum(axis=-1, keepdims=True)
            yield part, np.divide(counts, totals, out=np.full(counts.shape, 1.0 / counts.shape[-1]), where=totals > 0)

    @property
    def chain(self) -> MarkovChain:
        *starts, transition = (table for _, table in self.parts)
        distribution = np.ones(())
        for table in starts:
            distribution = distribution[..., None] * table
        return MarkovChain(transition, distribution, states=self.statistics.states, order=self.statistics.order)

    @property
    def log_likelihood(self) -> float:
        """Of the sequences that were counted."""
        return sum(weighted_logs(part.counts, table) for part, table in self.parts)

    @property
    def log_prior(self) -> float:
        return log_prior(self.statistics, [table for _, table in self.parts], self.options)

    def report_unseen(self) -> None:
        """Warn of histories that no sequence goes on from, or raise if that was asked for."""
        part = self.statistics.transitions
        unseen = np.argwhere((part.counts + added_counts(self.options, part)).sum(axis=-1) == 0)
        if not len(unseen):
            return
        labels = [tuple(self.statistics.states[code] for code in history) for history in unseen[:SHOWN]]
        few = ", ".join(repr(label if len(label) > 1 else label[0]) for label in labels)
        message = f"no sequence goes on from {few}{f', … ({len(unseen)} in all)' if len(unseen) > SHOWN else ''}"
        if self.options.on_unseen == "error":
            raise InvalidData(f'{message}; give a prior, or on_unseen="uniform"')
        warn_user(
            f"{message}; there all states are taken as equally likely to follow: give a prior to say otherwise",
            UnseenParentsWarning,
        )


def log_prior(statistics: MarkovChainStatistics, tables: Sequence[np.ndarray], options: EstimationOptions) -> float:
    """Σ α log θ, up to a constant."""
    parts = zip((*statistics.starts, statistics.transitions), tables, strict=True)
    return sum(weighted_logs(np.broadcast_to(added_counts(options, part), table.shape), table) for part, table in parts)


def as_estimation_options(prior: Any, order: int, point: Any, on_unseen: Any) -> EstimationOptions:
    """What is asked, with a prior of parts of the chain as one of the tables of its statistics."""
    if not isinstance(prior, Mapping):
        return EstimationOptions(prior, point, on_unseen)
    for name in prior:
        if name not in PARTS:
            raise InvalidData(f"the prior of a Markov chain is of its initial or transition; {hint(name, PARTS)}")
    tables = {f"state{step}": prior.get("initial") for step in range(order)}
    return EstimationOptions({**tables, "next": prior.get("transition")}, point, on_unseen)
