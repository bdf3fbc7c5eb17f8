"""All marginals by exact inference, beside pyAgrum's better engine, in one process and on one thread each.

    make bench                                   # sets up an environment with both
    python benchmarks/inference.py [networks] [--share 0.3] [--rows 10000] [--memory]

The peer's tables are filled from ours, so both hold the same doubles; answers are compared. Eight random leaves are
observed, or with --share 0.3 that share of all variables, with new values in each query. Timed: on our side
`jt.infer(model, dict)`, and with reading the values of every variable; on theirs changing the evidence, `makeInference`
and `posterior` of every variable. Medians over the queries. Sizes are entries of all clique tables, without evidence.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
import warnings
from itertools import combinations
from pathlib import Path

import dense_networks
import numpy as np

import juncture as jt

jt.set_compilation("always")  # machine code is measured, from the first call on

SMALL = ["asia", "cancer", "survey", "alarm", "hailfinder", "win95pts"]
DENSE = dense_networks.NAMES
LARGE = ["andes", "pigs", "water", "mildew", "barley", "diabetes", "munin4", "munin", "link"]
FOLDER = Path(__file__).resolve().parents[2] / "shared" / "networks"
SECONDS_PER_ENGINE = 8.0
NOT_FINISHED = {"link", "munin1"}  # where the peer takes minutes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=[*SMALL, *DENSE, *LARGE])
    parser.add_argument(
        "--share", type=float, default=0.0, help="observe this share of all variables, not eight leaves"
    )
    parser.add_argument("--rows", type=int, default=0, help="also many rows on alarm")
    parser.add_argument("--memory", action="store_true", help="also peak memory, each side in a process of its own")
    parser.add_argument("--only", choices=["juncture", "pyagrum"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(peak_memory(options.networks[0], options.only))
        return
    print(f"juncture {jt.__version__}, pyAgrum {peer_version()}, Python {sys.version.split()[0]}, one thread")
    warm_up()
    ratios: dict[str, float] = {}
    print(
        f"{'network':>15} {'first':>9} {'peer':>9} {'repeat':>9} {'+ read':>9} {'peer':>9} {'ratio':>6} {'+ read':>6} "
        f"{'sizes':>17} {'difference':>10}" + ("   peak MiB, peer" if options.memory else "")
    )
    for name in options.networks:
        ratios[name] = compare(name, share=options.share, memory=options.memory)
    for title, names in (
        ("alarm, hailfinder, win95pts", SMALL[3:]),
        ("dense networks", DENSE),
        ("larger networks", LARGE[:-1]),
    ):
        found = [ratios[name] for name in names if ratios.get(name)]
        if found:
            print(f"geometric mean over {title}: {math.exp(sum(map(math.log, found)) / len(found)):.1f}")
    if options.rows:
        compare_rows(options.rows)


def compare(name: str, *, share: float, memory: bool) -> float:
    model = read(name)
    rows = queries(model, 40, share)
    ours = time_juncture(model, rows)
    theirs = None if name in NOT_FINISHED or peer() is None else time_pyagrum(model, rows)
    cells = f"{ours['size']:.3g}"
    line = f"{name:>15} {ms(ours['first'])} {ms(theirs and theirs['first'])} {ms(ours['repeat'])} {ms(ours['read'])} "
    if theirs is None:
        print(f"{line}{ms(None)} {'':>6} {'':>6} {cells:>17}", flush=True)
        return 0.0
    difference = max(abs(a - b).max() for a, b in zip(ours["values"], theirs["values"], strict=True))
    sizes = f"{cells} / {theirs['size']:.3g}"
    ratio, read_ratio = theirs["repeat"] / ours["repeat"], theirs["repeat"] / ours["read"]
    print(
        f"{line}{ms(theirs['repeat'])} {ratio:6.1f} {read_ratio:6.1f} {sizes:>17}"
        f" {difference:10.1e}{told_memory(name) if memory else ''}",
        flush=True,
    )
    return float(ratio)


def time_juncture(model: jt.BayesianNetwork, rows: list[dict[str, str]]) -> dict:
    names = model.variables.names
    started = time.perf_counter()
    beliefs = jt.infer(model, rows[0])
    first = time.perf_counter() - started
    values = [beliefs[name].values for name in names]
    repeat = timed(lambda row: jt.infer(model, row), rows)
    read_out = timed(lambda row: read_all(jt.infer(model, row), names), rows)
    plan = model.derived["packed model"].tree.plan
    return {"first": first, "repeat": repeat, "read": read_out, "values": values, "size": plan.num_cells}


def read_all(beliefs: jt.results.Beliefs, names: tuple[str, ...]) -> list[np.ndarray]:
    return [beliefs[name].values for name in names]


def time_pyagrum(model: jt.BayesianNetwork, rows: list[dict[str, str]]) -> dict:
    gum = peer()
    names = model.variables.names
    network = to_pyagrum(model)
    best: dict = {}
    for build in (gum.LazyPropagation, gum.ShaferShenoyInference):
        started = time.perf_counter()
        engine = build(network)
        engine.setEvidence(rows[0])
        engine.makeInference()
        values = [engine.posterior(name).toarray() for name in names]
        first = time.perf_counter() - started
        repeat = timed(lambda row, engine=engine: ask(engine, row, names), rows)
        if not best or repeat < best["repeat"]:
            best = {"repeat": repeat, "values": values, "size": tree_size(network, model)}
        best["first"] = min(first, best.get("first", first))
    return best


def ask(engine, row: dict[str, str], names: tuple[str, ...]) -> None:
    for name, state in row.items():
        engine.chgEvidence(name, state)
    engine.makeInference()
    for name in names:
        engine.posterior(name)


def timed(function, rows: list[dict[str, str]]) -> float:
    """The median time of a query; at least three of them."""
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - begin < SECONDS_PER_ENGINE / 4 and len(times) < 2_000):
        row = rows[len(times) % len(rows)]
        started = time.perf_counter()
        function(row)
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def to_pyagrum(model: jt.BayesianNetwork):
    gum = peer()
    network = gum.BayesNet()
    for variable in model.variables:
        network.add(gum.LabelizedVariable(variable.name, variable.name, [str(label) for label in variable.labels]))
    for parent, child in model.graph.edges:
        network.addArc(parent, child)
    for factor, part in zip(model.factors, model.conditionals, strict=True):
        table = network.cpt(part.child.name)
        table.fillWith(factor.reorder(*reversed(table.names)).values.reshape(-1).tolist())
    return network


def tree_size(network, model: jt.BayesianNetwork) -> float:
    engine = peer().LazyPropagation(network)
    engine.makeInference()
    tree = engine.junctionTree()
    sizes = [variable.num_states for variable in model.variables]
    return float(sum(math.prod(sizes[node] for node in tree.clique(clique)) for clique in tree.nodes()))


def queries(model: jt.BayesianNetwork, count: int, share: float = 0.0) -> list[dict[str, str]]:
    """New values for the same eight random leaves, or for the same share of all variables."""
    rng = np.random.default_rng(0)
    names = model.variables.names
    leaves = [name for name in names if not model.graph.children(name)]
    drawn_names = rng.permutation(names)[: round(share * len(names))] if share else rng.permutation(leaves)[:8]
    chosen = [str(name) for name in drawn_names]
    drawn = jt.sample(model, count, rng=1).to_dict()
    return [{name: drawn[name][row] for name in chosen} for row in range(count)]


def compare_rows(count: int) -> None:
    model = read("alarm")
    rng = np.random.default_rng(2)
    names = np.array(model.variables.names)
    complete = jt.sample(model, count, rng=3)
    same = [str(name) for name in rng.permutation(names)[:10]]
    masks = {"the same ten observed": {name: np.isin(name, same) for name in names}}
    drawn = rng.random((count, len(names))).argsort(axis=1) < 10
    masks["ten drawn anew"] = {name: drawn[:, place] for place, name in enumerate(names)}
    for title, mask in masks.items():
        columns = {name: np.where(mask[name], complete.columns[name], -1) for name in names}
        rows = jt.Dataset.from_codes(model.variables, columns)
        jt.infer(model, rows)
        seconds = float(np.median([clock(lambda rows=rows: jt.infer(model, rows)) for _ in range(5)]))
        line = f"{count} rows on alarm, {title}: {seconds * 1e3:.1f} ms, {seconds / count * 1e6:.2f} µs a row"
        if peer() is not None:
            labels = rows.to_dict()
            few = [{n: labels[n][row] for n in names if labels[n][row] is not None} for row in range(min(count, 200))]
            per_row = pyagrum_loop(model, few)
            line += f"; pyAgrum row by row {per_row * 1e3:.2f} ms a row: {per_row * count / seconds:.0f} times"
        print(line)
    cells = model.derived["packed model"].tree.plan.num_cells
    print(
        f"roofline: {6 * cells} multiplications and additions a row; at 4e9 a second on each of "
        f"{os.cpu_count()} cores {6 * cells / 4e9 / (os.cpu_count() or 1) * 1e6:.2f} µs a row"
    )


def pyagrum_loop(model: jt.BayesianNetwork, rows: list[dict[str, str]]) -> float:
    engine = peer().LazyPropagation(to_pyagrum(model))
    names = model.variables.names
    started = time.perf_counter()
    for row in rows:
        engine.setEvidence(row)
        engine.makeInference()
        for name in names:
            engine.posterior(name)
    return (time.perf_counter() - started) / len(rows)


def clock(function) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def told_memory(name: str) -> str:
    command = [sys.executable, __file__, name, "--only"]
    sides = [
        subprocess.run([*command, side], capture_output=True, text=True, check=True) for side in ("juncture", "pyagrum")
    ]
    return "   " + ", ".join(side.stdout.strip() for side in sides)


def peak_memory(name: str, side: str) -> str:
    """How much the peak rises above the level before the first query, in MiB."""
    model = read(name)
    rows = queries(model, 3)
    warm_up()
    network = to_pyagrum(model) if side == "pyagrum" else None
    before = resident()
    peak = before
    for row in rows:
        if network is None:
            jt.infer(model, row)
        else:
            engine = peer().LazyPropagation(network)
            engine.setEvidence(row)
            ask(engine, row, model.variables.names)
        peak = max(peak, resident())
    return f"{(peak - before) / 1024:.0f}"


def resident() -> int:
    """KiB of memory that the process holds; the peak so far where the system tells it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(told.get("VmHWM", told["VmRSS"]).split()[0])


