"""Force laws along the free rows of joints: drives, springs, dampers, friction, limits.

The impulse p along a row is a piecewise linear function of the displacement d of its coordinate in
the step: p = α − β d. The active branch (a drive at its limit, sliding friction, an active limit)
is found while the step is solved. A share ``W`` of the impulse acts at the start of the step, the
rest at its end: half for slow forces (the midpoint rule, of second order), all of it for stiff ones
(which then come to rest instead of ringing).

Velocities at the end of a step lack the impulse that a stiff force applies at the next start, while
half of the weight has acted. So W − 1/2 of a step's impulse is applied early, at its end, and
subtracted at the next start ("carried"): positions are unchanged, and a row that is held has no
velocity. The stiffer a row, the nearer its velocity is to d / h, which does not ring either.

Columns of a soft row:
    LO, HI, RESTITUTION of the limits; STIFFNESS, REST, DAMPING, FRICTION, ROTOR of the joint
    Q0, V0 coordinate and velocity at the start; DISPLACEMENT from Q0 to the look-ahead
    W, ALPHA, BETA the law; TARGET coordinate of a prescribed row
    DRIVE, SLIP, STOP the active branch: −1, 0 or 1
    IMPACT velocity at which a limit was reached within this step
    RATE velocity of a prescribed row
    CARRIED_FORCE force of which the next start subtracts the carried impulse; CARRIED_SHARE the
        share of an end impulse that is carried, CARRIED_IMPULSE its sum; MEAN_CARRIED mean of
        CARRIED_FORCE over the substeps of a step
    MIDPOINT 1 if W is 1/2 however stiff the row is; PROBE √k of a weakly damped spring, 0 of others
    FROM, TO coordinate at the start and end of a step in which energies are limited
"""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel

LO, HI, RESTITUTION, STIFFNESS, REST, DAMPING, FRICTION, ROTOR = 0, 1, 2, 3, 4, 5, 6, 7
Q0, V0, DISPLACEMENT, W, ALPHA, BETA, TARGET = 8, 9, 10, 11, 12, 13, 14
DRIVE, SLIP, STOP, IMPACT, RATE = 15, 16, 17, 18, 19
CARRIED_FORCE, CARRIED_SHARE, CARRIED_IMPULSE, MEAN_CARRIED = 20, 21, 22, 23
MIDPOINT, PROBE, FROM, TO = 24, 25, 26, 27
ROW_COLUMNS = 28
#: Integers of a soft row: joint, its row, degree of freedom, coordinate, mode.
JOINT, ROW, DOF, COORDINATE, ROW_MODE = 0, 1, 2, 3, 4
ROW_INTEGERS = 5
#: Modes of a row: a force law, or a prescribed coordinate.
LAW, PRESCRIBED = 0, 1
#: Compliance that switches a row off.
FREE_COMPLIANCE = 1e200
#: Velocity below which friction sticks [rad/s or m/s].
_STICK_SPEED = 1e-7
#: Upper bound of the stiff share in velocity solves, so that stiff rows in parallel stay
#: consistent.
_MAX_STIFF_SHARE = 0.998


@flat_kernel
def start_row(row, drive, q, v, h, mobility):
    """Sets the initial coordinate and velocity of a row, and its share W.

    A prescribed row has a velocity, not a target, as ``h`` may be a substep.
    """
    row[Q0], row[V0], row[DISPLACEMENT], row[IMPACT] = q, v, 0.0, 0.0
    row[TARGET] = q + h * row[RATE]
    if math.isinf(drive[4] if row[DRIVE] > 0.0 else drive[3]):  # its limit has been lifted
        row[DRIVE] = 0.0
    kp, kd = row[STIFFNESS], row[DAMPING]
    if row[DRIVE] == 0.0:
        kp, kd = kp + drive[1], kd + drive[2]
    stiff = 0.0 if row[MIDPOINT] > 0.0 else h * (h * kp + kd) * mobility
    row[W] = 0.5 + 0.5 * min(max((stiff - 0.1) / 0.9, 0.0), 1.0)


