"""Juncture: probabilistic graphical models. Declare a model, ask it, learn it from data.

A model is a product of factors. Inference eliminates variables from it. Learning adds up statistics of it.
"""

from __future__ import annotations

from juncture.names import face

__version__ = "0.1.0"

face(__name__)
