"""Measures, protocols, comparisons of learners, model choice and learning theory; `jt.evaluation`."""

from juncture.names import face

face(__name__)
