"""Ten points of sin 2πx with noise: the data of the polynomial tables (S4-003, S4-011, S4-019)."""

from __future__ import annotations

import numpy as np

X = np.linspace(0, 1, 10)
T = np.array(
    [0.349486, 0.830839, 1.007332, 0.971507, 0.133066, 0.166823, -0.848307, -0.445686, -0.563567, 0.261502]
)  # fmt: skip
