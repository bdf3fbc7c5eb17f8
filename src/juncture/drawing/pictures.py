"""`plot`: the picture of a value by its class; and the table of the modules that draw."""

from __future__ import annotations

from typing import Any

from juncture.base.dispatch import lazy_dispatch
from juncture.errors import Unsupported

# class → the modules of `plotting/` that register how it is drawn
PICTURES: dict[str, tuple[str, ...]] = {
    "Family": ("juncture.plotting.density",),
    "Density": ("juncture.plotting.density",),
    "MixtureBeliefs": ("juncture.plotting.clusters",),
    "Draws": ("juncture.plotting.draws",),
    "PrincipalComponents": ("juncture.plotting.latent",),
    "LinearFactors": ("juncture.plotting.latent",),
    "Dendrogram": ("juncture.plotting.latent",),
    "CrossValidation": ("juncture.plotting.protocols",),
    "ScoreBands": ("juncture.plotting.protocols",),
    "ConfusionMatrix": ("juncture.plotting.measures",),
    "ScoreCurve": ("juncture.plotting.measures",),
    "Calibration": ("juncture.plotting.measures",),
    "Hyperplane": ("juncture.plotting.linear_classifiers",),
    "MaximumMargin": ("juncture.plotting.linear_classifiers",),
    "InformationValues": ("juncture.plotting.decisions",),
    "DecisionRegions": ("juncture.plotting.decisions",),
    "LinearRegression": ("juncture.plotting.regression",),
    "GaussianWeights": ("juncture.plotting.regression",),
    "GeneralizedLinearModel": ("juncture.plotting.regression",),
    "LogisticRegression": ("juncture.plotting.regression",),
    "LaplaceLogistic": ("juncture.plotting.regression",),
    "LogisticFit": ("juncture.plotting.regression",),
    "LinearFit": ("juncture.plotting.regression",),
    "GeneralizedLinearFit": ("juncture.plotting.regression",),
    "EvidenceFit": ("juncture.plotting.regression",),
    "RidgePath": ("juncture.plotting.regression",),
    "Descent": ("juncture.plotting.regression",),
    "FriedmanTest": ("juncture.plotting.comparison",),
    "LearnerComparison": ("juncture.plotting.comparison",),
    "BayesianComparison": ("juncture.plotting.comparison",),
    "TableComparison": ("juncture.plotting.table_comparison",),
    "ColumnImportance": ("juncture.plotting.table_comparison",),
    "ModelComparison": ("juncture.plotting.choice",),
}


@lazy_dispatch(PICTURES)
def plot(value: Any, **options: Any) -> Any:
    """Plot a value with matplotlib: the picture that suits its class.

    Parameters
    ----------
    value
        A distribution, the beliefs of a mixture about rows, draws, principal components, factors, a dendrogram, a
        regression of one input (with `inputs` and `targets`, or `between`), a descent, or another result of
        `jt.evaluation` or `jt.supervised` that has a picture. Networks and trees are drawn by `jt.draw`.
    **options
        `ax`, the axes to draw in, by default those of a new figure; and the options of the function that draws the
        class, such as `plot_density` or `plot_trace`.

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
