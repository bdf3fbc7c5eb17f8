"""Scores of rows and of clusterings: how unusual a row is, and how pure the components are."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.checks import shown
from juncture.components.gaussian_holes import patterns
from juncture.components.mixture import Mixture
from juncture.errors import InvalidData
from juncture.options import as_generator


def outlier_scores(model: Mixture, rows: np.ndarray, log_probs: np.ndarray, num_draws: int, rng: Any) -> np.ndarray:
    """The share of draws, with the holes of the row, that are likelier than the row: (row,)."""
    drawn = np.asarray(model.components.sample(draw_components(model, num_draws, rng), as_generator(rng)), float)
    flat, draws = np.asarray(rows, float).reshape(len(rows), -1), drawn.reshape(num_draws, -1)
    scores = np.empty(len(rows))
    for positions, seen in patterns(flat):
        shown = np.full_like(draws, np.nan)
        shown[:, seen] = draws[:, seen]
        logs = np.sort(model.log_prob(shown.reshape(drawn.shape)))
        scores[positions] = (num_draws - np.searchsorted(logs, log_probs[positions], side="right")) / num_draws
    return scores


def draw_components(model: Mixture, number: int, rng: Any) -> np.ndarray:
    return as_generator(rng).choice(model.num_components, number, p=model.weights / model.weights.sum())


def purity_of(assigned: np.ndarray, classes: Any) -> float:
    """Σ over the clusters of the number of rows of their most frequent class, over the number of rows."""
    try:
        truth = np.asarray(classes)
        own = np.unique(truth, return_inverse=True)[1]
    except (TypeError, ValueError):
        truth = np.empty(())
    if truth.shape != assigned.shape or not len(assigned):
        raise InvalidData(f"purity needs a class for each of the {len(assigned)} rows; got {shown(classes)}")
    table = np.zeros((int(assigned.max()) + 1, int(own.max()) + 1))
    np.add.at(table, (assigned, own.reshape(-1)), 1)
    return float(table.max(axis=1).sum() / len(assigned))
