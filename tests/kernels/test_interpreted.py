"""Every kernel gives the same interpreted and compiled, and all of the library works where Numba is missing."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import juncture as jt
from juncture import kernels
from juncture.base import compilation
from juncture.cli.warmup import SUBJECTS
from juncture.kernels.compiler import KERNELS, Kernel, kernel

SOURCES = Path(jt.__file__).parent
LAST_BITS = 1e-12
SHORT = 64
LONG = (  # steps from which on a sequence is passed from both ends
    "juncture.cli.warmup.LONG_SEQUENCE",
    "juncture.sequences.hidden_markov.forward_backward.LONG",
)


def copied(value):
    """The value with its own memory, laid out as before."""
    if isinstance(value, np.ndarray):
        copy = value.copy(order="K")
        copy.flags.writeable = value.flags.writeable  # which is part of the signature that was compiled
        return copy
    if isinstance(value, tuple):
        parts = [copied(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def assert_same(one, other, name):
    if isinstance(one, tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs, name)
    elif one is None:
        assert other is None
    elif np.asarray(one).dtype.kind == "f":
        np.testing.assert_allclose(one, other, rtol=LAST_BITS, atol=LAST_BITS, err_msg=name)
    else:
        np.testing.assert_array_equal(one, other, err_msg=name)


@pytest.fixture
def compared(monkeypatch):
    """Every call from Python runs both ways, on copies; the names of the kernels that were called."""
    called = set()

    def call_both(self, *args):
        first, second = copied(args), copied(args)
        with np.errstate(all="ignore"):
            found = self.interpreted(*first)
        assert_same((found, *first), (self.compiled(*second), *second), self.__name__)
        called.add(f"{self.__module__.removeprefix('juncture.kernels.')}.{self.__name__}")
        return self.compiled(*args)

    monkeypatch.setattr(Kernel, "__call__", call_both)
    for name in LONG:
        monkeypatch.setattr(name, SHORT)
    return called


def imported_kernels() -> set[str]:
    """The kernels that modules outside the folder import, and hence call."""
    wanted = set()
    for module in pkgutil.walk_packages(kernels.__path__, "juncture.kernels."):
        importlib.import_module(module.name)
    names = {f"{one.__module__.removeprefix('juncture.kernels.')}.{one.__name__}" for one in KERNELS}
    for path in SOURCES.rglob("*.py"):
        if "kernels" not in path.relative_to(SOURCES).parts:
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if "juncture.kernels." in text else ():
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("juncture.kernels."):
                    wanted |= {f"{node.module.removeprefix('juncture.kernels.')}.{name.name}" for name in node.names}
    return wanted & names


def test_every_kernel_gives_the_same_interpreted_and_compiled(compared):
    """The calls are those by which `juncture warmup` compiles, which reach every kernel."""
    for ask in SUBJECTS.values():
        ask()
    assert imported_kernels() - compared == set()


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
import warnings
warnings.simplefilter("error")
from juncture.cli import warmup
warmup.LONG_SEQUENCE = 64
for ask in warmup.SUBJECTS.values():
    ask()
import juncture as jt
try:
    jt.set_compilation("always")
except jt.JunctureError as error:
    print(error)
"""


def test_everything_works_without_numba():
    """Also `set_compilation`, which says what is missing."""
    environment, command = {"PYTHONPATH": str(SOURCES.parent)}, [sys.executable, "-c", WITHOUT_NUMBA]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "compiled kernels need Numba, which is not installed; run: pip install numba\n"


FIRST = """
import sys
import numpy as np
import juncture as jt
print(jt.infer(jt.example("asia"), {"xray": "yes"})["lung"].values[0])
chain = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]])
print(jt.infer(chain, np.arange(100) % 2).log_evidence, jt.most_probable(chain, np.arange(100) % 2))
walk = jt.LinearGaussianStateSpace(1.0, 1.0, 1.0, 1.0, 0.0, 1.0)
print(jt.infer(walk, np.arange(100.0)).log_evidence)
print("numba" in sys.modules)
"""


def test_first_answers_do_not_import_numba():
    environment = {"PYTHONPATH": str(SOURCES.parent), "JUNCTURE_COMPILATION": "auto"}
    run = [sys.executable, "-c", FIRST]
    assert subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout.endswith("False\n")


@pytest.mark.parametrize("mode", ["sometimes", 1, True])
def test_another_mode_is_refused(mode):
    with pytest.raises(jt.errors.InvalidData, match="the compilation is one of auto, always, never; got"):
        jt.set_compilation(mode)


def test_the_setting_of_the_environment_is_checked(monkeypatch):
    monkeypatch.setenv(compilation.COMPILATION_SETTING, "fast")
    with pytest.raises(jt.errors.InvalidData, match="JUNCTURE_COMPILATION is one of auto, always, never; got 'fast'"):
        compilation.compilation()


def test_work_is_the_product_of_sizes_and_of_the_number_of_passes():
    @kernel(work=("values", "count", 5))
    def add_often(values, count, other):
        return values.sum() * count + other

    assert add_often.predict_work((np.zeros(3), 4, 100)) == 3 * 4 * 5
