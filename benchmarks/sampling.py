"""Samplers beside pyAgrum: seconds for the same error of the marginals, and rows a second of forward sampling.

    python benchmarks/sampling.py [--networks alarm munin1] [--folder ../shared/networks] [--repeats 5] [--rows 100000]

The evidence is ten values of a row that is drawn from the network itself, of the variables with most entropy. Errors
are root mean squares over all states of all other variables, against exact marginals. The square of an error falls as
1/seconds: the seconds for the error E are seconds · error² / E², and the ratio of two samplers is that of seconds ·
error². pyAgrum's samplers run for a second each; every run counts, medians of the repeats are printed. Kernels are warm
and plans compiled; two threads for both (pyAgrum's samplers take one whatever is set). Of forward sampling the
processor time is printed too, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import juncture as jt

FINDINGS = 10
DRAWS = {"likelihood-weighting": 20_000, "importance": 20_000, "gibbs": 5_000}
SIDE = 1000  # of a grid of spins


def find_evidence(model: Any) -> dict[str, Any]:
    """The values of ten variables in a row of the network: of those that are most uncertain without evidence."""
    row, prior = jt.sample(model, 1, rng=1).to_pandas().iloc[0].to_dict(), jt.infer(model)
    entropies = {name: jt.information.entropy(prior[name].values) for name in row}
    names = sorted(row, key=lambda name: -entropies[name])[:FINDINGS]
    return {name: row[name] for name in names}


def error_of(marginals: dict[str, np.ndarray], exact: dict[str, np.ndarray]) -> float:
    """The root mean square over all states of the variables that are not observed."""
    differences = np.concatenate([np.asarray(marginals[name]) - values for name, values in exact.items()])
    return float(np.sqrt(np.mean(differences**2)))


def measure(run: Callable[[int], dict[str, np.ndarray]], exact: dict[str, np.ndarray], repeats: int) -> np.ndarray:
    """(repeat, 2): seconds and error of runs with different seeds."""
    found = []
    for seed in range(repeats):
        begin = time.perf_counter()
        marginals = run(seed)
        seconds = time.perf_counter() - begin
        found.append((seconds, error_of(marginals, exact)))
    return np.array(found)


def our_runs(model: Any, evidence: dict[str, Any], names: list[str]) -> dict[str, Callable[[int], Any]]:
    engines = {
        "likelihood-weighting": jt.LikelihoodWeighting(DRAWS["likelihood-weighting"]),
        "importance": jt.ImportanceSampling(DRAWS["importance"]),
        "gibbs": jt.Gibbs(DRAWS["gibbs"], chains=2),
    }

    def runner(engine: Any) -> Callable[[int], Any]:
        def run(seed: int) -> dict[str, np.ndarray]:
            beliefs = jt.infer(model, evidence, method=engine, rng=seed)
            return {name: beliefs[name].values for name in names}

        run(0)
        return run

    return {name: runner(engine) for name, engine in engines.items()}


def peer_runs(
    network: Any, evidence: dict[str, Any], names: list[str], seconds: float
) -> dict[str, Callable[[int], Any]]:
    import pyagrum as gum

    kinds = {
        "WeightedSampling": gum.WeightedSampling,
        "ImportanceSampling": gum.ImportanceSampling,
        "LoopyImportanceSampling": gum.LoopyImportanceSampling,
        "GibbsSampling": gum.GibbsSampling,
    }

    def runner(kind: Any) -> Callable[[int], Any]:
        def run(seed: int) -> dict[str, np.ndarray]:
            gum.initRandom(seed + 1)
            sampler = kind(network)
            sampler.setEvidence(evidence)
            sampler.setEpsilon(1e-12)
            sampler.setMinEpsilonRate(1e-12)
            sampler.setMaxIter(2_000_000_000)
            sampler.setMaxTime(seconds)
            sampler.setPeriodSize(1000)
            sampler.makeInference()
            return {name: sampler.posterior(name).toarray() for name in names}

        return run

    return {name: runner(kind) for name, kind in kinds.items()}


def check_states(model: Any, network: Any) -> None:
    """Both number the states of every variable in the same way."""
    for variable in model.variables:
        assert list(network.variable(variable.name).labels()) == [str(label) for label in variable.labels]


def compare(name: str, path: Path, options: argparse.Namespace) -> None:
    import pyagrum as gum

    model = jt.read(path)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / f"{name}.bif"
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        network = gum.loadBN(str(plain))
    check_states(model, network)
    evidence = find_evidence(model)
    beliefs = jt.infer(model, evidence)
    names = [one.name for one in model.variables if one.name not in evidence]
    exact = {one: beliefs[one].values for one in names}
    products = {}
    print(f"\n{name}: {len(model.variables)} variables, log p(evidence) = {beliefs.log_evidence:.2f}")
    runs = {**our_runs(model, evidence, names), **peer_runs(network, evidence, names, options.seconds)}
    for label, run in runs.items():
        found = measure(run, exact, options.repeats)
        products[label] = float(np.median(found[:, 0] * found[:, 1] ** 2))
        seconds, error = np.median(found, axis=0)
        needed = products[label] / 1e-6
        print(f"  {label:24s} {seconds:8.4f} s, error {error:.2e}, {needed:10.4f} s for the error 0.001")
    peers = {
        "likelihood-weighting": "WeightedSampling",
        "importance": "ImportanceSampling",
        "gibbs": "GibbsSampling",
    }
    for ours, theirs in peers.items():
        print(f"  {ours} takes 1/{products[theirs] / products[ours]:.0f} of the seconds of {theirs}")
    print(f"  importance takes 1/{products['GibbsSampling'] / products['importance']:.0f} of those of GibbsSampling")
    compare_forward(model, network, options)


def compare_forward(model: Any, network: Any, options: argparse.Namespace) -> None:
    """Rows a second of forward sampling: codes on our side, and pyAgrum's generator of databases on theirs."""
    import pyagrum as gum

    jt.sample(model, options.rows, rng=0)
    generator = gum.BNDatabaseGenerator(network)
    ours = time_runs(lambda seed: jt.sample(model, options.rows, rng=seed), options.repeats)
    theirs = time_runs(lambda seed: generator.drawSamples(options.rows), options.repeats)
    for clock, mine, other in zip(("wall", "processor"), ours, theirs, strict=True):
        print(
            f"  forward, {options.rows:,} rows, {clock} time: {mine:.4f} s and {other:.4f} s,"
            f" {other / mine:.0f} times as long"
        )


