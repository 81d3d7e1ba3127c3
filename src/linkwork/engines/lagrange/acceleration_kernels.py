"""Compiled accelerations: Cholesky's method along the tree, or generated code."""

from __future__ import annotations

from linkwork.dynamics.branch_kernels import factorise, solve
from linkwork.dynamics.kernels import body_wrench, fill_masses, move_bodies
from linkwork.engines.lagrange.force_kernels import (
    COMPLY,
    contact_force,
    joint_efforts,
    push,
    touch,
)
from linkwork.engines.lagrange.generated_kernels import FORWARD, MASS, call_forward, call_mass
from linkwork.jit import kernel
from linkwork.kinematics.kernels import count_dofs


@kernel
def accelerate(robot, ground, law, q, v, rotor, work, desk, a, b):
    """Fills accelerations ``a`` of joints and ``b`` of compliant rotors; false if M is singular.

    By generated code where there is some: then bodies are placed only if something pushes them.
    """
    tree, order, inert, armature, gravity, dofs, qaddr, above, wrench, _, code = robot
    laws, damping, friction, drive, rotors = law
    pose, motion, twist, rate, force, scratch = work
    composite, mass, effort, pull, _, _ = desk
    index = tree[0]
    generated = code[FORWARD] != 0
    a[:] = 0.0
    joint_efforts(dofs, qaddr, laws, damping, friction, drive, q, v, rotor, effort, pull)
    if not generated or ground[0].shape[0] or _pulled(order, wrench):
        move_bodies(tree, order, gravity, q, v, a, pose, motion, twist, rate, scratch)
        for n in range(order.shape[0]):
            if generated:
                force[order[n], :] = 0.0
            else:
                body_wrench(inert, pose, twist, rate, order[n], force)
        _outer_forces(robot, ground, work, desk)
        _resist(index, order, motion, force, effort)
    if generated:
        call_forward(code[FORWARD], q, v, effort, a)
    else:
        for n in range(dofs.shape[0]):
            a[dofs[n]] = effort[dofs[n]]
        fill_masses(index, order, inert, armature, pose, motion, force[0], composite, mass)
        if not factorise(mass, above, dofs):
            return False
        solve(mass, above, dofs, a)
    for n in range(dofs.shape[0]):
        i = dofs[n]
        b[i] = pull[i] / rotors[i] if laws[i, COMPLY] > 0.0 else 0.0
    return True


@kernel
def _pulled(order, wrench):
    """Whether a hand pulls at any body."""
    for n in range(order.shape[0]):
        c = order[n]
        if wrench[c, 0] != 0.0 or wrench[c, 1] != 0.0 or wrench[c, 2] != 0.0:
            return True
    return False


@kernel
def _outer_forces(robot, ground, work, desk):
    """Takes what the ground and hands do from the forces that move bodies."""
    order, wrench, com = robot[1], robot[8], robot[9]
    points, planes, rub, grip, firm = ground
    pose, _, twist, _, force, _ = work
    at, made = desk[4], desk[5]
    for n in range(points.shape[0]):
        number = touch(points[n], planes, pose, twist, at)
        if number >= 0:
            contact_force(points[n], planes, number, grip[n], firm[0], firm[1],
                          rub[n, number], at, made)  # fmt: skip
            push(force, int(points[n, 0]), at[0], at[1], at[2], made[0], made[1], made[2])
    for n in range(order.shape[0]):
        c = order[n]
        if wrench[c, 0] != 0.0 or wrench[c, 1] != 0.0 or wrench[c, 2] != 0.0:
            _pull(force, pose, com, wrench, c)


@kernel
def _resist(index, order, motion, force, effort):
    """Takes from the efforts what the forces on bodies ask of each joint, outermost first."""
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
def weigh(robot, ground, q, v, work, desk):
    """Places bodies that may touch and factorises M by generated code, for :func:`fastest`."""
    tree, order, gravity, dofs, above, code = (
        robot[0], robot[1], robot[4], robot[5], robot[7], robot[10],
    )  # fmt: skip
    pose, motion, twist, rate, _, scratch = work
    if ground[0].shape[0]:
        desk[2][:] = 0.0
        move_bodies(tree, order, gravity, q, v, desk[2], pose, motion, twist, rate, scratch)
    call_mass(code[MASS], q, desk[1])
    return factorise(desk[1], above, dofs)


@kernel
def _pull(force, pose, com, wrench, c):
    """A hand's force and moment at the centre of mass."""
    w, x, y, z = pose[c, 3], pose[c, 4], pose[c, 5], pose[c, 6]
    rx, ry, rz = com[c, 0], com[c, 1], com[c, 2]
    tx, ty, tz = 2.0 * (y * rz - z * ry), 2.0 * (z * rx - x * rz), 2.0 * (x * ry - y * rx)
    rx += pose[c, 0] + w * tx + y * tz - z * ty
    ry += pose[c, 1] + w * ty + z * tx - x * tz
    rz += pose[c, 2] + w * tz + x * ty - y * tx
    push(force, c, rx, ry, rz, wrench[c, 0], wrench[c, 1], wrench[c, 2])
    for m in range(3, 6):
        force[c, m] -= wrench[c, m]
