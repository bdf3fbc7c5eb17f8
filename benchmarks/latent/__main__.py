"""Latent-variable models beside other libraries: the same start, the same answer first, then the time.

    python benchmarks/latent [--tasks gaussian topics …] [--rows 1000000] [--runs 5]

The peers are in an environment of their own, with the sources of Juncture installed:

    python -m venv bench && bench/bin/pip install torch==2.13.0
    bench/bin/pip install -e . pyarrow scikit-learn==1.9.1 stepmix==3.0.0 pomegranate==1.1.2 mlpack==4.8.0
    bench/bin/pip install tomotopy==0.14.0

`gaussian`: full covariances, 8 columns, 16 components, ten steps of EM, beside scikit-learn (parameters to 1e-8) and
mlpack (which has its own start: likelihoods are compared).
`gaussian_with_holes`: a tenth of the cells missing, beside complete rows.
`memory`: the most that is allocated beside the rows. `streaming`: a Parquet file with holes and weights, at two sizes,
with the peak of memory. `bernoulli` and `categorical`: 32 columns of zeros and ones, 16 columns of four states, 8
components, beside NumPy, StepMix and pomegranate (tables to 1e-8, double precision).
`factors`: factor analysis by the same steps as scikit-learn, whose SVD is "lapack" (exact) or "randomized" (its
default), from noise 1; covariances are compared to 1e-8 with the exact one. `factors_with_holes`: a tenth of the cells
missing. `boltzmann`: an epoch of persistent contrastive divergence, as many chains as rows in a batch and one Gibbs
step, as in scikit-learn's `BernoulliRBM`, whose rows are double or single precision; the exact log-likelihood of a
small machine is compared first. `topics`: tokens a second of collapsed Gibbs sampling beside tomotopy, after held-out
bounds are compared.

Medians of the runs, after one that is not counted. Both sides have two threads, our collapsed Gibbs sampling one.
`--rows` is for mixtures. Versions are printed.
"""

from __future__ import annotations

import argparse
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numpy as np
import scipy
from boltzmann import measure_machines
from discrete import measure_bernoulli, measure_categorical
from gaussians import measure_gaussian, measure_holes, measure_memory, measure_streaming
from timing import Options
from topics import measure_topics

import juncture as jt
from factors import measure_factors, measure_factors_with_holes

TASKS = {
    "gaussian": measure_gaussian,
    "gaussian_with_holes": measure_holes,
    "memory": measure_memory,
    "streaming": measure_streaming,
    "bernoulli": measure_bernoulli,
    "categorical": measure_categorical,
    "factors": measure_factors,
    "factors_with_holes": measure_factors_with_holes,
    "boltzmann": measure_machines,
    "topics": measure_topics,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="*", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # a fixed number of steps does not converge
    jt.set_compilation("always")
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"juncture {jt.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}; {load}")
    for task in given.tasks:
        TASKS[task](Options(given.rows, given.runs))


if __name__ == "__main__":
    main()
