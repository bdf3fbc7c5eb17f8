"""Pictures of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count, check_kind
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.plotting.draws import draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_topics(model: LatentDirichletAllocation, number: int = 8, axes: Any = None) -> np.ndarray:
    """Plot the most probable words of each topic as bars, the most probable on top.

    Parameters
    ----------
    model
        The topics.
    number
        How many words of each topic.
    axes
        The axes of matplotlib to draw in, one for each topic; by default those of a new figure.

    Returns
    -------
    numpy.ndarray
        The axes, (topic,).

    Examples
    --------
    >>> import juncture as jt
    >>> from matplotlib.figure import Figure
    >>> model = jt.LatentDirichletAllocation([[0.6, 0.4, 0.0], [0.0, 0.2, 0.8]], 0.5, ["goal", "ball", "vote"])
    >>> panels = jt.plot_topics(model, 2, Figure().subplots(1, 2))
    >>> [label.get_text() for label in panels[1].get_yticklabels()]
    ['vote', 'ball']
    """
    found = check_kind(model, LatentDirichletAllocation, "model")
    words = found.top_words(check_count(number, "number", least=1))
    shares = -np.sort(-found.topics, axis=1)[:, : len(words[0])]
    largest = float(shares.max())

    def draw(label: str, values: np.ndarray, ax: Axes) -> None:
        places = np.arange(len(values))
        ax.barh(places, values, color="C0")
        ax.set_yticks(places, [str(word) for word in words[names.index(label)]])
        ax.invert_yaxis()
        ax.set_xlim(0.0, 1.05 * largest)
        ax.set_xlabel("p(word | topic)")

    names = [f"topic {topic}" for topic in range(found.num_topics)]
    return draw_panels(draw, dict(zip(names, shares, strict=True)), axes)
