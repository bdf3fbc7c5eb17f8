"""Learning, sampling and scoring on alarm, beside pyAgrum (and pgmpy for counts), in one process.

    python benchmarks/learning.py [counts frames sampling em scoring] [--rows 1000000] [--pgmpy]

The peer's network is filled from ours, so both hold the same doubles. Medians of several runs on our side; the peer,
which takes seconds to minutes, runs once.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import juncture as jt

jt.set_compilation("always")  # machine code is measured, from the first call on

PARTS = ["counts", "frames", "sampling", "em", "scoring"]
FOLDER = Path(__file__).resolve().parents[2] / "shared" / "networks"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=PARTS)
    parser.add_argument("--rows", type=int, default=1_000_000, help="for counts, frames and sampling")
    parser.add_argument("--pgmpy", action="store_true", help="also pgmpy's counts, which take minutes")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    import pyagrum

    print(f"juncture {jt.__version__}, pyAgrum {pyagrum.__version__}, Python {sys.version.split()[0]}")
    model = jt.read(FOLDER / "alarm.bif.gz")
    peer = as_pyagrum(model)
    rows = jt.sample(model, options.rows, rng=0)
    jt.fit(model.graph, rows.take(slice(1000)))  # kernels are compiled or loaded
    for part in options.parts:
        globals()[f"time_{part}"](model, peer, rows, options)


def time_counts(model, peer, rows, options) -> None:
    import pyagrum

    ours = median(lambda: jt.estimate(model, jt.statistics(model, rows)))
    frame = rows.to_pandas()
    learner = pyagrum.BNLearner(frame, peer)
    theirs = once(lambda: learner.learnParameters(peer.dag()))
    tell(f"tables from {len(rows):,} coded rows", ours, theirs)
    if options.pgmpy:
        estimators = importlib.import_module("pgmpy.estimators")
        models = importlib.import_module("pgmpy.models")
        network = models.BayesianNetwork(list(model.graph.edges))
        slow = once(lambda: network.fit(frame, estimator=estimators.MaximumLikelihoodEstimator, n_jobs=1))
        tell(f"tables from {len(rows):,} rows, pgmpy {importlib.import_module('pgmpy').__version__}", ours, slow)


def time_frames(model, peer, rows, options) -> None:
    import pyagrum

    frame = rows.to_pandas().astype(object)

    def theirs() -> None:
        pyagrum.BNLearner(frame, peer).learnParameters(peer.dag())

    slow = once(theirs)
    for name, data in (
        ("pandas of objects", frame),
        ("pandas of str", frame.astype("str")),
        ("Polars", rows.to_polars()),
    ):
        ours = median(lambda: jt.fit(model, data), times=3)  # noqa: B023
        tell(f"tables from {len(rows):,} rows of text, {name}", ours, slow)


def time_sampling(model, peer, rows, options) -> None:
    import pyagrum

    ours = median(lambda: jt.sample(model, options.rows, rng=1))

    def theirs() -> None:
        generator = pyagrum.BNDatabaseGenerator(peer)
        generator.drawSamples(options.rows)

    tell(f"{options.rows:,} rows drawn", ours, once(theirs))


def time_em(model, peer, rows, options) -> None:
    import pyagrum

    rng = np.random.default_rng(1)
    few = rows.take(slice(10_000))
    holes = {name: np.where(rng.random(len(few)) < 0.1, -1, column) for name, column in few.columns.items()}
    data = jt.Dataset.from_codes(few.variables, holes)
    method = jt.ExpectationMaximization(max_steps=10, tolerance=0.0)
    fitted = jt.fit(model, data, prior=1.0, method=method)
    ours = median(lambda: jt.fit(model, data, prior=1.0, method=method), times=3) / fitted.trace.num_steps
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        data.to_pandas().fillna("?").to_csv(path, index=False)
        learner = pyagrum.BNLearner(str(path), peer, ["?"])
        learner.useSmoothingPrior(1.0)
        learner.useEM(1e-9)
        learner.EMsetMaxIter(2)
        learner.EMenableMaxIter()
        start = time.perf_counter()
        learned = learner.learnParameters(peer.dag())
        theirs = (time.perf_counter() - start) / max(learner.EMnbrIterations(), 1)
    tell("a step of EM, 10,000 rows with 10 % holes", ours, theirs)
    same = jt.fit(model, data, prior=1.0)
    told = f"{same.log_likelihood:.4f}; of their tables after 2 steps {score(model, learned, data):.4f}"
    print(f"    log-likelihood at our end {told}")


def score(model, learned, data) -> float:
    """The log-likelihood of the data under the peer's tables."""
    parts = [jt.Conditional(part.child, part.parents, table_of(learned, part)) for part in model.conditionals]
    return float(np.sum(jt.log_prob(jt.BayesianNetwork(parts), data)))


def table_of(learned, part) -> np.ndarray:
    table = learned.cpt(part.child.name)
    names = list(table.names)
    array = table.toarray()
    wanted = [*part.parents.names, part.child.name]
    order = [list(reversed(names)).index(name) for name in wanted]
    return array.transpose(order)


def time_scoring(model, peer, rows, options) -> None:
    from pyagrum import skbn
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor

    from juncture.estimators import BayesianNetworkClassifier

    target, few = "HYPOVOLEMIA", rows.take(slice(100_000))
    names = [name for name in model.variables.names if name != target]
    text = few.to_pandas().astype("str")[names]
    objects = text.astype(object)
    theirs = skbn.BNClassifier(type_processor=DiscreteTypeProcessor(defaultNumberOfBins=10))
    theirs.fromTrainedModel(bn=peer, targetAttribute=target, variableList=names)
    slow = once(lambda: theirs.predict_proba(objects))
    ours = BayesianNetworkClassifier.from_model(model, target)
    order = [theirs.classes_.tolist().index(label) for label in ours.classes_]
    far = np.abs(theirs.predict_proba(objects[:1000])[:, order] - ours.predict_proba(objects[:1000])).max()
    print(f"    largest difference between the two in 1,000 rows: {far:.1e}")
    coded = few.only(names)
    for kind, data in (
        ("coded rows", coded),
        ("rows of text, pandas", text),
        ("rows of text, pandas of objects", objects),
        ("rows of text, Polars", coded.to_polars()),
    ):
        tell(f"P(class) of {len(few):,} {kind}", median(lambda: ours.predict_proba(data)), slow)  # noqa: B023


def as_pyagrum(model):
    """The peer's network with our doubles."""
    import pyagrum

    network = pyagrum.BayesNet()
    for variable in model.variables:
        network.add(pyagrum.LabelizedVariable(variable.name, "", [str(label) for label in variable.labels]))
    for part in model.conditionals:
        for parent in part.parents.names:
            network.addArc(parent, part.child.name)
    for part in model.conditionals:
        table = network.cpt(part.child.name)
        names = list(reversed(list(table.names)))
        ours = [*part.parents.names, part.child.name]
        table[:] = np.ascontiguousarray(part.values.transpose([ours.index(name) for name in names]))
    return network


def median(function, times: int = 5) -> float:
    function()
    return statistics.median(once(function) for _ in range(times))


def once(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def tell(what: str, ours: float, theirs: float) -> None:
    print(f"{what:60} {ours * 1e3:10.1f} ms   peer {theirs * 1e3:12.1f} ms   ratio {theirs / ours:8.1f}", flush=True)


if __name__ == "__main__":
    main()
