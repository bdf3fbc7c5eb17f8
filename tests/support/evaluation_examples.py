"""Arguments that the public callables of `jt.evaluation` take, by the call."""

from __future__ import annotations

from typing import Any

import juncture as jt

LINE = [0.5, 1.0, 2.0, 3.5]
PAC = {"epsilon": 0.1, "delta": 0.05}

EVALUATION: dict[str, list[dict[str, Any]]] = {
    "Hyperplanes": [{"dimension": 2}],
    "Rectangles": [{"dimension": 2}],
    "capacity": [{"num_hypotheses": 1000}],
    "estimation_error_bound": [{"num_samples": 100, "num_hypotheses": 10, "delta": 0.05}],
    "fit_threshold": [{"points": LINE, "labels": [0, 0, 1, 1]}],
    "hoeffding_bound": [{"num_samples": 100, "deviation": 0.1}],
    "hoeffding_deviation": [{"num_samples": 100, "delta": 0.05}],
    "hoeffding_samples": [{"deviation": 0.1, "delta": 0.05}],
    "margin_vc_bound": [{"radius": 1.0, "margin": 0.5, "dimension": 2}],
    "pac_frequency": [{"learn": lambda rng: 0.5 * rng.random(), "best_risk": 0.0, "epsilon": 0.25, "num_trials": 3}],
    "sample_complexity": [{"num_hypotheses": 1000, **PAC}],
    "shatters": [{"hypotheses": jt.evaluation.Intervals(), "points": LINE}],
    "sine_frequency": [{"labels": [0, 1, 1]}],
    "structural_risk": [{"risks": [0.3, 0.1], "sizes": [10, 100], "num_samples": 50, "delta": 0.05}],
    "threshold_sample_complexity": [PAC],
    "uniform_convergence_bound": [{"num_samples": 100, "num_hypotheses": 10, "deviation": 0.2}],
    "vc_dimension": [{"hypotheses": jt.evaluation.Thresholds(), "points": LINE}],
    "vc_sample_complexity": [{"dimension": 3, **PAC, "constants": (0.5, 64.0)}],
}
