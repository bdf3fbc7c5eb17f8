"""How long a search will take, roughly, from the work that it is about to do; and what is quicker.

The constants are seconds of one core of 2020, measured on tables of 5,000 to 340,000 rows and 19 to 37 columns: right
within a factor of about three, which tells seconds from minutes and hours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.learning.structure.data import total_weight
from juncture.learning.structure.holes.completion import has_numbers
from juncture.learning.structure.holes.observed_fit import codes_of
from juncture.learning.structure.holes.ways import count_ways, has_few_ways
from juncture.learning.structure.scores.scores import takes_holes
from juncture.learning.structure.scores.state_counts import MAX_STATES
from juncture.learning.structure.searches.combined import CombinedSearch
from juncture.learning.structure.searches.hill_climbing import HillClimbing
from juncture.learning.structure.searches.structural_em import StructuralEM

LONG = 30.0  # seconds, from which a search is announced
FAMILIES = 30  # that a climb scores, for each pair of columns
COUNTED, PASSED = 1e-10, 1e-9  # seconds to count a row for a family: by bits, and in a pass over the rows
NUM_FITS, NUM_STEPS = 3, 20  # of structural EM, and of EM in each
WAY, ANSWER = 4e-8, 1.5e-7  # seconds for a way to complete a row, and for a column of a row that an engine answers for
HYBRID = 1e-5  # seconds for a row, where real columns are fitted
MANY_ROWS = 10_000  # from which the node-average score finds edges


class Forecast(NamedTuple):
    """About how many seconds a search will take, what it is, and whether the node-average score would serve."""

    seconds: float
    what: str
    node_average_serves: bool

    def text(self, node_average: str) -> str:
        """In words; `node_average` is how that score is asked for."""
        quicker = (
            f"; {node_average} is quicker, and right where values are missing completely at random"
            if self.node_average_serves
            else ""
        )
        return f"{self.what} will take about {in_words(self.seconds)}: Ctrl-C keeps the best graph so far{quicker}"


def forecast(search: Any, data: Any) -> Forecast | None:
    """The forecast of a search that climbs over rows in memory; None for others, and where it will not take long."""
    if not isinstance(data, Dataset) or not isinstance(search, HillClimbing | CombinedSearch | StructuralEM):
        return None
    seconds = predict_climb(data, search)
    is_em = isinstance(search, StructuralEM) and not data.is_complete
    if is_em:
        seconds = 2 * seconds + predict_fits(data)
    if seconds < LONG:
        return None
    name = "structural EM" if is_em else "the search"
    what = f"{name} over {len(data):,} rows and {len(data.columns):,} columns"
    serves = is_em and not has_numbers(data) and total_weight(data) >= MANY_ROWS
    return Forecast(seconds, what, serves)


def predict_climb(data: Dataset, search: Any) -> float:
    """Seconds for the families that climbs score, each of which looks at all rows."""
    is_counted = all(not variable.is_real and variable.num_states <= MAX_STATES for variable in data.variables)
    each = PASSED if not is_counted or takes_holes(search.score) else COUNTED
    climbs = 3 + search.restarts if isinstance(search, CombinedSearch) else 1 + search.restarts
    return FAMILIES * len(data.columns) ** 2 * len(data) * each * climbs


def predict_fits(data: Dataset) -> float:
    """Seconds for the E-steps of structural EM."""
    is_open = np.logical_or.reduce([has_hole(column) for column in data.arrays])
    steps, num_columns = NUM_FITS * NUM_STEPS, len(data.columns)
    if has_numbers(data):
        return steps * int(is_open.sum()) * HYBRID
    codes, sizes = codes_of(data.take(is_open))
    is_few = has_few_ways(codes, sizes)
    few, many = float(count_ways(codes, sizes)[is_few].sum()), int((~is_few).sum())
    return steps * (few * WAY + many * num_columns * ANSWER)


def in_words(seconds: float) -> str:
    """A time in round words.

    >>> in_words(42.0), in_words(400.0), in_words(10_000.0)
    ('40 seconds', '7 minutes', '3 hours')
    """
    if seconds < 90:
        return f"{round(seconds, -1):.0f} seconds"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:,.0f} hours"
