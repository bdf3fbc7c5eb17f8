"""Baum-Welch: expectation maximisation for hidden Markov models.

Each step asks how likely every state and every pair of neighbouring states is at each step of each sequence, and
estimates from these as if they were counts. The log-likelihood, with a prior plus its logarithm, never falls (Baum,
Petrie, Soules and Weiss 1970).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.data.sequences.sequences import Sequences
from juncture.errors import ImpossibleEvidence
from juncture.iteration import has_fallen
from juncture.learning.em.squarem import extrapolate_tables
from juncture.sequences.hidden_markov.estimation import quietly_estimated
from juncture.sequences.hidden_markov.expectation import expected
from juncture.sequences.hidden_markov.impossible import refuse_impossible
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import Wishes
from juncture.sequences.hidden_markov.statistics import HiddenMarkovStatistics

Pass = Callable[[], Iterable[Sequences]]  # all sequences, part by part; called once a step


@dataclass(frozen=True, eq=False)
class Believed:
    """A model, the statistics expected under it, and its objective."""

    model: HiddenMarkovModel
    statistics: HiddenMarkovStatistics
    log_likelihood: float
    objective: float


@dataclass(frozen=True, eq=False)
class BaumWelch:
    """EM from a start; the sequences pass by once a step."""

    start: HiddenMarkovModel
    parts: Pass
    wishes: Wishes

    def init(self) -> Believed:
        return self.believed(self.start)

    def step(self, state: Believed) -> Believed:
        """Laws that are almost points are rounded so much that a step may lose: then laws stay."""
        with suppress(ImpossibleEvidence):
            moved = self.believed(quietly_estimated(state.model, state.statistics, self.wishes))
            if not has_fallen(state.objective, moved.objective):
                return moved
        return self.believed(quietly_estimated(state.model, state.statistics, self.wishes.keeping("emissions")))

    def objective(self, state: Believed) -> float:
        return state.objective

    def believed(self, model: HiddenMarkovModel) -> Believed:
        """The expectation step under a model."""
        statistics, log_likelihood = expectation(model, self.parts)
        return Believed(model, statistics, log_likelihood, log_likelihood + self.wishes.log_prior(model))


@dataclass(frozen=True, eq=False)
class AcceleratedBaumWelch(BaumWelch):
    """Two steps of EM, then the SQUAREM extrapolation of the tables where it raises the objective."""

    def step(self, state: Believed) -> Believed:
        once = super().step(state)
        twice = super().step(once)
        stages = [self.tables(stage.model) for stage in (state, once, twice)]
        further = extrapolate_tables(*(list(tables.values()) for tables in stages))
        if further is None:
            return twice
        reached = self.believed(with_tables(twice.model, dict(zip(stages[0], further, strict=True))))
        return reached if reached.objective > twice.objective else twice

    def tables(self, model: HiddenMarkovModel) -> dict[str, np.ndarray]:
        """The tables that are learned."""
        tables = {"initial": model.initial[None], "transition": model.transition}
        if isinstance(model.emissions, CategoricalEmissions):
            tables["emissions"] = model.emissions.probabilities
        return {name: table for name, table in tables.items() if self.wishes.learns(name)}


def with_tables(model: HiddenMarkovModel, tables: dict[str, np.ndarray]) -> HiddenMarkovModel:
    """The model with other numbers in some of its tables."""
    emissions = model.emissions
    if "emissions" in tables and isinstance(emissions, CategoricalEmissions):
        emissions = CategoricalEmissions(tables["emissions"], emissions.symbols)
    initial = tables.get("initial", model.initial[None])[0]
    return HiddenMarkovModel(initial, tables.get("transition", model.transition), emissions, states=model.states)


def expectation(model: HiddenMarkovModel, parts: Pass) -> tuple[HiddenMarkovStatistics, float]:
    """The statistics expected under a model, and the log-likelihood, of all sequences."""
    found, log_likelihood, num_before = [], 0.0, 0
    for sequences in parts():
        part = expected(model, sequences)
        refuse_impossible(model, sequences, part.log_evidence, num_before)
        found.append(HiddenMarkovStatistics(part.initial, part.transitions, part.emissions))
        heavy = sequences.weights > 0
        log_likelihood += float(sequences.weights[heavy] @ part.log_evidence[heavy])
        num_before += sequences.num
    return reduce(operator.add, found), log_likelihood
