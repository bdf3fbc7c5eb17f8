"""`kernel`: the decorator of the functions of this folder, which run interpreted or compiled (`compilation.py`).

A kernel that is called from Python runs as a whole one way or the other: there are two copies of each function, of
which one sees the interpreted copies of the kernels that it calls, and the other their machine code. Numba is imported
with the first kernel that is compiled. A kernel is plain Python in both: it checks before it divides by zero or takes
the logarithm of zero from `math`, and it does not rely on integers that wrap around, except unsigned ones of NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, update_wrapper
from threading import RLock
from types import CellType, FunctionType
from typing import Any
from weakref import WeakSet

import numpy as np

from juncture.base.compilation import PATH, choose_path, compilation, follow

NUMPY_SPEED = 50  # values that NumPy passes while an interpreted loop passes one


class Kernel:
    """A function of flat arrays and numbers that runs interpreted or compiled."""

    def __init__(self, function: Any, work: tuple[str | int, ...], *, reorders_sums: bool) -> None:
        update_wrapper(self, function)
        self.function, self.reorders_sums = function, reorders_sums
        names = function.__code__.co_varnames
        self.factors = [names.index(name) for name in work if isinstance(name, str)]
        self.passes = math.prod(number for number in work if isinstance(number, int))
        self.work_done = 0  # interpreted, where other kernels ran compiled
        self.run: Callable[..., Any] = self.choose
        KERNELS.add(self)

    def __call__(self, *args: Any) -> Any:
        return self.run(*args)

    def choose(self, *args: Any) -> Any:
        """Run as the mode of the process says, also from now on; with "auto" on the path of the public call."""
        mode = compilation()
        if mode == "auto":
            self.run = self.follow_path
        else:
            self.run = self.compiled if mode == "always" else self.interpret
        return self.run(*args)

    def follow_path(self, *args: Any) -> Any:
        """Run on the path of the public call; a call from outside of one is a public call of its own."""
        path = PATH.get() or choose_path(lambda: self.predict_work(args))
        if path.takes_machine_code(self):
            return self.compiled(*args)
        if path.compiles is None:
            self.work_done += self.predict_work(args)
        return self.interpret(*args)

    def interpret(self, *args: Any) -> Any:
        with np.errstate(all="ignore"):  # as in machine code
            return self.interpreted(*args)

    def outruns_numpy(self, num_values: int) -> bool:
        """Whether to call the kernel for so many values where NumPy would do: only compiled it is faster."""
        return (PATH.get() or choose_path(lambda: num_values // NUMPY_SPEED)).takes_machine_code(self)

    def has_machine_code(self) -> bool:
        """Whether there is machine code of it, in this process or on disk."""
        return self.compiled.is_at_hand()

    def predict_work(self, args: tuple[Any, ...]) -> int:
        """The product of the sizes of the arguments that `work` names, else the sum of all sizes."""
        if not self.factors:
            return sum(size_of(value) for value in args)
        named = (args[position] for position in self.factors)
        sizes = (int(value) if isinstance(value, int | np.integer) else size_of(value) for value in named)
        return self.passes * math.prod(sizes)

    @cached_property
    def interpreted(self) -> Any:
        return rebind(self.function, "interpreted")

    @cached_property
    def compiled(self) -> Any:
        """Machine code to be called from Python, which is loaded or compiled at the first call and kept on disk."""
        from juncture.kernels.machine_code import MachineCode

        with _lock:  # threads that call at once share one
            if "compiled" not in vars(self):
                vars(self)["compiled"] = MachineCode(self.function, rebind, reorders_sums=self.reorders_sums)
            return vars(self)["compiled"]

    @cached_property
    def callee(self) -> Any:
        """Machine code to be called from other machine code, of which it becomes part."""
        from juncture.kernels.machine_code import make_dispatcher

        return make_dispatcher(rebind(self.function), None, reorders_sums=self.reorders_sums)


KERNELS: WeakSet[Kernel] = WeakSet()


@follow
def choose_again() -> None:
    for one in KERNELS:
        one.run = one.choose


def kernel(function: Any = None, *, work: tuple[str | int, ...] = ()) -> Any:
    """A kernel, whose work is the sum of the sizes of its arguments, or the product of those that `work` names.

    In the product a whole number counts by its value; a number in `work` says how often the elements are passed.
    Machine code runs without the interpreter's lock and is kept on disk. Division by zero gives inf or NaN as in NumPy.
    A variable that is handed to another kernel starts as `np.int64(0)`, not `0`: for a literal Numba would compile that
    kernel once more.
    """
    if function is None:
        return lambda decorated: kernel(decorated, work=work)
    return Kernel(function, work, reorders_sums=False)


def summing_kernel(function: Any = None, *, work: tuple[str | int, ...] = ()) -> Any:
    """A kernel whose sums may be reordered, so that the compiler adds several terms at once."""
    if function is None:
        return lambda decorated: summing_kernel(decorated, work=work)
    return Kernel(function, work, reorders_sums=True)


def size_of(value: Any) -> int:
    """The number of elements of an array or of the arrays of a tuple; 1 for a number."""
    if isinstance(value, np.ndarray):
        return value.size
    return sum(size_of(one) for one in value) if isinstance(value, tuple) else 1


def rebind(function: Any, way: str = "callee") -> Any:
    """The same function, which sees each kernel as its attribute `way`."""
    names = names_seen(function.__globals__, way)
    cells = tuple(CellType(seen(cell.cell_contents, way)) for cell in function.__closure__ or ())
    copied = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells or None)
    copied.__qualname__, copied.__module__, copied.__doc__ = (
        function.__qualname__,
        function.__module__,
        function.__doc__,
    )
    return copied


def seen(value: Any, way: str) -> Any:
    return getattr(value, way) if isinstance(value, Kernel) else value


def names_seen(names: dict[str, Any], way: str) -> dict[str, Any]:
    """The global names of a module, with the attribute `way` of each kernel in its place."""
    with _lock:
        key = id(names), way
        if key not in _names:
            _names[key] = dict(names)  # before it is filled: kernels of one module see each other
            _names[key].update({name: seen(value, way) for name, value in names.items()})
        return _names[key]


_lock = RLock()
_names: dict[tuple[int, str], dict[str, Any]] = {}
