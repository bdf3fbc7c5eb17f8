"""`calibration`: whether events that are predicted with probability p happen in a share p of the cases.

The recalibrated probabilities are the isotonic regression of outcomes on predictions. With them the mean squared error
(Brier score) splits into miscalibration, discrimination and uncertainty: score = MCB - DSC + UNC (Dimitriadis, Gneiting
and Jordan 2021). Bins show shares with Wilson's intervals; the error of bins is also given without its bias (Kumar,
Liang and Ma 2019), since plain estimates are positive even for calibrated predictions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from juncture.base.checks import check_array, check_choice, check_count, check_number
from juncture.base.options import as_generator
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData

if TYPE_CHECKING:
    import pandas as pd

    from juncture.drawing.lines import LineChart


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """How predicted probabilities of an event agree with how often it happened.

    Attributes
    ----------
    predicted, recalibrated
        The predictions, sorted, and the isotonic estimate of the probability of the event at each.
    band_low, band_high
        Where the isotonic estimate would lie with the given confidence, were the predictions calibrated.
    bins
        (bin, …) with columns mean prediction, share of events, low and high end of Wilson's interval, and count.
    score, miscalibration, discrimination, uncertainty
        The mean squared error and its parts: score = miscalibration - discrimination + uncertainty.
    error
        The expected calibration error: the mean distance of share and prediction over the bins, too large by chance.
    root_error
        The root of the mean squared distance over the bins, too large by chance as well, and never below `error`.
    debiased_error
        `root_error` with the bias of the squares taken off; 0 where that is larger. For calibrated predictions the
        squares less their bias are 0 on average, so that about half of all samples have 0 here.
    confidence
        Of band and intervals.
    """

    predicted: np.ndarray
    recalibrated: np.ndarray
    band_low: np.ndarray
    band_high: np.ndarray
    bins: np.ndarray
    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    error: float
    root_error: float
    debiased_error: float
    confidence: float

    def to_pandas(self) -> pd.DataFrame:
        """A row for each bin."""
        import pandas as pd

        return pd.DataFrame(self.bins, columns=["predicted", "observed", "low", "high", "count"])

    def plot(self, **options: Any) -> Any:
        """The reliability diagram: the isotonic estimate with its band, and the bins with their intervals."""
        return plot(self, **options)

    def to_diagram(self) -> LineChart:
        """The isotonic estimate, the band in which it would lie were the predictions calibrated, and the bins."""
        from juncture.drawing.lines import Line, LineChart
        from juncture.drawing.palette import EDGE, SERIES

        percent, ends = f"{100 * self.confidence:g} %", np.array([0.0, 1.0])
        means, shares, low, high = self.bins[:, :4].T
        band = self.band_low, self.band_high
        lines = (
            Line(f"{percent} if calibrated", self.predicted, self.predicted, *band, "band", EDGE),
            Line("", ends, ends, kind="dashes"),
            Line("isotonic estimate", self.predicted, self.recalibrated, kind="steps", colour=SERIES[1]),
            Line(f"bins, with intervals of {percent}", means, shares, low, high, "points"),
        )
        return LineChart(lines, ("predicted probability", "share of events"), (), True)

    def _repr_html_(self) -> str:
        from juncture.drawing.notebook import diagram_html, html_table

        heads = ("predicted", "observed", "low", "high", "count")
        rows = ([*(f"{number:.4g}" for number in line[:4]), f"{line[4]:g}"] for line in self.bins.tolist())
        return diagram_html(repr(self), self.to_diagram()) + html_table(heads, rows)

    def __repr__(self) -> str:
        parts = f"{self.miscalibration:.3g} - {self.discrimination:.3g} + {self.uncertainty:.3g}"
        errors = f"error {self.error:.3g}, root mean square {self.root_error:.3g}, debiased {self.debiased_error:.3g}"
        return f"Calibration(score {self.score:.4g} = {parts}; {errors})"


def calibration(
    truth: Any,
    probabilities: Any,
    *,
    bins: int = 10,
    strategy: str = "frequency",
    confidence: float = 0.9,
    draws: int = 200,
    rng: Any = None,
) -> Calibration:
    """Compare predicted probabilities of an event with how often it happened.

    Parameters
    ----------
    truth
        Whether the event happened, for each example. Of a classifier with several classes, take one class at a time.
    probabilities
        The predicted probability of the event.
    bins
        The number of bins; equal predictions stay together, so there may be fewer.
    strategy
        Bins of equal "frequency" or of equal "width".
    confidence
        Of Wilson's intervals and of the band.
    draws
        The number of draws of outcomes from the predictions, for the band.
    rng
        The seed of the band, or a generator; fresh by default.

    Returns
    -------
    Calibration
        The isotonic estimate with its band, the bins, and the parts of the score.

    Examples
    --------
    >>> truth = [0, 0, 1, 0, 1, 1, 1, 0]
    >>> found = calibration(truth, [0.1, 0.2, 0.2, 0.3, 0.6, 0.7, 0.9, 0.9], bins=2, rng=0)
    >>> round(found.score, 4) == round(found.miscalibration - found.discrimination + found.uncertainty, 4)
    True
    """
    events, given = check_events(truth, probabilities)
    level, number = check_number(confidence, "the confidence", above=0, below=1), check_count(bins, "bins", least=1)
    check_choice(strategy, ("frequency", "width"), "strategy")
    order = np.argsort(given, kind="stable")
    values, happened = given[order], events[order]
    fitted = isotonic_fit(values, happened)
    simulated = simulate_fits(values, check_count(draws, "draws", least=1), as_generator(rng))
    low, high = np.quantile(simulated, [(1 - level) / 2, (1 + level) / 2], axis=0)
    table = bin_table(values, happened, number, strategy, level)
    uncertainty = float(happened.mean() * (1 - happened.mean()))
    score, ideal = float(np.mean((values - happened) ** 2)), float(np.mean((fitted - happened) ** 2))
    errors = bin_errors(table)
    parts = (score, score - ideal, uncertainty - ideal, uncertainty)
    return Calibration(values, fitted, low, high, table, *parts, *errors, level)


def check_events(truth: Any, probabilities: Any) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes 0 or 1, and their predicted probabilities."""
    events, given = check_array(truth, "the truth", ndim=1), check_array(probabilities, "the probabilities", ndim=1)
    if events.shape != given.shape or not len(events) or not np.isin(events, (0, 1)).all():
        raise InvalidData(
            "each example has an outcome, 0 or 1, and a predicted probability; got another number of them"
        )
    if not ((given >= 0) & (given <= 1)).all():
        raise InvalidData("predicted probabilities lie between 0 and 1; one does not, or is missing")
    return events, given


