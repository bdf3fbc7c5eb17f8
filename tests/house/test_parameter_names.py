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
HORIZONS = "how many steps lie ahead, or were seen: not a limit of iterations"
RECORDED = "the seed that was used, which a result records; what repeats it is rng"
TABLES = "the table of a factor, or a table that was read: not what users hand over"
KEPT = {  # (parameter, function) → what the word means there
    ("num_steps", "results.ChainBeliefs.forecast"): HORIZONS,
    ("num_steps", "results.ChainFilter"): HORIZONS,
    ("num_steps", "results.StateSpaceBeliefs.forecast"): HORIZONS,
    ("num_steps", "results.KalmanFilter"): HORIZONS,
    ("structure", "GaussianEmissions"): "the form of the covariance matrices",
    ("structure", "families.posterior"): "a graph or a network, of which only the graph counts",
    ("table", "messages.Semiring.sum_out"): TABLES,
    ("table", "messages.Semiring.sum_to"): TABLES,
    ("table", "supervised.RandomForest.read_values"): TABLES,
    ("table", "supervised.RandomForest.read_moments"): TABLES,
    ("table", "supervised.DecisionTree.read_values"): TABLES,
    ("table", "supervised.DecisionTree.read_moments"): TABLES,
    **{
        ("seed", path): RECORDED
        for path in (
            "Dataset.with_seed", "Sequence.with_seed", "structure.SearchResult.with_seed", "structure.EdgeStrengths",
            "sampling.Draws.with_seed", "sampling.AnnealedEstimate", "sampling.HeldOutScore",
            "sampling.ParticleBeliefs", "clusters.ClusterChoice", "clusters.Clusters", "clusters.ComponentChoice",
            "clusters.DiscriminativeClusters",
            "supervised.GeneralizedLinearFit", "supervised.DecisionFit", "supervised.PerceptronFit",
            "results.Beliefs", "results.BoltzmannBeliefs", "results.DeepBeliefs", "results.EncodedBeliefs",
            "results.Fit",
        )
    },
}  # fmt: skip


def test_the_list_is_current():
    """`python tests/house/parameter_names.py` writes it; a new name is a line to read before it is taken."""
    assert LISTED.read_text(encoding="utf-8") == listing()


def test_no_second_word_for_an_idea():
    found = {(name, path) for name, paths in parameter_names().items() if name in SECOND_WORDS for path in paths}
    assert found == set(KEPT)
