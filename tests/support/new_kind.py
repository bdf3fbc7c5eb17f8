"""The edits of a new kind of model beside its folder, as a plugin of pytest: `pytest -p support.new_kind`.

One line in the table of kinds, and one entry in the registry of the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import juncture as jt
from juncture.base import kinds
from juncture.data.rows import Rows
from support import model_kinds
from support.change_point.fit import ChangePointProblem
from support.change_point.model import PoissonChangePoint

kinds.KINDS["PoissonChangePoint"] = "support.change_point"


def em_problem(rng: np.random.Generator) -> tuple[ChangePointProblem, list[Any]]:
    """Rows with holes, and the same in two blocks."""
    model = PoissonChangePoint(*rng.gamma(2.0, 3.0, size=2), rng.dirichlet(np.ones(5)))
    rows = np.where(rng.random((20, 5)) < 0.2, np.nan, Rows.of(jt.sample(model, 20, rng=rng)).numbers((5,)))
    weights = rng.uniform(0.5, 2.0, size=20)
    start = PoissonChangePoint(*rng.gamma(2.0, 3.0, size=2), np.full(5, 0.2))
    return ChangePointProblem(start, rows, weights, rng), [(rows[:7], weights[:7]), (rows[7:], weights[7:])]


def change_point() -> model_kinds.Kind:
    return model_kinds.Kind(
        PoissonChangePoint(2.0, 9.0, [0.25, 0.25, 0.25, 0.25]),
        one=[1.0, 3.0, 8.0, 11.0],
        many=[[1.0, 3.0, 8.0, 11.0], [float("nan"), 2.0, 5.0, 7.0], [float("nan")] * 4],
        num_many=3,
        variable="change_point",
        label=2,
        methods=("enumeration", "enumeration"),
        impossible_one=[1.0, 3.0, -8.0, 11.0],
        impossible_many=[[1.0, 3.0, 8.0, 11.0], [0.5, 2.0, 5.0, 7.0]],
        impossible=(1,),
        em_problem=em_problem,
        others=(PoissonChangePoint(2.0, 9.5, [0.25, 0.25, 0.25, 0.25]), PoissonChangePoint(0.0, 5e-324, [1.0])),
    )


model_kinds.KINDS["change point"] = change_point
