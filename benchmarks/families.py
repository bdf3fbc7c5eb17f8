"""How long `log_prob` and `statistics` of many values take, beside SciPy's log-densities and NumPy's sums.

    python benchmarks/families.py --size 10000000 --family Gaussian Poisson

Each family's draws have `--size` numbers in all: that many scalars, or fewer vectors. Both sides run in one process,
turn by turn; times are medians over the runs, in milliseconds, and the ratio is theirs by ours: above 1, ours is
faster. NumPy's side makes the same sums as the statistics hold: Σ w u(x), and Σ w log h(x) where h is not 1. What
both sides find is compared.
"""

from __future__ import annotations

import argparse
import platform
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import scipy
from scipy import stats
from scipy.special import gammaln

import juncture
from juncture.families.registry import FAMILIES

juncture.set_compilation("always")  # machine code is measured, from the first call on

TOLERANCE = 1e-9
MATRIX_SHARE = 10  # of matrices, a tenth: SciPy goes through them one by one


@dataclass(frozen=True)
class Case:
    """A member, SciPy's log-density of x, and NumPy's sums of x under weights, or None."""

    name: str
    member: Any
    log_prob: Callable[[np.ndarray], np.ndarray] | None
    sums: Callable[[np.ndarray, np.ndarray | None], Any] | None = None
    share: int = 1


def summed(*functions: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray, np.ndarray | None], Any]:
    """Σ w f(x) for each function."""
    return lambda x, w: [f(x).sum(axis=0) if w is None else w @ f(x) for f in functions]


def same(x):
    return x


def scalar_moments(x, w):
    mean = np.average(x, weights=w)
    return [mean, x.var() if w is None else np.average((x - mean) ** 2, weights=w)]


def vector_moments(x, w):
    return [np.average(x, axis=0, weights=w), np.cov(x, rowvar=False, bias=True, aweights=w)]


def label_counts(x, w):
    return [np.bincount(x, w, minlength=6)]


