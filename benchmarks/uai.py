"""A scoreboard of problems of the UAI 2014 inference competition, within 60 s and 4 GB on one core.

    python benchmarks/uai.py [names or groups, like Grids or linkage_16] [--methods exact loopy "MiniBucket(bound=12)"]
        [--all] [--seconds 60] [--gigabytes 4] [--budget 45]

Each problem runs in a process of its own, on one thread, with its evidence; kernels are loaded before. The methods are
tried in their order until one answers in time and in memory; with --all each of them runs. A method is a name or a call
of an engine. Seconds are of the processor (reading, planning and the run), memory is the peak above the level after the
kernels were loaded.

An answer is exact, bounded (log Z lies between two numbers, or below or above one) or approximate. Errors are against
the reference solutions, which have six digits: of log10 Z, relative to it where it is above 1, and the mean and the
largest of the marginals of the variables that were not observed and have more than one state. An exact answer with an
error above 1e-5 is called wrong, and so is a bound beyond the reference by more.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import juncture as jt
from juncture.formats.uai_evidence import read_evidence
from juncture.formats.uai_results import read_result

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "uai2014"
WALL = 5  # times the seconds: when a process is stopped on a machine that does other things too
CLOSE = 1e-5  # errors above are none of rounding in the reference
GOOD = 1e-3  # the mean error of marginals that counts as solved
EXACT = ("exact", "junction-tree")  # which take a limit of memory, and no budget: they refuse what is too large
BUDGET = 0.75  # of the seconds, for engines that improve an answer while time is left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", help="names or the beginnings of names; all by default")
    parser.add_argument(
        "--methods", nargs="+", default=["exact"], help='names, or calls such as "LoopyBP(damping=0.5)"'
    )
    parser.add_argument("--all", action="store_true", help="run every method, not only until one answers")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--budget", type=float, help="seconds on the clock for engines that improve; 45 by default")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        budget = BUDGET * options.seconds if options.budget is None else options.budget
        print(json.dumps(solve(options.problems[0], options.methods[0], budget, options.gigabytes)))
        return
    names = [name for name in problem_names() if not options.problems or name.startswith(tuple(options.problems))]
    print(f"juncture {jt.__version__}, Python {sys.version.split()[0]}, one thread; {len(names)} problems")
    print(
        f"{'problem':>19} {'method':>20} {'answer':>11} {'seconds':>7} {'MiB':>5} {'log10 Z':>13} {'error':>7}"
        f" {'lower':>9} {'upper':>9} {'mean':>7} {'largest':>7}"
    )
    scores = {name: run_problem(name, options) for name in names}
    print_scores(scores, options)


def problem_names() -> list[str]:
    return sorted(path.name.removesuffix(".uai.gz") for path in FOLDER.glob("*.uai.gz"))


# --- one problem, in a process of its own ----------------------------------------------------------------------------


def run_problem(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The answers of the methods, up to the first that is in time and in memory, or of all."""
    found = []
    for method in options.methods:
        found.append(run_process(name, method, options))
        print(line(name, method, found[-1]), flush=True)
        if not options.all and found[-1]["answer"] != "refused":
            break
    return found


def run_process(name: str, method: str, options: argparse.Namespace) -> dict[str, Any]:
    limits = ["--seconds", str(options.seconds), "--gigabytes", str(options.gigabytes)]
    command = [sys.executable, __file__, name, "--methods", method, "--one", *limits]
    command += [] if options.budget is None else ["--budget", str(options.budget)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=WALL * options.seconds, check=False)
    except subprocess.TimeoutExpired:
        return {"answer": "refused", "why": f"stopped after {WALL * options.seconds:g} s on the clock"}
    if done.returncode:
        return {"answer": "refused", "why": f"failed: {' '.join(done.stderr.strip().splitlines()[-1:])}"}
    found: dict[str, Any] = json.loads(done.stdout)
    if found["answer"] != "refused" and (why := shortfalls(found, options.seconds, options.gigabytes)):
        return {**found, "answer": "refused", "why": why}
    return found


def shortfalls(found: dict[str, Any], seconds: float, gigabytes: float) -> str:
    """What is missing to an answer that counts."""
    slow = f"too slow: {found['seconds']:.0f} s" if found["seconds"] > seconds else ""
    return slow or (f"too large: {found['mib']:.0f} MiB" if found["mib"] > gigabytes * 1e9 / 2**20 else "")


def solve(name: str, method: str, budget: float, gigabytes: float) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    load_kernels()
    level, started = peak(), time.process_time()
    model = jt.read(FOLDER / f"{name}.uai.gz")
    evidence = read_evidence(FOLDER / f"{name}.uai.evid.gz", model)
    evidence = evidence if isinstance(evidence, dict) else dict(*evidence)
    engine = eval(method, {}, vars_of_juncture()) if "(" in method else method
    limits: dict[str, Any] = {"memory_limit": int(gigabytes * 1e9)}
    if method not in EXACT:
        limits["budget"] = budget
    try:
        beliefs = jt.infer(model, evidence, method=engine, **limits)
        marginals = [beliefs[variable.name].values for variable in model.variables]
    except (jt.TooLarge, jt.errors.Unsupported) as refusal:
        return {"answer": "refused", "why": str(refusal), "seconds": time.process_time() - started}
    found = {"seconds": time.process_time() - started, "mib": (peak() - level) / 2**10, "method": beliefs.method}
    free = [variable.num_states > 1 and variable.name not in evidence for variable in model.variables]
    return found | judge(name, beliefs, marginals, free)


