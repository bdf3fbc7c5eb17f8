"""`plot`: the picture of a value by its class; and the table of the modules that draw."""

from __future__ import annotations

from typing import Any

from juncture.base.dispatch import lazy_dispatch
from juncture.errors import Unsupported

# class → the modules of `plots/` that register how it is drawn
PICTURES: dict[str, tuple[str, ...]] = {
    "Family": ("juncture.plots.densities",),
    "Density": ("juncture.plots.densities",),
    "MixtureBeliefs": ("juncture.plots.latent",),
    "Draws": ("juncture.plots.draws",),
    "PrincipalComponents": ("juncture.plots.latent",),
    "LinearFactors": ("juncture.plots.latent",),
    "Dendrogram": ("juncture.plots.latent",),
    "CrossValidation": ("juncture.plots.evaluation",),
    "ScoreBands": ("juncture.plots.evaluation",),
    "ConfusionMatrix": ("juncture.plots.evaluation",),
    "ScoreCurve": ("juncture.plots.evaluation",),
    "Calibration": ("juncture.plots.evaluation",),
    "Hyperplane": ("juncture.plots.supervised",),
    "MaximumMargin": ("juncture.plots.supervised",),
    "InformationValues": ("juncture.plots.evaluation",),
    "DecisionRegions": ("juncture.plots.evaluation",),
    "LinearRegression": ("juncture.plots.supervised",),
    "GaussianWeights": ("juncture.plots.supervised",),
    "GeneralizedLinearModel": ("juncture.plots.supervised",),
    "LogisticRegression": ("juncture.plots.supervised",),
    "LaplaceLogistic": ("juncture.plots.supervised",),
    "LogisticFit": ("juncture.plots.supervised",),
    "LinearFit": ("juncture.plots.supervised",),
    "GeneralizedLinearFit": ("juncture.plots.supervised",),
    "PosteriorFit": ("juncture.plots.supervised",),
    "RidgePath": ("juncture.plots.supervised",),
    "Descent": ("juncture.plots.supervised",),
    "FriedmanTest": ("juncture.plots.evaluation",),
    "LearnerComparison": ("juncture.plots.evaluation",),
    "BayesianComparison": ("juncture.plots.evaluation",),
    "TableComparison": ("juncture.cli.comparison.pictures",),
    "ColumnImportance": ("juncture.cli.comparison.pictures",),
    "ModelComparison": ("juncture.plots.evaluation",),
}


@lazy_dispatch(PICTURES.get)
def plot(value: Any, **options: Any) -> Any:
    """Plot a value with matplotlib: the picture that suits its class.

    Parameters
    ----------
    value
        A distribution, the beliefs of a mixture about rows, draws, principal components, factors, a dendrogram, a
        regression of one input (with `X` and `y`, or `between`), a descent, or another result of
        `jt.evaluation` or `jt.supervised` that has a picture. Networks and trees are drawn by `jt.draw`.
    **options
        `ax`, the axes to draw in, by default those of a new figure; and the options of the function that draws the
        class, such as `density` or `trace` of `jt.plots`.

    Returns
    -------
    matplotlib.axes.Axes or numpy.ndarray
        The axes, or an array of them where there are several.

    Examples
    --------
    >>> import juncture as jt
    >>> from matplotlib.figure import Figure
    >>> len(jt.plot(jt.Gaussian(0.0, 1.0), ax=Figure().subplots()).lines)
    1
    """
    raise Unsupported(f"there is no picture of a {type(value).__name__}; jt.draw draws networks, graphs and trees")
