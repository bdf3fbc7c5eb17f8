"""The first calls of a process: what a notebook, a command or a worker waits for, over all kinds of models.

    python benchmarks/first_calls.py [--calls "infer alarm, one row" …] [--networks ../shared/networks] [--empty]

Each call runs in two fresh processes: as the library chooses ("auto"), and with `set_compilation("always")`. The table
has the processor seconds of its first, second and fifth run, without those of imports of juncture and NumPy, of models
and of data; the ratios are auto to always. The kernels are compiled before (`juncture warmup`); with `--empty` each
call starts without any, in "auto" only, and the table has its first run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import juncture as jt

NETWORKS = Path(__file__).resolve().parents[2] / "shared" / "networks"
PAIRS = "rng = np.random.default_rng(0); X = rng.normal(size=({rows}, 4)); y = (X[:, 0] + X[:, 1] > 0).astype(int)"
CHAIN = (
    "hmm = jt.HiddenMarkovModel([.6, .4], [[.8, .2], [.3, .7]], [[.5, .3, .2], [.1, .3, .6]]);"
    "steps = np.random.default_rng(0).integers(0, 3, {steps})"
)
WALK = (
    "walk = jt.LinearGaussianStateSpace(1., 1., 1., 1., 0., 1.); steps = np.random.default_rng(0).normal(size={steps})"
)
MIXTURE = (
    "blobs = jt.Mixture([.5, .5], jt.MultivariateGaussian([[-2.] * 4, [2.] * 4], np.eye(4)));"
    "rows = np.random.default_rng(0).normal(size=({rows}, 4))"
)
ALARM = "alarm = jt.example('alarm')"
ROWS = (  # drawn beforehand, in another process
    "{name} = jt.example('{name}'); codes = np.load(data / '{name}.npz');"
    "rows = jt.Dataset.from_codes({name}.variables, {{key: codes[key][:{rows}] for key in codes}})"
)
HIDE = ";rows = rows.only([name for name in rows.columns if name != 'CVP'])"
HOLES = (
    "rows = rows.to_dict(); rows['{column}'] = [None] * {number} + rows['{column}'][{number}:]; rows = jt.Dataset(rows)"
)
TEN_STEPS = "method=jt.ExpectationMaximization(tolerance=1e-12, max_steps=10)"
GRID = "grid = jt.ising((8, 8), .3)"
LINE = (
    "names = [jt.Variable(f'x{{i}}') for i in range({size})];"
    "line = jt.BayesianNetwork([jt.LinearGaussian(names[0], [], [])]"
    " + [jt.LinearGaussian(b, [a], [1.]) for a, b in zip(names, names[1:])])"
)
# name → what is made before, the call; small calls are those of a first look
CALLS: dict[str, tuple[str, str]] = {
    "infer asia, one row": ("asia = jt.example('asia')", "jt.infer(asia, {'xray': 'yes'})"),
    "infer alarm, one row": (ALARM, "jt.infer(alarm, {'HISTORY': 'TRUE'})"),
    "infer alarm, 200 rows in a list": (
        f"{ALARM}; rows = [{{'HISTORY': 'TRUE'}}] * 200", "jt.infer(alarm, rows)",
    ),
    "infer alarm, 10,000 rows": (
        ROWS.format(name="alarm", rows=10_000) + HIDE, "jt.infer(alarm, rows)",
    ),
    "infer pigs": ("pigs = jt.read(networks / 'pigs.bif.gz')", "jt.infer(pigs)"),
    "infer link": ("link = jt.read(networks / 'link.bif.gz')", "jt.infer(link)"),
    "infer munin1": ("munin = jt.read(networks / 'munin1.bif.gz')", "jt.infer(munin)"),
    "most probable, alarm": (ALARM, "jt.most_probable(alarm, {'HISTORY': 'TRUE'})"),
    "most probable, 1,000 rows of alarm": (
        ROWS.format(name="alarm", rows=1_000) + HIDE, "jt.most_probable(alarm, rows)",
    ),
    "log_prob, 1,000 rows of alarm": (ROWS.format(name="alarm", rows=1_000), "jt.log_prob(alarm, rows)"),
    "sample alarm, 10,000": (ALARM, "jt.sample(alarm, 10_000, rng=0)"),
    "importance sampling, alarm": (ALARM, "jt.infer(alarm, {'HISTORY': 'TRUE'}, method='importance', rng=0)"),
    "likelihood weighting, asia": (
        "asia = jt.example('asia')", "jt.infer(asia, {'xray': 'yes'}, method='likelihood-weighting', rng=0)",
    ),
    "Gibbs, 8 × 8 grid": (GRID, "jt.infer(grid, method='gibbs', rng=0)"),
    "loopy, 8 × 8 grid": (GRID, "jt.infer(grid, method='loopy')"),
    "mean field, 8 × 8 grid": (GRID, "jt.infer(grid, method='mean-field')"),
    "fit alarm, 1,000 rows": (ROWS.format(name="alarm", rows=1_000), "jt.fit(alarm.graph, rows, prior=1.)"),
    "fit asia, 200 rows with holes": (
        ROWS.format(name="asia", rows=200) + ";" + HOLES.format(column="lung", number=100),
        f"jt.fit(asia, rows, prior=1., {TEN_STEPS})",
    ),
    "learn_structure, 5,000 rows of alarm": (ROWS.format(name="alarm", rows=5_000), "jt.learn_structure(rows)"),
    "learn_structure, 200 rows of asia": (
        ROWS.format(name="asia", rows=200), "jt.learn_structure(rows)",
    ),
    "Gaussian network, 10 variables": (LINE.format(size=10), "jt.infer(line, {'x0': 1.})"),
    "Gaussian network, 1,000 variables": (LINE.format(size=1_000), "jt.infer(line, {'x0': 1.})"),
    "forward-backward, 100 steps": (CHAIN.format(steps=100), "jt.infer(hmm, steps)"),
    "Viterbi, 200,000 steps": (CHAIN.format(steps=200_000), "jt.most_probable(hmm, steps)"),
    "Baum-Welch, 100 × 20 steps": (
        CHAIN.format(steps=2_000), f"jt.fit(hmm, steps, lengths=[20] * 100, {TEN_STEPS})",
    ),
    "Kalman, 100 steps": (WALK.format(steps=100), "jt.infer(walk, steps)"),
    "Kalman, 20,000 steps": (WALK.format(steps=20_000), "jt.infer(walk, steps)"),
    "mixture fit, 200 × 4": (
        MIXTURE.format(rows=200), f"jt.fit(blobs, rows, {TEN_STEPS})",
    ),
    "mixture fit, 20,000 × 4": (
        MIXTURE.format(rows=20_000), f"jt.fit(blobs, rows, {TEN_STEPS})",
    ),
    "decision tree, 2,000 × 4": (PAIRS.format(rows=2_000), "jt.fit(jt.supervised.DecisionTree, X, y)"),
    "topics, 20 documents": (
        "topics = jt.LatentDirichletAllocation.standard(2, 10);"
        "counts = np.random.default_rng(0).poisson(1., size=(20, 10))",
        "jt.infer(topics, counts)",
    ),
}  # fmt: skip
RUN = """
import time, sys, warnings, pathlib
warnings.simplefilter("ignore")
import numpy as np, juncture as jt
networks, data = map(pathlib.Path, sys.argv[1:3])
{before}
times = []
for _ in range(int(sys.argv[3])):
    started = time.process_time()
    {call}
    times.append(time.process_time() - started)
