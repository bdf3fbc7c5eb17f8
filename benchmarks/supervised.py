"""Regressions, classifiers and decisions beside other libraries: the same answer first, then the time.

    python benchmarks/supervised.py [--tasks value_of_information]

`value_of_information` asks for the mutual information of one variable of alarm with each of the 36 others, given no
evidence and given three findings: for every target the median of five runs, after one that is not counted. The answers
are first compared with the tables of pairs. The limit is 5 ms.
`naive_bayes` learns Gaussian and Bernoulli naive Bayes from a million rows of 50 columns, and asks for the
probabilities of the classes of all rows, as scikit-learn does, with two threads each; they agree to 1e-9 first.

`trees` grows `DecisionTree` from 100,000 rows of 20 columns with four categories each, and scikit-learn's CART, by
entropy, from the same columns one-hot encoded as float32, which is not timed. Both grow until leaves are pure, and
then with at least 20 rows in a leaf, where the accuracy on 100,000 fresh rows is compared first; then a forest of 20
trees each with two threads. The limit is twice the time of scikit-learn.
`logistic` learns logistic regression of a million rows of 20 columns with an L2 penalty, beside scikit-learn's lbfgs at
the tolerance at which its coefficients are within 1e-5 of the maximum.

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
                wanted = jt.information.mutual_information(beliefs.joint(name, target), name, target) / np.log(2)
                assert abs(values[name] - wanted) < 1e-9, (target, name)
        asked = (partial(jt.value_of_information, model, target, evidence=evidence) for target in targets)
        taken = [median_of(ask) for ask in asked]
        print(
            f"  {len(evidence)} findings, {len(targets) - 1} candidates:"
            f" median target {1e3 * statistics.median(taken):.2f} ms, slowest {1e3 * max(taken):.2f} ms"
        )


def draw_categories(number: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 20 categories, and a class that depends on four of them."""
    rows = rng.integers(4, size=(number, 20))
    log_odds = 2.0 * (rows[:, 0] == rows[:, 1]) + 1.5 * (rows[:, 2] > 1) - 2.0 * (rows[:, 3] == 0) - 1.0
    return rows, (rng.random(number) < 1 / (1 + np.exp(-log_odds))).astype(int)


def trees() -> None:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    from juncture.estimators import DecisionTree, RandomForest

    print(versions("juncture", "numpy", "numba", "scikit-learn"))
    rng = np.random.default_rng(0)
    rows, labels = draw_categories(100_000, rng)
    fresh, truth = draw_categories(100_000, rng)
    encoder = OneHotEncoder(sparse_output=False, dtype=np.float32).fit(rows)
    one_hot, fresh_hot = encoder.transform(rows), encoder.transform(fresh)
    forest = {"n_estimators": 20, "min_samples_leaf": 20}
    pairs = [
        ("tree, pure leaves", DecisionTree(categories="all"), DecisionTreeClassifier(criterion="entropy")),
        (
            "tree, 20 rows in a leaf",
            DecisionTree(categories="all", min_samples_leaf=20),
            DecisionTreeClassifier(criterion="entropy", min_samples_leaf=20),
        ),
        (
            "forest of 20 trees",
            RandomForest(categories="all", **forest),
            RandomForestClassifier(criterion="entropy", n_jobs=2, **forest),
        ),
    ]
    for name, ours, theirs in pairs:
        accuracy = ours.fit(rows, labels).score(fresh, truth), theirs.fit(one_hot, labels).score(fresh_hot, truth)
        mine, other = median_of(partial(ours.fit, rows, labels)), median_of(partial(theirs.fit, one_hot, labels))
        answered = median_of(partial(ours.predict, fresh)), median_of(partial(theirs.predict, fresh_hot))
        print(
            f"  {name}: accuracy {accuracy[0]:.4f} and {accuracy[1]:.4f}; fit {mine:.2f} s and {other:.2f} s"
            f" ({mine / other:.2f}×); predict {1e3 * answered[0]:.0f} ms and {1e3 * answered[1]:.0f} ms"
        )


def naive_bayes() -> None:
    from sklearn.naive_bayes import BernoulliNB, GaussianNB

    from juncture.estimators import NaiveBayes

    jt.set_num_threads(2)
    print(versions("juncture", "numpy", "scikit-learn"))
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1_000_000)
    rows = rng.normal(size=(len(y), 50)) + 0.3 * y[:, None]
    compare_classifiers(NaiveBayes("gaussian"), GaussianNB(var_smoothing=0.0), rows, y)
    compare_classifiers(NaiveBayes("bernoulli"), BernoulliNB(), (rows > 0).astype(float), y)


def compare_classifiers(mine: Any, peer: Any, rows: np.ndarray, y: np.ndarray) -> None:
    found, expected = (each.fit(rows, y).predict_proba(rows) for each in (mine, peer))
    apart = np.abs(found - expected).max()
    assert apart < 1e-9, apart
    print(f"  {peer!r}: probabilities apart {apart:.1e}")
    for verb, arguments in (("fit", (rows, y)), ("predict_proba", (rows,))):
        ours, theirs = (median_of(partial(getattr(each, verb), *arguments)) for each in (mine, peer))
        print(f"    {verb}: {1e3 * ours:.0f} ms, scikit-learn {1e3 * theirs:.0f} ms ({theirs / ours:.1f} x)")


def logistic() -> None:
    """Ours ends at the maximum to rounding; the tolerance of the peer is lowered until it is as near as 1e-5."""
    from sklearn.linear_model import LogisticRegression

    from juncture.supervised import LogisticRegression as Ours

    print(versions("juncture", "numpy", "scikit-learn"))
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1_000_000, 20)) * rng.uniform(0.5, 2.0, 20) + rng.normal(size=20)
    y = (rng.random(len(rows)) < 1 / (1 + np.exp(-(rows @ rng.normal(size=20) * 0.5 + 0.3)))).astype(np.int64)
    mine = partial(jt.fit, Ours, rows, y, penalty=jt.L2(1.0))
    best = mine().model.coefficients[0]
    for tolerance in (1e-4, 1e-6, 1e-7):
        peer = LogisticRegression(C=1.0, tol=tolerance, max_iter=1000)
        theirs = peer.fit(rows, y)
        apart = float(np.abs(np.append(theirs.intercept_, theirs.coef_) - best).max())
        if apart < 1e-5:
            break
    quick, slow = median_of(mine), median_of(partial(peer.fit, rows, y))
    print(f"  {quick:.2f} s; lbfgs with tol={tolerance:g} {slow:.2f} s ({slow / quick:.1f} x), apart {apart:.1e}")


TASKS: dict[str, Callable[[], None]] = {
    "value_of_information": value_of_information,
    "naive_bayes": naive_bayes,
    "logistic": logistic,
    "trees": trees,
}


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
