"""Flip noise, the denoising field and segmentation."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.inference.images import flip_probability


def disc(size=32):
    rows, columns = np.mgrid[:size, :size]
    return np.where((rows - size / 2) ** 2 + (columns - size / 2) ** 2 < (size / 3) ** 2, 1, -1)


def test_flip_noise():
    """S1-080: flips are independent with the given probability; 0 changes nothing, 1 everything."""
    image = disc(100)
    assert (jt.images.flip_noise(image, 0.0, rng=0) == image).all()
    assert (jt.images.flip_noise(image, 1.0, rng=0) == -image).all()
    share = (jt.images.flip_noise(image, 0.1, rng=0) != image).mean()
    assert share == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / image.size))
    assert (jt.images.flip_noise(image, 0.3, rng=5) == jt.images.flip_noise(image, 0.3, rng=5)).all()


def test_the_strength_of_flip_noise():
    """S1-080: η = ½ ln((1 - ε) / ε); 2.1 ⇔ 0.014774. The likelihood of flips is exp(η x y), but for a constant."""
    assert jt.images.flip_strength(0.014774) == pytest.approx(2.1, abs=1e-4)
    assert flip_probability(2.1) == pytest.approx(0.014774, abs=5e-7)
    for chance in (1e-12, 0.014774, 0.5, 0.9):
        assert flip_probability(jt.images.flip_strength(chance)) == pytest.approx(chance, rel=1e-12)
    noisy, chance = jt.images.flip_noise(disc(4), 0.2, rng=0), 0.2
    prior = jt.ising((4, 4), 0.4)
    likelihoods = {f"x{i}_{j}": [1 - chance, chance][:: -noisy[i, j]] for i in range(4) for j in range(4)}
    field = jt.images.denoising_field(noisy, 0.4, jt.images.flip_strength(chance))
    assert jt.infer(field).array == pytest.approx(jt.infer(prior, likelihoods).array, abs=1e-12)


def test_the_bias_and_unseen_pixels():
    """S1-082: h > 0 favours -1; a pixel that was not seen has no field."""
    image = np.array([[1.0, np.nan], [-1.0, 1.0]])
    field = jt.images.denoising_field(image, coupling=0.0, strength=1.0, bias=0.25)
    assert jt.families.ising_parameters(field).field == pytest.approx([0.75, -0.25, -1.25, 0.75])
    with pytest.raises(jt.errors.InvalidData, match="-1 and 1"):
        jt.images.denoising_field([[0, 1]])


def test_denoising_repairs_most_pixels():
    """S1-087: errors fall; the exact mode is at least as probable as that of ICM."""
    clean = disc(64)
    noisy = jt.images.flip_noise(clean, 0.1, rng=1)
    field = jt.images.denoising_field(noisy)
    icm, exact = (jt.most_probable(field, method=method) for method in ("icm", "max-flow"))
    before, after, best = ((image != clean).mean() for image in (noisy, icm.array, exact.array))
    assert best < after < before / 2
    assert exact.log_joint >= icm.log_joint


def test_classes_are_learned_with_the_segmentation():
    """S1-143: two classes of Gaussian pixels, by ICM and by EM with exact beliefs."""
    rng = np.random.default_rng(0)
    clean = (disc(24) + 1) // 2
    image = rng.normal(np.where(clean, 2.0, 0.0), 0.8)
    found = jt.images.segment(image, 2, coupling=1.0)
    assert found.converged
    assert (found.labels != clean).mean() < 0.02
    assert found.emissions.mean == pytest.approx([0.0, 2.0], abs=0.2)
    small, labels = image[8:14, 2:14], clean[8:14, 2:14]
    exact = jt.images.segment(small, 2, coupling=0.7, method="junction-tree")
    assert exact.weights.sum(axis=-1) == pytest.approx(1.0)
    assert (exact.labels != labels).mean() < 0.1
    assert not np.isin(exact.weights, (0.0, 1.0)).all()


def test_two_known_classes_are_the_denoising_field():
    """S1-143: with known binary emissions and two classes it is the field of S1-081, also in its answer."""
    clean, chance = disc(16), 0.1
    noisy = jt.images.flip_noise(clean, chance, rng=2)
    emissions = jt.CategoricalEmissions([[1 - chance, chance], [chance, 1 - chance]])
    found = jt.images.segment((noisy + 1) // 2, emissions, coupling=2.0, max_steps=1)
    field = jt.images.denoising_field(noisy, coupling=1.0, strength=jt.images.flip_strength(chance))
    assert (2 * found.labels - 1 == jt.most_probable(field, method="icm").array).all()
    assert (found.num_steps, found.converged) == (1, False)


def test_colours():
    """Pixels of three numbers."""
    rng = np.random.default_rng(1)
    labels = np.repeat([[0, 1, 2]], 9, axis=0).repeat(4, axis=1)
    image = rng.normal(np.array([[0, 0, 0], [3, 0, 3], [4, 4, 4.0]])[labels], 0.7)
    found = jt.images.segment(image, 3, channels=3)
    assert (found.labels != labels).mean() < 0.05
    with pytest.raises(jt.errors.InvalidData, match="channels"):
        jt.images.segment(image, 3, channels=2)
    with pytest.raises(jt.errors.InvalidData, match="too few"):
        jt.images.segment([[1.0, np.nan]], 2)
