"""The transitions between the states of a chain as a diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juncture.drawing.diagram import Node
from juncture.drawing.states import Arrow, StateDiagram

LEAST = 0.005  # a transition that is rarer is not drawn


def state_diagram(labels: Sequence[Any], transition: np.ndarray, initial: np.ndarray | None) -> StateDiagram:
    """A node for each state with the probability to start there, and an arrow for each transition."""
    begins = np.zeros(len(labels)) if initial is None else initial
    nodes = (
        Node(str(position), str(label), note=f"start {begin:.2g}" if begin else None)
        for position, (label, begin) in enumerate(zip(labels, begins, strict=True))
    )
    arrows = (
        Arrow(int(source), int(target), f"{transition[source, target]:.2g}")
        for source, target in np.argwhere(transition >= LEAST)
    )
    return StateDiagram(tuple(nodes), tuple(arrows))
