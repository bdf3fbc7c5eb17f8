"""`PackedTree`: what is asked of a junction tree with a model's numbers packed into it, however its cliques are stored.

`DenseTree` stores all joint states of the cliques, `SparseTree` those that are possible, `FactoredTree` factors and
messages alone: three data structures, for three regimes of size, with kernels of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from juncture.factors.factor import Factor
    from juncture.inference.exact.junction_tree.coded_findings import CodedFinding, CodedFindings
    from juncture.inference.exact.junction_tree.dense_tree import DenseTree


class PackedTree(Protocol):
    """A plan, and the numbers of a model in its order.

    Nodes are the variables by number, hidden ones last. The logarithms of all totals include `log_scale`, the logarithm
    of what was divided out of the factors.
    """

    @property
    def plan(self) -> Any:
        """Scopes, sizes, the cost of a run, and the layout that the kernels read."""

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The factors whose product the tree represents."""

    @property
    def log_factors(self) -> list[np.ndarray]:
        """The logarithms of every factor's entries, less what was divided out, one axis a variable."""

    @property
    def log_scale(self) -> float: ...

    def run(self, evidence: CodedFinding, targets: np.ndarray) -> tuple[np.ndarray, float]:
        """(marginals of all nodes, those of the targets filled in, log evidence) of a single row."""

    def run_rows(self, rows: CodedFindings, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(marginals (row, states of the targets), log evidence (row,)), on all cores."""

    def choose_rows(self, rows: CodedFindings, tie: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By max-product (best codes (row, node), logs of their products (row,), whether others are as good (row,))."""

    def draw(self, evidence: CodedFinding, num_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Codes (row, node) drawn from the posterior."""

    def expected_sums(self, rows: CodedFindings, weights: np.ndarray) -> tuple[Callable[[int], np.ndarray], np.ndarray]:
        """(the expected counts for the scope of a factor, by its number; log evidence (row,)).

        A row of probability zero has the log evidence -inf and adds nothing.
        """

    def repack(self, factors: Sequence[Factor]) -> PackedTree | None:
        """The numbers of another model in the same plan; None if they do not go into it."""

    def with_tables(self, memory_limit: int | None) -> DenseTree:
        """The tree whose cliques' tables are stored; TooLarge when they need more than the limit."""
