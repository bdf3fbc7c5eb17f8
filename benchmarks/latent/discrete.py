"""Mixtures of zeros and ones, and of categories: beside NumPy, StepMix and pomegranate, from the same start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from timing import Options, compare, has, measure

import juncture as jt

STEPS, CLASSES = 10, 8
BITS, COLUMNS, STATES = 32, 16, 4
TEN = jt.ExpectationMaximization(tolerance=0.0, max_steps=STEPS)
SHARES = np.full(CLASSES, 1 / CLASSES)
Learner = Callable[[], np.ndarray]  # gives p(state | class): (class, column, state)


def measure_bernoulli(options: Options) -> None:
    print(f"bernoulli: {options.rows:,} x {BITS}, {CLASSES} components, {STEPS} steps of EM")
    measure_tables(options, BITS, 2, "bernoulli")


def measure_categorical(options: Options) -> None:
    print(f"categorical: {options.rows:,} x {COLUMNS} of {STATES} states, {CLASSES} components, {STEPS} steps of EM")
    measure_tables(options, COLUMNS, STATES, "categorical")


def measure_tables(options: Options, columns: int, states: int, kind: str) -> None:
    rng = np.random.default_rng(0)
    truth, start = (
        rng.dirichlet(np.ones(states), (CLASSES, columns)),
        rng.dirichlet(np.full(states, 5.0), (CLASSES, columns)),
    )
    own = truth[rng.integers(CLASSES, size=options.rows)]
    rows = (rng.random((options.rows, columns, 1)) >= own.cumsum(axis=2)[..., :-1]).sum(axis=2).astype(float)
    ours = lambda: our_tables(rows, start)  # noqa: E731
    mine = measure(ours, options.runs)
    peers: dict[str, tuple[str, Learner]] = {
        "numpy": ("NumPy", lambda: numpy_tables(rows, start)),
        "stepmix": ("StepMix", lambda: stepmix_tables(rows, start, kind)),
        "pomegranate": ("pomegranate", lambda: pomegranate_tables(rows, start)),
    }
    for package, (name, run) in peers.items():
        if has(package):
            gap = float(np.abs(ours() - run()).max())
            print(f"  largest difference from {name}: {gap:.2g}")
            assert gap < 1e-8
            compare(mine, measure(run, options.runs), name)


def our_tables(rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    if start.shape[2] == 2:
        parts: Any = [jt.Bernoulli(column) for column in start[:, :, 1].T]
    else:
        parts = [jt.Categorical(column) for column in start.transpose(1, 0, 2)]
    found: Any = jt.fit(jt.Mixture(SHARES, jt.Independent(parts)), rows, method=TEN).model.components
    if start.shape[2] > 2:
        return np.stack([part.probabilities for part in found.parts], axis=1)
    ones = np.stack([part.family.probability for part in found.parts], axis=1)
    return np.stack([1 - ones, ones], axis=2)


def numpy_tables(rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    """By products with the table of indicators, with the whole table of responsibilities."""
    ones = (rows[:, :, None] == np.arange(start.shape[2])).reshape(len(rows), -1).astype(float)
    weights, tables = SHARES, start
    for _ in range(STEPS):
        logs = ones @ np.log(tables).reshape(CLASSES, -1).T + np.log(weights)
        own = np.exp(logs - logs.max(axis=1, keepdims=True))
        own /= own.sum(axis=1, keepdims=True)
        weights, tables = own.mean(axis=0), (own.T @ ones / own.sum(axis=0)[:, None]).reshape(start.shape)
    return tables


def stepmix_tables(rows: np.ndarray, start: np.ndarray, kind: str) -> np.ndarray:
    from stepmix import StepMix

    class Started(StepMix):  # its start is random; this one is given
        def _initialize_parameters(self, *arguments: Any) -> None:
            super()._initialize_parameters(*arguments)
            self.weights_ = SHARES.copy()
            given = start[:, :, 1] if kind == "bernoulli" else start.reshape(CLASSES, -1)
            self._mm.parameters["pis"] = given.reshape(self._mm.parameters["pis"].shape).copy()

    model = Started(CLASSES, measurement=kind, max_iter=STEPS, abs_tol=0.0, rel_tol=0.0, progress_bar=0, random_state=0)
    model.fit(rows)
    found = np.asarray(model._mm.parameters["pis"])
    if kind == "bernoulli":
        return np.stack([1 - found, found], axis=2)
    return found.reshape(start.shape)


def pomegranate_tables(rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    import torch
    from pomegranate.distributions import Bernoulli, Categorical
    from pomegranate.gmm import GeneralMixtureModel

    torch.set_num_threads(2)
    torch.set_default_dtype(torch.float64)
    if start.shape[2] == 2:
        data, parts = torch.tensor(rows), [Bernoulli(torch.tensor(one[:, 1])) for one in start]
    else:
        data, parts = torch.tensor(rows.astype(np.int64)), [Categorical(torch.tensor(one)) for one in start]
    model = GeneralMixtureModel(parts, priors=torch.tensor(SHARES), max_iter=STEPS, tol=-np.inf)
    model.fit(data)
    found = np.stack([part.probs.numpy() for part in model.distributions])
    return np.stack([1 - found, found], axis=2) if start.shape[2] == 2 else found
