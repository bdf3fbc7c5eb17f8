"""Hidden Markov models as plain data: {"states": […], "initial": […], "transition": [[…], …], "emissions": {…}}."""

from __future__ import annotations

from juncture.base.documents.codec import Record, left_out
from juncture.base.documents.kinds import register_kind
from juncture.components.document import EMISSIONS
from juncture.data.document import states_of
from juncture.sequences.hidden_markov.model import HiddenMarkovModel

KEYS = ("states", "initial", "transition", "emissions")

register_kind(Record(HiddenMarkovModel, *KEYS, states=left_out(states_of("state")), emissions=EMISSIONS))
