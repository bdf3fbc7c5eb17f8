"""`compare_on_table`: learners judged on the same folds of one table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from juncture.base.checks import check_count, check_flag
from juncture.base.options import as_generator
from juncture.base.values import few, short
from juncture.cli.comparison.learners import Learner, select_learners
from juncture.cli.comparison.metrics import check_parts, metrics_of, rope_of, score_all, select_metric
from juncture.cli.comparison.result import ColumnImportance, LearnerResult, TableComparison
from juncture.cli.comparison.task import PredictionTask, read_rows, read_task
from juncture.data.missingness import missingness
from juncture.errors import InvalidData
from juncture.evaluation.learners.compare import LearnerComparison, compare_learners
from juncture.evaluation.protocols.folds import Split, make_folds

Progress = Callable[[str, int, int], None]


def compare_on_table(  # noqa: PLR0913 (one function, many options)
    rows: Any,
    target: str,
    *,
    learners: Sequence[str] | None = None,
    metric: str | None = None,
    task: str | None = None,
    folds: int = 5,
    repeats: int = 2,
    importance: bool = True,
    missing: Any = None,
    decimal: str = ".",
    real: Sequence[str] = (),
    states: Sequence[str] = (),
    keep: Sequence[str] = (),
    rng: Any = 0,
    progress: Progress | None = None,
) -> TableComparison:
    """Compare learners that predict one column of a table from the others, on the same folds.

    Scales, medians for missing cells, and categories are learned inside each fold. Identifiers, running numbers, dates
    and constant columns are left out; `task.notes` of the result names them. An interrupt (Ctrl-C) keeps the learners
    that are finished.

    Parameters
    ----------
    rows
        A data frame, a mapping of columns, a `Dataset` or a file; cells may be missing.
    target
        The column to predict. Rows without a value of it are left out.
    learners
        Their names, such as "naive-bayes", "random-forest" or "svm"; all by default. The baseline is always added.
    metric
        By which learners are compared: "accuracy" (the default), "balanced-accuracy", "log-loss", "brier" or "roc-auc"
        of classes; "r2" (the default), "rmse" or "mae" of numbers.
    task
        "classes" or "numbers"; by default classes where the target is text or at most ten different whole numbers.
    folds, repeats
        The number of folds, stratified for classes, and how often the rows are divided anew.
    importance
        Whether the importance of the columns for the best learner is found too, which learns once more in each fold.
    missing, decimal
        Markers of missing cells and the decimal mark, as in `Dataset`.
    real, states
        Columns whose numbers are real-valued, and columns whose numbers are names of categories.
    keep
        Columns to predict from although they look like identifiers or dates.
    rng
        The source of random numbers of the folds and the learners.
    progress
        A function that is called with the name of the learner, the test parts that are finished, and their number.

    Returns
    -------
    TableComparison
        The scores with intervals, and which differences matter; `to_pandas`, `to_html` and `plot` show them.

    Examples
    --------
    >>> rows = {"x": [0.1 * (i % 17) for i in range(60)], "y": ["low" if i % 17 < 8 else "high" for i in range(60)]}
    >>> found = compare_on_table(rows, "y", learners=["naive-bayes", "decision-tree"], repeats=1, importance=False)
    >>> round(found.validation(found.best).mean, 2)
    1.0
    """
    data, notes = read_rows(rows, target, missing, decimal, real, states)
    found = read_task(data, target, task, notes, keep=keep, states=states)
    chosen, name = select_learners(found, learners), select_metric(found, metric)
    parts, times = check_count(folds, "folds", least=2), check_count(repeats, "repeats", least=1)
    wants_importance = check_flag(importance, "importance")
    if progress is not None and (isinstance(progress, type) or not callable(progress)):
        raise InvalidData("progress must be a function of a name and two numbers")
    generator = as_generator(rng)
    splits = divide(found, parts, times, generator)
    check_parts(found, splits, name)
    seed = int(generator.integers(2**31 - 1))
    found = replace(found, notes=(*found.notes, *note_rare_classes(found, parts)))
    results, interrupted = judge_all(found, chosen, splits, times, seed, progress)
    comparison, ordered = compare_results(found, results, name, parts)
    best = next((one for one in ordered if one.failure is None), None)
    if best is None:
        reasons = "; ".join(f"{one.name}: {one.failure}" for one in ordered)
        raise InvalidData(f"no learner could learn from these rows: {short(reasons, 400)}")
    falls = None
    if wants_importance and not interrupted:
        try:
            falls = find_importance(found, best.name, chosen[best.name], splits[:parts], name, seed, progress)
        except KeyboardInterrupt:
            interrupted = ("the importance of columns",)
    holes = missingness(data.only([*found.names, found.target]))
    return TableComparison(found, name, ordered, comparison, parts, times, holes, falls, interrupted)


def divide(task: PredictionTask, folds: int, repeats: int, rng: Any) -> list[Split]:
    """The training and test rows of all folds; classes in equal shares."""
    number = len(task.cells)
    if number < 2 * folds:
        raise InvalidData(
            f"there are {number} rows for {folds} folds; give two rows for each fold, or take fewer folds"
        )
    classes = task.outcomes if task.has_classes else None
    if classes is not None and np.bincount(classes).max() < folds:
        raise InvalidData(f"every class has fewer rows than there are folds ({folds}); take fewer folds")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # a note says so
        return make_folds(number, folds, repeats=repeats, stratify=classes, rng=rng)


def note_rare_classes(task: PredictionTask, folds: int) -> list[str]:
    """A sentence for the classes that some folds do not have."""
    if not task.has_classes:
        return []
    counts = np.bincount(task.outcomes, minlength=len(task.labels))
    rare = [repr(label) for label, count in zip(task.labels, counts, strict=True) if count < folds]
    return [f"classes with fewer rows than folds are missing in some test parts: {few(rare)}"] if rare else []


def judge_all(
    task: PredictionTask,
    learners: dict[str, Learner],
    splits: list[Split],
    repeats: int,
    seed: int,
    progress: Progress | None,
) -> tuple[list[LearnerResult], tuple[str, ...]]:
    """The results of the learners, and the names of those that an interrupt left unfinished."""
    results: list[LearnerResult] = []
    try:
        for name, learner in learners.items():
            results.append(judge(task, name, learner, splits, repeats, seed, progress))
    except KeyboardInterrupt:
        if not any(one.failure is None for one in results):
            raise
    done = {one.name for one in results}
    return results, tuple(name for name in learners if name not in done)


def judge(
    task: PredictionTask,
    name: str,
    learner: Learner,
    splits: list[Split],
    repeats: int,
    seed: int,
    progress: Progress | None,
) -> LearnerResult:
    """The scores of a learner on all test parts; what it raises is its result."""
    start = time.process_time()
    model = learner.prepare(task, learner.make(seed))
    scores: dict[str, list[float]] = {metric: [] for metric in metrics_of(task)}
    shape = (len(task.cells), len(task.labels)) if task.has_classes else (len(task.cells),)
    kept = np.full(shape, np.nan)
    failure = None
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "Found unknown categories")  # texts that no training row has are rare ones
        for place, (train, test) in enumerate(splits):
            if progress is not None:
                progress(name, place, len(splits))
            try:
                predicted = predict(task, learn(task, model, train), test)
            except Exception as error:  # noqa: BLE001 (a learner that fails is reported, and the others go on)
                failure = explain(error, place, len(splits))
                break
            for metric, score in score_all(task, task.outcomes[test], predicted).items():
                scores[metric].append(score)
            if place < len(splits) // repeats:
                kept[test] = predicted
    seconds = time.process_time() - start
    messages = tuple(dict.fromkeys(short(f"{one.category.__name__}: {one.message}", 200) for one in caught))
    if failure is not None:
        return LearnerResult(name, learner.source, {}, None, seconds, failure, messages)
    tables = {metric: np.array(column).reshape(repeats, -1) for metric, column in scores.items()}
    return LearnerResult(name, learner.source, tables, kept, seconds, None, messages)


def learn(task: PredictionTask, model: Any, train: np.ndarray) -> Any:
    return clone(model).fit(task.cells[train], task.outcomes[train])


def predict(task: PredictionTask, fitted: Any, test: np.ndarray | Any, cells: np.ndarray | None = None) -> np.ndarray:
    """The probabilities of all classes, 0 for those without a training row; or numbers."""
    rows = task.cells[test] if cells is None else cells
    if not task.has_classes:
        return check_finite(np.asarray(fitted.predict(rows), float).reshape(-1))
    shares = np.zeros((len(rows), len(task.labels)))
    shares[:, np.asarray(fitted.classes_, int)] = fitted.predict_proba(rows)
    return check_finite(shares)


def check_finite(predicted: np.ndarray) -> np.ndarray:
    if not np.isfinite(predicted).all():
        raise InvalidData("a prediction is not a finite number")
    return predicted


def explain(error: Exception, place: int, number: int) -> str:
    """What a learner raised, in one line, and on which test part."""
    text = " ".join(str(error).split()) or "without a message"
    return f"{type(error).__name__} on test part {place + 1} of {number}: {short(text, 300)}"


def compare_results(
    task: PredictionTask, results: list[LearnerResult], name: str, folds: int
) -> tuple[LearnerComparison | None, tuple[LearnerResult, ...]]:
    """All pairs of the learners that have scores; and the learners, best first, failed ones at the end."""
    metric = metrics_of(task)[name]
    scored = [one for one in results if one.failure is None]
    failed = [one for one in results if one.failure is not None]
    sign = -1.0 if metric.higher_is_better else 1.0
    ordered = (*sorted(scored, key=lambda one: sign * float(one.scores[name].mean())), *failed)
    if len(scored) < 2:
        return None, ordered
    scores = {one.name: one.scores[name] for one in scored}
    options: dict[str, Any] = {"rope": rope_of(task, metric), "higher_is_better": metric.higher_is_better}
    return compare_learners(scores, test_fraction=1 / folds, **options), ordered


def find_importance(
    task: PredictionTask,
    name: str,
    learner: Learner,
    splits: list[Split],
    metric: str,
    seed: int,
    progress: Progress | None,
) -> ColumnImportance:
    """The fall of the score in each fold, where the cells of one column at a time are permuted in the test part."""
    rng, measure = np.random.default_rng(seed), metrics_of(task)[metric]
    sign = 1.0 if measure.higher_is_better else -1.0
    falls = np.empty((len(task.names), len(splits)))
    model = learner.prepare(task, learner.make(seed))
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # the learner's result has them
        for place, (train, test) in enumerate(splits):
            if progress is not None:
                progress(f"columns of {name}", place, len(splits))
            fitted, truth = learn(task, model, train), task.outcomes[test]
            whole = measure.score(truth, predict(task, fitted, test))
            for column in range(len(task.names)):
                cells = task.cells[test]
                cells[:, column] = rng.permutation(cells[:, column])
                falls[column, place] = sign * (whole - measure.score(truth, predict(task, fitted, test, cells)))
    order = np.argsort(-falls.mean(axis=1), kind="stable")
    return ColumnImportance(name, tuple(task.names[place] for place in order), falls[order])
