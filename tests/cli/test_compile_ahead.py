"""What `juncture warmup` compiles is what learning calls, and what questions to models in time order call."""

from __future__ import annotations

import subprocess
import sys

CALLED = {
    "coordinate_ascent": ("visit_nodes",),
    "structure.climbing": ("close_paths", "reach_below", "best_change", "legal_gains"),
    "structure.contingency": ("test_pair", "permuted_statistics", "add_layers"),
    "counting": ("number_keys", "hash_words", "are_as_numbered", "count_rows", "weigh_families", "add_cells"),
    "structure.local_scores": ("number_parents", "score_extensions", "score_table"),
    "structure.state_counts": ("count_bases",),
    "forward_sampling": ("draw_in_order",),
    "structure.subsets": ("best_within", "best_orders", "score_subsets"),
}
OF_SEQUENCES = {
    "state_space": ("filter_sequences", "smooth_sequences", "covariances", "draw_forward", "draw_backward"),
    "densities.emissions": ("diagonal_log_prob", "full_log_prob", "diagonal_moments", "add_counts"),
    "densities.mixtures": ("gaussian_mixture_pass", "code_mixture_pass", "add_components", "weight_shares"),
    "chains.forward_backward": ("pass_block", "pass_sequences"),
    "chains.bounded_passes": ("pass_bounded", "pass_bounded_sequences"),
    "chains.viterbi": ("decode_each",),
}
OF_TREES = {
    "decision_trees": ("find_splits", "send_rows", "find_leaves"),
}
OF_TOPICS = {
    "topics": ("update_shares", "mix_words"),
}
OF_MESSAGES = {
    "messages.schedules": ("run_rows", "flood_nodes"),
    "coordinate_ascent": ("sweep_rows", "sweep_binary_rows"),
    "sampling.blocks": ("sweep_blocks", "temper_blocks"),
    "sampling.pairwise": ("sweep_pairs", "temper_pairs", "sweep_spins"),
    "sampling.swendsen_wang": ("sweep_clusters", "flip_clusters"),
    "forward_sampling": ("add_log_values", "tally_states"),
}
SCRIPT = f"""
from importlib import import_module
from juncture.cli.warmup import warm_up
warm_up()
for module, names in {(CALLED | OF_SEQUENCES | OF_TREES | OF_TOPICS | OF_MESSAGES)!r}.items():
    kernels = import_module(f"juncture.kernels.{{module}}")
    print(*(name for name in names if not getattr(kernels, name).compiled.num_kept), end="")
"""
WIDE = f"""
import numpy as np
from juncture.data.dataset import Dataset
from juncture.learning.structure.independence import PermutationTest
from juncture.learning.structure.learn import learn_structure
from juncture.variables import Variable

def compiled():
    kernels = ((import_module(f"juncture.kernels.{{module}}"), names) for module, names in {CALLED!r}.items())
    return {{name: getattr(module, name).compiled.num_kept for module, names in kernels for name in names}}

before, rng = compiled(), np.random.default_rng(0)
for size in (2, 130, 40_000):
    variables = [Variable("a", size), Variable("b", 2), Variable("c", 3)]
    codes = {{one.name: rng.integers(min(one.num_states, 9), size=200) for one in variables}}
    data = Dataset.from_codes(variables, codes)
    for method in ("hill-climbing", "exact", "ges", "mmhc", "pc"):
        learn_structure(data, method)
    learn_structure(data.only(["b", "c"]), score="node-average")
    if size < 1000:
        learn_structure(data, "pc", test=PermutationTest(5))
print(*(name for name, count in compiled().items() if count != before[name]))
"""


def test_every_kernel_that_learning_and_sequences_call_is_compiled():
    """For learning also with any number of states."""
    answer = subprocess.run([sys.executable, "-c", SCRIPT + WIDE], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == ""