def warm_up() -> None:
    """Load the compiled kernels, and say how long that takes."""
    variables = [jt.Variable(f"x{number}", 2) for number in range(20)]
    large = jt.MarkovNetwork([jt.Factor(pair, np.ones((2, 2))) for pair in combinations(variables, 2)])
    same = np.zeros((2,) * 15)
    same[(0,) * 15] = same[(1,) * 15] = 1.0
    zeros = jt.MarkovNetwork([jt.Factor(variables[:15], same)])
    seconds = clock(lambda: [jt.infer(jt.example("cancer"), {"Xray": "positive"}), jt.infer(large), jt.infer(zeros)])
    if "--only" not in sys.argv:
        print(f"kernels loaded in {seconds:.2f} s")


def read(name: str) -> jt.BayesianNetwork:
    if name in DENSE:
        return dense_networks.build(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if (FOLDER / f"{name}.bif.gz").exists():
            return jt.read(FOLDER / f"{name}.bif.gz")
        return jt.example(name)


def peer():
    try:
        import pyagrum
    except ImportError:
        return None
    pyagrum.setNumberOfThreads(1)
    return pyagrum


def peer_version() -> str:
    return peer().__version__ if peer() else "(not installed)"


def ms(seconds: float | None) -> str:
    return f"{'–':>9}" if seconds is None else f"{seconds * 1e3:7.3f}ms" if seconds < 1 else f"{seconds:8.2f}s"


if __name__ == "__main__":
    main()
