"""Exact answers to problems of the UAI 2014 inference competition, within 60 s and 4 GB on one core.

    python benchmarks/uai.py [names or groups, like Grids or linkage_16] [--seconds 60] [--gigabytes 4]

Each problem runs in a process of its own, on one thread, with its evidence; kernels are loaded before. It counts if
log Z and all marginals come within the seconds (of the processor: reading, planning and the run) and the memory (the
peak above the level after the kernels were loaded). Otherwise the line says why. Errors are against the reference
solutions, which have six digits: of log10 Z, relative to it where it is above 1, and the largest of the marginals. A
reference that is known to be no exact value is not compared.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np

import juncture as jt
from juncture.formats.uai.evidence import read_evidence
from juncture.formats.uai.results import read_result
from juncture.inference.exact.junction_tree.engine import JunctionTree

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "uai2014"
WALL = 5  # times the seconds: when a process is stopped on a machine that does other things too
CLOSE = 1e-5  # errors above are none of rounding in the reference
INEXACT = {
    "linkage_15": "reference -76.6058 is too small: variable elimination finds 10^-75.647 in a part of the states"
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", help="names or the beginnings of names; all by default")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(solve(options.problems[0], options.gigabytes)))
        return
    names = [name for name in problem_names() if not options.problems or name.startswith(tuple(options.problems))]
    print(f"juncture {jt.__version__}, Python {sys.version.split()[0]}, one thread; {len(names)} problems")
    print(
        f"{'problem':>19} {'variables':>9} {'seen':>4} {'operations':>10} {'read s':>6} {'plan s':>6} {'run s':>6}"
        f" {'MiB':>5} {'log10 Z':>13} {'error':>7} {'marginals':>9}"
    )
    count = sum(report(name, options.seconds, options.gigabytes) for name in names)
    print(f"{count} of {len(names)} answered exactly within {options.seconds:g} s and {options.gigabytes:g} GB")


def problem_names() -> list[str]:
    return sorted(path.name.removesuffix(".uai.gz") for path in FOLDER.glob("*.uai.gz"))


def report(name: str, seconds: float, gigabytes: float) -> bool:
    """Solve a problem in another process, print a line, and say whether it counts as answered."""
    command = [sys.executable, __file__, name, "--one", "--gigabytes", str(gigabytes)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=WALL * seconds, check=False)
    except subprocess.TimeoutExpired:
        print(f"{name:>19} stopped after {WALL * seconds:g} s on the clock", flush=True)
        return False
    if done.returncode:
        print(f"{name:>19} failed: {done.stderr.strip().splitlines()[-1:]}", flush=True)
        return False
    found = json.loads(done.stdout)
    line = (
        f"{name:>19} {found['variables']:9} {found['seen']:4} {found.get('operations', 0.0):10.2e} {found['read']:6.1f}"
    )
    if "refused" in found:
        print(f"{line} {found['plan']:6.1f} refused: {found['refused']}", flush=True)
        return False
    error = "-" if found["marginals"] is None else f"{found['marginals']:.1e}"
    why_not = shortfalls(name, found, seconds, gigabytes)
    print(
        f"{line} {found['plan']:6.1f} {found['run']:6.1f} {found['mib']:5.0f} {found['log10']:13.6f}"
        f" {found['error']:7.1e} {error:>9}{why_not} {INEXACT.get(name, '')}".rstrip(),
        flush=True,
    )
    return not why_not


def shortfalls(name: str, found: dict, seconds: float, gigabytes: float) -> str:
    """What is missing to an answer that counts."""
    told = ""
    told += " too slow" if found["read"] + found["plan"] + found["run"] > seconds else ""
    told += " too large" if found["mib"] > gigabytes * 1e9 / 2**20 else ""
    is_wrong = name not in INEXACT and max(found["error"], found["marginals"] or 0.0) > CLOSE
    return told + (" wrong" if is_wrong else "")


def solve(name: str, gigabytes: float) -> dict:
    warnings.simplefilter("ignore")
    load_kernels()
    level = peak()
    started = time.process_time()
    model = jt.read(FOLDER / f"{name}.uai.gz")
    evidence = read_evidence(FOLDER / f"{name}.uai.evid.gz", model)
    evidence = evidence if isinstance(evidence, dict) else dict(*evidence)
    read = time.process_time()
    found = {"variables": len(model.variables), "seen": len(evidence), "read": read - started}
    engine = JunctionTree(int(gigabytes * 1e9))
    found["operations"] = engine.row_cost(model, frozenset(evidence)).operations
    planned = time.process_time()
    try:
        beliefs = jt.infer(model, evidence, method=engine)
        marginals = {variable.name: beliefs[variable.name].values for variable in model.variables}
    except jt.TooLarge as refusal:
        return {**found, "plan": time.process_time() - read, "refused": str(refusal)}
    found |= {"plan": planned - read, "run": time.process_time() - planned, "mib": (peak() - level) / 2**10}
    found["log10"] = float(beliefs.log_evidence) / float(np.log(10.0))
    reference = read_result(FOLDER / f"{name}.uai.PR.gz").solutions[0]
    found["error"] = abs(found["log10"] - reference) / max(1.0, abs(reference))
    return {**found, "marginals": error_of_marginals(name, list(marginals.values()))}


def error_of_marginals(name: str, marginals: list[np.ndarray]) -> float | None:
    """The largest difference to the reference, None where there is no reference."""
    path = FOLDER / f"{name}.uai.MAR.gz"
    if not path.exists():
        return None
    reference = read_result(path).solutions[0]
    return max(float(abs(ours - theirs).max()) for ours, theirs in zip(marginals, reference, strict=True))


def load_kernels() -> None:
    """Ask a small model, one whose cliques are large and one with zeros: no kernel is compiled or loaded later."""
    jt.set_compilation("always")
    jt.set_num_threads(1)
    jt.infer(jt.example("asia"), {"xray": "yes"})
    variables = [jt.Variable(f"x{number}", 2) for number in range(20)]
    jt.infer(jt.MarkovNetwork([jt.Factor(pair, np.ones((2, 2))) for pair in combinations(variables, 2)]))
    same = np.zeros((2,) * 15)
    same[(0,) * 15] = same[(1,) * 15] = 1.0
    jt.infer(jt.MarkovNetwork([jt.Factor(variables[:15], same)]))


def peak() -> int:
    """KiB of memory that the process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