@flat_kernel
def set_law(row, drive, h):
    """Computes α and β of the active branch: the impulse at the start of the step."""
    w = row[W]
    alpha = row[ROTOR] * row[V0] + h * w * row[STIFFNESS] * (row[REST] - row[Q0])
    beta = row[ROTOR] / h + w * (h * w * row[STIFFNESS] + row[DAMPING])
    if row[DRIVE] > 0.0:
        alpha += h * w * drive[4]
    elif row[DRIVE] < 0.0:
        alpha += h * w * drive[3]
    else:
        alpha += h * w * (drive[0] - drive[1] * row[Q0])
        beta += w * (h * w * drive[1] + drive[2])
    if row[FRICTION] > 0.0:
        if row[SLIP] == 0.0:
            beta += w * row[FRICTION] / _STICK_SPEED
        else:
            alpha -= row[SLIP] * h * w * row[FRICTION]
    row[ALPHA], row[BETA] = alpha - h * (w - 0.5) * row[CARRIED_FORCE], beta


@flat_kernel
def set_ball_rotation(row, turn, displacement, h):
    """Sets the rotation of a ball about a body axis, and its rotation vector there.

    Dampers act on the displacement, which is not the change of that vector; springs act on the
    vector at mid-step. TARGET holds its initial value.
    """
    begin = row[TARGET] + row[W] * (turn - row[TARGET] - displacement)
    row[ALPHA] -= h * row[W] * row[STIFFNESS] * (begin - row[Q0])
    row[Q0], row[DISPLACEMENT] = begin, displacement


@flat_kernel
def compliance(row, row_mode):
    """Returns the compliance of a row: ``FREE_COMPLIANCE`` if free, 0 if rigid."""
    if row_mode == PRESCRIBED or row[STOP] != 0.0:
        return 0.0
    return 1.0 / row[BETA] if row[BETA] > 0.0 else FREE_COMPLIANCE


@flat_kernel
def error(row, row_mode, impulse):
    """Returns the error of the row against its law or target after the look-ahead."""
    if row_mode == PRESCRIBED:
        return row[DISPLACEMENT] + row[Q0] - row[TARGET]
    if row[STOP] != 0.0:
        return row[DISPLACEMENT] + row[Q0] - (row[HI] if row[STOP] > 0.0 else row[LO])
    if row[BETA] > 0.0:
        return row[DISPLACEMENT] + (impulse - row[ALPHA]) / row[BETA]
    return 0.0


@flat_kernel
def limit_violation(row, row_mode):
    """Returns the distance beyond a limit, or from the target, after the look-ahead."""
    place = row[Q0] + row[DISPLACEMENT]
    if row_mode == PRESCRIBED:
        return abs(place - row[TARGET])
    return max(place - row[HI], row[LO] - place, 0.0)


@flat_kernel
def constant_impulse(row, row_mode):
    """Returns the impulse of a row that does not depend on the displacement."""
    if row_mode == PRESCRIBED or row[STOP] != 0.0 or row[BETA] > 0.0:
        return 0.0
    return row[ALPHA]


@flat_kernel
def is_sticking(row, row_mode):
    """Returns whether friction holds the row."""
    return row_mode == LAW and row[FRICTION] > 0.0 and row[SLIP] == 0.0 and row[STOP] == 0.0


@flat_kernel
def stick_tolerance(h):
    """Returns the position tolerance of a sticking row: a tenth of its creep in a step."""
    return max(0.1 * _STICK_SPEED * h, 1e-12)


@flat_kernel
def _impact_speed(row, displacement, h):
    """Returns the velocity at a limit, with constant acceleration: v² = v₀² + 2 a s.

    A row that would return within a step or two comes to rest: its velocity is ignored.
    """
    change = 2.0 * (row[DISPLACEMENT] / h - row[V0]) / h
    speed = math.sqrt(max(row[V0] * row[V0] + 2.0 * change * displacement, 0.0))
    return speed if row[RESTITUTION] * speed > abs(change) * h else 0.0


