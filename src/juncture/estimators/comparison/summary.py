"""What a comparison found, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from juncture.base.values import few, number_of
from juncture.estimators.comparison.learners import BASELINE

if TYPE_CHECKING:
    from juncture.estimators.comparison.result import TableComparison


def summarize(found: TableComparison) -> list[str]:
    """The protocol, the best learner, the learners that are as good, the baseline, and what is missing."""
    task, best = found.task, found.best
    size = f"{number_of(len(task.cells), 'row')} and {number_of(len(task.names), 'column')}"
    parts = f"{number_of(found.repeats, 'repeat')} of {found.folds} folds"
    low, high = found.interval(best)
    mean = found.validation(best).mean
    sentences = [
        f"{task.target} is predicted as {task.kind} from {size}, by {parts}.",
        f"The best mean {found.measure.title} is that of {best.name}: {mean:.4g}, interval {low:.4g} to {high:.4g}.",
        *describe_groups(found),
        *describe_baseline(found),
    ]
    failed = [learner.name for learner in found.learners if learner.failure is not None]
    if failed:
        sentences.append(f"Failed, with the reason in the table: {few(failed, most=20)}.")
    if found.interrupted:
        sentences.append(f"The comparison was interrupted; not finished: {few(found.interrupted, most=20)}.")
    return sentences


def names_of(found: TableComparison, verdict: str) -> str:
    return few([one.name for one in found.finished[1:] if found.verdict(one) == verdict], most=20)


def describe_groups(found: TableComparison) -> list[str]:
    """Which learners are as good, which are worse, and which cannot be told apart from the best."""
    words = {
        "equivalent": "Practically equivalent to it: {}.",
        "undecided": "These folds do not settle whether it is better than {}.",
        "worse": "Worse than it: {}.",
    }
    return [text.format(names) for verdict, text in words.items() if (names := names_of(found, verdict))]


def describe_baseline(found: TableComparison) -> list[str]:
    """A warning where the best learner is not better than a prediction that looks at no column."""
    base = next((one for one in found.finished if one.name == BASELINE), None)
    if base is None or (base is not found.best and found.verdict(base) == "worse"):
        return []
    return ["No learner is shown to be better than the baseline, which does not look at the columns."]


def format_row(row: Mapping[str, Any]) -> list[str]:
    """A learner as a line of the printed table; its numbers are empty where there are none."""
    interval = "" if row["low"] is None else f"[{row['low']:.3g}, {row['high']:.3g}]"
    mean = "" if row["mean"] is None else f"{row['mean']:.4g}"
    if row["difference"] is None:
        return [row["learner"], mean, interval, "", "", "", "", row["verdict"]]
    numbers = [f"{row['difference']:+.3g}", f"{row['p_value']:.2g}", f"{row['better']:.3f}", f"{row['equivalent']:.3f}"]
    return [row["learner"], mean, interval, *numbers, row["verdict"]]
