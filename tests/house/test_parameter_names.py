"""One word for an idea in all public functions: the names of their parameters."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from parameter_names import LISTED, listing, parameter_names

SECOND_WORDS = {  # a second word → the one for its idea
    "num_samples": "draws", "n_samples": "draws", "num_draws": "draws", "n_draws": "draws", "samples": "draws",
    "num_particles": "particles", "num_chains": "chains", "n_chains": "chains", "decay": "penalty",
    "pace": "learning_rate", "iterations": "max_steps", "max_epochs": "epochs", "num_epochs": "epochs",
    "num_steps": "max_steps", "seed": "rng", "table": "data", "dataset": "data", "significance": "confidence",
    "structure": "model",
}  # fmt: skip
KEPT = {  # (parameter, function) where the word means something else
}


def test_the_list_is_current():
    """`python tests/house/parameter_names.py` writes it; a new name is a line to read before it is taken."""
    assert LISTED.read_text(encoding="utf-8") == listing()


def test_no_second_word_for_an_idea():
    found = {(name, path) for name, paths in parameter_names().items() if name in SECOND_WORDS for path in paths}
    assert not found - set(KEPT)