def judge(name: str, beliefs: Any, marginals: list[np.ndarray], free: list[bool]) -> dict[str, Any]:
    """The answer's kind, its errors, and whether what it claims is true."""
    reference = read_result(FOLDER / f"{name}.uai.PR.gz").solutions[0]
    scale = max(1.0, abs(reference))
    log10, bounds = float(beliefs.log_evidence) / np.log(10.0), {}
    for side in ("lower", "upper"):
        bound = getattr(beliefs.diagnostics, side)
        bounds[side] = None if bound is None or not np.isfinite(bound) else float(bound) / np.log(10.0) - reference
    mean, largest = errors_of_marginals(name, marginals, free)
    error = abs(log10 - reference) / scale
    above, below = (
        -np.inf if bounds[side] is None else sign * bounds[side] for side, sign in (("lower", 1), ("upper", -1))
    )
    is_wrong = max(above, below) > CLOSE * scale or (beliefs.exact and max(error, largest or 0.0) > CLOSE)
    kind = "bounded" if any(bound is not None for bound in bounds.values()) else "approximate"
    answer = "exact" if beliefs.exact else kind
    return {
        "answer": answer,
        "is_wrong": bool(is_wrong),
        "log10": log10,
        "error": error,
        **bounds,
        "mean": mean,
        "largest": largest,
    }


def errors_of_marginals(name: str, marginals: list[np.ndarray], free: list[bool]) -> tuple[float | None, float | None]:
    """The mean and the largest difference to the reference, None where there is no reference."""
    path = FOLDER / f"{name}.uai.MAR.gz"
    if not path.exists():
        return None, None
    triples = zip(marginals, read_result(path).solutions[0], free, strict=True)
    differences = np.concatenate([abs(ours - theirs) for ours, theirs, is_free in triples if is_free])
    return float(differences.mean()), float(differences.max())


def vars_of_juncture() -> dict[str, Any]:
    return {name: getattr(jt, name) for name in jt.__all__ if name[0].isupper()}


def load_kernels() -> None:
    """Ask a small model, one whose cliques are large and one with zeros: no kernel is compiled or loaded later."""
    jt.set_compilation("always")
    jt.set_num_threads(1)
    asia = jt.example("asia")
    for method in ("exact", "loopy", "mean-field"):
        try:
            jt.infer(asia, {"xray": "yes"}, method=method)
        except jt.errors.Unsupported:
            continue
    variables = [jt.Variable(f"x{number}", 2) for number in range(20)]
    jt.infer(jt.MarkovNetwork([jt.Factor(pair, np.ones((2, 2))) for pair in combinations(variables, 2)]))
    same = np.zeros((2,) * 15)
    same[(0,) * 15] = same[(1,) * 15] = 1.0
    jt.infer(jt.MarkovNetwork([jt.Factor(variables[:15], same)]))


def peak() -> int:
    """KiB of memory that the process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# --- what is printed -------------------------------------------------------------------------------------------------


def line(name: str, method: str, found: dict[str, Any]) -> str:
    if found["answer"] == "refused":
        return f"{name:>19} {method:>20} {'refused':>11} {found.get('seconds', 0.0):7.1f} {found['why']}"
    numbers = [shown(found[key], 9, "+.3g") for key in ("lower", "upper")]
    numbers += [shown(found[key], 7, ".1e") for key in ("mean", "largest")]
    return (
        f"{name:>19} {method:>20} {found['answer']:>11} {found['seconds']:7.1f} {found['mib']:5.0f}"
        f" {found['log10']:13.6f} {found['error']:7.1e} {' '.join(numbers)}{' wrong' if found['is_wrong'] else ''}"
    )


def shown(value: float | None, width: int, form: str) -> str:
    return ("-" if value is None else format(value, form)).rjust(width)


def print_scores(scores: dict[str, list[dict[str, Any]]], options: argparse.Namespace) -> None:
    """For each method, or for the first answer of each problem, the share of each group that is solved."""
    rows = (
        {method: {name: found[at] for name, found in scores.items()} for at, method in enumerate(options.methods)}
        if options.all
        else {"the first answer": {name: found[-1] for name, found in scores.items()}}
    )
    for title, found in rows.items():
        kinds = [answer["answer"] for answer in found.values()]
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("exact", "bounded", "approximate", "refused"))
        print(f"\n{title}: {counts}; wrong: {[name for name, answer in found.items() if answer.get('is_wrong')]}")
        groups: dict[str, list[bool]] = defaultdict(list)
        for name, answer in found.items():
            if (FOLDER / f"{name}.uai.MAR.gz").exists():
                is_good = answer["answer"] != "refused" and answer["mean"] <= GOOD
                groups[name.rpartition("_")[0]].append(is_good)
        shares = {group: float(np.mean(solved)) for group, solved in groups.items()}
        print(f"marginals within {GOOD:g}: " + ", ".join(f"{g} {sum(groups[g])}/{len(groups[g])}" for g in shares))
        if shares:
            print(f"least of a group {min(shares.values()):.0%}, mean over groups {np.mean(list(shares.values())):.0%}")
        hard = [
            name for name, answer in found.items() if answer["answer"] == "refused" or (answer["mean"] or 0.0) > GOOD
        ]
        print(f"hard: {', '.join(hard) or 'none'}")


if __name__ == "__main__":
    main()
