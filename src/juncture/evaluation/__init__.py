"""Measures, protocols, comparisons of learners, model choice and learning theory; `jt.evaluation`."""

__all__: list[str] = []
