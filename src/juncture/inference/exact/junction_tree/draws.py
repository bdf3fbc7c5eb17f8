"""Rows drawn from the posterior of one row of evidence."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from juncture.inference.exact.junction_tree.coded_findings import CodedFinding
from juncture.inference.exact.junction_tree.factored_tree import FactoredTree
from juncture.kernels.junction_tree.sampling import draw_rows


@singledispatch
def draw_codes(tree: Any, evidence: CodedFinding, num_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Codes (row, node), from the tables of a calibrated tree."""
    plan = tree.plan
    codes = np.zeros((num_rows, len(plan.num_states)), np.int64)
    uniforms = rng.random((num_rows, plan.num_cliques))
    work = tree.calibrate(evidence)
    draw_rows(plan.table, plan.starts, plan.nodes, plan.shared, plan.num_states, work, uniforms, codes)
    return codes


@draw_codes.register
def _(tree: FactoredTree, evidence: CodedFinding, num_rows: int, rng: np.random.Generator) -> np.ndarray:
    return tree.draw(evidence, num_rows, rng)
