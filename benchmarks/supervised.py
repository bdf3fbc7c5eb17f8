"""Regressions, classifiers and decisions beside other libraries: the same answer first, then the time.

    python benchmarks/supervised.py [--tasks value_of_information]

`value_of_information` asks for the mutual information of one variable of alarm with each of the 36 others, given no
evidence and given three findings: for every target the median of five runs, after one that is not counted. The answers
are first compared with the tables of pairs. The limit is 5 ms.

Kernels are compiled and plans are made before the clock starts. Versions and the load of the machine are printed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import juncture as jt

RUNS = 5
FINDINGS = {"HRBP": "HIGH", "CVP": "LOW", "EXPCO2": "LOW"}


def median_of(run: Callable[[], Any]) -> float:
    run()
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def versions(*packages: str) -> str:
    return ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)


def value_of_information() -> None:
    model = jt.example("alarm")
    print(versions("juncture", "numpy", "numba"))
    for evidence in ({}, FINDINGS):
        beliefs = jt.infer(model, evidence)
        targets = [name for name in model.variables.names if name not in evidence]
        for target in targets[:4]:
            values = jt.value_of_information(model, target, evidence=evidence)
            for name in values.candidates:
                wanted = jt.mutual_information(beliefs.joint(name, target), name, target) / np.log(2)
                assert abs(values[name] - wanted) < 1e-9, (target, name)
        asked = (partial(jt.value_of_information, model, target, evidence=evidence) for target in targets)
        taken = [median_of(ask) for ask in asked]
        print(
            f"  {len(evidence)} findings, {len(targets) - 1} candidates:"
            f" median target {1e3 * statistics.median(taken):.2f} ms, slowest {1e3 * max(taken):.2f} ms"
        )


TASKS: dict[str, Callable[[], None]] = {"value_of_information": value_of_information}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    chosen = parser.parse_args().tasks
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for name in chosen:
        print(name)
        TASKS[name]()


if __name__ == "__main__":
    main()
