"""`warm_up` leaves no kernel of the questions to models in time order uncompiled."""

from __future__ import annotations

import subprocess
import sys

WANTED = {
    "kalman": ["filter_sequences", "smooth_sequences"],
    "state_paths": ["covariances", "draw_forward", "draw_backward"],
    "emissions": ["diagonal_log_prob", "full_log_prob", "diagonal_moments", "add_counts"],
    "mixtures": ["add_components", "weigh"],
    "chains": ["walk", "walk_each"],
    "viterbi": ["decode_each"],
}
SCRIPT = """
from importlib import import_module
from juncture.warmup_inference import warm_up
warm_up()
for module, names in {wanted}.items():
    for name in names:
        if not getattr(import_module("juncture.kernels." + module), name).signatures:
            print(module, name)
"""


def test_kernels_of_sequences_are_compiled():
    run = [sys.executable, "-c", SCRIPT.format(wanted=WANTED)]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == ""
