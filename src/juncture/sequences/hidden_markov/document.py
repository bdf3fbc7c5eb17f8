"""Hidden Markov models as plain data: {"states": […], "initial": […], "transition": [[…], …], "emissions": {…}}."""

from __future__ import annotations

from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.components.document import encode_emissions, read_emissions
from juncture.data.document import encode_states, read_states
from juncture.sequences.hidden_markov.model import HiddenMarkovModel


def encode_hidden_markov(model: HiddenMarkovModel) -> dict[str, Any]:
    return {
        "states": encode_states(model.states, "state"),
        "initial": model.initial.tolist(),
        "transition": model.transition.tolist(),
        "emissions": encode_emissions(model.emissions),
    }


def read_hidden_markov(document: Node) -> HiddenMarkovModel:
    fields = document.fields([*HEAD, "initial", "transition", "emissions"], ["states"])
    states, emissions = read_states(fields.get("states")), read_emissions(fields["emissions"])
    return HiddenMarkovModel(fields["initial"].table(), fields["transition"].table(), emissions, states=states)


register_kind(HiddenMarkovModel, encode_hidden_markov, read_hidden_markov)
