"""The most probable assignments, from a junction tree."""
