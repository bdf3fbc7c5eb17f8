"""Codes of hidden states and of symbols as the labels that users know them by."""

from __future__ import annotations

import numpy as np

from juncture.variables import State


def labelled(labels: tuple[State, ...], codes: np.ndarray) -> np.ndarray:
    """The label of each code; -1, which is none, stays where labels are 0, 1, … and becomes None elsewhere."""
    kinds = {type(label) for label in labels}
    if kinds == {int} and labels == tuple(range(len(labels))):
        return codes
    if len(kinds) == 1 and (codes >= 0).all():
        return np.asarray(np.array(labels)[codes])
    found = np.empty(len(labels) + 1, object)  # the last is None
    found[:-1] = labels
    return np.asarray(found[codes])
