"""The passes by which Numba turns a kernel into intermediate code.

Kernels are plain loops: they hold no closures, no `with`, nothing that is unrolled or inlined by its types. Numba's own
list looks for all of these, and after each pass finds out anew where each variable lives; here each pass runs once, and
the lives of variables are found where they are needed.
"""

from __future__ import annotations

from typing import Any

from numba.core import compiler, ir, types
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    InlineOverloads,
    IRLegalization,
    NoPythonBackend,
    NopythonRewrites,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)

from juncture.kernels.lowering import KernelLowering

OPERATIONS = {"binop", "inplace_binop", "unary"}


class KernelCompiler(compiler.CompilerBase):
    """Numba's compiler with the passes that kernels need."""

    def define_pipelines(self) -> list[PassManager]:
        return [KernelPasses("kernel")]


class KernelPasses(PassManager):
    """Passes that run one after another, without timers and checks in between."""

    def run(self, state: Any) -> None:
        for one in PASSES:
            one.run_pass(state)


class ArrayExpressions(NopythonRewrites):
    """Join the operations of an expression on whole arrays to one loop, where there is such an expression."""

    def run_pass(self, state: Any) -> bool:
        return has_array_expression(state.func_ir, state.typemap) and super().run_pass(state)


def has_array_expression(func_ir: Any, typemap: dict[str, Any]) -> bool:
    return any(
        isinstance(typemap[one.target.name], types.Array)
        for block in func_ir.blocks.values()
        for one in block.find_insts(ir.Assign)
        if isinstance(one.value, ir.Expr) and one.value.op in OPERATIONS
    )


PASSES: list[Any] = [
    TranslateByteCode(), FixupArgs(), IRProcessing(), GenericRewrites(), ReconstructSSA(),
    NopythonTypeInference(), PreLowerStripPhis(), InlineOverloads(), ArrayExpressions(),
    IRLegalization(), KernelLowering(), NoPythonBackend(),
]  # fmt: skip
