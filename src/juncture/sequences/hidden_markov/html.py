"""A hidden Markov model as HTML for notebooks: how it starts, how it moves on, and what each state emits."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.html import laws_html
from juncture.errors import Unsupported
from juncture.factors.html import table_html
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    from juncture.sequences.hidden_markov.model import HiddenMarkovModel


def hidden_markov_html(model: HiddenMarkovModel) -> str:
    """A line of words, and three tables."""
    now, after = Variable("state", model.states), Variable("next", model.states)
    start = table_html(Scope([Variable("initial", model.states)]), model.initial)
    moves = table_html(Scope([now, after]), model.transition)
    return f"<p><code>{escape(repr(model))}</code></p>{start}{moves}{emissions_html(model, now)}"


def emissions_html(model: HiddenMarkovModel, state: Variable) -> str:
    """A table of symbols as it is; else the law of each state."""
    emissions = model.emissions
    if isinstance(emissions, CategoricalEmissions):
        return table_html(Scope([state, Variable("symbol", emissions.symbols)]), np.asarray(emissions.probabilities))
    try:
        return laws_html(model.states, emissions, ("state", "emits"))
    except Unsupported:  # the states have no laws of their own
        return f"<p>{escape(emissions.summary)}</p>"
