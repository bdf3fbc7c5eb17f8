"""The processes in which kernels are compiled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.kernel_processes import KernelProcesses, open_processes


@pytest.fixture(scope="session")
def processes() -> Iterator[KernelProcesses]:
    with open_processes() as opened:
        yield opened
