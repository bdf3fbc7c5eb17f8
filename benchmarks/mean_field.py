"""Mean field on a binary image of a million pixels: ten sweeps.

    python benchmarks/mean_field.py [--pixels 1000] [--runs 5]

The model is the denoising field of an image with flipped pixels. Kernels are compiled and the model is laid out before
the clock starts; what is measured is `infer` as a whole, from the model to its beliefs. One sweep of plain NumPy, which
updates the squares of a checkerboard in turn, is printed beside it; both reach the same bound, which is checked first.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from importlib.metadata import version

import numpy as np

import juncture as jt

COUPLING, TRUST, FLIPS, SWEEPS = 0.4, 0.9, 0.1, 10


def make_image(side: int) -> np.ndarray:
    """(row, column): a disc of 1 on -1, with some pixels flipped."""
    rng, (row, column) = np.random.default_rng(0), np.indices((side, side)) / side - 0.5
    image = np.where(row**2 + column**2 < 0.1, 1.0, -1.0)
    return np.where(rng.random(image.shape) < FLIPS, -image, image)


def neighbor_sums(means: np.ndarray) -> np.ndarray:
    padded = np.pad(means, 1)
    return padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]


def sweep_by_numpy(means: np.ndarray, field: np.ndarray) -> None:
    """One sweep in place, the black squares and then the white ones."""
    for color in range(2):
        chosen = np.indices(means.shape).sum(axis=0) % 2 == color
        means[chosen] = np.tanh(COUPLING * neighbor_sums(means) + field)[chosen]


def numpy_bound(means: np.ndarray, field: np.ndarray) -> float:
    ups = (1 + means) / 2
    entropy = -(ups * np.log(ups) + (1 - ups) * np.log1p(-ups)).sum()
    pairs = (means[:, 1:] * means[:, :-1]).sum() + (means[1:] * means[:-1]).sum()
    return float(COUPLING * pairs + (field * means).sum() + entropy)


def mean_field_image(side: int, runs: int) -> None:
    """Ten sweeps of mean field on an image; the median time."""
    field = TRUST * make_image(side)
    model = jt.ising((side, side), coupling=COUPLING, field=field, values=(-1, 1))
    small = jt.ising((60, 60), coupling=COUPLING, field=TRUST * make_image(60), values=(-1, 1))
    means = np.zeros((60, 60))
    for _ in range(300):
        sweep_by_numpy(means, TRUST * make_image(60))
    ours = jt.infer(small, method=jt.MeanField()).log_evidence
    assert abs(ours - numpy_bound(means, TRUST * make_image(60))) < 1e-6, "the bounds differ"
    engine, times = jt.MeanField(max_steps=SWEEPS), []
    jt.infer(model, method=engine)
    for _ in range(runs):
        start = time.perf_counter()
        beliefs = jt.infer(model, method=engine)
        times.append(time.perf_counter() - start)
    means, start = np.zeros((side, side)), time.perf_counter()
    sweep_by_numpy(means, field)
    one = time.perf_counter() - start
    print(f"mean field, {side} x {side} pixels: {SWEEPS} sweeps in {statistics.median(times):.3f} s (median of {runs})")
    print(f"  lower bound {beliefs.log_evidence:.6f}; NumPy takes {SWEEPS * one:.2f} s for as many sweeps")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pixels", type=int, default=1000, help="the side of the image")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
    jt.set_compilation("always")
    jt.set_num_threads(2)
    print(f"juncture {jt.__version__}, numpy {np.__version__}, numba {version('numba')}")
    mean_field_image(options.pixels, options.runs)


if __name__ == "__main__":
    main()
