"""The registry of samplers, and the models on which their error bars are proved.

A new sampler is one entry of `SAMPLERS`: the laws of `tests/inference/sampling/` hold for it then: the coverage of its
intervals, simulation-based calibration and Geweke's joint test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from juncture.inference.engines.contract import Engine
from support.approximate_engines import MODELS

COVERAGE_MODELS: dict[str, tuple[Any, dict[str, Any]]] = {  # a model and one row of evidence
    "tree": (MODELS["tree"].model, {"x4": 2}),
    "triangle": (MODELS["triangle"].model, {"x0": [0.4, 0.6]}),
    "grid": (MODELS["grid"].model, {"x0": 2}),
    "asia": (MODELS["asia"].model, {"xray": "yes"}),
}
EVERY_MODEL = tuple(COVERAGE_MODELS)
DIRECTED = ("asia",)


@dataclass(frozen=True)
class Sampler:
    """An engine that draws, with few draws, so that its error bars are wide and quickly had."""

    engine: Engine  # some hundreds of draws
    is_chain: bool = False  # whether it is a Markov chain, with R-hat
    models: tuple[str, ...] = EVERY_MODEL  # names of `COVERAGE_MODELS` that it answers


SAMPLERS: dict[str, Sampler] = {}
