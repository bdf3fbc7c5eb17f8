"""Sequences that the model which learning starts from cannot make: nothing can be learned of them."""

from __future__ import annotations

import numpy as np

from juncture.components.family import FamilyEmissions
from juncture.data.sequences.sequences import Sequences
from juncture.errors import ImpossibleEvidence
from juncture.sequences.hidden_markov.model import HiddenMarkovModel


def refuse_impossible(
    model: HiddenMarkovModel, sequences: Sequences, log_evidence: np.ndarray, num_before: int
) -> None:
    """Raise for the first sequence that counts and is impossible; `num_before` came in earlier parts."""
    impossible = np.flatnonzero((log_evidence == -np.inf) & (sequences.weights > 0))
    if not impossible.size:
        return
    place = int(impossible[0])
    rows = sequences.observations[sequences.steps(place)]
    barred = (model.emissions.log_prob(rows) == -np.inf).all(axis=1)
    if barred.any():
        step = int(np.argmax(barred))
        raise ImpossibleEvidence(
            f"step {step} of sequence {place + num_before} holds {rows[step].tolist()!r}, which no state can emit"
            f"{remedy(model, rows[step])}"
        )
    raise ImpossibleEvidence(
        f"sequence {place + num_before} has probability zero under the model that learning starts from, so"
        ' nothing can be learned of it: give a model that allows it, or start="random"'
    )


def remedy(model: HiddenMarkovModel, row: np.ndarray) -> str:
    """What to do; where this is no value of the family, what its values are."""
    family = model.emissions.family if isinstance(model.emissions, FamilyEmissions) else None
    if family is None or family.support.contains(row).any():
        return ': give laws that allow it, or start="random"'
    return f", as {type(family).__name__} takes {family.support}: mend the data, or take other laws"
