"""Arguments that the public callables of `jt.supervised` take, by the call."""

from __future__ import annotations

from typing import Any

import juncture as jt

CLASSES = {"prior": [0.5, 0.5], "densities": jt.Gaussian([0.0, 3.0], 1.0), "classes": ["low", "high"]}
SUPERVISED: dict[str, list[dict[str, Any]]] = {
    "GenerativeClassifier": [CLASSES],
    **{
        f"GenerativeClassifier.{method}": [{"rows": [[0.5], [2.5]]}]
        for method in ("log_joint", "log_prob", "predict_log_proba", "predict_proba", "predict")
    },
    "GenerativeClassifier.code": [{"label": "low"}],
    "GenerativeClassifier.hyperplane": [{"one": "low", "other": "high"}],
    "GenerativeClassifier.with_prior": [{"prior": [0.25, 0.75]}],
    "GenerativeClassifier.sample": [{"n": 2, "given": "low", "rng": 0}],
    "LinearForm": [{"weights": [[0.0], [1.0]], "intercepts": [0.0, 1.0], "classes": ["low", "high"]}],
    "LinearForm.log_odds": [{"one": "low", "other": "high"}],
    "fit_classifier": [
        {"families": "gaussian", "rows": [[0.0], [1.0], [5.0], [7.0]], "labels": [0, 0, 1, 1], "weights": [1, 2, 1, 1]},
        {"families": "poisson", "rows": [[0.0], [1.0], [5.0], [7.0]], "labels": [0, 0, 1, None]},
    ],
    "find_separation": [{"points": [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], "labels": [0, 1, 0]}],
}
