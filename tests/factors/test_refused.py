"""What the constructors of conditionals refuse, each with a sentence that names the variable and the rule."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.errors import InvalidModel

Y, Y3, X, X3, H, V2 = (
    jt.Variable("y", 2),
    jt.Variable("y", 3),
    jt.Variable("x", 2),
    jt.Variable("x", 3),
    jt.Variable("h"),
    jt.Variable("v", dimension=2),
)
FAIR = [[0.5, 0.5], [0.5, 0.5]]

REFUSED = [
    (lambda: jt.Conditional(Y, X, FAIR), "list of variables"),
    (lambda: jt.Conditional("y", [X], FAIR), "made of variables; got 'y'"),
    (lambda: jt.Conditional(Y, ["x"], FAIR), "made of variables; got 'x'"),
    (lambda: jt.Conditional(Y, [Y], FAIR), "'y' appears twice"),
    (lambda: jt.Conditional(Y, [X, X], FAIR), "'x' appears twice"),
    (lambda: jt.Conditional(Y, [H], FAIR), "'h' is real-valued"),
    (lambda: jt.Conditional(H, [X], FAIR), "'h' is real-valued"),
    (lambda: jt.Conditional(Y, [X3], FAIR), "the conditional of 'y' must have the shape (3, 2)"),
    (
        lambda: jt.Conditional(Y, [X], [[0.5, 0.5], [0.5, 0.4]]),
        "the conditional of 'y' has a row that sums to 0.9 at [1]",
    ),
    (lambda: jt.Conditional(Y, [X], [[0.5, 0.5], [1.5, -0.5]]), "'y' has the negative entry -0.5 at [1, 1]"),
    (lambda: jt.Conditional(Y, [], [np.nan, 1]), "'y' has an entry that is not a finite number at [0]"),
    (lambda: jt.Deterministic("y", [X], [0, 1]), "made of variables; got 'y'"),
    (lambda: jt.Deterministic(Y, [Y], [0, 1]), "'y' appears twice"),
    (lambda: jt.Deterministic(Y, [X], [0, 2]), "codes of 'y' must lie in 0 … 1"),
    (lambda: jt.Deterministic(Y, [X], [0, -1]), "codes of 'y' must lie in 0 … 1"),
    (lambda: jt.Deterministic(Y, [X], [0.0, 1.0]), "codes of 'y' must be whole numbers of shape (2,)"),
    (lambda: jt.Deterministic(Y, [X], [0, 1, 1]), "codes of 'y' must be whole numbers of shape (2,)"),
    (lambda: jt.Deterministic(Y, [X], [[0], [0, 1]]), "codes of 'y' must be whole numbers of shape (2,)"),
    (lambda: jt.Deterministic(H, [X], [0, 1]), "'h' is real-valued"),
    (lambda: jt.NoisyOr("y", [X], [0.5]), "made of variables; got 'y'"),
    (lambda: jt.NoisyOr(Y, [X3], [0.5]), "a NoisyOr takes variables with two states; Variable('x'"),
    (lambda: jt.NoisyOr(Y3, [X], [0.5]), "a NoisyOr takes variables with two states; Variable('y'"),
    (lambda: jt.NoisyOr(Y, [H], [0.5]), "a NoisyOr takes variables with two states; Variable('h'"),
    (lambda: jt.NoisyOr(Y, [X], [0.5, 0.5]), "probabilities of 'y' must have the shape (1,)"),
    (lambda: jt.NoisyOr(Y, [X], [1.5]), "probabilities of 'y' and its leak must lie between 0 and 1"),
    (lambda: jt.NoisyOr(Y, [X], [-0.5]), "probabilities of 'y' has the negative entry"),
    (lambda: jt.NoisyOr(Y, [X], [0.5], leak=1.5), "probabilities of 'y' and its leak must lie between 0 and 1"),
    (lambda: jt.NoisyOr(Y, [X], [0.5], leak="much"), "leak of 'y' must be"),
    (lambda: jt.NoisyOr(Y, [X], [0.5], leak=np.nan), "leak of 'y' has an entry that is not a finite number"),
    (lambda: jt.NoisyMax("y", [X], [FAIR]), "made of variables; got 'y'"),
    (lambda: jt.NoisyMax(Y, [Y], [FAIR]), "'y' appears twice"),
    (lambda: jt.NoisyMax(Y, [X], []), "NoisyMax of 'y' needs one table per parent: 1, not 0"),
    (lambda: jt.NoisyMax(Y, [X], [[[0.5, 0.5]]]), "the table of 'y' for 'x' must have the shape (2, 2)"),
    (lambda: jt.NoisyMax(Y, [X], [[[0.5, 0.5], [0.5, 0.6]]]), "the table of 'y' for 'x' has a row that sums to 1.1"),
    (lambda: jt.NoisyMax(Y, [X], [FAIR], [0.5, 0.6]), "the table of 'y' for the leak has a row that sums to 1.1"),
    (lambda: jt.NoisyMax(Y, [H], [FAIR]), "'h' is real-valued"),
    (lambda: jt.Logistic("y", [X], [1.0]), "made of variables; got 'y'"),
    (lambda: jt.Logistic(Y, [Y], [1.0]), "'y' appears twice"),
    (lambda: jt.Logistic(H, [X], [1.0]), "'h' is real-valued"),
    (lambda: jt.Logistic(Y, [V2], [1.0]), "single real numbers; Variable('v', dimension=2) is not"),
    (lambda: jt.Logistic(Y, [X], [1.0, 2.0]), "weights of 'y' must have the shape (1,)"),
    (lambda: jt.Logistic(Y, [X], [np.inf]), "weights of 'y' has an entry that is not a finite number"),
    (lambda: jt.Logistic(Y3, [X], [[1], [2], [3]], 0.0), "bias of 'y' must have the shape (3,)"),
    (lambda: jt.LinearGaussian("h", [], []), "made of variables; got 'h'"),
    (lambda: jt.LinearGaussian(H, [H], [1.0]), "'h' appears twice"),
    (lambda: jt.LinearGaussian(Y, [H], [1.0]), "single real numbers; Variable('y', [0, 1]) is not"),
    (lambda: jt.LinearGaussian(V2, [H], [1.0]), "single real numbers; Variable('v', dimension=2) is not"),
    (lambda: jt.LinearGaussian(H, [V2], [1.0]), "single real numbers; Variable('v', dimension=2) is not"),
    (lambda: jt.LinearGaussian(H, [], [1.0]), "coefficients of 'h' must have the shape (0,)"),
    (lambda: jt.LinearGaussian(H, [X], [[], []], 0.0), "intercept of 'h' must have the shape (2,)"),
    (lambda: jt.LinearGaussian(H, [], [], 0.0, -1.0), "variance of 'h' must not be negative; got -1"),
    (lambda: jt.LinearGaussian(H, [], [], np.nan), "intercept of 'h' has an entry that is not a finite number"),
    (lambda: jt.results.Constant(Y, 1.0), "a Constant sets a real-valued variable; Variable('y'"),
    (lambda: jt.results.Constant(H, [1.0, 2.0]), "the value of 'h' must have the shape ()"),
    (lambda: jt.results.Constant(V2, 1.0), "the value of 'v' must have the shape (2,)"),
    (lambda: jt.results.Constant("h", 1.0), "made of variables; got 'h'"),
]


@pytest.mark.parametrize(("build", "words"), REFUSED)
def test_bad_input_gets_a_sentence(build, words):
    with pytest.raises(InvalidModel) as caught:
        build()
    assert words in str(caught.value)
