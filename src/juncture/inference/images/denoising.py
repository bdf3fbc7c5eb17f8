"""Binary images with flip noise: the noise, and the Ising model of the clean image given the noisy one.

E(x, y) = h Σ_i x_i - β Σ_ij x_i x_j - η Σ_i x_i y_i, over neighbours i, j of a grid and x, y in {-1, 1}. Where pixels
flip independently with probability ε, p(y_i | x_i) ∝ exp(η x_i y_i) with η = ½ ln((1 - ε) / ε).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_number
from juncture.base.options import as_generator
from juncture.errors import InvalidData
from juncture.networks.pairwise.ising import ising
from juncture.networks.pairwise.model import PairwiseNetwork


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
    >>> field = jt.denoising_field(noisy)
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