print(*times)
"""


def draw_rows(folder: Path) -> None:
    """Rows for the calls that take some."""
    for name in ("alarm", "asia"):
        model = jt.example(name)
        rows = jt.sample(model, 10_000, rng=0)
        np.savez(folder / name, **{variable.name: rows.columns[variable.name] for variable in model.variables})


def measure(
    before: str, call: str, mode: str, folders: list[Path], number: int, cache: str | None = None
) -> list[float]:
    """The processor seconds of the runs of a call in a fresh process."""
    environment = {**os.environ, "JUNCTURE_COMPILATION": mode, "OPENBLAS_NUM_THREADS": "1"}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    script = RUN.format(before=before.replace("; ", "\n").replace(";", "\n"), call=call)
    command = [sys.executable, "-c", script, *map(str, folders), str(number)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [float(one) for one in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", nargs="*", default=list(CALLS), choices=list(CALLS))
    parser.add_argument("--networks", type=Path, default=NETWORKS)
    parser.add_argument("--empty", action="store_true", help="start without compiled kernels")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        draw_rows(Path(data))
        show(options, [options.networks, Path(data)])


def show(options: argparse.Namespace, folders: list[Path]) -> None:
    print("processor seconds of the 1st, 2nd and 5th call of a process\n")
    print(f"{'call':38}{'auto':>24}{'always':>24}{'ratio':>21}")
    for name in options.calls:
        before, call = CALLS[name]
        if "networks /" in before and not options.networks.is_dir():
            continue
        if options.empty:
            with tempfile.TemporaryDirectory() as cache:
                print(f"{name:38}{measure(before, call, 'auto', folders, 1, cache)[0]:>8.3f}", flush=True)
            continue
        runs = [measure(before, call, mode, folders, 5) for mode in ("auto", "always")]
        shown = [[times[number] for number in (0, 1, 4)] for times in runs]
        ratios = [mine / theirs for mine, theirs in zip(*shown, strict=True)]
        columns = ["".join(f"{one:8.4f}" for one in times) for times in shown]
        print(f"{name:38}{columns[0]}{columns[1]}" + "".join(f"{ratio:7.2f}" for ratio in ratios), flush=True)


if __name__ == "__main__":
    main()
