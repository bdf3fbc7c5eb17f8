"""`plot_clusters`: rows in the colours of their components, and the components as ellipses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_kind, shown
from juncture.base.dispatch import register
from juncture.components.gaussian import GaussianEmissions
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, MissingExtra, Unsupported
from juncture.latent.mixtures.beliefs import MixtureBeliefs
from juncture.plotting.panels import as_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOLD = (0.5, 0.9)  # the probability inside each ellipse of a component


def plot_clusters(beliefs: MixtureBeliefs, columns: tuple[int, int] = (0, 1), ax: Any = None) -> Axes:
    """Draw two columns of the rows, each point in the colours of its components, and the components as ellipses.

    A point has the mean of the components' colours, weighed by its responsibilities. A row with a hole in one of the
    columns is drawn where the mixture expects it, as a ring.

    Parameters
    ----------
    beliefs
        What `infer` says about rows under a mixture of Gaussian vectors.
    columns
        The two coordinates to draw.
    ax
        The axes of matplotlib to draw in; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import juncture as jt, numpy as np
    >>> from matplotlib.figure import Figure
    >>> mixture = jt.Mixture([0.5, 0.5], jt.MultivariateGaussian([[0.0, 0.0], [5.0, 5.0]], np.eye(2)))
    >>> ax = jt.plot_clusters(jt.infer(mixture, mixture.sample(50, rng=0)), ax=Figure().subplots())
    >>> len(ax.patches)
    4
    """
    check_kind(beliefs, MixtureBeliefs, "what plot_clusters draws")
    components = beliefs.model.components
    if not isinstance(components, GaussianEmissions) or components.dimension < 2:
        raise Unsupported("plot_clusters draws mixtures of Gaussian vectors; plot_density draws numbers")
    pair = check_columns(columns, components.dimension)
    colors = component_colors(beliefs.model.num_components)
    ax = as_axes(ax)
    if not hasattr(ax, "scatter"):
        raise InvalidData(f"ax must be axes of matplotlib; got {shown(ax)}")
    draw_rows(beliefs, pair, colors, ax)
    draw_ellipses(components, pair, colors, ax)
    ax.set_xlabel(f"x{pair[0]}")
    ax.set_ylabel(f"x{pair[1]}")
    return ax


def check_columns(columns: Any, size: int) -> list[int]:
    given = list(columns) if isinstance(columns, tuple | list) else []
    if len(given) != 2 or not all(isinstance(each, int) and 0 <= each < size for each in given) or given[0] == given[1]:
        raise InvalidData(f"plot_clusters draws two different columns from 0 to {size - 1}; got {columns!r}")
    return given


def component_colors(number: int) -> np.ndarray:
    """(component, red green blue), from the table of ten colours that matplotlib starts with."""
    try:
        from matplotlib import colormaps
    except ImportError:
        raise MissingExtra.named("matplotlib", "plot") from None
    return np.array(colormaps["tab10"](np.arange(number) % 10))[:, :3]


def draw_rows(beliefs: MixtureBeliefs, pair: list[int], colors: np.ndarray, ax: Axes) -> None:
    points = np.asarray(beliefs.impute().mean)[:, pair]
    has_hole = np.isnan(np.asarray(beliefs.rows, float)[:, pair]).any(axis=1)
    shades = np.clip(beliefs.responsibilities @ colors, 0.0, 1.0)
    x, y = points.T
    ax.scatter(x[~has_hole], y[~has_hole], c=shades[~has_hole], s=12, linewidths=0)
    if has_hole.any():
        ax.scatter(x[has_hole], y[has_hole], s=18, facecolors="none", edgecolors=shades[has_hole], linewidths=0.8)


def draw_ellipses(components: GaussianEmissions, pair: list[int], colors: np.ndarray, ax: Axes) -> None:
    from matplotlib.patches import Ellipse

    marginals: Any = components.full.marginal(pair)
    for color, part in zip(colors, marginals, strict=True):
        for probability in HOLD:
            found = part.ellipse(probability)
            angle = float(np.degrees(np.arctan2(found.directions[0, 1], found.directions[0, 0])))
            width, height = 2 * found.half_lengths
            ax.add_patch(Ellipse(tuple(found.center), width, height, angle=angle, fill=False, edgecolor=color))


register(plot, MixtureBeliefs, plot_clusters)
