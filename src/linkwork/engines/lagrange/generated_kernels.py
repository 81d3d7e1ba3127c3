"""Calls of generated C functions from compiled code, by their addresses."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from linkwork.jit import kernel

#: Where the addresses of the generated functions stand; 0 while recursive kernels are used.
FORWARD, MASS = 0, 1


def _call_at(typing, address, arrays):
    """Calls ``void f(double *, …)`` at an address with the data of a tuple of float64 arrays."""

    def generate(context, builder, signature, args):
        kinds = signature.args[1].types
        data = [
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(kinds, cgutils.unpack_tuple(builder, args[1]), strict=True)
        ]
        function = ir.FunctionType(ir.VoidType(), [each.type for each in data])
        builder.call(builder.inttoptr(args[0], function.as_pointer()), data)
        return context.get_dummy_value()

    return types.void(types.int64, arrays), generate


_call: Any = intrinsic(_call_at)


@kernel
def call_forward(address, q, v, effort, a):
    """Fills accelerations ``a`` by the generated forward dynamics."""
    _call(address, (q, v, effort, a))


@kernel
def call_mass(address, q, mass):
    """Fills the mass matrix by generated code."""
    _call(address, (q, mass))
