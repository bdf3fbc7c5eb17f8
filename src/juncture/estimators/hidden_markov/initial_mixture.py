"""Where learning a hidden Markov model with mixtures starts: components from clusters, assigned to states."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import MixtureEmissions
from juncture.data.sequences.sequences import Sequences
from juncture.sequences.hidden_markov.initial_model import initial_hidden_markov
from juncture.sequences.hidden_markov.model import HiddenMarkovModel


def initial_mixture(
    sequences: Sequences, num_states: int, num_components: int, covariance: str, start: Any, seed: int
) -> HiddenMarkovModel:
    """A first model; from clusters where these are asked for, no step is labelled and there are steps enough."""
    number = num_states * num_components
    if start == "k-means" and sequences.states is None and sequences.num_steps >= number:
        clusters = initial_hidden_markov(sequences, number, covariance, start=start, rng=seed)
        return merge_states(clusters, group_rows(clusters.transition, num_states, seed))
    first: Any = initial_hidden_markov(sequences, num_states, covariance, start=start, rng=seed)
    return HiddenMarkovModel(first.initial, first.transition, split_components(first.emissions, num_components))


def group_rows(transition: np.ndarray, num_groups: int, seed: int) -> np.ndarray:
    """Rows shared out into groups of the same size, those that are alike together: (group, member).

    What follows a step depends on its state only, so components of one state go on alike.
    """
    from scipy.optimize import linear_sum_assignment

    rows = np.sqrt(transition)
    distances = KMeans(num_groups, n_init=10, random_state=seed).fit(rows).transform(rows)  # (row, group)
    size = len(rows) // num_groups
    _, positions = linear_sum_assignment(np.repeat(distances**2, size, axis=1))
    members = np.argsort(positions // size, kind="stable").reshape(num_groups, size)
    return np.asarray(members[np.argsort(members.mean(axis=1), kind="stable")])


def merge_states(clusters: HiddenMarkovModel, groups: np.ndarray) -> HiddenMarkovModel:
    """The model whose states are groups of those of another, which become their components."""
    order = groups.ravel()
    transition = clusters.transition[order][:, order].reshape(*groups.shape, *groups.shape)
    return HiddenMarkovModel(
        clusters.initial[groups].sum(axis=1),
        transition.sum(axis=3).mean(axis=1),
        MixtureEmissions(np.full(groups.shape, 1.0 / groups.shape[1]), clusters.emissions.take(order)),
    )


def split_components(gaussians: GaussianEmissions, num_components: int) -> MixtureEmissions:
    """Mixtures whose components lie along the longest axis of each Gaussian, up to one standard deviation away."""
    values, vectors = np.linalg.eigh(gaussians.full.covariance)
    axes = vectors[:, :, -1] * np.sqrt(values[:, -1:])  # (state, column)
    positions = np.linspace(-1.0, 1.0, num_components) if num_components > 1 else np.zeros(1)
    means = gaussians.means[:, None] + positions[:, None] * axes[:, None]  # (state, component, column)
    covariance = gaussians.covariance
    if gaussians.structure != "tied":
        covariance = np.repeat(covariance, num_components, axis=0)
    components = GaussianEmissions(means.reshape(-1, means.shape[-1]), covariance, gaussians.structure)
    return MixtureEmissions(np.full(means.shape[:2], 1.0 / num_components), components)
