"""`warm_up` leaves no kernel of the questions to models in time order uncompiled."""

from __future__ import annotations

import subprocess
import sys

WANTED = {
    "state_space.kalman": ["filter_sequences", "smooth_sequences"],
    "state_space.paths": ["covariances", "draw_forward", "draw_backward"],
    "densities.emissions": ["diagonal_log_prob", "full_log_prob", "diagonal_moments", "add_counts"],
    "densities.mixtures": ["add_components", "weight_shares"],
    "chains.passes": ["pass_block", "pass_sequences"],
    "chains.bounded_passes": ["pass_bounded", "pass_bounded_sequences"],
    "chains.viterbi": ["decode_each"],
}
SCRIPT = """
from importlib import import_module
from juncture.warmup import warm_up
warm_up()
for module, names in {wanted}.items():
    for name in names:
        if not getattr(import_module("juncture.kernels." + module), name).signatures:
            print(module, name)
"""


def test_kernels_of_sequences_are_compiled():
    run = [sys.executable, "-c", SCRIPT.format(wanted=WANTED)]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == ""
