"""`segment`: an image in classes, each with a distribution of its pixels; neighbours prefer the same class.

The classes x form a Potts model on the grid, and each pixel is drawn from the distribution of its class: a hidden
Markov field. Two steps alternate: the classes given the distributions, by any engine, then the distributions given the
classes. With beliefs about the classes this is expectation maximisation, whose E-step is as exact as the engine; with
the most probable classes, as of ICM, each pixel counts for one class alone (Besag, 1986).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count, check_number
from juncture.base.options import as_generator
from juncture.components.contract import Emissions
from juncture.components.gaussian import GaussianEmissions
from juncture.data.sequences import as_one_sequence
from juncture.errors import InvalidData
from juncture.inference.engines.contract import BELIEFS
from juncture.inference.infer import engine_for
from juncture.networks.pairwise.ising import potts
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.verbs import infer, most_probable


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation:
    """The classes of the pixels, and the distributions of the classes.

    Attributes
    ----------
    labels
        The class of each pixel, an array of the image's shape.
    weights
        (*shape, class): the probability of each class; one-hot where the engine finds the most probable classes.
    emissions
        The distribution of the pixels of each class.
    field
        p(classes | image), the `PairwiseNetwork` that was asked last.
    num_steps, converged
        How often the distributions were learned, and whether the last step changed the classes no more.
    """

    labels: np.ndarray
    weights: np.ndarray
    emissions: Emissions
    field: PairwiseNetwork
    num_steps: int
    converged: bool

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.labels.shape))
        ended = "converged" if self.converged else "not converged"
        return f"Segmentation({shape} pixels, {self.weights.shape[-1]} classes, {ended})"


def segment(
    image: Any,
    emissions: Any,
    coupling: float = 1.0,
    *,
    method: Any = "icm",
    channels: int | None = None,
    tolerance: float = 1e-3,
    max_steps: int = 50,
    rng: Any = None,
) -> Segmentation:
    """An image in classes whose distributions are learned from the image itself.

    Parameters
    ----------
    image
        An array of numbers (height, width), or (height, width, channel) with `channels`; NaN where nothing was seen.
    emissions
        Where to start: the number of classes, which then have Gaussian pixels; or emissions with one distribution for
        each class, such as `GaussianEmissions` or `FamilyEmissions`.
    coupling
        How much neighbours prefer the same class.
    method
        An engine for the classes. One of `most_probable`, such as "icm", gives each pixel one class; one of `infer`,
        such as "mean-field", shares each pixel among the classes, which is expectation maximisation.
    channels
        The length of the last axis, if a pixel has several numbers.
    tolerance, max_steps
        A step is the last if the weights of the classes change by less, as the mean over the pixels.
    rng
        A seed or a generator, for engines that draw.

    Returns
    -------
    Segmentation

    Examples
    --------
    >>> import juncture as jt
    >>> image = np.where(np.arange(64).reshape(8, 8) % 8 < 4, 0.0, 3.0) + np.random.default_rng(0).normal(size=(8, 8))
    >>> found = jt.segment(image, 2, coupling=1.0)
    >>> found.labels[0].tolist(), found
    ([0, 0, 0, 0, 1, 1, 1, 1], Segmentation(8 × 8 pixels, 2 classes, converged))
    """
    check_number(tolerance, "tolerance", least=0)
    check_count(max_steps, "max_steps", least=1)
    pixels, shape = as_pixels(image, channels)
    model = emissions if isinstance(emissions, Emissions) else brightness_classes(emissions, pixels)
    rows = model.check(as_one_sequence(pixels)).observations
    grid, engine = potts(shape, model.num_states, coupling), engine_for(method, questions=frozenset())
    generator = None if rng is None else as_generator(rng)
    before, change, step, field = np.zeros((*shape, model.num_states)), np.inf, 0, grid
    while step < max_steps and change > tolerance:
        field = grid.add_log_likelihoods(model.log_prob(rows))
        weights = class_weights(field, engine, generator)
        change = float(np.abs(weights - before).sum(axis=-1).mean()) / 2
        model = model.estimate(model.statistics(rows, weights.reshape(len(rows), -1)))
        before, step = weights, step + 1
    return Segmentation(before.argmax(axis=-1), before, model, field, step, change <= tolerance)


def class_weights(field: PairwiseNetwork, engine: Any, rng: Any) -> np.ndarray:
    """(*shape, class): beliefs, or 1 for the most probable class, by what the engine answers."""
    if engine.answers >= BELIEFS:
        weights: np.ndarray = infer(field, method=engine, rng=rng).array
        return weights
    best: Any = most_probable(field, method=engine, rng=rng)
    return np.eye(field.num_states)[best.codes].reshape(*field.shape, field.num_states)


def as_pixels(image: Any, channels: int | None) -> tuple[np.ndarray, tuple[int, ...]]:
    """The pixels as rows of numbers, and the shape of the grid."""
    pixels = check_array(image, "the image")
    if pixels.size == 0 or pixels.ndim == 0:
        raise InvalidData(f"an image has at least one pixel; its shape is {pixels.shape}")
    if channels is None:
        return pixels.ravel(), pixels.shape
    if pixels.ndim < 2 or pixels.shape[-1] != check_count(channels, "channels", least=1):
        raise InvalidData(f"the last axis of the image holds the {channels} channels; its shape is {pixels.shape}")
    return pixels.reshape(-1, pixels.shape[-1]), pixels.shape[:-1]


def brightness_classes(num_classes: Any, rows: np.ndarray) -> Emissions:
    """Gaussians of equal parts of the pixels, the darkest first."""
    size = check_count(num_classes, "the number of classes (or emissions)", least=1)
    seen = ~np.isnan(rows.reshape(len(rows), -1)).any(axis=1)
    known, event = rows[seen], rows.shape[1:]
    if len(known) < size:
        raise InvalidData(f"the image has {len(known)} pixels without a hole, too few for {size} classes")
    weights = np.zeros((len(known), size))
    order = np.argsort(known.reshape(len(known), -1).mean(axis=1), kind="stable")
    weights[order, np.arange(len(known)) * size // len(known)] = 1.0
    start = GaussianEmissions(np.zeros((size, *event)), np.ones((size, *event)))
    return start.estimate(start.statistics(known, weights))
