"""The variables with states of one row, as a junction tree: for best states and for draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.data.findings import Findings
from juncture.factors.factor import Factor
from juncture.inference.exact.hybrid.clique_tables import Table
from juncture.inference.exact.hybrid.parts import table_scope
from juncture.inference.exact.hybrid.run import Run
from juncture.inference.exact.junction_tree.answers import TreeAnswers
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.exact.lowering import HIDDEN, Lowered
from juncture.variables import Scope, Variable


def tree_of_row(run: Run, tables: Sequence[Table], row: int, memory_limit: int | None) -> TreeAnswers:
    """The answers about the unobserved variables with states of a part; tables without variables count too."""
    scopes = (*(factor.scope for factor in run.part.factors), *map(table_scope, run.part.row_families))
    found = {variable.name: variable for scope in scopes for variable in scope}
    free: dict[str, Variable] = {name: found[name] for name in run.part.tree.states}
    shown = Scope(variable for name, variable in free.items() if not name.startswith(HIDDEN))
    hidden = tuple(variable for name, variable in free.items() if name.startswith(HIDDEN))
    factors = tuple(
        Factor.from_logs(scope, np.broadcast_to(logs[row if len(logs) > 1 else 0], scope.shape))
        for names, logs in tables
        if (scope := Scope(free[name] for name in names))
    )
    packed = JunctionTree(memory_limit).pack(run.model, Lowered(shown, hidden, factors))
    return TreeAnswers.of(packed, Findings(tuple(shown)), shown.names, memory_limit)
