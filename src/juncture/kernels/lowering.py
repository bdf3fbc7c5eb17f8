"""How the statements of a kernel become LLVM's intermediate code: as Numba does it, in half as many instructions.

What is left out is what LLVM would remove, after it was built, printed, read and looked through: copies of whole arrays
for each element that is read, the fields of arrays that hold no reference when references are counted, and the care
for old values of variables that hold no reference at all.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.lowering import Lower
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import NativeLowering
from numba.np.arrayobj import fix_integer_index, load_item, store_item


class KernelLower(Lower):
    """Numba's rules for statements, with shorter code for elements of arrays and for variables that are numbers."""

    def init(self) -> None:
        super().init()
        self.context.nrt = References(self.context, self.context.enable_nrt)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        array, places = signature.args
        if not is_element(array, places):
            return super().lower_getitem(resty, expr, value, index, signature)
        pointer = self.find_element(array, self.loadvar(value.name), places, self._cast_var(index, places))
        found = load_item(self.context, self.builder, array, pointer)
        return self.context.cast(self.builder, found, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        array, places, kind = signature.args
        if not is_element(array, places):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        pointer = self.find_element(array, self.loadvar(target_var.name), places, self._cast_var(index_var, places))
        value = self.context.cast(self.builder, self._cast_var(value_var, kind), kind, array.dtype)
        return store_item(self.context, self.builder, array, value, pointer)

    def find_element(self, array: Any, value: Any, places: Any, place: Any) -> Any:
        """The address of an element; a negative place counts from the end, as in Python."""
        context, builder, model = self.context, self.builder, self.context.data_model_manager[array]
        shape = cgutils.unpack_tuple(builder, model.get(builder, value, "shape"), array.ndim)
        is_tuple = isinstance(places, types.BaseTuple)
        kinds, values = (places.types, cgutils.unpack_tuple(builder, place)) if is_tuple else ([places], [place])
        axes = zip(kinds, values, shape, strict=True)
        indices = [fix_integer_index(context, builder, kind, index, length) for kind, index, length in axes]
        data = model.get(builder, value, "data")
        if array.ndim == 1 and array.layout == "C":
            return builder.gep(data, indices)
        strides = cgutils.unpack_tuple(builder, model.get(builder, value, "strides"), array.ndim)
        return cgutils.get_item_pointer2(context, builder, data, shape, strides, array.layout, indices)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        kind = self.typeof(name)
        if argidx is not None or self.may_hold_reference(kind) or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, kind)
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if self.may_hold_reference(self.typeof(name)):
            super().delvar(name)
        elif name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)

    def may_hold_reference(self, kind: Any) -> bool:
        return holds_reference(self.context.data_model_manager[kind])

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """A place for a variable, without notes for a debugger."""
        return cgutils.alloca_once(self.builder, lltype, name=name)


class References(NRTContext):
    """Counts of references, which looks into those parts of a value only that hold any."""

    def get_meminfos(self, builder: Any, ty: Any, val: Any) -> list[Any]:
        model = self._context.data_model_manager[ty]
        if isinstance(ty, types.Array):
            return [(ty, model.get(builder, val, "meminfo"))]
        return super().get_meminfos(builder, ty, val) if holds_reference(model) else []


def holds_reference(model: Any) -> bool:
    """Whether a value of a kind holds a reference to memory that is counted; kept with the model of the kind."""
    kept = vars(model)
    if "holds_reference" not in kept:
        kept["holds_reference"] = model.contains_nrt_meminfo()
    return bool(kept["holds_reference"])


def is_element(array: Any, places: Any) -> bool:
    """Whether whole numbers name one element of an array."""
    if not isinstance(array, types.Array):
        return False
    of_axes = getattr(places, "types", [places])  # of a tuple those of its members
    return len(of_axes) == array.ndim and all(isinstance(one, types.Integer) for one in of_axes)


class KernelLowering(NativeLowering):
    """The pass that runs `KernelLower`."""

    @property
    def lowering_class(self) -> type[Lower]:
        return KernelLower
