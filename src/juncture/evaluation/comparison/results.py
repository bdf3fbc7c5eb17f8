"""What tests of differences take and give: paired scores; a statistic, its p-value and an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_array, check_choice, check_number
from juncture.errors import InvalidData

if TYPE_CHECKING:
    import pandas as pd

ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True)
class TestResult:
    """A test of the hypothesis that two learners do not differ.

    Attributes
    ----------
    name
        The test.
    statistic
        Its statistic.
    p_value
        The probability, where there is no difference, of a statistic that speaks at least as much against it.
    difference
        The estimated difference, first learner minus second.
    low, high
        The ends of the confidence interval of the difference; one of them is infinite for a one-sided alternative.
    alternative
        "two-sided", "greater" or "less".
    confidence
        The confidence of the interval.
    """

    __test__ = False  # pytest takes no class of this name for tests

    name: str
    statistic: float
    p_value: float
    difference: float
    low: float
    high: float
    alternative: str = "two-sided"
    confidence: float = 0.95

    def is_significant(self, level: float = 0.05) -> bool:
        """Whether the p-value is at most the level; that it is not proves nothing."""
        return self.p_value <= check_number(level, "the level", above=0, below=1)

    def to_pandas(self) -> pd.Series:
        """The fields as a series."""
        import pandas as pd

        return pd.Series({name: getattr(self, name) for name in self.__dataclass_fields__})


def check_pairs(first: Any, second: Any, least: int = 2) -> np.ndarray:
    """The differences of paired scores, first minus second, in one axis."""
    one, other = (check_array(scores, "the scores") for scores in (first, second))
    if one.shape != other.shape or one.size < least:
        raise InvalidData(
            f"paired scores have the same shape and at least {least} pairs; got {one.shape}, {other.shape}"
        )
    differences = (one - other).reshape(-1)
    if not np.isfinite(differences).all():
        raise InvalidData("a score is missing or infinite; leave the fold or data set out for both learners")
    return differences


def check_test(alternative: Any, confidence: Any) -> float:
    """Check the alternative, and return the confidence."""
    check_choice(alternative, ALTERNATIVES, "alternative")
    return check_number(confidence, "the confidence", above=0, below=1)
