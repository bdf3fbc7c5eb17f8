"""The registry of samplers, and the models on which their error bars are proved.

A new sampler is one entry of `SAMPLERS`: the laws of `tests/inference/sampling/` hold for it then: the coverage of its
intervals (`test_coverage.py`), simulation-based calibration (`test_calibration.py`) and, for Markov chains, Geweke's
joint test (`test_joint_distributions.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np

import juncture as jt
from juncture.inference.engines.contract import Engine
from support.approximate_engines import MODELS

LEAST, MOST = 0.05, 0.95  # probabilities whose estimates have a normal distribution for some hundreds of draws
WIDTH = 1.6448536269514722  # standard errors from the middle of a 90 % interval to its end
RESERVED = 190_000_000  # the start of seeds that are for coverage alone


def attracting_spins() -> jt.MarkovNetwork:
    """Three by four spins that attract their neighbours, in a field."""
    return jt.ising((3, 4), coupling=0.3, field=0.2)


COVERAGE_MODELS: dict[str, tuple[Any, dict[str, Any]]] = {  # a model and one row of evidence
    "tree": (MODELS["tree"].model, {"x4": 2}),
    "triangle": (MODELS["triangle"].model, {"x0": [0.4, 0.6]}),
    "grid": (MODELS["grid"].model, {"x0": 2}),
    "asia": (MODELS["asia"].model, {"xray": "yes"}),
    "student": (jt.example("student"), {}),
    "spins": (attracting_spins(), {}),
}
EVERY_MODEL = tuple(COVERAGE_MODELS)
DIRECTED = ("asia", "student")
SPINS = ("spins",)
WITHOUT_ZEROS = ("tree", "triangle", "grid", "student", "spins")  # on which single states can change one by one


@dataclass(frozen=True)
class Sampler:
    """An engine that draws, with few draws, so that its error bars are wide and quickly had."""

    engine: Engine  # some hundreds of draws
    is_chain: bool = False  # whether it is a Markov chain, with R-hat
    models: tuple[str, ...] = EVERY_MODEL  # names of `COVERAGE_MODELS` that it answers
    has_plain_state: bool = True  # whether the state of a chain is the codes of all nodes
    is_quick: bool = True  # whether it is tested in every run

    @property
    def draws_rows(self) -> bool:
        return hasattr(self.engine, "draw")


SAMPLERS: dict[str, Sampler] = {
    "likelihood-weighting": Sampler(jt.LikelihoodWeighting(draws=1000), models=DIRECTED),
    "importance": Sampler(jt.ImportanceSampling(draws=1000)),
    "importance adaptive": Sampler(jt.ImportanceSampling(draws=1000, proposal="adaptive")),
    "rejection": Sampler(jt.RejectionSampling(draws=300, max_tries=10**7), models=DIRECTED),
    "gibbs": Sampler(jt.Gibbs(draws=500, warmup=100), is_chain=True),
    "gibbs random scan": Sampler(jt.Gibbs(draws=500, warmup=100, scan="random"), is_chain=True),
    "metropolis": Sampler(jt.Metropolis(draws=800, warmup=100), is_chain=True, models=WITHOUT_ZEROS),
    "swendsen-wang": Sampler(jt.SwendsenWang(draws=500, warmup=100), is_chain=True, models=SPINS),
    "wolff": Sampler(jt.SwendsenWang(draws=800, warmup=200, clusters="single"), is_chain=True, models=SPINS),
    "gibbs chromatic": Sampler(jt.Gibbs(draws=500, warmup=100, scan="chromatic"), is_chain=True),
    "gibbs trees": Sampler(jt.Gibbs(draws=500, warmup=100, blocks="trees"), is_chain=True, models=("grid", "spins")),
    "cutset": Sampler(jt.sampling.CutsetSampling(draws=400, width=1), models=("grid", "asia", "spins")),
    "parallel-tempering": Sampler(
        jt.sampling.ParallelTempering(draws=400, warmup=100, replicas=3),
        is_chain=True,
        models=("grid", "spins"),
        has_plain_state=False,
        is_quick=False,
    ),
}
QUICK_SAMPLERS = [name for name, entry in SAMPLERS.items() if entry.is_quick]
CELLS = [(sampler, model) for sampler, entry in SAMPLERS.items() for model in entry.models]


@cache
def true_probabilities(model: str) -> tuple[tuple[str, int, float], ...]:
    """(variable, state, probability) by the exact engine, of those that are not rare."""
    network, evidence = COVERAGE_MODELS[model]
    exact = jt.infer(network, evidence)
    return tuple(
        (name, state, float(value))
        for name in network.variables.names
        for state, value in enumerate(np.asarray(exact[name].values))
        if LEAST < value < MOST
    )


@dataclass(frozen=True)
class Coverage:
    """Over repetitions: whether each interval holds the truth, and whether the engine says that it converged."""

    hits: np.ndarray  # (repetition, quantity)
    converged: np.ndarray  # (repetition,)

    @property
    def single_hits(self) -> np.ndarray:
        """(repetition,): of another quantity in each repetition, so that they are independent; of converged ones."""
        repetitions = np.flatnonzero(self.converged)
        return self.hits[repetitions, repetitions % self.hits.shape[1]]


def measure_coverage(sampler: str, model: str, repetitions: int, first: int = 0) -> Coverage:
    """Infer again and again with seeds of its own, and compare the 90 % intervals with the truth."""
    network, evidence = COVERAGE_MODELS[model]
    truth = true_probabilities(model)
    engine = SAMPLERS[sampler].engine
    hits, converged = np.zeros((repetitions, len(truth)), bool), np.zeros(repetitions, bool)
    cell = crc32(f"{sampler}, {model}".encode())
    for repetition in range(repetitions):
        rng = np.random.default_rng([RESERVED, cell, first + repetition])
        beliefs = jt.infer(network, evidence, method=engine, rng=rng)
        converged[repetition] = beliefs.converged
        for place, (name, state, value) in enumerate(truth):
            error = beliefs.diagnostics.standard_error(name)[state]
            hits[repetition, place] = abs(np.asarray(beliefs[name].values)[state] - value) <= WIDTH * error
    return Coverage(hits, converged)