def time_runs(run: Callable[[int], Any], repeats: int) -> tuple[float, float]:
    """The median seconds of a run, on the wall and of processors."""
    found = []
    for seed in range(repeats):
        begin, used = time.perf_counter(), time.process_time()
        run(seed)
        found.append((time.perf_counter() - begin, time.process_time() - used))
    return tuple(statistics.median(column) for column in zip(*found, strict=True))


def measure_spins(repeats: int) -> None:
    """Updates of single spins a second in a large grid: one coupling, couplings and fields of their own, clusters.

    Two chains on two threads. The seconds of 10 sweeps are subtracted from those of more: what remains are sweeps.
    """
    rng = np.random.default_rng(0)
    num_edges, corner = 2 * SIDE * (SIDE - 1), ["x0_0"]
    models = {
        "Gibbs, one coupling": (jt.ising((SIDE, SIDE), 0.4), jt.Gibbs, 1000),
        "Gibbs, own couplings": (
            jt.ising((SIDE, SIDE), rng.normal(0.4, 0.1, num_edges), rng.normal(0.0, 0.1, (SIDE, SIDE))), jt.Gibbs, 100,
        ),
        "Gibbs, four labels": (jt.potts((SIDE, SIDE), 4, 0.8), jt.Gibbs, 20),
        "Swendsen-Wang": (jt.ising((SIDE, SIDE), 0.4), jt.SwendsenWang, 20),
    }  # fmt: skip
    print(f"\n{SIDE} × {SIDE} spins, updates a second of two chains (wall time; processor time, each thread)")
    for label, (model, engine, num_sweeps) in models.items():
        found = []
        for seed in range(repeats + 1):  # the first run is not counted
            times = []
            for sweeps in (10, 10 + num_sweeps):
                begin, used = time.perf_counter(), time.process_time()
                jt.infer(model, targets=corner, method=engine(draws=1, chains=2, warmup=sweeps), rng=seed)
                times.append((time.perf_counter() - begin, time.process_time() - used))
            found.append(np.subtract(times[1], times[0]))
        wall, used = np.median(found[1:], axis=0)
        updates = 2 * num_sweeps * SIDE**2
        print(f"  {label:22s} {updates / wall:.2e}; {updates / used:.2e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=["alarm", "munin1"])
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[2] / "shared" / "networks")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each run of a sampler of pyAgrum")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    jt.set_compilation("always")
    jt.set_num_threads(2)
    versions = ", ".join(f"{package} {version(package)}" for package in ("numpy", "numba", "pyagrum"))
    print(f"juncture {jt.__version__}, {versions}, Python {sys.version.split()[0]}")
    measure_spins(options.repeats)
    for name in options.networks:
        compare(name, options.folder / f"{name}.bif.gz", options)


if __name__ == "__main__":
    main()