def cases() -> list[Case]:
    f = FAMILIES
    chances = np.array([0.1, 0.2, 0.3, 0.05, 0.15, 0.2])
    return [
        Case("Bernoulli", f["Bernoulli"](0.3), lambda x: stats.bernoulli.logpmf(x, 0.3), summed(same)),
        Case("Geometric", f["Geometric"](0.3), lambda x: stats.geom.logpmf(x, 0.3, loc=-1), summed(same)),
        Case(
            "Binomial", f["Binomial"](20, 0.3), lambda x: stats.binom.logpmf(x, 20, 0.3),
            summed(same, lambda x: gammaln(21) - gammaln(x + 1) - gammaln(21 - x)),
        ),
        Case(
            "NegativeBinomial", f["NegativeBinomial"](5, 0.3), lambda x: stats.nbinom.logpmf(x, 5, 0.3),
            summed(same, lambda x: gammaln(x + 5) - gammaln(x + 1) - gammaln(5)),
        ),
        Case("Categorical", f["Categorical"](chances), lambda x: np.log(chances)[x], label_counts),
        Case(
            "Poisson", f["Poisson"](4.0), lambda x: stats.poisson.logpmf(x, 4.0),
            summed(same, lambda x: -gammaln(x + 1)),
        ),
        Case("Hypergeometric", f["Hypergeometric"](50, 20, 10), lambda x: stats.hypergeom.logpmf(x, 50, 20, 10)),
        Case("BetaBinomial", f["BetaBinomial"](20, 2.0, 3.0), lambda x: stats.betabinom.logpmf(x, 20, 2.0, 3.0)),
        Case(
            "BetaNegativeBinomial", f["BetaNegativeBinomial"](5.0, 4.0, 3.0),
            lambda x: stats.betanbinom.logpmf(x, 5.0, 4.0, 3.0),
        ),
        Case(
            "Beta", f["Beta"](2.0, 3.0), lambda x: stats.beta.logpdf(x, 2.0, 3.0),
            summed(np.log, lambda x: np.log1p(-x)),
        ),
        Case("Exponential", f["Exponential"](2.0), lambda x: stats.expon.logpdf(x, scale=0.5), summed(same)),
        Case("Gamma", f["Gamma"](2.5, 2.0), lambda x: stats.gamma.logpdf(x, 2.5, scale=0.5), summed(np.log, same)),
        Case("Gaussian", f["Gaussian"](1.0, 4.0), lambda x: stats.norm.logpdf(x, 1.0, 2.0), scalar_moments),
        Case(
            "InverseGamma", f["InverseGamma"](3.0, 2.0), lambda x: stats.invgamma.logpdf(x, 3.0, scale=2.0),
            summed(np.log, np.reciprocal),
        ),
        Case(
            "Laplace", f["Laplace"](1.0, 2.0), lambda x: stats.laplace.logpdf(x, 1.0, 2.0),
            summed(lambda x: np.abs(x - 1.0)),
        ),
        Case("Lomax", f["Lomax"](3.0, 2.0), lambda x: stats.lomax.logpdf(x, 3.0, scale=2.0)),
        Case("Pareto", f["Pareto"](3.0, 2.0), lambda x: stats.pareto.logpdf(x, 3.0, scale=2.0), summed(np.log)),
        Case(
            "ScaledInverseChiSquared", f["ScaledInverseChiSquared"](5.0, 2.0),
            lambda x: stats.invgamma.logpdf(x, 2.5, scale=5.0), summed(np.log, np.reciprocal),
        ),
        Case("StudentT", f["StudentT"](4.0, 1.0, 2.0), lambda x: stats.t.logpdf(x, 4.0, 1.0, 2.0)),
        Case(
            "Uniform", f["Uniform"](-1.0, 3.0), lambda x: stats.uniform.logpdf(x, -1.0, 4.0),
            lambda x, w: [x.min(), x.max()] if w is None else [x[w > 0].min(), x[w > 0].max()],
        ),
        Case("VonMises", f["VonMises"](0.5, 2.0), lambda x: stats.vonmises.logpdf(x, 2.0, 0.5), summed(np.cos, np.sin)),
        Case(
            "Weibull", f["Weibull"](1.5, 2.0), lambda x: stats.weibull_min.logpdf(x, 1.5, scale=2.0),
            summed(lambda x: x**1.5, lambda x: 0.5 * np.log(x)),
        ),
        *vector_cases(f, chances),
    ]  # fmt: skip


def vector_cases(f: dict[str, Any], chances: np.ndarray) -> list[Case]:
    counts = np.array([2.0, 3.0, 4.0, 1.5, 2.5, 6.0])
    scale = correlated(3)
    return [
        Case(
            "Dirichlet", f["Dirichlet"](counts), lambda x: stats.dirichlet.logpdf(x[:, :-1].T, counts), summed(np.log)
        ),
        Case(
            "Multinomial", f["Multinomial"](20, chances), lambda x: stats.multinomial.logpmf(x, 20, chances),
            summed(same, lambda x: gammaln(21) - gammaln(x + 1).sum(axis=-1)),
        ),
        Case(
            "DirichletMultinomial", f["DirichletMultinomial"](20, counts),
            lambda x: stats.dirichlet_multinomial.logpmf(x, counts, 20),
        ),
        *(gaussian_case(f, dimension) for dimension in (2, 8, 32)),
        Case(
            "MultivariateStudentT", f["MultivariateStudentT"](5.0, np.ones(8), correlated(8)),
            lambda x: stats.multivariate_t.logpdf(x, np.ones(8), correlated(8), 5.0),
        ),
        Case(
            "Wishart", f["Wishart"](6.0, scale), lambda x: stats.wishart.logpdf(np.moveaxis(x, 0, -1), 6.0, scale),
            summed(lambda x: np.linalg.slogdet(x)[1], lambda x: x.reshape(len(x), -1)), MATRIX_SHARE,
        ),
        Case(
            "InverseWishart", f["InverseWishart"](6.0, scale),
            lambda x: stats.invwishart.logpdf(np.moveaxis(x, 0, -1), 6.0, scale),
            summed(lambda x: np.linalg.slogdet(x)[1], lambda x: np.linalg.inv(x).reshape(len(x), -1)), MATRIX_SHARE,
        ),
    ]  # fmt: skip


