"""State-space models as plain data: the parts that a model has, by name; a varying part has time as its first axis."""

from __future__ import annotations

from juncture.base.documents.codec import Record
from juncture.base.documents.kinds import register_kind
from juncture.sequences.state_space.model import LinearGaussianStateSpace

register_kind(Record(LinearGaussianStateSpace))
