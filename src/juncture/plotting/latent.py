"""Pictures of factors and of hierarchies of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_iterable, check_kind
from juncture.base.dispatch import register
from juncture.clusters.hierarchy import Dendrogram
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.latent.factor_analysis.model import LinearFactors
from juncture.latent.factor_analysis.principal_components import PrincipalComponents
from juncture.plotting.panels import as_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_scree(components: PrincipalComponents, ax: Any = None) -> Axes:
    """Plot the variance of each principal component, and the share that they explain together.

    Parameters
    ----------
    components
        Those of `principal_components`.
    ax
        The axes of matplotlib to draw in; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import juncture as jt
    >>> from matplotlib.figure import Figure
    >>> found = jt.principal_components([[0.0, 1.0], [1.0, 3.0], [2.0, 4.0]])
    >>> jt.plot_scree(found, Figure().subplots()).get_xlabel()
    'component'
    """
    found = check_kind(components, PrincipalComponents, "components")
    axes = as_axes(ax)
    numbers = np.arange(1, found.num_components + 1)
    axes.bar(numbers, found.shares, color="0.75", label="share of the variance")
    axes.plot(numbers, np.cumsum(found.shares), "o-", color="C0", label="of all up to it")
    axes.set_xticks(numbers if len(numbers) <= 20 else numbers[:: len(numbers) // 10])
    axes.set_ylim(0.0, 1.05)
    axes.set_xlabel("component")
    axes.legend(frameon=False)
    return axes


def plot_loadings(model: LinearFactors, names: Sequence[str] | None = None, ax: Any = None) -> Axes:
    """Plot how each column loads on each factor, as colors from negative to positive.

    Parameters
    ----------
    model
        A `FactorAnalysis` or a `ProbabilisticPCA`. Its factors are shown in their canonical rotation.
    names
        Of the columns; by default x0, x1, ….
    ax
        The axes of matplotlib to draw in; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import juncture as jt
    >>> from matplotlib.figure import Figure
    >>> model = jt.FactorAnalysis([[1.0], [-2.0]], [0.0, 0.0], 1.0)
    >>> jt.plot_loadings(model, ["height", "age"], Figure().subplots()).get_xlabel()
    'factor'
    """
    check_kind(model, LinearFactors, "model")
    loadings = model.canonical().loadings
    labels = [f"x{at}" for at in range(len(loadings))] if names is None else check_iterable(names, "names")
    if len(labels) != len(loadings):
        raise InvalidData(f"there are {len(loadings)} columns, and {len(labels)} names")
    axes = as_axes(ax)
    bound = float(np.abs(loadings).max()) or 1.0
    image = axes.imshow(loadings, cmap="RdBu_r", vmin=-bound, vmax=bound, aspect="auto")
    axes.set_xticks(range(loadings.shape[1]))
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xlabel("factor")
    axes.figure.colorbar(image, ax=axes, label="loading")
    return axes


def plot_dendrogram(tree: Dendrogram, labels: Sequence[str] | None = None, ax: Any = None) -> Axes:
    """Plot a hierarchy of clusters: rows below, and merges at their heights.

    Parameters
    ----------
    tree
        That of `hierarchical_clusters`.
    labels
        The names of the rows; by default their numbers.
    ax
        The axes of matplotlib to draw in; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import juncture as jt
    >>> from matplotlib.figure import Figure
    >>> tree = jt.hierarchical_clusters([[0.0], [10.0], [1.0], [12.0]])
    >>> jt.plot_dendrogram(tree, list("abcd"), Figure().subplots()).get_ylabel()
    'height'
    """
    from scipy.cluster.hierarchy import dendrogram

    found = check_kind(tree, Dendrogram, "tree")
    names = None if labels is None else [str(label) for label in check_iterable(labels, "labels")]
    if names is not None and len(names) != found.num_rows:
        raise InvalidData(f"there are {found.num_rows} rows, and {len(names)} labels")
    axes = as_axes(ax)
    picture = dendrogram(found.merges, labels=names, no_plot=True)
    for across, up in zip(picture["icoord"], picture["dcoord"], strict=True):
        axes.plot(across, up, color="C0", linewidth=1.0)
    if found.num_rows <= 60:
        axes.set_xticks(5.0 + 10.0 * np.arange(found.num_rows), picture["ivl"], rotation=90)
    else:
        axes.set_xticks([])
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("height")
    return axes


register(plot, PrincipalComponents, plot_scree)
register(plot, LinearFactors, plot_loadings)
register(plot, Dendrogram, plot_dendrogram)
