"""Loopy belief propagation beside PGMax, on a Potts grid.

    python benchmarks/messages.py [--side 200] [--steps 200] [--runs 5] [--peer .venv-pgmax/bin/python]

Both pass sum-product messages by the same updates (flooding, without damping) as many times, each on two threads. The
beliefs are compared first: PGMax computes in single precision, so that they agree to about 1e-6. `--peer` is an
interpreter with PGMax and a JAX that it still works with (`pip install pgmax jax==0.4.30 jaxlib==0.4.30`); PGMax is
compiled before the clock starts, and so are our kernels. Without it only our times are printed.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

NUM_STATES, COUPLING = 8, 1.0


def make_field(side: int) -> np.ndarray:
    """(row, column, state): the log-potential of each state of each site."""
    return np.random.default_rng(0).normal(size=(side, side, NUM_STATES)).astype(np.float32).astype(float)


def run_peer(side: int, steps: int, runs: int, path: str) -> None:
    """Run PGMax; times and beliefs go to a file."""
    import jax
    from pgmax import fgraph, fgroup, infer, vgroup

    sites = vgroup.NDVarArray(num_states=NUM_STATES, shape=(side, side))
    graph = fgraph.FactorGraph(variable_groups=[sites])
    across = [[sites[i, j], sites[i, j + 1]] for i in range(side) for j in range(side - 1)]
    down = [[sites[i, j], sites[i + 1, j]] for i in range(side - 1) for j in range(side)]
    table = (COUPLING * np.eye(NUM_STATES)).astype(np.float32)
    graph.add_factors(fgroup.PairwiseFactorGroup(variables_for_factors=across + down, log_potential_matrix=table))
    engine = infer.build_inferer(graph.bp_state, backend="bp")
    start = engine.init(evidence_updates={sites: make_field(side).astype(np.float32)})
    times = []
    for _ in range(runs + 1):  # the first run compiles
        begin = time.perf_counter()
        found = engine.run(start, num_iters=steps, damping=0.0, temperature=1.0)
        jax.block_until_ready(found.ftov_msgs)
        times.append(time.perf_counter() - begin)
    logs = np.asarray(engine.get_beliefs(found)[sites], dtype=float)
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    beliefs = weights / weights.sum(axis=-1, keepdims=True)
    versions = f"pgmax {version('pgmax')}, jax {jax.__version__}, {jax.devices()[0].platform}"
    np.savez(path, times=times[1:], beliefs=beliefs, versions=versions)


def run_ours(side: int, steps: int, runs: int) -> tuple[list[float], np.ndarray]:
    import juncture as jt

    jt.set_compilation("always")
    jt.set_num_threads(2)
    model = jt.potts((side, side), num_states=NUM_STATES, coupling=COUPLING, field=make_field(side))
    times = []
    for _ in range(runs + 1):  # the first run compiles, and lays out the model
        begin = time.perf_counter()
        beliefs = jt.infer(model, method=jt.LoopyBP(schedule="flooding", max_steps=steps, tolerance=0.0))
        times.append(time.perf_counter() - begin)
    names = model.variables.names
    return times[1:], np.array([beliefs[name].values for name in names]).reshape(side, side, NUM_STATES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=200)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peer", help="an interpreter with PGMax")
    parser.add_argument("--peer-file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # both stop after a number of steps, converged or not
    if options.peer_file:
        run_peer(options.side, options.steps, options.runs, options.peer_file)
        return
    import juncture as jt

    print(f"juncture {jt.__version__}, numpy {np.__version__}, numba {version('numba')}, Python {sys.version[:6]}")
    print(f"Potts, {options.side} by {options.side}, {NUM_STATES} states, {options.steps} steps of flooding, 2 threads")
    times, beliefs = run_ours(options.side, options.steps, options.runs)
    ours = statistics.median(times)
    print(f"juncture {ours:8.3f} s, of {options.runs} runs {min(times):.3f} to {max(times):.3f}")
    if options.peer is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "peer.npz")
        sizes = ["--side", str(options.side), "--steps", str(options.steps), "--runs", str(options.runs)]
        subprocess.run([options.peer, __file__, *sizes, "--peer-file", path], check=True)
        peer = np.load(path)
        theirs, gap = statistics.median(peer["times"]), float(np.abs(peer["beliefs"] - beliefs).max())
        print(f"PGMax    {theirs:8.3f} s, of {options.runs} runs {min(peer['times']):.3f} to {max(peer['times']):.3f}")
        print(f"{peer['versions']}; beliefs differ by at most {gap:.1e}; {theirs / ours:.1f} times as long")
        assert gap < 1e-4, "the two did not pass the same messages"


if __name__ == "__main__":
    main()
