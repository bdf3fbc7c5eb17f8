"""The 90 % intervals of every sampler hold the truth as often as they say, on seeds that nothing else uses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from support.samplers import CELLS, QUICK_SAMPLERS, SAMPLERS, measure_coverage

pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
REPETITIONS, QUICK = 400, 10
FIRST = 25  # of the seeds of the long test
LEVEL = 0.001  # over the number of cells
POOLED = (0.885, 0.915)
MOST_FLAGGED = 0.05  # the share of repetitions that say they did not converge


def p_value(hits: np.ndarray) -> float:
    return float(binomtest(int(hits.sum()), len(hits), 0.9).pvalue)


@pytest.mark.parametrize("sampler", QUICK_SAMPLERS)
def test_error_bars_are_not_far_off(sampler):
    """A few repetitions on one model: bars that are half as wide, or twice, are seen."""
    model = SAMPLERS[sampler].models[-1]
    coverage = measure_coverage(sampler, model, QUICK)
    assert coverage.converged.mean() > 0.7
    assert 0.75 < coverage.hits[coverage.converged].mean() < 0.99, coverage.hits.mean(axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_intervals_cover_the_truth(sampler):
    """S3-038, for every sampler."""
    found = {model: measure_coverage(sampler, model, REPETITIONS, FIRST) for model in SAMPLERS[sampler].models}
    shares = {model: round(float(one.hits[one.converged].mean()), 4) for model, one in found.items()}
    for model, one in found.items():
        assert p_value(one.single_hits) > LEVEL / len(CELLS), f"{model}: {one.single_hits.mean():.3f} of {shares}"
    flagged = {model: float(1 - one.converged.mean()) for model, one in found.items()}
    assert np.mean(list(flagged.values())) <= MOST_FLAGGED, flagged
    pooled = np.mean([one.hits[one.converged].mean() for one in found.values()])
    assert POOLED[0] <= pooled <= POOLED[1], f"{pooled:.4f} of {shares}"
