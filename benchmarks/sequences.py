"""Hidden Markov models beside hmmlearn and dynamax, in one process and on the same numbers.

    python benchmarks/sequences.py [--emissions categorical gaussian] [--states 8 64] [--shapes 1x100000 1000x1000]
                                   [--tasks smoothing viterbi learning] [--transitions dense triangular]
                                   [--long] [--memory]

Each cell first checks that all sides agree (log-likelihood, best path's log-probability, log-likelihood after ten
iterations), then prints the median of several runs and the ratios. hmmlearn runs in the quicker of its two
implementations, dynamax in 64 bits with its compile time left out, as ours; its variances cannot be learned without
a prior, so learning agrees to 1e-4 only. `--long` times one sequence of up to ten
million steps, `--memory` tells the peak of smoothing 1,000 sequences. Install hmmlearn and dynamax for their columns.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import os
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np

import juncture as jt

jt.set_compilation("always")  # machine code is measured, from the first call on

SYMBOLS, DIMENSION, ITERATIONS = 16, 4, 10
NEARLY_FLAT = 1 + 1e-9  # with 1, dynamax's tables are NaN where a count is 0


@dataclass(frozen=True)
class Problem:
    """Random parameters, and sequences drawn from them."""

    emissions: str
    num_states: int
    num_sequences: int
    length: int
    transitions: str = "dense"

    def __str__(self) -> str:
        size = f"{self.num_states} states, {self.num_sequences:,} × {self.length:,} steps"
        return f"{self.emissions}, {self.transitions} transitions, {size}"

    @cached_property
    def parameters(self) -> dict[str, np.ndarray]:
        rng, k = np.random.default_rng(7), self.num_states
        found = {
            "initial": rng.dirichlet(np.ones(k)),
            "transition": 0.5 * np.eye(k) + 0.5 * rng.dirichlet(np.ones(k), size=k),
            "table": rng.dirichlet(np.full(SYMBOLS, 0.5), size=k),
            "mean": rng.normal(scale=3.0, size=(k, DIMENSION)),
            "variance": rng.gamma(4.0, 0.25, size=(k, DIMENSION)),
        }
        found["table"] = 0.99 * found["table"] + 0.01 / SYMBOLS
        if self.transitions == "triangular":
            ahead = np.triu(found["transition"])
            found["transition"] = ahead / ahead.sum(axis=1, keepdims=True)
        return found

    @cached_property
    def model(self) -> jt.HiddenMarkovModel:
        given = self.parameters
        if self.emissions == "categorical":
            return jt.HiddenMarkovModel(given["initial"], given["transition"], jt.Categorical(given["table"]))
        laws = jt.GaussianEmissions(given["mean"], given["variance"], "diagonal")
        return jt.HiddenMarkovModel(given["initial"], given["transition"], laws)

    @cached_property
    def rows(self) -> np.ndarray:
        drawn = jt.sample(self.model, [self.length] * self.num_sequences, rng=1)
        return np.concatenate([sequence.observations for sequence in drawn])

    @property
    def lengths(self) -> list[int]:
        return [self.length] * self.num_sequences


class Ours:
    def __init__(self, problem: Problem) -> None:
        self.problem, self.name = problem, f"juncture {jt.__version__}"

    def smoothing(self) -> float:
        beliefs = jt.infer(self.problem.model, self.problem.rows, lengths=self.problem.lengths)
        return sum(one.log_evidence + 0.0 * one.smoothed[0, 0] for one in beliefs)

    def viterbi(self) -> float:
        found = jt.most_probable(self.problem.model, self.problem.rows, lengths=self.problem.lengths)
        return sum(one.log_joint for one in found)

    def learning(self) -> float:
        method = jt.ExpectationMaximization(max_steps=ITERATIONS, tolerance=0.0)
        fitted = jt.fit(self.problem.model, self.problem.rows, lengths=self.problem.lengths, method=method)
        return fitted.trace.values[:ITERATIONS][-1]


class Hmmlearn:
    def __init__(self, problem: Problem, implementation: str) -> None:
        from hmmlearn import hmm

        self.name = f"hmmlearn {importlib.metadata.version('hmmlearn')}"
        self.problem, given = problem, problem.parameters
        kind = hmm.CategoricalHMM if problem.emissions == "categorical" else hmm.GaussianHMM
        letters = "ste" if problem.emissions == "categorical" else "stmc"
        self.make = partial(
            kind, problem.num_states, n_iter=ITERATIONS, tol=-np.inf, init_params="", params=letters,
            implementation=implementation,
        )  # fmt: skip
        self.model = self.prepared()
        rows = problem.rows
        self.rows, self.given = rows.reshape(len(rows), -1), given

    def prepared(self) -> Any:
        model, given = self.make(), self.problem.parameters
        model.startprob_, model.transmat_ = given["initial"], given["transition"]
        if self.problem.emissions == "categorical":
            model.emissionprob_, model.n_features = given["table"], SYMBOLS
        else:
            model.means_, model.covars_, model.n_features = given["mean"], given["variance"], DIMENSION
            model.means_prior, model.means_weight, model.covars_prior, model.covars_weight = 0.0, 0.0, 0.0, 0.0
            model.min_covar = 0.0
        return model

    def smoothing(self) -> float:
        return float(self.model.score_samples(self.rows, self.problem.lengths)[0])

    def viterbi(self) -> float:
        return float(self.model.decode(self.rows, self.problem.lengths)[0])

    def learning(self) -> float:
        model = self.prepared()
        model.fit(self.rows, self.problem.lengths)
        return float(model.monitor_.history[-1])


class Dynamax:
    def __init__(self, problem: Problem) -> None:
        import jax
        from dynamax.hidden_markov_model import CategoricalHMM, DiagonalGaussianHMM

        jax.config.update("jax_enable_x64", True)
        self.jax, self.problem, given = jax, problem, problem.parameters
        self.name = f"dynamax {importlib.metadata.version('dynamax')}"
        shape = (problem.num_sequences, problem.length)
        start = {"initial_probs": given["initial"], "transition_matrix": given["transition"]}
        if problem.emissions == "categorical":
            flat = ("initial_probs", "transition_matrix", "emission_prior")
            priors = {f"{part}_concentration": NEARLY_FLAT for part in flat}
            self.model = CategoricalHMM(problem.num_states, 1, SYMBOLS, **priors)
            start["emission_probs"] = given["table"][:, None, :]
            rows = problem.rows.reshape(*shape, 1)
        else:
            priors = {"initial_probs_concentration": NEARLY_FLAT, "transition_matrix_concentration": NEARLY_FLAT}
            self.model = DiagonalGaussianHMM(problem.num_states, DIMENSION, **priors)
            start |= {"emission_means": given["mean"], "emission_scale_diags": np.sqrt(given["variance"])}
            rows = problem.rows.reshape(*shape, DIMENSION)
        self.parameters, self.properties = self.model.initialize(jax.random.PRNGKey(0), **start)
        self.rows = jax.numpy.asarray(rows)
        self.compile()

    def compile(self) -> None:
        from dynamax.hidden_markov_model import hmm_posterior_mode, hmm_smoother

        jax, model = self.jax, self.model

        def pieces(parameters: Any, rows: Any) -> Any:
            return model._inference_args(parameters, rows, None)

        def smooth(parameters: Any, rows: Any) -> Any:
            found = hmm_smoother(*pieces(parameters, rows))
            return found.marginal_loglik, found.smoothed_probs

        def best(parameters: Any, rows: Any) -> Any:
            path = hmm_posterior_mode(*pieces(parameters, rows))
            return path, model.log_prob(parameters, path, rows)

        def step(parameters: Any, state: Any, rows: Any) -> Any:
            expected, logs = jax.vmap(partial(model.e_step, parameters))(rows)
            parameters, state = model.m_step(parameters, self.properties, expected, state)
            return parameters, state, logs.sum()

        over = partial(jax.vmap, in_axes=(None, 0))
        self.smooth, self.best, self.step = jax.jit(over(smooth)), jax.jit(over(best)), jax.jit(step)

    def smoothing(self) -> float:
        logs, smoothed = self.smooth(self.parameters, self.rows)
        smoothed.block_until_ready()
        return float(logs.sum())

    def viterbi(self) -> float:
        paths, logs = self.best(self.parameters, self.rows)
        paths.block_until_ready()
        return float(logs.sum())

    def learning(self) -> float:
        parameters, state = self.parameters, self.model.initialize_m_step_state(self.parameters, self.properties)
        for _ in range(ITERATIONS):
            parameters, state, log_likelihood = self.step(parameters, state, self.rows)
        return float(log_likelihood)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--emissions", nargs="+", default=["categorical", "gaussian"])
    parser.add_argument("--states", nargs="+", type=int, default=[8, 64])
    parser.add_argument("--shapes", nargs="+", default=["1x100000", "1000x1000"])
    parser.add_argument("--tasks", nargs="+", default=["smoothing", "viterbi", "learning"])
    parser.add_argument("--transitions", nargs="+", default=["dense"], choices=["dense", "triangular"])
    parser.add_argument("--long", action="store_true", help="one sequence of up to ten million steps")
    parser.add_argument("--memory", action="store_true", help="the peak of smoothing 1,000 sequences of 1,000")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    load, cores = os.getloadavg()[0], os.cpu_count()
    print(f"juncture {jt.__version__}, Python {sys.version.split()[0]}, {cores} cores, load {load:.1f}")
    if options.memory or options.long:
        time_long() if options.long else tell_memory()
        return
    for kind, transitions in product(options.emissions, options.transitions):
        for num_states, shape in product(options.states, options.shapes):
            size = map(int, shape.split("x"))
            time_problem(Problem(kind, num_states, *size, transitions), options.tasks)


def time_problem(problem: Problem, tasks: list[str]) -> None:
    print(problem, flush=True)
    sides = [Ours(problem), *peers(problem)]
    for task in tasks:
        results = [timed(getattr(side, task)) for side in sides]
        ours, expected = results[0]
        told = [f"ours {1e3 * ours:9.1f} ms"]
        quickest: dict[str, float] = {}
        for side, (seconds, answer) in zip(sides[1:], results[1:], strict=True):
            agrees = np.isclose(answer, expected, rtol=1e-4 if task == "learning" else 1e-9)
            name = side.name if agrees else f"{side.name} (DISAGREES: {answer!r}, ours {expected!r})"
            quickest[name] = min(seconds, quickest.get(name, np.inf))
        told += [f"{name} {1e3 * seconds:9.1f} ms: {seconds / ours:5.1f}×" for name, seconds in quickest.items()]
        print(f"    {task:10} {', '.join(told)}", flush=True)


def peers(problem: Problem) -> list[Any]:
    """The other sides, as far as they are installed."""
    makers = [lambda: Hmmlearn(problem, "log"), lambda: Hmmlearn(problem, "scaling"), lambda: Dynamax(problem)]
    found = []
    for maker in makers:
        try:
            found.append(maker())
        except ModuleNotFoundError as error:
            print(f"    without {error.name}")
    return found


def timed(run: Callable[[], float]) -> tuple[float, float]:
    """(median seconds, the answer): once to compile, then until three runs or ten seconds are over."""
    answer = run()
    seconds: list[float] = []
    while len(seconds) < 3 and sum(seconds) < 10:
        start = time.perf_counter()
        answer = run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), answer


def time_long() -> None:
    for length in (10_000, 100_000, 1_000_000, 10_000_000):
        ours = Ours(Problem("categorical", 8, 1, length))
        told = [f"{task} {1e9 * timed(getattr(ours, task))[0] / length:6.1f} ns" for task in ("smoothing", "viterbi")]
        print(f"    {length:12,} steps: {', '.join(told)} a step", flush=True)


def tell_memory() -> None:
    problem = Problem("gaussian", 64, 1000, 1000)
    model, rows = problem.model, problem.rows
    jt.infer(model, rows[:2000], lengths=[1000, 1000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    beliefs = jt.infer(model, rows, lengths=problem.lengths)
    held = sum(one.smoothed.nbytes for one in beliefs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(
        f"    smoothing {problem}: the answer {held / 2**20:.0f} MiB, the peak above the start {peak / 2**10:.0f} MiB"
    )


if __name__ == "__main__":
    main()