@flat_kernel
def update_law(row, row_mode, drive, impulse, h, gap):
    """Updates the active branches for the displacement; returns whether none changed.

    Displacements below ``gap`` are ignored: otherwise friction would alternate between sticking and
    sliding.
    """
    if row_mode == PRESCRIBED:
        return True
    held = True
    w, displacement = row[W], row[DISPLACEMENT]
    push = drive[0] - drive[1] * (row[Q0] + w * displacement) - drive[2] * displacement / h
    side = 1.0 if push > drive[4] else (-1.0 if push < drive[3] else 0.0)
    if side != row[DRIVE]:
        row[DRIVE] = side if row[DRIVE] == 0.0 else 0.0
        held = False
    if row[FRICTION] > 0.0:
        if row[SLIP] == 0.0:
            if abs(displacement) > _STICK_SPEED * h + 2.0 * stick_tolerance(h):
                row[SLIP] = 1.0 if displacement > 0.0 else -1.0
                held = False
        elif displacement * row[SLIP] < -gap:
            row[SLIP] = 0.0
            held = False
    place = row[Q0] + displacement
    if row[STOP] == 0.0:
        if place > row[HI] + 1e-13:
            row[STOP] = 1.0
            row[IMPACT] = _impact_speed(row, row[HI] - row[Q0], h)
            held = False
        elif place < row[LO] - 1e-13:
            row[STOP] = -1.0
            row[IMPACT] = -_impact_speed(row, row[LO] - row[Q0], h)
            held = False
    else:  # the limit would pull by more than the friction there
        pull = (impulse - row[ALPHA] + row[BETA] * displacement) * row[STOP]
        rubs = row[FRICTION] > 0.0 and row[SLIP] == 0.0
        if pull > (w * h * row[FRICTION] if rubs else 0.0):
            if rubs:
                row[SLIP] = -row[STOP]
            row[STOP] = 0.0
            held = False
    return held


@flat_kernel
def end_impulse(row, row_mode, drive, h):
    """Returns the part of the impulse at the end of the step; stiff rows carry some of it."""
    row[CARRIED_FORCE] = row[CARRIED_IMPULSE] = 0.0
    if row_mode == PRESCRIBED:
        return 0.0
    w, displacement = row[W], row[DISPLACEMENT]
    place, speed = row[Q0] + w * displacement, displacement / h
    force = row[STIFFNESS] * (row[REST] - place) - row[DAMPING] * speed
    push = drive[0] - drive[1] * place - drive[2] * speed
    force += min(max(push, drive[3]), drive[4])
    if row[FRICTION] > 0.0:
        force -= row[FRICTION] * min(max(speed / _STICK_SPEED, -1.0), 1.0)
    if row[STOP] != 0.0:
        return (1.0 - w) * h * force
    row[CARRIED_FORCE] = force
    return 0.5 * h * force


@flat_kernel
def end_compliance(row, row_mode, mobility):
    """Is :func:`compliance` for the velocities at the end of the step.

    A rotor is as stiff as its inertia; a stiff row is the stiffer, the more of it acts at the
    start.
    """
    row[CARRIED_SHARE] = 0.0
    if row_mode == PRESCRIBED or row[STOP] != 0.0:
        return 0.0
    stiff = min(2.0 * row[W] - 1.0, _MAX_STIFF_SHARE)
    if stiff <= 0.0:
        return 1.0 / row[ROTOR] if row[ROTOR] > 0.0 else FREE_COMPLIANCE
    compliance = mobility * (1.0 - stiff) / stiff
    row[CARRIED_SHARE] = 1.0 / (1.0 + row[ROTOR] * compliance)
    return compliance * row[CARRIED_SHARE]


@flat_kernel
def end_speed(row, row_mode, h):
    """Returns the required velocity of the row at the end of the step, if there is one."""
    if row_mode == PRESCRIBED:
        return row[RATE]
    if row[STOP] != 0.0:
        back = -row[RESTITUTION] * row[IMPACT]
        return min(back, 0.0) if row[STOP] > 0.0 else max(back, 0.0)
    return row[DISPLACEMENT] / h


@flat_kernel
def effort(row, row_mode, drive, impulse, q, v, h):
    """Returns the effort of drives, springs and friction at the end of a step."""
    if row_mode == PRESCRIBED:
        return impulse / h
    push = min(max(drive[0] - drive[1] * q - drive[2] * v, drive[3]), drive[4])
    force = row[STIFFNESS] * (row[REST] - q) - row[DAMPING] * v + push
    if row[FRICTION] > 0.0:
        force -= row[FRICTION] * min(max(row[DISPLACEMENT] / (h * _STICK_SPEED), -1.0), 1.0)
    return force
