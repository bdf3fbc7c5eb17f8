"""`fit` for mixtures, which so far are learned as what one state emits."""

from __future__ import annotations

from typing import Any, NoReturn

from juncture.components.mixture import Mixture
from juncture.errors import Unsupported


def fit_mixture(model: Mixture, data: Any, prior: Any = None, **options: Any) -> NoReturn:
    raise Unsupported(
        "fit does not take a Mixture yet: learn it as the emissions of the one state of"
        " jt.HiddenMarkovModel([1.0], [[1.0]], [mixture]), and take model.emissions[0]"
    )
