"""The classes of what verbs return and models are made of, for annotations; `jt.results`."""

from juncture.names import face

face(__name__)