def gaussian_case(f: dict[str, Any], dimension: int) -> Case:
    mean, covariance = np.ones(dimension), correlated(dimension)
    return Case(
        f"MultivariateGaussian d={dimension}",
        f["MultivariateGaussian"](mean, covariance),
        lambda x: stats.multivariate_normal.logpdf(x, mean, covariance),
        vector_moments,
    )


def correlated(dimension: int) -> np.ndarray:
    return np.eye(dimension) + 0.5


# --- measuring -------------------------------------------------------------------------------------------------------


def main():
    options = parse()
    for module in (juncture, np, scipy, numba):
        print(f"{module.__name__} {module.__version__}", end=", ")
    print(f"Python {platform.python_version()}; {options.size:,} numbers, medians of {options.repeat} runs, ms\n")
    print(f"{'':25} {'':12} {'rows':>11} {'ours':>8} {'theirs':>8} {'ratio':>6} {'difference':>11}")
    chosen = [case for case in cases() if not options.family or case.name.split()[0] in options.family]
    for case in chosen:
        measure(case, options)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nthe largest memory of this process was {peak:,.0f} MiB")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000_000, help="how many numbers each family sees")
    parser.add_argument("--family", nargs="+", choices=sorted(FAMILIES), help="only these")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="processor time of all cores: what a busy machine can tell")
    return parser.parse_args()


def measure(case, options):
    rows = options.size // int(np.prod(case.member.event_shape, dtype=int)) // case.share
    x = np.ascontiguousarray(case.member.sample(rows, rng=1))
    weights = np.random.default_rng(2).random(rows)
    if case.log_prob is not None:
        report(case.name, "log_prob", lambda: case.member.log_prob(x), lambda: case.log_prob(x), rows, options)
    if case.sums is not None:
        ours, theirs = lambda: case.member.statistics(x), lambda: case.sums(x, None)
        report(case.name, "statistics", ours, theirs, rows, options, numbers_of)
        ours, theirs = lambda: case.member.statistics(x, weights), lambda: case.sums(x, weights)
        report(case.name, "weighted", ours, theirs, rows, options, numbers_of)


def numbers_of(found):
    """What statistics hold, in the order of NumPy's sums."""
    if hasattr(found, "scatter"):
        return [found.center, found.scatter / found.weight]
    if hasattr(found, "total"):
        return [*np.ravel(found.total), *([found.log_base] if found.log_base else [])]
    return None


def report(name, what, ours, theirs, rows, options, numbers=same):
    mine, others = numbers(ours()), theirs()
    own_times, their_times = [], []
    clock = time.process_time if options.cpu else time.perf_counter
    for _ in range(options.repeat):
        own_times.append(timed(ours, clock))
        their_times.append(timed(theirs, clock))
    own, their = statistics.median(own_times), statistics.median(their_times)
    gap = "" if mine is None else f"{difference(mine, others):11.1e}"
    print(f"{name:25} {what:12} {rows:11,} {own:8.1f} {their:8.1f} {their / own:6.2f} {gap}", flush=True)


def timed(function, clock):
    start = clock()
    function()
    return 1e3 * (clock() - start)


def difference(ours, theirs):
    """The largest difference of two lists of numbers, relative to the larger ones."""
    ours, theirs = (np.concatenate([np.ravel(part) for part in side]) for side in (ours, theirs))
    return float(np.max(np.abs(ours - theirs) / np.maximum(1, np.abs(theirs))))


if __name__ == "__main__":
    main()
