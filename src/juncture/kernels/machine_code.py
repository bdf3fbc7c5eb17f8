"""Kernels as machine code, by Numba.

Numba keeps the compiled code of each source file on disk, and does not notice when a function that was inlined into
another file changes. Here the cache is stamped with a digest of all sources of the folder, and every cache file carries
a digest of its content (`cache_files.py`). Where no cache can be written (`kernel_cache.py`), or where it is damaged,
kernels are compiled again, and one line in the log says so.
"""

from __future__ import annotations

import hashlib
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numba
from llvmlite.binding import Linkage
from numba.core import compiler, types
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target
from numba.core.sigutils import normalize_signature
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.typing.context import Context

from juncture.kernels.kernel_cache import keep_on_disk
from juncture.kernels.passes import KernelCompiler

make_dispatcher: Any = numba.njit
UNCOMPILED = {"cache_files.py", "kernel_cache.py", "compilation.py", "compiler.py"}  # on which no machine code depends


def compile_for_python(function: Any, *, reorders_sums: bool) -> Any:
    """A dispatcher that Python calls; its code is kept on disk, with that of the kernels that it calls."""
    dispatcher: Any = make_dispatcher(**options(reorders_sums))(function)
    if dispatcher is not function:  # else compilation is switched off in Numba
        dispatcher._compiler._compile_core = partial(compile_entry, dispatcher._compiler)
        keep_on_disk(dispatcher, folder_stamp())
    return dispatcher


def compile_for_kernels(function: Any, *, reorders_sums: bool) -> Any:
    """A dispatcher that only compiled code calls."""
    dispatcher: Any = make_dispatcher(**options(reorders_sums), no_cpython_wrapper=True)(function)
    if dispatcher is not function:
        dispatcher._compiler._compile_core = partial(compile_callee, dispatcher._compiler)
        dispatcher.compile = partial(find_or_compile_callee, dispatcher)
    return dispatcher


def options(reorders_sums: bool) -> dict[str, Any]:
    """What Numba is told of every kernel: no lock of the interpreter, division as in NumPy, no C function."""
    liberties = {"reassoc", "contract"} if reorders_sums else set()
    settings = {"nogil": True, "error_model": "numpy", "fastmath": liberties, "no_cfunc_wrapper": True}
    return {**settings, "pipeline_class": KernelCompiler}


def compile_entry(settings: Any, args: Any, return_type: Any) -> Any:
    """Compile a kernel that Python calls."""
    return compile_with(settings, args, return_type, KernelLibrary, no_compile=False)


def compile_callee(settings: Any, args: Any, return_type: Any) -> Any:
    """Compile a kernel as far as those that call it need it: their machine code will hold its own."""
    result = compile_with(settings, args, return_type, CalleeLibrary, no_compile=True)
    key = object()  # by which callers find it, in place of a function
    settings.targetdescr.target_context.insert_user_function(key, result.fndesc, [result.library])
    return result._replace(entry_point=key)


def compile_with(settings: Any, args: Any, return_type: Any, library: Any, *, no_compile: bool) -> Any:
    """What Numba does for a dispatcher, with settings and a library of our own."""
    flags: Any = KernelFlags()
    settings.targetdescr.options.parse_as_flags(flags, settings.targetoptions)
    flags.no_compile = no_compile
    target = settings.targetdescr.target_context
    code = library(target.codegen(), settings.py_func.__qualname__)
    code.enable_object_caching()
    return compiler.compile_extra(
        call_types(), target, settings.py_func, args, return_type, flags, settings.locals,
        library=code, pipeline_class=settings.pipeline_class,
    )  # fmt: skip


class KernelFlags(compiler.Flags):
    """The settings of a kernel, compared by those that are set, without those of how the kernel itself is called.

    Numba compares them for every call that it finds the types of, by a walk over all settings that there are: a tenth
    of the time that compiling takes. What compares equal shares the compiled functions of NumPy. The hash of all
    settings is the same, whatever their values are.
    """

    __slots__ = ()
    HASH = hash(compiler.Flags())
    OF_CALLS: ClassVar = frozenset({"no_compile", "no_cpython_wrapper", "no_cfunc_wrapper", "release_gil"})

    def __hash__(self) -> int:
        return self.HASH

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TargetConfig):
            return NotImplemented
        names = (self._values.keys() | other._values.keys()) - self.OF_CALLS
        return all(getattr(self, name) == getattr(other, name) for name in names)


class KernelLibrary(JITCodeLibrary):
    """Code of a kernel; functions that are only declared are not optimized one by one, as Numba does."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


class CalleeLibrary(KernelLibrary):
    """Intermediate code that is optimized, and turned into machine code, only as part of a caller."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """The code itself, not a copy: nothing but callers uses it."""
        if self._shared_module is None:
            self._ensure_finalized()
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage == Linkage.external:
                    function.linkage = "linkonce_odr"
            self._shared_module = self._final_module
        return self._shared_module


def find_or_compile_callee(dispatcher: Any, signature: Any) -> Any:
    """What the method `compile` does, without timers and without a cache, for code that Python cannot call."""
    args, return_type = normalize_signature(signature)
    if args not in dispatcher.overloads:
        with dispatcher._compiling_counter:
            result = dispatcher._compiler.compile(args, return_type)
        dispatcher.overloads[tuple(result.signature.args)] = result
    return dispatcher.overloads[args].entry_point


class CallTypes(Context):
    """Numba's rules for the types of calls, which remembers what was found.

    Without this Numba goes, for every addition in a kernel, through all kinds of addition that it knows.
    """

    found: dict[Any, Any]

    def _resolve_user_function_type(self, func: Any, args: Any, kws: Any, literals: Any = None) -> Any:
        function: Any = self._lookup_global(func) or func
        is_of_numba = isinstance(function, types.Function)
        if kws or not is_of_numba:
            return super()._resolve_user_function_type(func, args, kws, literals)
        key = function, tuple(args), ConfigStack.top_or_none()
        if key not in self.found:
            signature = super()._resolve_user_function_type(func, args, kws, literals)
            if signature is None:
                return None
            self.found[key] = signature, function.get_impl_key(signature)
        signature, implementation = self.found[key]
        function._impl_keys[signature.args] = implementation
        return signature


@cache
def call_types() -> CallTypes:
    """The rules of Numba for this machine, shared with its own functions."""
    rules = CallTypes.__new__(CallTypes)
    rules.__dict__.update(cpu_target.typing_context.__dict__)
    rules.found = {}
    return rules


@cache
def folder_stamp() -> str:
    """A digest of every source file of this folder and the folders in it, except those of the cache itself."""
    digest, folder = hashlib.sha256(), Path(__file__).parent
    for path in sorted(path for path in folder.rglob("*.py") if path.name not in UNCOMPILED):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
