"""Compiled loops on flat arrays: no objects, no names. The only folder that imports Numba."""
