"""Arguments that the public callables of `jt.supervised` take, by the call."""

from __future__ import annotations

from typing import Any

import numpy as np

import juncture as jt

CLASSES = {"prior": [0.5, 0.5], "densities": jt.Gaussian([0.0, 3.0], 1.0), "classes": ["low", "high"]}
SUPERVISED: dict[str, list[dict[str, Any]]] = {
    "GenerativeClassifier": [CLASSES],
    **{
        f"GenerativeClassifier.{method}": [{"X": [[0.5], [2.5]]}]
        for method in ("log_joint", "log_prob", "predict_log_proba", "predict_proba", "predict")
    },
    "GenerativeClassifier.code": [{"label": "low"}],
    "GenerativeClassifier.hyperplane": [{"one": "low", "other": "high"}],
    "GenerativeClassifier.with_prior": [{"prior": [0.25, 0.75]}],
    "GenerativeClassifier.draw": [{"count": 2, "generator": np.random.default_rng(0), "given": "low"}],
    "LinearForm": [{"weights": [[0.0], [1.0]], "intercepts": [0.0, 1.0], "classes": ["low", "high"]}],
    "LinearForm.log_odds": [{"one": "low", "other": "high"}],
    "find_separation": [{"X": [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], "y": [0, 1, 0]}],
}
