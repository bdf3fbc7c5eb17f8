"""Images as Markov random fields on a grid: flip noise and the field that removes it, and segmentation into classes.

Binary images with flip noise: E(x, y) = h Σ_i x_i - β Σ_ij x_i x_j - η Σ_i x_i y_i, over neighbours i, j of the grid
and x, y in {-1, 1}. Where pixels flip independently with probability ε, p(y_i | x_i) ∝ exp(η x_i y_i) with
η = ½ ln((1 - ε) / ε).

Segmentation (`segment`): the classes x form a Potts model on the grid, in which neighbours prefer the same class, and
each pixel is drawn from the distribution of its class: a hidden Markov field. Two steps alternate: the classes given
the distributions, by any engine, then the distributions given the classes. With beliefs about the classes this is
expectation maximisation, whose E-step is as exact as the engine; with the most probable classes, as of ICM, each pixel
counts for one class alone (Besag, 1986).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count, check_number
from juncture.base.options import as_generator
from juncture.components.contract import Emissions
from juncture.components.gaussian import GaussianEmissions
from juncture.errors import InvalidData
from juncture.inference.engines.contract import BELIEFS
from juncture.inference.infer import engine_for
from juncture.networks.pairwise.ising import ising, potts
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.verbs import infer, most_probable


def flip_noise(image: Any, probability: float, *, rng: Any = None) -> np.ndarray:
    """A binary image whose pixels flip independently.

    Parameters
    ----------
    image
        An array of -1 and 1.
    probability
        That a pixel flips, from 0 to 1.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    numpy.ndarray
        An array of -1 and 1 of the same shape.

    Examples
    --------
    >>> flip_noise(np.ones((2, 4), dtype=int), 0.3, rng=0)
    array([[ 1, -1, -1, -1],
           [ 1,  1,  1,  1]])
    """
    pixels = check_signs(image)
    chance = check_number(probability, "probability", least=0, most=1)
    flips = as_generator(rng).random(pixels.shape) < chance
    return np.where(flips, -pixels, pixels)


def flip_strength(probability: float) -> float:
    """η = ½ ln((1 - ε) / ε), how much a pixel says of the clean one if it flips with probability ε.

    Parameters
    ----------
    probability
        ε, above 0 and below 1.

    Returns
    -------
    float
        η.

    Examples
    --------
    >>> round(flip_strength(0.014774), 3)
    2.1
    """
    chance = check_number(probability, "probability", above=0, below=1)
    return float(np.log1p(-chance) - np.log(chance)) / 2


def flip_probability(strength: float) -> float:
    """ε = 1 / (1 + exp(2η)), the inverse of `flip_strength`.

    Parameters
    ----------
    strength
        η.

    Returns
    -------
    float
        ε.

    Examples
    --------
    >>> round(flip_probability(2.1), 6)
    0.014774
    """
    from scipy.special import expit

    return float(expit(-2 * check_number(strength, "strength")))


def denoising_field(image: Any, coupling: float = 1.0, strength: float = 2.1, bias: float = 0.0) -> PairwiseNetwork:
    """p(clean image | noisy image), an Ising model on the grid of the pixels.

    The energy of the clean image x is bias Σ_i x_i - coupling Σ_ij x_i x_j - strength Σ_i x_i y_i, for the noisy y.

    Parameters
    ----------
    image
        The noisy image: an array of -1 and 1, NaN where a pixel was not seen.
    coupling
        β: how much neighbours prefer to be equal.
    strength
        η: how much a clean pixel prefers to be the noisy one, `flip_strength(probability)` for flip noise.
    bias
        h: how much a clean pixel prefers -1.

    Returns
    -------
    PairwiseNetwork
        For `jt.most_probable(field, method="max-flow")` or `jt.infer(field, method="mean-field")`.

    Examples
    --------
    >>> import juncture as jt
    >>> noisy = np.ones((5, 5), dtype=int)
    >>> noisy[2, 2] = -1
    >>> field = jt.images.denoising_field(noisy)
    >>> round(field.energy(noisy), 1), round(-jt.most_probable(field, method="icm").log_joint, 1)
    (-84.5, -88.3)
    """
    pixels = check_array(image, "the image")
    is_seen = ~np.isnan(pixels)
    check_signs(pixels[is_seen])
    numbers = [check_number(value, what, finite=True) for value, what in ((strength, "strength"), (bias, "bias"))]
    field = numbers[0] * np.where(is_seen, pixels, 0.0) - numbers[1]
    return ising(pixels.shape, coupling, field, values=(-1, 1))


def check_signs(image: Any) -> np.ndarray:
    """An array of integers, each -1 or 1."""
    pixels = check_array(image, "the image")
    if not np.isin(pixels, (-1, 1)).all():
        raise InvalidData("the pixels of a binary image are -1 and 1; for 0 and 1 give 2 * image - 1")
    return pixels.astype(np.int64)


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
    >>> found = jt.images.segment(image, 2, coupling=1.0)
    >>> found.labels[0].tolist(), found
    ([0, 0, 0, 0, 1, 1, 1, 1], Segmentation(8 × 8 pixels, 2 classes, converged))
    """
    check_number(tolerance, "tolerance", least=0)
    check_count(max_steps, "max_steps", least=1)
    pixels, shape = as_pixels(image, channels)
    model = emissions if isinstance(emissions, Emissions) else brightness_classes(emissions, pixels)
    rows = model.check(pixels)
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
