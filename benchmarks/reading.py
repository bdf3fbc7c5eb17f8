"""How long reading large BIF files takes, beside pyAgrum's C++ reader where that is installed.

    python benchmarks/reading.py --peer /path/to/python/with/pyagrum

The peer's Python may also be named by the environment variable JUNCTURE_PEER. Each side reads the same unpacked
files in a process of its own, network by network in turn; times are medians over the runs, and both sides' tables
are compared, their rows divided by their sums.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

NETWORKS = ["munin", "link", "diabetes", "mildew", "barley"]
FOLDER = Path(__file__).resolve().parents[2] / "shared" / "networks"
TOLERANCE = 1e-6  # pyAgrum keeps single precision while reading


def main():
    options = parse()
    if options.side:
        print(json.dumps(SIDES[options.side](options.file, options.runs)))
        return
    with tempfile.TemporaryDirectory() as folder:
        results = [measure(name, options, Path(folder)) for name in options.networks]
    print_table(results, options)
    if any(result["difference"] > TOLERANCE for result in results):
        sys.exit(f"the two readers disagree by more than {TOLERANCE:g}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--peer", default=os.environ.get("JUNCTURE_PEER"), help="a Python that has pyagrum and numpy")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the networks are, as name.bif.gz")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


# --- one side, in its own process ------------------------------------------------------------------------------------


def read_with_juncture(file, runs):
    import juncture as jt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.RenormalizedWarning)
        model, times = timed(lambda: jt.read(file), runs)
    tables = {part.child.name: part.values for part in model.conditionals}
    np.savez(file.with_suffix(".juncture.npz"), **tables)
    return {"version": jt.__version__, "times": times}


def read_with_pyagrum(file, runs):
    import pyagrum

    model, times = timed(lambda: pyagrum.loadBN(str(file)), runs)
    np.savez(file.with_suffix(".pyagrum.npz"), **{name: table_of(model.cpt(name)) for name in model.names()})
    return {"version": pyagrum.__version__, "times": times}


def table_of(cpt):
    """The parents' axes first, then the child's; pyAgrum's arrays have their axes in reversed order."""
    return np.moveaxis(cpt.toarray().transpose(), 0, -1)


def timed(read, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        model = read()
        times.append(time.perf_counter() - start)
    return model, times


SIDES = {"juncture": read_with_juncture, "pyagrum": read_with_pyagrum}


# --- both sides ------------------------------------------------------------------------------------------------------


def measure(name, options, folder):
    file = folder / f"{name}.bif"
    file.write_bytes(gzip.decompress((options.folder / f"{name}.bif.gz").read_bytes()))
    sides = {"juncture": run_side(sys.executable, "juncture", file, options.runs)}
    if has_pyagrum(options.peer):
        sides["pyagrum"] = run_side(options.peer, "pyagrum", file, options.runs)
    return {"name": name, "size": file.stat().st_size, "sides": sides, "difference": difference(file)}


def run_side(python, side, file, runs):
    command = [python, __file__, "--side", side, "--file", str(file), "--runs", str(runs)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def has_pyagrum(python):
    return (
        bool(python)
        and subprocess.run([python, "-c", "import pyagrum"], capture_output=True, check=False).returncode == 0
    )


def difference(file):
    """The largest difference between two numbers in the same place; 0 with one side only."""
    theirs = file.with_suffix(".pyagrum.npz")
    if not theirs.exists():
        return 0.0
    with np.load(file.with_suffix(".juncture.npz")) as ours, np.load(theirs) as others:
        return max(float(np.abs(normalized(ours[name]) - normalized(others[name])).max()) for name in ours)


def normalized(table):
    return table / table.sum(axis=-1, keepdims=True)


def print_table(results, options):
    versions = {side: result["version"] for side, result in results[0]["sides"].items()}
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"juncture {versions['juncture']} on Python {python} and NumPy {np.__version__}")
    print(f"pyAgrum {versions.get('pyagrum', 'is not here: name a Python that has it with --peer')}")
    print(f"medians of {options.runs} runs, in milliseconds\n")
    print(f"{'network':10} {'bytes':>10} {'juncture':>9} {'pyAgrum':>9} {'ratio':>6} {'difference':>11}")
    for result in results:
        medians = {side: 1e3 * statistics.median(found["times"]) for side, found in result["sides"].items()}
        ours, theirs = medians["juncture"], medians.get("pyagrum")
        peer = (
            f"{theirs:9.1f} {ours / theirs:6.2f} {result['difference']:11.1e}"
            if theirs
            else f"{'-':>9} {'-':>6} {'-':>11}"
        )
        print(f"{result['name']:10} {result['size']:10,} {ours:9.1f} {peer}")


if __name__ == "__main__":
    main()
