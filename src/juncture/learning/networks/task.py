"""`Task`: a structure to learn from rows with holes, and all that was asked; what learners take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import Unsupported
from juncture.factors.conditional import signature
from juncture.iteration import Watch
from juncture.learning.conditionals.contract import Wishes
from juncture.learning.networks.acceleration import AcceleratedEM
from juncture.learning.networks.expectation_maximization import NetworkEM
from juncture.learning.networks.expected_statistics import Expectation
from juncture.learning.networks.starts import informed_start, random_start, without_symmetry
from juncture.networks.bayesian_network import BayesianNetwork


@dataclass(frozen=True, eq=False)
class Task:
    """A structure to learn the parameters of, and all that was asked."""

    template: BayesianNetwork
    data: Dataset
    wishes: Wishes
    fixed: frozenset[str]
    is_start: bool  # whether the template's parameters are where to start
    rng: np.random.Generator
    progress: Watch | None = None

    @property
    def latent(self) -> list[str]:
        """The variables of which no row says anything."""
        columns = self.data.columns
        names = self.template.variables.names
        return [name for name in names if name not in columns or (columns[name] < 0).all()]

    @property
    def partly_latent(self) -> list[str]:
        """The variables with holes of which two states or more are in no row."""
        columns = {v: self.data.columns[v.name] for v in self.template.variables if v.name in self.data.columns}
        return [
            variable.name
            for variable, codes in columns.items()
            if (codes < 0).any() and np.unique(codes[codes >= 0]).size < variable.num_states - 1
        ]

    def start(self) -> BayesianNetwork:
        if self.is_start:
            return without_symmetry(self.template, self.latent, self.rng, self.fixed)
        informed = informed_start(self.template, self.data, self.rng)
        return without_symmetry(informed, self.partly_latent, self.rng, self.fixed)

    def another_start(self) -> BayesianNetwork:
        return random_start(self.template, self.rng, self.fixed)

    def algorithm(self, start: BayesianNetwork, acceleration: Any = None) -> NetworkEM:
        kind = NetworkEM if acceleration is None else AcceleratedEM
        return kind(start, self.expectation, self.wishes, self.fixed)

    @cached_property
    def expectation(self) -> Expectation:
        for part in self.template.conditionals:
            if any(variable.is_real for variable in (*part.parents, part.child)):
                raise Unsupported(
                    f"rows with holes are learned from when all variables have states; {signature(part)} has numbers:"
                    " drop the rows with holes, cut the numbers with jt.Discretizer, or declare the states of columns"
                    " of whole numbers in variables=[…]"
                )
        return Expectation.of(self.template, self.data)
