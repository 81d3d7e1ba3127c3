"""Compiled accelerations: Cholesky factorization along the tree, or calls of generated C code."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from linkwork.core.jit import kernel
from linkwork.dynamics.kernels import body_motions, body_wrench, fill_masses
from linkwork.dynamics.tree_cholesky_kernels import factor_tree, solve_tree
from linkwork.engines.lagrange.force_kernels import (
    COMPLIANCE,
    contact_force,
    find_contact,
    joint_efforts,
    subtract_force,
)
from linkwork.kinematics.kernels import count_dofs

#: Indices of the addresses of the generated functions; 0 if recursive kernels are used.
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
    """Computes accelerations ``a`` by the generated forward dynamics."""
    _call(address, (q, v, effort, a))


@kernel
def call_mass(address, q, mass):
    """Computes the mass matrix by generated code."""
    _call(address, (q, mass))


@kernel
def accelerate(robot, ground, law, q, v, rotor, work, workspace, a, b):
    """Computes accelerations ``a`` of joints and ``b`` of compliant rotors; false if M is singular.

    With generated code, poses are computed only if external forces act.
    """
    tree, order, inertia, armature, gravity, dofs, qaddr, parent_dof, wrench, _, code = robot
    composite, mass, effort, pull, _, _ = workspace
    laws, damping, friction, drive, rotors = law
    pose, motion, twist, rate, force, scratch = work
    index, _, _ = tree
    generated = code[FORWARD] != 0
    a[:] = 0.0
    joint_efforts(dofs, qaddr, laws, damping, friction, drive, q, v, rotor, effort, pull)
    if not generated or ground[0].shape[0] or _any_grab(order, wrench):
        body_motions(tree, order, gravity, q, v, a, pose, motion, twist, rate, scratch)
        for n in range(order.shape[0]):
            if generated:
                force[order[n], :] = 0.0
            else:
                body_wrench(inertia, pose, twist, rate, order[n], force)
        _external_forces(robot, ground, work, workspace)
        _subtract_body_forces(index, order, motion, force, effort)
    if generated:
        call_forward(code[FORWARD], q, v, effort, a)
    else:
        for n in range(dofs.shape[0]):
            a[dofs[n]] = effort[dofs[n]]
        fill_masses(index, order, inertia, armature, pose, motion, force[0], composite, mass)
        if not factor_tree(mass, parent_dof, dofs):
            return False
        solve_tree(mass, parent_dof, dofs, a)
    for n in range(dofs.shape[0]):
        i = dofs[n]
        b[i] = pull[i] / rotors[i] if laws[i, COMPLIANCE] > 0.0 else 0.0
    return True


@kernel
def _any_grab(order, wrench):
    """Returns whether any body is grabbed."""
    for n in range(order.shape[0]):
        c = order[n]
        if wrench[c, 0] != 0.0 or wrench[c, 1] != 0.0 or wrench[c, 2] != 0.0:
            return True
    return False


@kernel
def _external_forces(robot, ground, work, workspace):
    """Subtracts contact and grab forces from the forces of bodies."""
    _, order, _, _, _, _, _, _, wrench, com, _ = robot
    _, _, _, _, contact, reaction = workspace
    points, planes, friction_coefficient, stick_point, contact_law = ground
    pose, _, twist, _, force, _ = work
    for n in range(points.shape[0]):
        plane_index = find_contact(points[n], planes, pose, twist, contact)
        if plane_index >= 0:
            contact_force(
                points[n], planes, plane_index, stick_point[n], contact_law[0], contact_law[1],
                friction_coefficient[n, plane_index], contact, reaction,
            )  # fmt: skip
            subtract_force(
                force, int(points[n, 0]), contact[0], contact[1], contact[2], reaction[0],
                reaction[1], reaction[2],
            )  # fmt: skip
    for n in range(order.shape[0]):
        c = order[n]
        if wrench[c, 0] != 0.0 or wrench[c, 1] != 0.0 or wrench[c, 2] != 0.0:
            _apply_grab(force, pose, com, wrench, c)


@kernel
def _subtract_body_forces(index, order, motion, force, effort):
    """Subtracts the generalized forces of bodies from the efforts, from the leaves to the root."""
    for n in range(order.shape[0] - 1, -1, -1):
        c = order[n]
        p, i = index[c, 0], index[c, 3]
        for k in range(count_dofs(index[c, 1])):
            total = effort[i + k]
            for m in range(6):
                total -= motion[i + k, m] * force[c, m]
            effort[i + k] = total
        if p > 0:
            for m in range(6):
                force[p, m] += force[c, m]


@kernel
def factor_masses(robot, ground, q, v, work, workspace):
    """Computes contact poses and factors M by generated code, for :func:`fastest_rate`."""
    tree, order, _, _, gravity, dofs, _, parent_dof, _, _, code = robot
    _, mass, effort, _, _, _ = workspace
    pose, motion, twist, rate, _, scratch = work
    if ground[0].shape[0]:
        effort[:] = 0.0
        body_motions(tree, order, gravity, q, v, effort, pose, motion, twist, rate, scratch)
    call_mass(code[MASS], q, mass)
    return factor_tree(mass, parent_dof, dofs)


@kernel
def _apply_grab(force, pose, com, wrench, c):
    """Subtracts a grab's force and moment at the center of mass."""
    w, x, y, z = pose[c, 3], pose[c, 4], pose[c, 5], pose[c, 6]
    rx, ry, rz = com[c, 0], com[c, 1], com[c, 2]
    tx, ty, tz = 2.0 * (y * rz - z * ry), 2.0 * (z * rx - x * rz), 2.0 * (x * ry - y * rx)
    rx += pose[c, 0] + w * tx + y * tz - z * ty
    ry += pose[c, 1] + w * ty + z * tx - x * tz
    rz += pose[c, 2] + w * tz + x * ty - y * tx
    subtract_force(force, c, rx, ry, rz, wrench[c, 0], wrench[c, 1], wrench[c, 2])
    for m in range(3, 6):
        force[c, m] -= wrench[c, m]
