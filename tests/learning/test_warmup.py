"""What `juncture warmup` compiles is what learning calls."""

from __future__ import annotations

import subprocess
import sys

CALLED = {
    "climbing": ("close_paths", "reach_below", "best_change", "legal_gains"),
    "contingency": ("test_pair", "permuted_statistics"),
    "distinct": ("number_keys", "hash_words", "are_as_numbered"),
    "family_scores": ("number_parents", "score_extensions"),
    "forward": ("draw_in_order",),
    "network_counts": ("count_rows", "weigh_families", "add_cells"),
    "subsets": ("best_within", "best_orders", "score_subsets"),
}
SCRIPT = f"""
from importlib import import_module
from juncture.learning.warmup import warm_up
warm_up()
for module, names in {CALLED!r}.items():
    kernels = import_module(f"juncture.kernels.{{module}}")
    print(*(name for name in names if not getattr(kernels, name).signatures), end="")
"""


def test_every_kernel_that_learning_calls_is_compiled():
    answer = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == ""
