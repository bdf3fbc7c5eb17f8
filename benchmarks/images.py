"""One noisy binary image of a megapixel by every engine that takes it: seconds, and the share of wrong pixels.

    python benchmarks/images.py [side]

Kernels are compiled; times are medians of three runs after a first one, which builds the arrays of the model.
"""

from __future__ import annotations

import sys
from statistics import median
from time import perf_counter

import numpy as np
import scipy

import juncture as jt

ENGINES = {
    "icm": lambda field: jt.most_probable(field, method="icm").array,
    "max-flow": lambda field: jt.most_probable(field, method="max-flow").array,
    "mean-field, 10 sweeps": lambda field: signs(jt.infer(field, method=jt.MeanField(max_steps=10))),
    "loopy, 10 steps": lambda field: signs(jt.infer(field, method=jt.LoopyBP(max_steps=10, schedule="flooding"))),
}


def signs(beliefs: jt.results.Beliefs) -> np.ndarray:
    return np.where(beliefs.array[..., 1] > 0.5, 1, -1)


def shapes(side: int) -> np.ndarray:
    rows, columns = np.mgrid[:side, :side] * 64 / side
    disc = np.hypot(rows - 22, columns - 22) < 14
    ring = abs(np.hypot(rows - 42, columns - 42) - 13) < 4
    return np.where(disc ^ ring, 1, -1)


def main(side: int) -> None:
    jt.set_compilation("always")
    clean = shapes(side)
    noisy = jt.images.flip_noise(clean, 0.2, rng=0)
    field = jt.images.denoising_field(noisy, 0.6, jt.images.flip_strength(0.2))
    print(f"juncture {jt.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}; {field!r}")
    print(f"{'noisy':24}{'':10}{np.mean(noisy != clean):8.2%}")
    for name, run in ENGINES.items():
        seconds = []
        for _ in range(4):
            start = perf_counter()
            image = run(field)
            seconds.append(perf_counter() - start)
        print(f"{name:24}{median(seconds[1:]):8.2f} s{np.mean(image != clean):8.2%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
