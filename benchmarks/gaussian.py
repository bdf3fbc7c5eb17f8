"""Gaussian networks: all marginal variances beside SciPy's sparse LU with a selected inverse, and repeated queries.

    python benchmarks/gaussian.py [--tasks chain grid tree repeat holes] [--side 100] [--length N] [--folder FOLDER]

The chain and the grid are given as networks of linear Gaussian conditionals and, with the same numbers, as precision
matrices. SciPy factorises the precision by `splu` with minimum degree on AᵀA + A, and a compiled recursion (Takahashi,
Fagan and Chin 1973) gives the entries of the inverse on the pattern of the factor, its diagonal the variances. Both
sides are checked to agree to 1e-8 first; then the medians of five runs are printed: of ours with its plan compiled, of
SciPy's factorisation and selected inverse. "first" is the first call of ours, with its search for an order.

`repeat` asks a network of seven variables, and the published `ecoli70` and `magic-niab` where a FOLDER has them, with
one row of evidence after the other in the same columns, and with all rows at once; pyAgrum's `CLGVariableElimination`,
made once, answers the same, to 1e-6.

`holes` asks for `log_prob` of 3,000 rows of networks of 12 to 250 variables, and of one of four switches and eight
numbers, in which two cells of five are missing, so that most rows have holes of their own; beside it a NumPy loop over
the rows, with a Cholesky factor of the covariances of what is known in each. Both agree to 1e-9.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.metadata
import json
import statistics
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy
from scipy.sparse import csc_matrix, diags, eye
from scipy.sparse.linalg import splu

import juncture as jt
from juncture.kernels.gaussian.minimum_degree import find_separators

RUNS = 5
QUERIES = 100


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


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


def seven_variables() -> jt.BayesianNetwork:
    """The network `gaussian.test` of bnlearn."""
    a, b, c, d, e, f, g = map(jt.Variable, "abcdefg")
    return jt.BayesianNetwork(
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


def read_network(path: Path) -> jt.BayesianNetwork:
    """A network of real variables: of each node its real_parents, intercept, coefficients and variance."""
    nodes = json.loads(gzip.decompress(path.read_bytes()))["nodes"]
    known = {name: jt.Variable(name) for name in nodes}
    return jt.BayesianNetwork(
        jt.LinearGaussian(
            known[name],
            [known[parent] for parent in node["real_parents"]],
            node["coefficients"],
            node["intercept"],
            node["variance"],
        )
        for name, node in nodes.items()
    )


def repeat(folder: Path | None) -> None:
    """One query after the other, each with other numbers in the same columns: of one variable, and of all of them."""
    models = {"gaussian.test": seven_variables()}
    if folder is not None:
        models |= {name: read_network(folder / f"{name}.json.gz") for name in ("ecoli70", "magic-niab")}
    for name, model in models.items():
        order = model.graph.topological_order()
        seen, target = order[-max(2, len(order) // 5) :], order[0]
        drawn = jt.sample(model, QUERIES, rng=0).to_dict()
        rows = [{each: drawn[each][number] for each in seen} for number in range(QUERIES)]
        compare_queries(f"{name}, one of {len(order)}", model, rows, [target])
        compare_queries(f"{name}, all of {len(order)}", model, rows, [each for each in order if each not in seen])


def compare_queries(title: str, model: jt.BayesianNetwork, rows: list[dict[str, float]], targets: list[str]) -> None:
    def ask(row: dict[str, float]) -> list[tuple[float, float]]:
        beliefs = jt.infer(model, row, targets=targets)
        return [(beliefs[name].mean, beliefs[name].variance) for name in targets]

    def ask_all() -> list[Any]:
        beliefs = jt.infer(model, rows, targets=targets)
        return [(beliefs[name].mean, beliefs[name].variance) for name in targets]

    mine = [ask(row) for row in rows]
    one, many = (median_of(run) / len(rows) for run in (lambda: [ask(row) for row in rows], ask_all))
    print(f"{title:<28} ours {1e6 * one:8.0f} µs a row, {1e6 * many:6.1f} µs in a batch of {len(rows)}", end="")
    try:
        from pyagrum import clg
    except ImportError:
        print("   (pyAgrum and IPython are not installed)")
        return
    engine = clg.CLGVariableElimination(as_clg(model))

    def ask_peer(row: dict[str, float]) -> list[tuple[float, float]]:
        engine.eraseAllEvidence()
        engine.updateEvidence(row)
        found = [engine.posterior(name) for name in targets]
        return [(each.mu(), each.sigma() ** 2) for each in found]

    start = time.perf_counter()
    difference = np.abs(np.array(ask_peer(rows[0])) / np.array(mine[0]) - 1.0).max()
    few = rows[: max(1, min(len(rows), int(1.0 / (time.perf_counter() - start))))]  # about a second a run
    assert difference < 1e-6, f"the two sides differ by {difference}"
    peer = median_of(lambda: [ask_peer(row) for row in few]) / len(few)
    print(f"   pyAgrum {1e6 * peer:8.0f} µs   {peer / one:5.0f} × a row, {peer / many:7.0f} × in a batch")


def as_clg(model: jt.BayesianNetwork) -> Any:
    """The same network in pyAgrum, whose variables have standard deviations."""
    from pyagrum import clg

    copy = clg.CLG()
    for name in model.graph.topological_order():
        part: Any = model[name]
        copy.add(clg.GaussianVariable(name, float(part.intercept), float(np.sqrt(part.variance))))
        for parent, weight in zip(part.parents.names, part.coefficients.tolist(), strict=True):
            copy.addArc(parent, name, weight)
    return copy


def holes(num_rows: int) -> None:
    """`log_prob` of rows that each have holes of their own, beside a loop of NumPy over the rows."""
    rng = np.random.default_rng(0)
    for size, num_switches in ((12, 0), (40, 0), (120, 0), (250, 0), (8, 4)):
        model = random_lines(rng, size, num_switches)
        frame = jt.sample(model, num_rows, rng=1).to_pandas().astype(float)
        frame = frame.mask(rng.random(frame.shape) < 0.4)
        peer = RowLoop(model)
        difference = np.abs(jt.log_prob(model, frame) - peer.run(frame)).max()
        assert difference < 1e-9, difference
        ours, theirs = median_of(lambda: jt.log_prob(model, frame)), median_of(lambda: peer.run(frame))  # noqa: B023
        title = f"holes, {size} numbers, {num_switches} switches"
        print(f"{title:<32} ours {1e3 * ours:8.1f} ms   NumPy {1e3 * theirs:8.1f} ms   {theirs / ours:5.2f} ×")


def random_lines(rng: np.random.Generator, size: int, num_switches: int) -> jt.BayesianNetwork:
    """Lines with about three earlier numbers each, whose parameters depend on up to two of some switches."""
    switches = [jt.Variable(f"s{at}", 2) for at in range(num_switches)]
    numbers = [jt.Variable(f"x{at}") for at in range(size)]
    parts: list[Any] = [jt.Conditional(switch, [], [0.3, 0.7]) for switch in switches]
    for at, number in enumerate(numbers):
        some = [switches[place] for place in rng.permutation(num_switches)[: rng.integers(0, 3)]]
        real = [numbers[place] for place in range(at) if rng.random() < 3 / max(at, 3)]
        shape = [2] * len(some)
        slopes, levels = 0.4 * rng.normal(size=(*shape, len(real))), rng.normal(size=shape)
        parts.append(jt.LinearGaussian(number, [*some, *real], slopes, levels, 0.5 + rng.random(shape)))
    return jt.BayesianNetwork(parts)


class RowLoop:
    """A Gaussian for each joint state of the switches, and the density of one row after the other."""

    def __init__(self, model: jt.BayesianNetwork) -> None:
        self.switches = [variable for variable in model.variables if not variable.is_real]
        self.numbers = [name for name in model.graph.topological_order() if model.variable(name).is_real]
        self.codes = np.array(list(product(*(range(each.num_states) for each in self.switches))), float)
        known = [dict(zip([each.name for each in self.switches], row, strict=True)) for row in self.codes.astype(int)]
        tables = [model[each.name].values for each in self.switches]
        weights = [sum(np.log(table[code]) for table, code in zip(tables, row.values(), strict=True)) for row in known]
        self.weights = np.array(weights, float)
        moments = [self.moments(model, states) for states in known]
        self.means, self.covariances = (np.array(part) for part in zip(*moments, strict=True))

    def moments(self, model: jt.BayesianNetwork, states: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
        size = len(self.numbers)
        mean, covariance = np.zeros(size), np.zeros((size, size))
        for at, name in enumerate(self.numbers):
            part: Any = model[name]
            index = tuple(states[parent.name] for parent in part.parents if not parent.is_real)
            slopes = np.zeros(size)
            places = [self.numbers.index(parent.name) for parent in part.parents if parent.is_real]
            slopes[places] = part.coefficients[index]
            mean[at] = part.intercept[index] + slopes @ mean
            shared = covariance @ slopes
            covariance[at], covariance[:, at] = shared, shared
            covariance[at, at] = part.variance[index] + slopes @ shared
        return mean, covariance

    def run(self, frame: Any) -> np.ndarray:
        states, values = frame[[each.name for each in self.switches]].to_numpy(), frame[self.numbers].to_numpy()
        logs = np.empty(len(values))
        for row, (codes, numbers) in enumerate(zip(states, values, strict=True)):
            case = ((self.codes == codes) | np.isnan(codes)).all(axis=1)
            seen = ~np.isnan(numbers)
            factors = np.linalg.cholesky(self.covariances[case][:, seen][:, :, seen])
            errors = np.linalg.solve(factors, (numbers[seen] - self.means[case][:, seen])[..., None])[..., 0]
            joint = self.weights[case] - 0.5 * ((errors**2).sum(axis=1) + seen.sum() * np.log(2 * np.pi))
            joint -= np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
            logs[row] = joint.max() + np.log(np.exp(joint - joint.max()).sum())
        return logs


TASKS: dict[str, Callable[..., None]] = {"chain": chain, "grid": grid, "tree": tree, "repeat": repeat, "holes": holes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--length", type=int, default=100_000)
    parser.add_argument("--side", type=int, default=100)
    parser.add_argument("--folder", type=Path, help="where ecoli70.json.gz and magic-niab.json.gz are")
    options = parser.parse_args()
    jt.set_compilation("always")
    jt.set_num_threads(2)
    names = ("juncture", "numpy", "scipy", "pyAgrum")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    print(f"{versions}; splu(permc_spec='MMD_AT_PLUS_A', SymmetricMode); median of {RUNS}")
    for task in options.tasks:
        TASKS[task]({"grid": options.side, "repeat": options.folder, "holes": 3000}.get(task, options.length))


if __name__ == "__main__":
    main()
