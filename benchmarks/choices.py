"""Which junction tree answers a question, what it was predicted to take, and the time of its answers.

    python benchmarks/choices.py [names or beginnings of names] [--questions none row rows] [--peer PYTHON]
        [--set NAME=VALUE …] [--peer-set NAME=VALUE …] [--seconds 60] [--gigabytes 6] [--rounds 2] [--shared ../shared]

The problems are the networks of `shared/networks`, without evidence (`none`), with one row of evidence on a twentieth
of the variables (`row`) and with 1,000 rows on as many, of variables drawn for each row (`rows`) or the same for all
(`same`), and the problems of the UAI inference competition of 2014, with their evidence (`row`). Each question runs in
a process of its own, forked from one that has the kernels, on one thread, within limits of processor time and memory.
With --peer the same questions run with the Juncture of another Python, in turns with this one; with --set and
--peer-set the numbers that decide, of `choice.py`, are changed on one side, so that a reduction can be switched off:
`CUT_CELLS=1e18 CUT_SHARE=0.5` for axes left out, `OPERATIONS_PER_FACTOR=1e18` for tables reduced by evidence.

Seconds are of the processor: `first` is planning, packing and the marginals of all variables of a model that was read
anew, `second` those of the same question once more; the least of the repeats that fit into a second or two. `±` is the
largest difference between the marginals of the two sides.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from subprocess import PIPE
from threading import Thread
from typing import Any

import numpy as np
from uai import load_kernels

import juncture as jt
from juncture.formats.uai_evidence import read_evidence

SHARED = Path(__file__).resolve().parents[2] / "shared"
QUESTIONS = ("none", "row", "rows", "same")
SHARE = 0.05  # of the variables that are observed
NUM_ROWS = 1_000
WALL = 6  # times the seconds: when a process is stopped on a machine that does other things too
PLANNED = 2 / 3  # of the memory: the limit that the engine is told, where a run takes much
OUT_OF_TIME = 3  # a process's status
MUCH = 1e9  # bytes
PATIENCE, MOST_REPEATS = 1.0, 200  # seconds of repeats
SLOWER = 1.2  # a ratio of times from which on a line is marked


def main() -> None:
    options = parse()
    if options.serve:
        serve(options)
        return
    sides = [(sys.executable, options.set)]
    if options.peer or options.peer_set:
        sides.append((options.peer or sys.executable, options.peer_set))
    for python, numbers in sides:
        print(f"{versions(python)} {' '.join(numbers)}")
    processes = [Side(python, numbers, options) for python, numbers in sides]
    cases = [(name, question) for name, question in all_cases(options.shared) if is_asked(name, question, options)]
    times = ["first", "peer", "ratio", "second", "peer", "ratio", "±"] if len(sides) > 1 else ["first", "second"]
    heads = " ".join(f"{head:>{6 if head == 'ratio' else 8}}" for head in times)
    print(f"{'problem':>19} {'given':>5} {'kind':>15} {'operations':>10} {heads}")
    ratios: dict[str, list[float]] = {"first": [], "second": []}
    for name, question in cases:
        found: list[dict[str, Any]] = [{} for _ in processes]
        for turn in range(options.rounds):
            for side in range(len(processes))[:: 1 if turn % 2 == 0 else -1]:
                if "refused" not in found[side]:
                    found[side] = best_of(found[side], processes[side].ask(name, question))
        print(line(name, question, found, ratios), flush=True)
    for which, values in ratios.items():
        if values:
            print(
                f"{which}: ratio here / peer {median(values):.2f} in the median, {min(values):.2f} to {max(values):.2f}"
            )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", help="names or the beginnings of names; all by default")
    parser.add_argument("--questions", nargs="+", default=["none", "row"], choices=QUESTIONS)
    parser.add_argument("--peer", help="the Python of another environment with Juncture")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="numbers that decide, here")
    parser.add_argument("--peer-set", nargs="+", default=[], metavar="NAME=VALUE", help="... at the peer's")
    parser.add_argument("--num-rows", type=int, default=NUM_ROWS, help="of the questions `rows` and `same`")
    parser.add_argument("--share", type=float, default=SHARE, help="of the variables that are observed")
    parser.add_argument("--seconds", type=float, default=60.0, help="of the processor, a question")
    parser.add_argument("--gigabytes", type=float, default=6.0)
    parser.add_argument("--rounds", type=int, default=2, help="runs of each question on each side, in turns")
    parser.add_argument("--shared", type=Path, default=SHARED, help="the folder of `networks` and `uai2014`")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def all_cases(shared: Path) -> list[tuple[str, str]]:
    networks = sorted(path.name.removesuffix(".bif.gz") for path in shared.glob("networks/*.bif.gz"))
    problems = sorted(path.name.removesuffix(".uai.gz") for path in shared.glob("uai2014/*.uai.gz"))
    return [(name, question) for name in networks for question in QUESTIONS] + [(name, "row") for name in problems]


def is_asked(name: str, question: str, options: argparse.Namespace) -> bool:
    return question in options.questions and (not options.problems or name.startswith(tuple(options.problems)))


def versions(python: str) -> str:
    code = "import juncture, numpy, sys; print(juncture.__version__, juncture.__path__[0], numpy.__version__)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    version, folder, of_numpy = done.stdout.split()
    return f"juncture {version} in {folder}, NumPy {of_numpy}, Python {platform.python_version()}, one thread;"


# --- one question, in a process of its own ---------------------------------------------------------------------------


class Side:
    """A process with its kernels loaded, which answers each question in a fork of its own."""

    def __init__(self, python: str, numbers: list[str], options: argparse.Namespace) -> None:
        command = [python, __file__, "--serve", "--shared", str(options.shared), "--num-rows", str(options.num_rows)]
        command += ["--seconds", str(options.seconds), "--gigabytes", str(options.gigabytes)]
        command += ["--share", str(options.share), *(["--set", *numbers] if numbers else [])]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, env=environment)

    def ask(self, name: str, question: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{name} {question}\n")
        self.process.stdin.flush()
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


def serve(options: argparse.Namespace) -> None:
    warnings.simplefilter("ignore")
    load_kernels()
    load_kernels_of_rows()
    change_numbers(options.set)
    for asked in sys.stdin:
        name, question = asked.split()
        child = os.fork()
        if not child:
            limit_process(options)
            try:
                found = answer(name, question, options)
            except (jt.TooLarge, jt.errors.Unsupported) as refusal:
                found = {"refused": f"{type(refusal).__name__}: {str(refusal)[:100]}"}
            except MemoryError:
                found = {"refused": "out of memory"}
            print(json.dumps(found), flush=True)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status:
            words = {OUT_OF_TIME: f"more than {options.seconds:g} s"}
            print(json.dumps({"refused": words.get(status, f"stopped with status {status}")}), flush=True)


def load_kernels_of_rows() -> None:
    """Ask for many rows, with and without observed axes that can be left out."""
    model = jt.example("alarm")
    row = {name: labels[0] for name, labels in jt.sample(model, 1, rng=0).to_dict().items()}
    some = {name: row[name] for name in list(row)[:20]}
    jt.infer(model, [some] * 300)
    jt.infer(model, [some, {}] * 20)


def limit_process(options: argparse.Namespace) -> None:
    """Limit the memory, and the time after the kernels were loaded; a limit of the system makes clocks coarse."""
    size = int(options.gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    started, clock = time.process_time(), time.monotonic()

    def watch() -> None:
        while time.process_time() - started < options.seconds and time.monotonic() - clock < WALL * options.seconds:
            time.sleep(0.2)
        os._exit(OUT_OF_TIME)

    Thread(target=watch, daemon=True).start()


def answer(name: str, question: str, options: argparse.Namespace) -> dict[str, Any]:
    """What was chosen and predicted, and the times and marginals of the answers."""
    model, evidence = read_problem(name, question, options)
    found = predict(model, evidence)
    ask = asking(evidence, int(PLANNED * options.gigabytes * 1e9) if found["bytes"] > MUCH else None)
    times, ends = [], time.process_time() + PATIENCE
    while not times or time.process_time() + times[-1] < ends:
        model = read_model(name, options.shared)
        times.append(seconds_of(lambda: ask(model)))  # noqa: B023
    again, ends = [], time.process_time() + PATIENCE
    while not again or (len(again) < MOST_REPEATS and time.process_time() + again[-1] < ends):
        again.append(seconds_of(lambda: ask(model)))
    marginals = ask(model) if again[-1] < PATIENCE else []
    sizes = [float(value) for table in marginals for value in np.ravel(table[:20])]
    return {**found, "first": min(times), "second": min(again), "marginals": sizes}


def change_numbers(numbers: list[str]) -> None:
    if not numbers:
        return
    from juncture.inference.exact.junction_tree import choice

    for number in numbers:
        name, _, value = number.partition("=")
        if not hasattr(choice, name):
            raise SystemExit(f"choice.py has no number {name}")
        setattr(choice, name, float(value))


def predict(model: Any, evidence: Any) -> dict[str, Any]:
    """How the cliques are stored, and the operations and bytes that are predicted for one row."""
    row = evidence[0] if isinstance(evidence, list) else evidence
    cost = jt.cost(model, observed=list(row))
    found = {"kind": "-", "operations": cost.operations, "bytes": cost.bytes}
    try:
        from juncture.inference.exact.junction_tree.choice import choose
    except ImportError:
        return found
    chosen = choose(model, frozenset(row))
    return {**found, "kind": f"{'reduced, ' if chosen.is_reduced else ''}{chosen.kind.split()[0]}"}


def read_model(name: str, shared: Path) -> Any:
    network = shared / "networks" / f"{name}.bif.gz"
    return jt.read(network if network.exists() else shared / "uai2014" / f"{name}.uai.gz")


def read_problem(name: str, question: str, options: argparse.Namespace) -> tuple[Any, Any]:
    """The model and the evidence: a mapping, or a list of mappings."""
    model, file = read_model(name, options.shared), options.shared / "uai2014" / f"{name}.uai.evid.gz"
    if file.exists():
        evidence = read_evidence(file, model)
        return model, evidence if isinstance(evidence, dict) else dict(*evidence)
    if question == "none":
        return model, {}
    rng, names = np.random.default_rng(1), list(model.variables.names)
    count = max(1, round(options.share * len(names)))
    labels = jt.sample(model, 1 if question == "row" else options.num_rows, rng=0)
    columns = labels.to_dict()
    drawn = [{name: columns[name][number] for name in names} for number in range(labels.num_rows)]
    sets = [rng.choice(len(names), count, replace=False) for _ in drawn]
    sets = [sets[0]] * len(drawn) if question == "same" else sets
    rows = [{names[at]: row[names[at]] for at in chosen} for row, chosen in zip(drawn, sets, strict=True)]
    return model, rows[0] if question == "row" else rows


def asking(evidence: Any, limit: int | None) -> Callable[[Any], list[np.ndarray]]:
    limits: dict[str, Any] = {} if limit is None else {"memory_limit": limit}

    def ask(model: Any) -> list[np.ndarray]:
        beliefs = jt.infer(model, evidence, method="exact", **limits)
        return [beliefs[variable.name].values for variable in model.variables]

    return ask


def seconds_of(call: Callable[[], Any]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


# --- what is printed -------------------------------------------------------------------------------------------------


def best_of(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The lesser times of two runs."""
    if not one or "refused" in other:
        return other
    return {**one, **{which: min(one[which], other[which]) for which in ("first", "second")}}


def line(name: str, question: str, found: list[dict[str, Any]], ratios: dict[str, list[float]]) -> str:
    start, here = f"{name:>19} {question:>5}", found[0]
    if any("refused" in side for side in found):
        return f"{start} {' | '.join(side.get('refused') or shown(side['first']) for side in found)}"
    words = [f"{start} {here['kind']:>15} {here['operations']:10.2g}"]
    for which in ("first", "second"):
        words += [shown(side[which]) for side in found]
        if len(found) > 1:
            ratios[which].append(here[which] / found[1][which])
            words.append(f"{ratios[which][-1]:5.2f}{'!' if ratios[which][-1] > SLOWER else ' '}")
    if len(found) > 1 and here["marginals"] and len(here["marginals"]) == len(found[1]["marginals"]):
        differences = abs(np.array(here["marginals"]) - np.array(found[1]["marginals"]))
        words.append(f"{float(differences.max(initial=0.0)):7.0e}")
    return " ".join(words)


def shown(seconds: float) -> str:
    return (
        f"{seconds * 1e6:6.0f}µs"
        if seconds < 1e-3
        else f"{seconds * 1e3:6.1f}ms"
        if seconds < 1
        else f"{seconds:6.1f} s"
    )


if __name__ == "__main__":
    main()
