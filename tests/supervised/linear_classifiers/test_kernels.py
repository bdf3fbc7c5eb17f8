"""Kernels and their features, and when a matrix is that of a kernel."""

from __future__ import annotations

from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.supervised import (
    ConstantKernel,
    GaussianKernel,
    LinearKernel,
    PolynomialKernel,
    is_kernel_matrix,
)
from supervised.linear_classifiers.test_hyperplane import mixed, seeds
from support.learned import fit_least_squares

KERNELS = [LinearKernel(), PolynomialKernel(3, 0.5, 2.0), GaussianKernel(0.7), ConstantKernel(2.0)]


@given(seeds, st.integers(1, 3), st.integers(1, 4), st.floats(0.1, 2), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_features_of_a_polynomial_kernel(seed, dimension, degree, scale, offset):
    """S4-093: φ(x)·φ(y) = (scale x·y + offset)^M exactly, with C(D + M, M) features."""
    left, right = np.random.default_rng(seed).normal(size=(2, 4, dimension))
    kernel = PolynomialKernel(degree, scale, offset)
    assert kernel.features(left) @ kernel.features(right).T == pytest.approx(kernel(left, right), abs=1e-9)
    least = comb(dimension + degree, degree) if offset else comb(dimension + degree - 1, degree)
    assert kernel.features(left).shape == (4, least)


def test_the_features_of_degree_two_in_the_plane():
    """S4-093, T-19: 1, √2x, √2y, x², y², √2xy."""
    x, y = 0.3, -2.0
    found = PolynomialKernel(2).features([[x, y]])[0]
    assert sorted(found) == pytest.approx(sorted([1, 2**0.5 * x, 2**0.5 * y, x * x, y * y, 2**0.5 * x * y]))


@given(seeds, st.floats(0.1, 1))
def test_the_features_of_a_gaussian_kernel(seed, scale):
    """S4-094: the features up to a degree have an error within the rest of the exponential series."""
    points = np.random.default_rng(seed).uniform(-1, 1, size=(5, 2))
    kernel = GaussianKernel(scale)
    exact, lengths = kernel(points), np.linalg.norm(points, axis=1)
    for degree in (2, 6, 12):
        features = kernel.features(points, degree)
        bound = (2 * scale * np.outer(lengths, lengths)) ** (degree + 1) / factorial(degree + 1)
        assert (np.abs(features @ features.T - exact) <= bound + 1e-14).all()


@given(seeds, st.sampled_from(KERNELS), st.sampled_from(KERNELS))
def test_sums_and_products_of_kernels_are_kernels(seed, one, other):
    """S4-095: positive semidefinite, also sums, products and positive multiples."""
    points = np.random.default_rng(seed).normal(size=(6, 2))
    for kernel in (one, one + other, one * other, 0.5 * one):
        assert is_kernel_matrix(kernel(points))
    assert (one + other)(points) == pytest.approx(one(points) + other(points))
    assert (one * other)(points) == pytest.approx(one(points) * other(points))
    assert (0.5 * one)(points) == pytest.approx(0.5 * one(points))


def test_symmetric_is_not_enough():
    """S4-095, T-20: a distance and a sigmoid of an inner product are symmetric, and no kernels."""
    points = np.linspace(-2, 2, 5)[:, None]
    assert not is_kernel_matrix(np.abs(points - points.T))
    assert not is_kernel_matrix(np.tanh(points @ points.T - 1))
    assert not is_kernel_matrix([[1.0, 0.5], [0.4, 1.0]])
    assert is_kernel_matrix(np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("ours", "name", "options"),
    [
        (LinearKernel(), "linear", {}),
        (PolynomialKernel(3, 0.5, 2.0), "poly", {"degree": 3, "gamma": 0.5, "coef0": 2.0}),
        (GaussianKernel(0.7), "rbf", {"gamma": 0.7}),
    ],
)
def test_scikit_learn_has_the_same_kernels(ours, name, options):
    pairwise = pytest.importorskip("sklearn.metrics.pairwise")
    left, right = np.random.default_rng(0).normal(size=(2, 5, 3))
    assert ours(left, right) == pytest.approx(pairwise.pairwise_kernels(left, right, metric=name, **options))


@given(seeds, st.floats(0.01, 10))
def test_kernel_least_squares_is_ridge(seed, strength):
    """S4-092: Σ α k(x, x_n) with α = (K + λI)⁻¹t; the linear kernel plus a constant is ridge with its bias."""
    points, labels = mixed(seed)
    kernel = LinearKernel() + ConstantKernel(1.0)
    alpha = np.linalg.solve(kernel(points) + strength * np.eye(len(points)), np.where(labels, 1.0, -1.0))
    assert fit_least_squares(points, labels, strength).activation(points) == pytest.approx(kernel(points) @ alpha)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: is_kernel_matrix([[1.0, 2.0]]), "square and finite"),
        (lambda: LinearKernel()([[1.0]], [[1.0, 2.0]]), "as many coordinates"),
        (lambda: LinearKernel() * -1.0, "above 0"),
        (lambda: PolynomialKernel(0), "at least 1"),
        (lambda: LinearKernel() + 1, "kernel"),
    ],
)
def test_wrong_input_gets_a_sentence(call, message):
    with pytest.raises(jt.JunctureError, match=message):
        call()


def test_too_many_features_are_refused():
    with pytest.raises(jt.TooLarge, match="use the kernel"):
        PolynomialKernel(10).features(np.zeros((1, 50)))
