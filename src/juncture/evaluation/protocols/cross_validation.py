"""`cross_validate`: the scores of a learner on parts of the rows that it did not learn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from juncture.base.checks import check_array, check_iterable, check_mapping, check_tuples, shown
from juncture.base.shown import Shown
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, JunctureError, Unsupported, hint
from juncture.evaluation.protocols.folds import Split, load_selection, make_folds
from juncture.numerics.iteration import ProgressCallback, check_progress

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Shown):
    """The scores of a learner on test parts.

    Attributes
    ----------
    scores
        (fold,) or (repeat, fold); higher is better.
    test_fraction
        The mean share of rows in a test part, which `corrected_t_test` needs.
    scoring
        What the scores are.
    chosen
        The hyper-parameters that were chosen inside each fold, where there was a choice.
    """

    scores: np.ndarray
    test_fraction: float
    scoring: str
    chosen: tuple[Mapping[str, Any], ...] = ()

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """√(Σ (s - mean)² / k(k - 1)): an approximation, as folds share training rows, and too small."""
        return float(self.scores.std(ddof=1) / np.sqrt(self.scores.size)) if self.scores.size > 1 else float("inf")

    @property
    def corrected_error(self) -> float:
        """The standard error of the mean with the correction for shared training rows (Nadeau and Bengio 2003)."""
        if self.scores.size < 2:
            return float("inf")
        scale = 1 / self.scores.size + self.test_fraction / (1 - self.test_fraction)
        return float(self.scores.std(ddof=1) * np.sqrt(scale))

    def to_pandas(self) -> pd.DataFrame:
        """A row for each test part."""
        import pandas as pd

        table = np.atleast_2d(self.scores)
        repeats, folds = np.divmod(np.arange(table.size), table.shape[1])
        return pd.DataFrame({"repeat": repeats, "fold": folds, self.scoring: table.reshape(-1)})

    def plot(self, **options: Any) -> Any:
        """The scores as points, and their mean with its corrected error."""
        return plot(self, **options)

    def __repr__(self) -> str:
        parts = f"{self.scores.size} test parts; corrected error {self.corrected_error:.3g}"
        return f"CrossValidation({self.scoring} {self.mean:.4g}; {parts})"


def cross_validate(  # noqa: PLR0913 (one function, many options)
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    folds: int | Sequence[Split] = 5,
    repeats: int = 1,
    scoring: Any = None,
    groups: Any = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    inner_folds: int = 5,
    rng: Any = None,
    progress: ProgressCallback | None = None,
) -> CrossValidation:
    """Score a learner on parts of the rows that it did not learn from.

    Parameters
    ----------
    learner
        An estimator of scikit-learn, such as those of `juncture.estimators`, or a pipeline.
    X, y
        The rows and their targets: arrays or frames.
    folds
        The number of folds, stratified for a classifier; or the training and test rows of each, as `make_folds` gives
        them.
    repeats
        How often the rows are divided anew, where `folds` is a number.
    scoring
        A name or a function of scikit-learn, as "accuracy", "neg_log_loss" or "r2"; the learner's own score by
        default.
    groups
        The group of each row, where groups must stay together.
    grid
        Values of hyper-parameters by their names. Their best combination is chosen inside each training part, by folds
        of its own, so that the test part has no say in it.
    inner_folds
        The number of those folds.
    rng
        The seed of the folds, or a generator; fresh by default.
    progress
        A function that is called after each test part with their number and the score.

    Returns
    -------
    CrossValidation
        The scores, their mean and its error.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> x = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = cross_validate(LogisticRegression(), x, x[:, 0] > 0, folds=3, rng=0)
    >>> found.scores.shape, found.mean > 0.9
    ((3,), True)
    """
    check_progress(progress)
    check_learner(learner)
    check_scoring_name(scoring)
    number = count_rows(X)
    splits, shape = as_splits(folds, number, repeats, y if is_classifier(learner) else None, groups, rng)
    own = learner if grid is None else with_choice(learner, grid, inner_folds, scoring)
    scores, chosen = np.empty(len(splits)), []
    for place, split in enumerate(splits):
        with reported_errors(learner):
            scores[place], best = score_split(own, X, y, split, scoring)
        chosen.append(best)
        if progress is not None:
            progress(place + 1, float(scores[place]))
    fraction = float(np.mean([len(test) / (len(train) + len(test)) for train, test in splits]))
    name = scoring if isinstance(scoring, str) else "score"
    return CrossValidation(scores.reshape(shape), fraction, name, tuple(chosen) if grid is not None else ())


def check_learner(learner: Any) -> Any:
    """An estimator of scikit-learn."""
    if isinstance(learner, type) or not (hasattr(learner, "fit") and hasattr(learner, "get_params")):
        raise Unsupported(f"a learner is an estimator of scikit-learn, with a method fit; got {shown(learner)}")
    return learner


def check_scoring_name(scoring: Any) -> None:
    """A text must name a scoring of scikit-learn."""
    from sklearn.metrics import get_scorer_names

    if isinstance(scoring, str) and scoring not in get_scorer_names():
        raise InvalidData(f"there is no scoring {scoring!r}; {hint(scoring, get_scorer_names())}")


@contextmanager
def reported_errors(learner: Any) -> Iterator[None]:
    """Say which learner refused its rows, targets or scoring."""
    try:
        yield
    except JunctureError:
        raise
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        what = str(error).partition("\n")[0]
        raise InvalidData(f"{type(learner).__name__} cannot learn from or be scored on these: {what}") from error


def count_rows(X: Any) -> int:
    """The number of rows of an array, a frame or a sparse matrix."""
    shape = getattr(X, "shape", None)
    if shape is None:
        return len(check_iterable(X, "X"))
    if not len(shape):
        raise InvalidData("X has rows; got a single value")
    return int(shape[0])


def is_classifier(learner: Any) -> bool:
    from sklearn.base import is_classifier as asks

    return bool(asks(learner))


def as_splits(
    folds: Any, number: int, repeats: int, classes: Any, groups: Any, rng: Any
) -> tuple[list[Split], tuple[int, ...]]:
    """Training and test rows, and the shape of their scores."""
    if isinstance(folds, SupportsIndex):
        number_of_folds: Any = folds  # which make_folds checks
        splits = make_folds(number, number_of_folds, repeats=repeats, stratify=classes, groups=groups, rng=rng)
        return splits, (len(splits),) if repeats == 1 else (repeats, len(splits) // repeats)
    pairs = check_tuples(folds, 2, "folds (a number, or training and test rows as make_folds gives them)")
    splits = [(check_rows(train, number), check_rows(test, number)) for train, test in pairs]
    if not splits:
        raise InvalidData("there are no folds; give their number, or training and test rows as make_folds does")
    return splits, (len(splits),)


def check_rows(rows: Any, number: int) -> np.ndarray:
    """Positions of rows, at least one."""
    positions = check_array(rows, "the rows of a fold", ndim=1)
    if not len(positions) or not ((positions >= 0) & (positions < number) & (positions % 1 == 0)).all():
        raise InvalidData(f"the rows of a fold are whole numbers from 0 to {number - 1}, at least one")
    return positions.astype(np.intp)


def with_choice(learner: Any, grid: Any, inner_folds: int, scoring: Any) -> Any:
    """The learner that chooses its hyper-parameters inside the rows that it is given."""
    named = check_mapping(grid, "the grid")
    return load_selection().GridSearchCV(learner, dict(named), cv=inner_folds, scoring=scoring)


def score_split(learner: Any, X: Any, y: Any, split: Split, scoring: Any) -> tuple[float, Mapping[str, Any]]:
    """Learn from the training rows and score on the test rows; also what was chosen."""
    from sklearn.base import clone
    from sklearn.metrics import check_scoring
    from sklearn.utils import _safe_indexing as take

    fresh = clone(learner)
    train, test = split
    targets = (None, None) if y is None else (take(y, train), take(y, test))
    fresh.fit(take(X, train), *(() if y is None else targets[:1]))
    score = check_scoring(fresh, scoring=scoring)(fresh, take(X, test), *(() if y is None else targets[1:]))
    return float(score), dict(getattr(fresh, "best_params_", {}))
