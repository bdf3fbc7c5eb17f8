"""How kernels are compiled and cached."""

from __future__ import annotations

import os

from juncture.kernels import cache_files, compiler, kernel_cache
from support.kernel_package import copy_makers

CALLEE = """
from juncture.kernels.compiler import kernel


@kernel
def inner(x):
    return x + {step}
"""
CALLER = """
from juncture.kernels.callee import inner
from juncture.kernels.compiler import kernel


@kernel
def outer(x):
    return 2 * inner(x)
"""


def test_a_change_in_a_callee_is_seen(tmp_path, processes):
    """Numba's own cache would go on answering with the old callee, compiled into its caller."""
    kernels = copy_makers(tmp_path)
    (kernels / "caller.py").write_text(CALLER)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for step, expected in ((1, "4"), (1, "4"), (2, "6")):
        (kernels / "callee.py").write_text(CALLEE.format(step=step))
        run = processes.run("from juncture.kernels.caller import outer; print(outer(1))", environment)
        assert run.returncode == 0, run.stderr
        assert run.stdout.strip() == expected
        assert run.stderr.count("\n") <= 1  # that kernels are compiled


def test_without_a_cache_kernels_are_compiled_and_one_line_says_so(monkeypatch, caplog):
    monkeypatch.setattr(kernel_cache, "can_write", lambda folder: False)
    kernel_cache.find_folders.cache_clear()
    cache_files.warn_of_missing_cache.cache_clear()
    double, triple = compiler.kernel(lambda x: 2 * x), compiler.kernel(lambda x: 3 * x)
    assert not caplog.records
    assert (double(3), triple(3)) == (6, 9)
    assert ["cannot be kept on disk" in text for text in caplog.messages] == [True]
    cache_files.warn_of_missing_cache.cache_clear()
    kernel_cache.find_folders.cache_clear()