def isotonic_fit(values: np.ndarray, events: np.ndarray) -> np.ndarray:
    """The non-decreasing probabilities with the smallest squared error; equal predictions have one."""
    from scipy.optimize import isotonic_regression

    _, first, where, counts = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    shares = np.add.reduceat(events, first) / counts
    return np.asarray(isotonic_regression(shares, weights=counts).x[where])


def simulate_fits(values: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Isotonic fits to outcomes that are drawn with the predicted probabilities, (draw, example)."""
    return np.stack([isotonic_fit(values, (rng.random(len(values)) < values).astype(float)) for _ in range(draws)])


def bin_table(values: np.ndarray, events: np.ndarray, number: int, strategy: str, level: float) -> np.ndarray:
    """For each bin the mean prediction, the share of events with Wilson's interval, and the count."""
    if strategy == "width":
        codes = np.minimum((values * number).astype(int), number - 1)
    else:
        edges = np.unique(np.quantile(values, np.linspace(0, 1, number + 1)[1:-1], method="inverted_cdf"))
        codes = np.searchsorted(edges, values, side="left")
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    means, shares = np.add.reduceat(values, first) / counts, np.add.reduceat(events, first) / counts
    return np.column_stack([means, shares, *wilson_interval(shares, counts, level), counts])


def wilson_interval(shares: np.ndarray, counts: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval of a probability from a share of so many cases."""
    z = float(special.ndtri((1 + confidence) / 2))
    middle = (shares + z * z / (2 * counts)) / (1 + z * z / counts)
    half = z / (1 + z * z / counts) * np.sqrt(shares * (1 - shares) / counts + (z / counts) ** 2 / 4)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def bin_errors(table: np.ndarray) -> tuple[float, float, float]:
    """The mean distance of shares and predictions, the root of the mean squared one, and this without its bias."""
    means, shares, counts = table[:, 0], table[:, 1], table[:, 4]
    weights = counts / counts.sum()
    noise = np.divide(shares * (1 - shares), counts - 1, out=np.zeros(len(counts)), where=counts > 1)
    squared, bias = float(weights @ (means - shares) ** 2), float(weights @ noise)
    return float(weights @ np.abs(means - shares)), float(np.sqrt(squared)), float(np.sqrt(max(squared - bias, 0.0)))
