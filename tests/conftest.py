"""Shared settings: the profiles of Hypothesis, floating-point trouble as errors, and the public networks.

Random examples are few in `make test`, which gives a seed, and many and fresh in `make fuzz`. A
failure prints its example and a decorator that repeats it; `--hypothesis-seed=N` repeats a whole run.
"""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "test",
    max_examples=15,
    deadline=None,
    derandomize=False,
    print_blob=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a failure is repeated by its blob, not made smaller
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("fuzz", settings.get_profile("test"), max_examples=500, phases=tuple(Phase))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))

os.environ.setdefault("JUNCTURE_COMPILATION", "always")  # "never" tests the same kernels interpreted

ROOT = Path(__file__).resolve().parents[1]
IN_MEMORY = Path("/dev/shm")  # noqa: S108  where thousands of small files cost a third less than on a disk

if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > 2**31:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))  # of `tmp_path`, also of xdist's workers

gc.disable()  # until the tests are collected: modules and tests stay, and looking through them takes seconds


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Modules of the package are read for their examples: those that have some, a quarter."""
    is_source = collection_path.suffix == ".py" and collection_path.is_relative_to(ROOT / "src")
    return True if is_source and b">>> " not in collection_path.read_bytes() else None


def pytest_collection_finish() -> None:
    """Look for garbage among what the tests make, not among the tests, and not as often as Python does."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


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
