"""Conditional random fields as plain data: {"states": […], "features": […], "weights": [[…], …], "transition": …}.

A forbidden transition is null.
"""

from __future__ import annotations

from juncture.base.documents.codec import LOG_TABLE, TEXT, Given, Record, encode_table, list_of
from juncture.base.documents.kinds import register_kind
from juncture.data.document import states_of
from juncture.sequences.conditional_random_field.model import ConditionalRandomField

WEIGHTS = Given(encode_table, lambda node, values: node.table() if values["features"] else None)

register_kind(
    Record(
        ConditionalRandomField,
        states=states_of("state"),
        features=list_of(TEXT),
        weights=WEIGHTS,
        transition=LOG_TABLE,
    )
)
