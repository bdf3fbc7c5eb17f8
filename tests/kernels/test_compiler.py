"""How kernels are compiled and cached."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from collections import Counter
from pathlib import Path

import juncture
from juncture import kernels
from juncture.kernels import compiler, machine_code
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


SOURCES = Path(juncture.__file__).parent


def import_all_kernels() -> None:
    for module in pkgutil.walk_packages(kernels.__path__, "juncture.kernels."):
        importlib.import_module(module.name)


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
    monkeypatch.setattr(machine_code, "writable_folder", lambda: None)
    machine_code.warn_of_missing_cache.cache_clear()
    double, triple = compiler.kernel(lambda x: 2 * x), compiler.kernel(lambda x: 3 * x)
    assert not caplog.records
    assert (double(3), triple(3)) == (6, 9)
    assert ["cannot be kept on disk" in text for text in caplog.messages] == [True]
    machine_code.warn_of_missing_cache.cache_clear()


def test_every_kernel_has_files_of_its_own():
    """Two kernels of one name would take each other's machine code."""
    import_all_kernels()
    names = Counter(one.compiled.file for one in compiler.KERNELS if one.__module__.startswith("juncture.kernels."))
    assert None not in names
    assert names.most_common(1)[0][1] == 1


def test_kernels_use_public_names_of_numba_only():
    """`numba.njit`, `numba.typeof`, `numba.config` and what a function of `njit` has; in one module."""
    private = re.compile(r"numba\.(core|np|misc|cpython|extending)|llvmlite|\._[a-z]")
    users = {}
    for path in SOURCES.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if re.search(r"^\s*(import|from) (numba|llvmlite)", text, re.MULTILINE):
            users[path.relative_to(SOURCES).as_posix()] = private.findall(text)
    assert users == {"kernels/machine_code.py": []}


def test_an_option_that_numba_does_not_know_is_left_out(monkeypatch):
    for options, left in (({"no_such_option": True}, {}), (machine_code.OF_SUMS, {"forceinline": True})):
        monkeypatch.setattr(machine_code, "OF_SUMS", dict(options))
        machine_code.leave_out_unknown_options.cache_clear()
        assert call_a_callee() == 4
        assert left == machine_code.OF_SUMS


def call_a_callee():
    callee = compiler.summing_kernel(lambda x: x + 1)
    caller = compiler.kernel(lambda x: 2 * callee(x))
    return caller(1)
