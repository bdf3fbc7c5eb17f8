"""Scores against the number of training rows, or against a hyper-parameter, with bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_array, check_iterable
from juncture.base.options import as_seed
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.evaluation.protocols.cross_validation import (
    as_splits,
    check_learner,
    check_scoring_name,
    count_rows,
    is_classifier,
    reported_errors,
)
from juncture.evaluation.protocols.folds import load_selection

if TYPE_CHECKING:
    import pandas as pd

    from juncture.drawing.lines import LineChart


@dataclass(frozen=True, eq=False, repr=False)
class ScoreBands:
    """Scores of a learner on training and on test rows, along a quantity.

    Attributes
    ----------
    name
        The quantity: "training rows", or the name of a hyper-parameter.
    values
        Of the quantity.
    training, test
        (value, fold): the scores on the rows that were learned from, and on those left out.
    """

    name: str
    values: tuple[Any, ...]
    training: np.ndarray
    test: np.ndarray

    @property
    def best(self) -> Any:
        """The value with the highest mean test score."""
        return self.values[int(np.argmax(self.test.mean(axis=1)))]

    def to_pandas(self) -> pd.DataFrame:
        """A row for each value: means, and standard deviations over the folds."""
        import pandas as pd

        columns = {self.name: list(self.values)}
        for side in ("training", "test"):
            scores = getattr(self, side)
            columns |= {side: scores.mean(axis=1), f"{side}_standard_deviation": scores.std(axis=1)}
        return pd.DataFrame(columns)

    def plot(self, **options: Any) -> Any:
        """The mean scores as lines, with bands of one standard deviation."""
        return plot(self, **options)

    def to_diagram(self) -> LineChart:
        """The mean scores as lines, with bands of one standard deviation."""
        from juncture.drawing.lines import Line, LineChart
        from juncture.drawing.palette import SERIES

        has_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in self.values)
        places = np.array(self.values if has_numbers else range(len(self.values)), float)
        lines = []
        for side, colour in zip(("training", "test"), SERIES, strict=False):
            scores = getattr(self, side)
            mean, deviation = scores.mean(axis=1), scores.std(axis=1)
            lines.append(Line(side, places, mean, mean - deviation, mean + deviation, colour=colour))
        names = () if has_numbers else tuple(map(str, self.values))
        return LineChart(tuple(lines), (self.name, "score"), names)

    def _repr_html_(self) -> str:
        from juncture.drawing.notebook import diagram_html, html_table

        sides = [(scores.mean(axis=1).tolist(), scores.std(axis=1).tolist()) for scores in (self.training, self.test)]
        cells = [[f"{mean:.4g} ± {deviation:.2g}" for mean, deviation in zip(*side, strict=True)] for side in sides]
        table = html_table([self.name, "training", "test"], zip(self.values, *cells, strict=True), num_labels=1)
        return diagram_html(repr(self), self.to_diagram()) + table

    def __repr__(self) -> str:
        return f"ScoreBands({self.name} from {self.values[0]} to {self.values[-1]}; best {self.best})"


def learning_curve(
    learner: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[float] = (0.1, 0.325, 0.55, 0.775, 1.0),
    folds: Any = 5,
    scoring: Any = None,
    rng: Any = None,
) -> ScoreBands:
    """The scores of a learner against the number of training rows, by scikit-learn.

    Parameters
    ----------
    learner
        An estimator of scikit-learn.
    X, y
        The rows and their targets.
    sizes
        Shares of the training part, or numbers of rows.
    folds
        A number, or training and test rows as `make_folds` gives them.
    scoring
        As in `cross_validate`.
    rng
        The seed, or a generator; fresh by default.

    Returns
    -------
    ScoreBands
        Scores on training rows fall, and scores on test rows rise, towards what the learner can reach.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> x = np.random.default_rng(0).normal(size=(80, 2))
    >>> learning_curve(LogisticRegression(), x, x[:, 0] > 0, sizes=[20, 40], folds=4).test.shape
    (2, 4)
    """
    check_learner(learner)
    check_scoring_name(scoring)
    given = check_array(sizes, "the sizes", ndim=1)
    if not len(given) or not (given > 0).all():
        raise InvalidData("sizes are shares of the training part up to 1, or numbers of rows")
    whole = (given > 1).any()
    seed = as_seed(rng)
    splits, _ = as_splits(folds, count_rows(X), 1, y if is_classifier(learner) else None, None, seed)
    options = {"cv": splits, "scoring": scoring, "shuffle": True, "random_state": seed % 2**32, "error_score": "raise"}
    with reported_errors(learner):
        counts = given.astype(int) if whole else given
        numbers, training, test = load_selection().learning_curve(learner, X, y, train_sizes=counts, **options)
    return ScoreBands("training rows", tuple(numbers.tolist()), training, test)


def validation_curve(
    learner: Any,
    X: Any,
    y: Any,
    parameter: str,
    values: Sequence[Any],
    *,
    folds: Any = 5,
    scoring: Any = None,
    rng: Any = None,
) -> ScoreBands:
    """The scores of a learner against a hyper-parameter, by scikit-learn.

    Parameters
    ----------
    learner
        An estimator of scikit-learn.
    X, y
        The rows and their targets.
    parameter, values
        The name of the hyper-parameter, and the values to try.
    folds, scoring, rng
        As in `learning_curve`.

    Returns
    -------
    ScoreBands
        Its `best` is the value with the highest mean test score, which is not an unbiased estimate of that score.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> x = np.random.default_rng(0).normal(size=(80, 2))
    >>> validation_curve(KNeighborsClassifier(), x, x[:, 0] > 0, "n_neighbors", [1, 5], folds=4).values
    (1, 5)
    """
    check_learner(learner)
    check_scoring_name(scoring)
    tried = check_iterable(values, "the values")
    if not tried or not isinstance(parameter, str) or parameter not in learner.get_params():
        raise InvalidData(
            f"{type(learner).__name__} has no hyper-parameter {parameter!r}, or there are no values to try"
        )
    splits, _ = as_splits(folds, count_rows(X), 1, y if is_classifier(learner) else None, None, rng)
    with reported_errors(learner):
        training, test = load_selection().validation_curve(
            learner, X, y, param_name=parameter, param_range=tried, cv=splits, scoring=scoring, error_score="raise"
        )
    return ScoreBands(parameter, tuple(tried), training, test)
