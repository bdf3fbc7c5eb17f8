"""Shared settings: bounded, repeatable Hypothesis runs, floating-point trouble as errors, and the public networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "house", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _floating_point_trouble_is_an_error():
    with np.errstate(all="raise", under="ignore"):
        yield


@pytest.fixture(scope="session", autouse=True)
def _disks_are_not_waited_for():
    """Thousands of files are written and read again; that they are synced first is a test of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def networks_folder() -> Path:
    """The public Bayesian networks, where they are at hand."""
    folder = ROOT.parent / "shared" / "networks"
    if not folder.is_dir():
        pytest.skip("the public networks are not here")
    return folder
