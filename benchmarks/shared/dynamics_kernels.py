"""Compiled loops over many states around Linkwork's recursive dynamics."""

from __future__ import annotations

from linkwork.core.jit import flat_kernel
from linkwork.dynamics import kernels


@flat_kernel
def rnea_many(tree, order, inert, armature, gravity, q, v, a, work, effort):
    """Efforts of each row."""
    for k in range(q.shape[0]):
        kernels.rnea(tree, order, inert, armature, gravity, q[k], v[k], a[k], work, effort[k])


@flat_kernel
def crba_many(tree, order, inert, armature, q, work, composite, mass):
    """The mass matrix of each row."""
    for k in range(q.shape[0]):
        kernels.crba(tree, order, inert, armature, q[k], work, composite, mass[k])


@flat_kernel
def aba_many(tree, order, inert, armature, gravity, q, v, f, work, articulated, hold, a):
    """Accelerations of each row."""
    for k in range(q.shape[0]):
        kernels.aba(
            tree, order, inert, armature, gravity, q[k], v[k], f[k], work, articulated, hold, a[k]
        )
