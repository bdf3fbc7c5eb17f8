"""Structure learning on alarm, beside pyAgrum and causal-learn, in one process.

    python benchmarks/structure.py [climbing default walking pc ges exact holes tables wide]
        [--rows 10000 100000] [--slow]

Both sides learn from the same rows, and every BIC printed is computed by us. Ours is the median of several runs from
coded rows to the graph; pyAgrum's is the quickest of several, on one thread and on all, with and without coding the
rows; causal-learn runs once. `--slow` adds its GES on 2,000 rows, which takes over a minute. `wide` climbs over 50, 100
and 200 columns drawn from a random network, and prints processor time, which should grow as the pairs of columns do:
`wide --rows 1000000`. `tables` learns from two drawn tables with holes and without them, in processor time: 58,788
rows of 23 columns, one of them 92 % empty, and 336,776 rows of 19 columns, five of which lack 2 to 3 % together. Times
on a loaded machine say little, the ratios a little more: the load is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import resource
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import juncture as jt
from juncture import structure
from juncture.graphs.directed import PartiallyDirectedGraph
from juncture.learning.conditionals.table import BDeu
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.scores import EdgePrior

jt.set_compilation("always")  # machine code is measured, from the first call on

PARTS = ["climbing", "default", "walking", "pc", "ges", "exact", "holes", "tables", "wide"]
WIDTHS = (50, 100, 200)  # columns
FOLDER = Path(__file__).resolve().parents[2] / "shared" / "networks"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=PARTS)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--slow", action="store_true", help="also causal-learn's GES, which takes over a minute")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    load, cores = os.getloadavg()[0], os.cpu_count()
    state = "a loaded machine" if load > 0.5 else "an idle machine"
    print(f"juncture {jt.__version__}, Python {sys.version.split()[0]}, {cores} cores, load {load:.1f}: {state}")
    model = jt.read(FOLDER / "alarm.bif.gz")
    small = jt.sample(model, 200, rng=0)
    for method in ("hill-climbing", "pc", "ges"):  # kernels are compiled or loaded
        learn_structure(small, method)
    learn_structure(small.only(list(small.columns)[:3]), "exact")
    for part in options.parts:
        globals()[f"time_{part}"](model, options)


def time_climbing(model, options) -> None:
    import pyagrum

    for num_rows in options.rows:
        rows = jt.sample(model, num_rows, rng=0)
        ours, mine = median(lambda: learn_structure(rows, "hill-climbing"))  # noqa: B023
        frame = rows.to_pandas()

        theirs, reading, learner, found = min(
            (pyagrum_climb(frame, threads) for threads in (1, 1, 0, 0)), key=lambda one: one[0]
        )
        edges = [(learner.nameFromId(tail), learner.nameFromId(head)) for tail, head in found.arcs()]
        tell(f"hill climbing, BIC, {num_rows:,} rows, beside pyAgrum {pyagrum.__version__}", ours, theirs)
        print(f"    with pyAgrum's coding of the rows {reading + theirs:.3f} s: {(reading + theirs) / ours:.1f}×")
        tell_graph("ours", mine, model, rows)
        tell_graph("theirs", jt.DirectedGraph(edges, model.graph.nodes), model, rows)
        tell_graph("the true graph", model.graph, model, rows)


def time_default(model, options) -> None:
    for num_rows in options.rows:
        rows = jt.sample(model, num_rows, rng=0)
        ours, found = median(lambda: structure.search(rows, rng=0))  # noqa: B023
        tell(f"the default search, BIC, {num_rows:,} rows, found by {found.method}", ours)
        tell_graph("ours", found.graph, model, rows)


def pyagrum_climb(frame, threads):
    import pyagrum

    reading, learner = once(lambda: pyagrum.BNLearner(frame))
    learner.useScoreBIC()
    learner.useGreedyHillClimbing()
    learner.setNumberOfThreads(threads)
    seconds, found = once(learner.learnDAG)
    return seconds, reading, learner, found


def time_walking(model, options) -> None:
    for num_rows in options.rows:
        rows = jt.sample(model, num_rows, rng=0)
        for settings in ({"tabu": 10}, {"restarts": 3}, {"tabu": 10, "restarts": 3}):
            ours, mine = once(lambda: learn_structure(rows, "hill-climbing", **settings))  # noqa: B023
            tell(f"hill climbing with {settings}, {num_rows:,} rows (R bnlearn's tabu: 0.62 s and 8.4 s)", ours)
            tell_graph("ours", mine, model, rows)


def time_pc(model, options) -> None:
    search = importlib.import_module("causallearn.search.ConstraintBased.PC")
    for num_rows in options.rows:
        rows = jt.sample(model, num_rows, rng=0)
        ours, mine = median(lambda: learn_structure(rows, "pc", test="chi2", level=0.05))  # noqa: B023
        table = np.array(rows.arrays).T.astype(int)
        theirs, found = once(lambda: search.pc(table, 0.05, "chisq", show_progress=False))  # noqa: B023
        same = as_graph(found.G.graph, mine.nodes) == mine
        tell(f"PC-stable, χ² at 5 %, {num_rows:,} rows, beside causal-learn", ours, theirs)
        print(f"    the same graph: {'yes' if same else 'no'}; SHD to the true class {distance(mine, model)}")


def time_wide(model, options) -> None:
    learn_structure(draw_wide(5000, 20), "hill-climbing")  # kernels are compiled or loaded
    for num_rows in options.rows:
        for num_columns in WIDTHS:
            rows, begin = draw_wide(num_rows, num_columns), time.process_time()
            found = learn_structure(rows, "hill-climbing")
            seconds, pairs = time.process_time() - begin, num_columns * (num_columns - 1) // 2
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            tell(f"hill climbing, BIC, {num_rows:,} rows, {num_columns} columns, processor time", seconds)
            digest = hashlib.sha256(repr(found.edges).encode()).hexdigest()[:12]
            each = seconds / pairs * 1e3
            print(
                f"    {each:.2f} ms a pair, peak {peak:,.0f} MiB, {len(found.edges)} edges, digest {digest}", flush=True
            )


def draw_wide(num_rows: int, num_columns: int) -> jt.Dataset:
    """Draws of a random network: 2 to 4 states, and up to 3 parents among the 10 variables before."""
    rng = np.random.default_rng(0)
    sizes, columns = rng.integers(2, 5, num_columns), []
    for index, size in enumerate(sizes):
        before = np.arange(max(0, index - 10), index)
        parents = rng.choice(before, min(index, rng.integers(0, 4)), replace=False)
        layer, num_layers = np.zeros(num_rows, np.int64), 1
        for parent in parents:
            layer, num_layers = layer * sizes[parent] + columns[parent], num_layers * sizes[parent]
        limits = np.cumsum(rng.dirichlet(np.ones(size), num_layers), axis=1)
        uniforms = rng.random(num_rows)
        columns.append(sum(uniforms >= limits[layer, state] for state in range(size - 1)).astype(np.int8))
    variables = [jt.Variable(f"x{index}", int(size)) for index, size in enumerate(sizes)]
    return jt.Dataset.from_codes(variables, {f"x{index}": column for index, column in enumerate(columns)})


def time_ges(model, options) -> None:
    for num_rows in options.rows:
        rows = jt.sample(model, num_rows, rng=0)
        ours, mine = median(lambda: learn_structure(rows, "ges"))  # noqa: B023
        tell(f"GES, BIC, {num_rows:,} rows", ours)
        tell_graph("ours", mine.consistent_extension(), model, rows)
    rows = jt.sample(model, 2000, rng=0)
    score = EdgePrior(BDeu(1.0), expected_parents=1.0)  # as causal-learn's local_score_BDeu
    ours, mine = median(lambda: learn_structure(rows, "ges", score=score))
    theirs = None
    if options.slow:
        search = importlib.import_module("causallearn.search.ScoreBased.GES")
        table = np.array(rows.arrays).T.astype(float)
        theirs, found = once(lambda: search.ges(table, "local_score_BDeu"))
        print(f"    causal-learn's SHD to the true class {distance(as_graph(found['G'].graph, mine.nodes), model)}")
    tell("GES, BDeu and a prior of edges, 2,000 rows, beside causal-learn", ours, theirs)
    print(f"    SHD to the true class {distance(mine, model)}")


def time_exact(model, options) -> None:
    rows = jt.sample(model, 10_000, rng=0)
    for number, settings in ((15, {}), (15, {"score": "bdeu"}), (20, {"max_parents": 3}), (22, {"max_parents": 3})):
        few = rows.only(list(rows.columns)[:number])
        ours, mine = once(lambda: learn_structure(few, "exact", **settings))  # noqa: B023
        tell(f"exact, {number} variables, 10,000 rows {settings or ''}", ours)
        score = settings.get("score", "bic")
        climbed = structure.score(learn_structure(few, score=score, rng=0), few, score)
        print(f"    {structure.score(mine, few, score):,.1f}; hill climbing reaches {climbed:,.1f}")


def time_holes(model, options) -> None:
    rows = jt.sample(model, 5000, rng=0)
    rng = np.random.default_rng(1)
    holes = {name: np.where(rng.random(len(rows)) < 0.1, -1, column) for name, column in rows.columns.items()}
    data = jt.Dataset.from_codes(rows.variables, holes)
    ours, mine = once(lambda: learn_structure(data, rng=0))
    tell("structural EM, 5,000 rows with 10 % holes (pyAgrum and pgmpy refuse them)", ours)
    tell_graph("from the rows with holes, scored on the whole rows", mine, model, rows)
    tell_graph("from the whole rows", learn_structure(rows, rng=0), model, rows)


def time_tables(model, options) -> None:
    """A table with holes beside the same table without: the whole rows are climbed, and searched by default."""
    for name, rows, data in (("one column 92 % empty", *draw_mostly_empty()), ("2 % holes", *draw_few_empty())):
        climb, _ = processor_time(lambda: learn_structure(rows, "hill-climbing"))  # noqa: B023
        whole, wanted = processor_time(lambda: learn_structure(rows, rng=0))  # noqa: B023
        ours, mine = processor_time(lambda: learn_structure(data, rng=0))  # noqa: B023
        quick, other = processor_time(lambda: learn_structure(data, score="node-average"))  # noqa: B023
        tell(f"{len(data):,} rows, {len(data.columns)} columns, {name}: structural EM, processor time", ours)
        print(f"    without holes {whole:.3f} s: {ours / whole:.1f}×; hill climbing alone {climb:.3f} s")
        print(f"    by node averages {quick:.3f} s")
        for whose, graph in (("with holes", mine), ("by node averages", other), ("without", wanted)):
            print(f"    {whose}: BIC of the whole rows {structure.score(graph, rows):,.1f}, {len(graph.edges)} edges")


def draw_mostly_empty(num_rows: int = 58_788, num_columns: int = 23) -> tuple[jt.Dataset, jt.Dataset]:
    """Numbers in bins of equal frequency, each a noisy mean of up to two before; x12, in ten bins, is 92 % empty."""
    rng = np.random.default_rng(0)
    sizes, columns = rng.integers(2, 8, num_columns), []
    sizes[12] = sizes[3] = 10
    for index, size in enumerate(sizes):
        before = np.arange(max(0, index - 6), index)
        parents = rng.choice(before, min(index, 2), replace=False) if index else []
        numbers = sum((columns[one] / sizes[one] for one in parents), 0.3 * rng.normal(size=num_rows))
        columns.append(np.searchsorted(np.quantile(numbers, np.arange(1, size) / size), numbers))
    variables = [jt.Variable(f"x{index}", int(size)) for index, size in enumerate(sizes)]
    codes = {f"x{index}": column for index, column in enumerate(columns)}
    rows = jt.Dataset.from_codes(variables, codes)
    codes["x12"] = np.where(rng.random(num_rows) < 0.92, -1, codes["x12"])
    return rows, jt.Dataset.from_codes(variables, codes)


def draw_few_empty(num_rows: int = 336_776, num_columns: int = 19) -> tuple[jt.Dataset, jt.Dataset]:
    rows, rng = draw_wide(num_rows, num_columns), np.random.default_rng(1)
    holes, together = dict(rows.columns), rng.random(num_rows) < 0.024
    for name in ("x4", "x5", "x7", "x8", "x14"):
        holes[name] = np.where(together | (rng.random(num_rows) < 0.003), -1, holes[name])
    return rows, jt.Dataset.from_codes(rows.variables, holes)


def processor_time(run):
    begin = time.process_time()
    found = run()
    return time.process_time() - begin, found


# --- how it is told --------------------------------------------------------------------------------------------------


def as_graph(ends, names) -> PartiallyDirectedGraph:
    """causal-learn's matrix of edge ends: -1 a tail, 1 a head."""
    arrows = [(names[i], names[j]) for i, j in np.argwhere((ends == -1) & (ends.T == 1))]
    plain = [(names[i], names[j]) for i, j in np.argwhere((ends == -1) & (ends.T == -1)) if i < j]
    return PartiallyDirectedGraph(arrows, plain, names)


def distance(graph, model) -> int:
    return structure.compare(graph, model.graph).class_distance


def tell_graph(whose, graph, model, rows) -> None:
    score = structure.score(graph, rows)
    print(f"    {whose}: BIC {score:,.1f}, {len(graph.edges)} edges, SHD of classes {distance(graph, model)}")


def tell(what, ours, theirs=None) -> None:
    ratio = "" if theirs is None else f", theirs {theirs:.3f} s: {theirs / ours:.1f}×"
    print(f"{what}\n    ours {ours:.3f} s{ratio}")


def median(run, times=3):
    taken = [once(run) for _ in range(times)]
    return statistics.median(seconds for seconds, _ in taken), taken[-1][1]


def once(run):
    start = time.perf_counter()
    found = run()
    return time.perf_counter() - start, found


if __name__ == "__main__":
    main()
