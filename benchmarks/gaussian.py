"""Gaussian networks: all marginal variances beside SciPy's sparse LU with a selected inverse, and repeated queries.

    python benchmarks/gaussian.py [--tasks chain grid tree repeat] [--side 100] [--length 100000]

The chain and the grid are given as networks of linear Gaussian conditionals and, with the same numbers, as precision
matrices. SciPy factorises the precision by `splu` with minimum degree on AᵀA + A, and a compiled recursion (Takahashi,
Fagan and Chin 1973) gives the entries of the inverse on the pattern of the factor, its diagonal the variances. Both
sides are checked to agree to 1e-8 first; then the medians of five runs are printed: of ours with its plan compiled, of
SciPy's factorisation and selected inverse. "first" is the first call of ours, with its search for an order. pyAgrum's
inference in conditional linear Gaussian networks (`pyagrum.clg`) is timed beside repeated queries where it is there.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import statistics
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import scipy
from scipy.sparse import csc_matrix, diags, eye
from scipy.sparse.linalg import splu

import juncture as jt
from juncture.kernels.gaussian.structure import find_separators

RUNS = 5


def median_of(run: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def linear_network(parents: list[list[int]], coefficient: float) -> jt.BayesianNetwork:
    variables = [jt.Variable(f"x{node}") for node in range(len(parents))]
    return jt.BayesianNetwork(
        jt.LinearGaussian(variables[node], [variables[p] for p in some], [coefficient] * len(some), 0.0, 1.0)
        for node, some in enumerate(parents)
    )


def precision_of(parents: list[list[int]], coefficient: float) -> csc_matrix:
    """(I - B)ᵀ (I - B) of a network of unit variances."""
    rows = [node for node, some in enumerate(parents) for _ in some]
    columns = [parent for some in parents for parent in some]
    slopes = csc_matrix((np.full(len(rows), coefficient), (rows, columns)), shape=(len(parents),) * 2)
    residual = eye(len(parents), format="csc") - slopes
    return csc_matrix(residual.T @ residual)


def grid_precision(side: int) -> csc_matrix:
    """The Laplacian of a grid, and 0.1 on the diagonal."""
    path = diags([-1.0, -1.0], [-1, 1], shape=(side, side))
    unit = eye(side)
    links = csc_matrix(scipy.sparse.kron(path, unit) + scipy.sparse.kron(unit, path))
    return csc_matrix(links + diags(0.1 - np.asarray(links.sum(axis=1)).reshape(-1)))


def markov_network(precision: csc_matrix) -> jt.MarkovNetwork:
    variables = [jt.Variable(f"x{node}") for node in range(precision.shape[0])]
    entries = precision.tocoo()
    factors = [
        jt.GaussianFactor([variables[row]], [0.0], [[value]])
        if row == column
        else jt.GaussianFactor([variables[row], variables[column]], [0.0, 0.0], [[0.0, value], [value, 0.0]])
        for row, column, value in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
        if row <= column
    ]
    return jt.MarkovNetwork(factors, variables)


@numba.njit(cache=True)
def selected_inverse(starts, rows, values, pivots, diagonal):
    """The diagonal of (L D Lᵀ)⁻¹, from the last column of L to the first; rows of each column are sorted."""
    size = len(starts) - 1
    inverse = np.zeros(len(rows))
    for column in range(size - 1, -1, -1):
        first, last = starts[column] + 1, starts[column + 1]
        for index in range(first, last):
            total = 0.0
            for other in range(first, last):
                low, high = min(rows[index], rows[other]), max(rows[index], rows[other])
                if low == high:
                    total += values[other] * diagonal[low]
                else:
                    place = starts[low] + np.searchsorted(rows[starts[low] : starts[low + 1]], high)
                    total += values[other] * inverse[place]
            inverse[index] = -total
        entry = 1.0 / pivots[column]
        for index in range(first, last):
            entry -= values[index] * inverse[index]
        diagonal[column] = entry


class SparseLU:
    """All variances by `splu` and the selected inverse; the pattern of the factor is found beforehand, as ours is."""

    def __init__(self, precision: csc_matrix) -> None:
        self.precision = precision
        factor, size = self.factorise(), precision.shape[0]
        assert (factor.perm_r == factor.perm_c).all(), "the factorisation is not symmetric"
        entries = precision.tocoo()
        pairs = np.stack([factor.perm_c[entries.row], factor.perm_c[entries.col]], axis=1).astype(np.int64)
        starts, later, _ = find_separators(size, np.arange(0, 2 * len(pairs) + 1, 2), pairs.reshape(-1))
        columns = np.repeat(np.arange(size), np.diff(starts))
        keys = np.sort(np.concatenate([np.arange(size) * (size + 1), columns * size + later]))
        self.starts, self.rows = np.searchsorted(keys, np.arange(size + 1) * size), keys % size
        lower = factor.L.tocoo()
        self.places = np.searchsorted(keys, lower.col.astype(np.int64) * size + lower.row)

    def factorise(self) -> Any:
        return splu(self.precision, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def variances(self) -> np.ndarray:
        factor = self.factorise()
        values, diagonal = np.zeros(len(self.rows)), np.empty(self.precision.shape[0])
        values[self.places] = factor.L.data
        selected_inverse(self.starts, self.rows, values, factor.U.diagonal(), diagonal)
        return diagonal[factor.perm_c]


def our_variances(plan: Any, model: Any) -> np.ndarray:
    """All variances, by number of the variable."""
    answers = plan.run(model).answers
    (group,) = answers.groups
    found = np.empty(len(answers.names))
    found[group.solution.plan.order] = group.solution.variances * answers.scales[group.solution.plan.order] ** 2
    return found


def compare(title: str, model: Any, precision: csc_matrix) -> None:
    start = time.perf_counter()
    plan = jt.compile(model)
    mine = our_variances(plan, model)
    first = time.perf_counter() - start
    theirs = SparseLU(precision)
    assert np.allclose(mine, theirs.variances(), rtol=1e-8), "the two sides differ"
    ours, peer = median_of(lambda: our_variances(plan, model)), median_of(theirs.variances)
    ratio = ours / peer
    print(f"{title:<28} first {first:7.2f} s   ours {1e3 * ours:9.1f} ms   SciPy {1e3 * peer:9.1f} ms   {ratio:5.2f} ×")


def chain(length: int) -> None:
    parents = [[], *([node] for node in range(length - 1))]
    precision = precision_of(parents, 0.9)
    compare(f"chain of {length:,}, network", linear_network(parents, 0.9), precision)
    compare(f"chain of {length:,}, precision", markov_network(precision), precision)


def grid(side: int) -> None:
    steps = [(side, lambda node: node >= side), (1, lambda node: node % side > 0)]
    parents = [[node - step for step, inside in steps if inside(node)] for node in range(side * side)]
    compare(f"grid {side} × {side}, network", linear_network(parents, 0.45), precision_of(parents, 0.45))
    precision = grid_precision(side)
    compare(f"grid {side} × {side}, precision", markov_network(precision), precision)


def tree(length: int) -> None:
    parents = [[], *([(node - 1) // 2] for node in range(1, 2 * length))]
    compare(f"tree of {length:,} leaves", linear_network(parents, 0.9), precision_of(parents, 0.9))


def repeat(_: int) -> None:
    """One query after the other on a network of seven variables."""
    a, b, c, d, e, f, g = map(jt.Variable, "abcdefg")
    model = jt.BayesianNetwork(
        [
            jt.LinearGaussian(a, [], [], 1.0, 1.0),
            jt.LinearGaussian(b, [], [], 2.0, 9.0),
            jt.LinearGaussian(c, [a, b], [2.0, 2.0], 2.0, 0.25),
            jt.LinearGaussian(d, [b], [1.5], 6.0, 0.1089),
            jt.LinearGaussian(e, [], [], 3.5, 4.0),
            jt.LinearGaussian(g, [], [], 5.0, 4.0),
            jt.LinearGaussian(f, [a, d, e, g], [2.0, 1.0, 1.0, 1.5], 0.0, 1.0),
        ]
    )

    def ours() -> float:
        return float(jt.infer(model, {"c": 8.0, "f": 30.0})["b"].mean)

    ours()
    one = median_of(lambda: [ours() for _ in range(200)]) / 200
    rows = jt.sample(model, 10_000, rng=0).to_pandas()[["c", "f"]]
    many = median_of(lambda: jt.infer(model, rows, targets=["b"])["b"].mean)
    print(f"repeated query, 7 variables  {1e6 * one:9.0f} µs; 10,000 rows {1e3 * many:7.1f} ms", end="")
    peer = pyagrum_query()
    if peer is None:
        print("   (pyAgrum is not installed)")
        return
    seconds, mean = peer
    assert abs(mean - ours()) < 1e-6, "the two sides differ"
    print(f"   pyAgrum clg {1e6 * seconds:9.0f} µs   {seconds / one:5.0f} ×")


def pyagrum_query() -> tuple[float, float] | None:
    """(seconds of a query, mean) of pyAgrum on the same network."""
    try:
        from pyagrum import clg
    except ImportError:
        return None
    model = clg.CLG()
    for name, mean, deviation in (
        ("a", 1.0, 1.0), ("b", 2.0, 3.0), ("c", 2.0, 0.5), ("d", 6.0, 0.33), ("e", 3.5, 2.0), ("g", 5.0, 2.0),
        ("f", 0.0, 1.0),
    ):  # fmt: skip
        model.add(clg.GaussianVariable(name, mean, deviation))
    for tail, head, weight in (
        ("a", "c", 2.0), ("b", "c", 2.0), ("b", "d", 1.5), ("a", "f", 2.0), ("d", "f", 1.0), ("e", "f", 1.0),
        ("g", "f", 1.5),
    ):  # fmt: skip
        model.addArc(tail, head, weight)

    def ask() -> float:
        engine = clg.CLGVariableElimination(model)
        engine.updateEvidence({"c": 8.0, "f": 30.0})
        return float(engine.posterior("b").mu())

    return median_of(ask), ask()


TASKS: dict[str, Callable[[int], None]] = {"chain": chain, "grid": grid, "tree": tree, "repeat": repeat}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--length", type=int, default=100_000)
    parser.add_argument("--side", type=int, default=100)
    options = parser.parse_args()
    jt.set_compilation("always")
    jt.set_num_threads(2)
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("juncture", "numpy", "scipy"))
    print(f"{versions}; splu(permc_spec='MMD_AT_PLUS_A', SymmetricMode); median of {RUNS}")
    for task in options.tasks:
        TASKS[task](options.side if task == "grid" else options.length)


if __name__ == "__main__":
    main()
