"""Pictures of what is hidden: rows in the colours of their components, factors, hierarchies of clusters, and topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count, check_iterable, check_kind
from juncture.base.dispatch import register
from juncture.clusters.clusters import Clusters
from juncture.clusters.hierarchy import Dendrogram
from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import Mixture
from juncture.data.rows import Rows
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, MissingExtra, Unsupported
from juncture.latent.factor_analysis.model import LinearFactors
from juncture.latent.factor_analysis.principal_components import PrincipalComponents
from juncture.latent.mixtures.beliefs import MixtureBeliefs
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.learning.fit import Fit
from juncture.plots.draws import draw_panels
from juncture.plots.panels import as_axes, new_panels
from juncture.verbs import infer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOLD = (0.5, 0.9)  # the probability inside each ellipse of a component


def mixture(beliefs: MixtureBeliefs, columns: tuple[int, int] = (0, 1), ax: Any = None) -> Axes:
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
    >>> ax = jt.plots.mixture(jt.infer(mixture, mixture.sample(50, rng=0)), ax=Figure().subplots())
    >>> len(ax.patches)
    4
    """
    check_kind(beliefs, MixtureBeliefs, "what jt.plots.mixture draws")
    components = beliefs.model.components
    if not isinstance(components, GaussianEmissions) or components.dimension < 2:
        raise Unsupported("jt.plots.mixture draws mixtures of Gaussian vectors; jt.plots.density draws numbers")
    pair = check_columns(columns, components.dimension)
    colors = component_colors(beliefs.model.num_components)
    ax = as_axes(ax)
    draw_rows(beliefs, pair, colors, ax)
    draw_ellipses(components, pair, colors, ax)
    ax.set_xlabel(f"x{pair[0]}")
    ax.set_ylabel(f"x{pair[1]}")
    return ax


def check_columns(columns: Any, size: int) -> list[int]:
    given = list(columns) if isinstance(columns, tuple | list) else []
    if len(given) != 2 or not all(isinstance(each, int) and 0 <= each < size for each in given) or given[0] == given[1]:
        raise InvalidData(f"jt.plots.mixture draws two different columns from 0 to {size - 1}; got {columns!r}")
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


register(plot, MixtureBeliefs, mixture)


def steps(fitted: Any, data: Any, columns: tuple[int, int] = (0, 1), most: int = 6, axes: Any = None) -> np.ndarray:
    """Draw the steps of EM of a mixture, or of K-means: a panel with the rows in their colours for each of some steps.

    Of many steps the first, the last and those at equal ratios between are drawn. A panel says the number of its step
    and the objective or the distortion.

    Parameters
    ----------
    fitted
        The `Fit` of a mixture of Gaussian vectors, or `Clusters` of K-means, with `history=True`.
    data
        The rows that it was learned from.
    columns
        The two coordinates to draw.
    most
        The largest number of panels.
    axes
        The axes of matplotlib to draw in, at least two; by default those of a new figure.

    Returns
    -------
    numpy.ndarray
        The axes that were drawn in.

    Examples
    --------
    >>> import juncture as jt, numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(40, 2)) * [3.0, 1.0]
    >>> axes = jt.plots.steps(jt.clusters.k_means(rows, 2, start=rows[:2], history=True), rows)
    >>> axes[0].get_title().startswith("start: ")
    True
    """
    if not isinstance(fitted, Clusters | Fit) or (isinstance(fitted, Fit) and not isinstance(fitted.model, Mixture)):
        raise Unsupported(
            f"jt.plots.steps draws the fit of a mixture, or the clusters of K-means; got {type(fitted).__name__}"
        )
    kept, values = fitted.history, fitted.trace.values
    given = None if axes is None else [as_axes(ax) for ax in np.atleast_1d(np.asarray(axes, dtype=object)).reshape(-1)]
    number = min(check_count(most if given is None else len(given), "most", least=2), len(kept))
    chosen = np.unique(np.round(np.geomspace(1, len(kept), number)).astype(int)) - 1
    panels = new_panels(len(chosen)) if given is None else np.array(given[: len(chosen)], dtype=object)
    for ax, step in zip(panels, chosen.tolist(), strict=True):
        if isinstance(fitted, Clusters):
            draw_clusters(kept[step], data, columns, ax)
        else:
            mixture(infer(kept[step], data), columns, ax=ax)
        ax.set_title(f"step {step}: {values[step]:.6g}" if step else f"start: {values[0]:.6g}")
    return panels


def draw_clusters(clusters: Clusters, data: Any, columns: Any, ax: Axes) -> None:
    """The rows in the colours of their clusters, and the centers as crosses."""
    pair = check_columns(columns, clusters.centers.shape[1])
    colors, rows = component_colors(clusters.num_clusters), Rows.of(data, clusters.feature_names).matrix()
    if rows.shape != (len(clusters.labels), clusters.centers.shape[1]):
        raise InvalidData(
            f"the clusters are of {len(clusters.labels)} rows of {clusters.centers.shape[1]} columns; got an array of"
            f" the shape {rows.shape}"
        )
    x, y = rows[:, pair].T
    ax.scatter(x, y, c=colors[clusters.labels], s=12, linewidths=0)
    x, y = clusters.centers[:, pair].T
    ax.scatter(x, y, c=colors, marker="X", s=90, edgecolors="black")
    ax.set(xlabel=f"x{pair[0]}", ylabel=f"x{pair[1]}")


def scree(components: PrincipalComponents, ax: Any = None) -> Axes:
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
    >>> found = jt.clusters.principal_components([[0.0, 1.0], [1.0, 3.0], [2.0, 4.0]])
    >>> jt.plots.scree(found, Figure().subplots()).get_xlabel()
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


def loadings(model: LinearFactors, names: Sequence[str] | None = None, ax: Any = None) -> Axes:
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
    >>> jt.plots.loadings(model, ["height", "age"], Figure().subplots()).get_xlabel()
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


def dendrogram(tree: Dendrogram, labels: Sequence[str] | None = None, ax: Any = None) -> Axes:
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
    >>> tree = jt.clusters.hierarchical_clusters([[0.0], [10.0], [1.0], [12.0]])
    >>> jt.plots.dendrogram(tree, list("abcd"), Figure().subplots()).get_ylabel()
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


register(plot, PrincipalComponents, scree)
register(plot, LinearFactors, loadings)
register(plot, Dendrogram, dendrogram)


def topics(model: LatentDirichletAllocation, number: int = 8, axes: Any = None) -> np.ndarray:
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
    >>> panels = jt.plots.topics(model, 2, Figure().subplots(1, 2))
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
