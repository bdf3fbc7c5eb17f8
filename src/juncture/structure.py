"""Structure learning beyond `jt.learn_structure`: scores, tests, comparison, certainty of edges; `jt.structure`."""

from juncture.names import face

face(__name__)
