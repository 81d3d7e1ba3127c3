"""What acts along the free rows of joints: drives, springs, dampers, friction, rotors, limits.

All of it is one law for the impulse p along a row, straight in the way d that its coordinate goes
in the step: p = α − β d, piece by piece. Which piece holds (a drive at its limit, friction that
slips, a stop that is touched) is found while the step is solved. A fraction ``W`` of the impulse
acts at the start of the step, the rest at its end: half for what is slow (the midpoint rule, of
second order), all of it for what is stiff (which then comes to rest instead of ringing).

Speeds at the end of a step would lack what the stiff gives at the start of the next, while half of
the weight has acted. So W − 1/2 of a step's impulse is lent to its end, and taken back at the next
start: places are as before, and what is held still has no speed. The stiffer a row, the nearer its
speed is drawn to that of the step's way, d / h, which does not ring either.

Columns of a soft row's numbers:
    LO, HI, BOUNCE stops and their restitution; STIFF, REST, DAMP, RUB, ROTOR of the joint
    Q0, V0 where it was and how fast; WAY where it is after the look-ahead, less Q0
    W, ALPHA, BETA the law; TARGET where a hard row must go
    DRIVE, SLIP, STOP the piece that holds: -1, 0 or 1
    IMPACT the speed with which it came to a stop within this step
    RATE the speed at which a hard row must go
    LENT the force of which the next start takes back what was lent; SHARE and GIVEN of an end's
    impulse, the part of it that is lent, and its sum; MEAN of LENT over the pieces of a step
"""

from __future__ import annotations

import math

from linkwork.jit import flat_kernel

LO, HI, BOUNCE, STIFF, REST, DAMP, RUB, ROTOR = 0, 1, 2, 3, 4, 5, 6, 7
Q0, V0, WAY, W, ALPHA, BETA, TARGET = 8, 9, 10, 11, 12, 13, 14
DRIVE, SLIP, STOP, IMPACT, RATE = 15, 16, 17, 18, 19
LENT, SHARE, GIVEN, MEAN = 20, 21, 22, 23
ROW_COLUMNS = 24
#: Integers of a soft row: joint, its row, degree of freedom, coordinate, and what holds it.
JOINT, ROW, DOF, COORDINATE, KEEPS = 0, 1, 2, 3, 4
ROW_INTEGERS = 5
#: What holds a row: the law alone, or a target that it must reach.
LAW, PRESCRIBED = 0, 1
#: On the diagonal of K it switches a row off.
NEVER = 1e200
#: Speed below which friction holds [rad/s or m/s].
_CREEP = 1e-7
#: How stiff a row is at most when speeds are found: several on one way never contradict each other.
_STIFFEST = 0.998


@flat_kernel
def begin(row, drive, q, v, h, mobility):
    """Takes over where a row starts, and how much of its impulse acts at once.

    A hard row is told its speed, since the time ``h`` may be a piece of a step only.
    """
    row[Q0], row[V0], row[WAY], row[IMPACT] = q, v, 0.0, 0.0
    row[TARGET] = q + h * row[RATE]
    kp, kd = row[STIFF], row[DAMP]
    if row[DRIVE] == 0.0:
        kp, kd = kp + drive[1], kd + drive[2]
    stiff = h * (h * kp + kd) * mobility
    row[W] = 0.5 + 0.5 * min(max((stiff - 0.1) / 0.9, 0.0), 1.0)


@flat_kernel
def law(row, drive, h):
    """Fills in α and β of the piece that holds: the impulse at the start of the step."""
    w = row[W]
    alpha = row[ROTOR] * row[V0] + h * w * row[STIFF] * (row[REST] - row[Q0])
    beta = row[ROTOR] / h + w * (h * w * row[STIFF] + row[DAMP])
    if row[DRIVE] > 0.0:
        alpha += h * w * drive[4]
    elif row[DRIVE] < 0.0:
        alpha += h * w * drive[3]
    else:
        alpha += h * w * (drive[0] - drive[1] * row[Q0])
        beta += w * (h * w * drive[1] + drive[2])
    if row[RUB] > 0.0:
        if row[SLIP] == 0.0:
            beta += w * row[RUB] / _CREEP
        else:
            alpha -= row[SLIP] * h * w * row[RUB]
    row[ALPHA], row[BETA] = alpha - h * (w - 0.5) * row[LENT], beta


@flat_kernel
def turn_ball(row, turn, way, h):
    """Takes over how a ball has turned about an axis of its body, and its rotation vector there.

    Dampers feel the way, which is no change of that vector: springs feel the vector half way.
    TARGET has where it was.
    """
    begin = row[TARGET] + row[W] * (turn - row[TARGET] - way)
    row[ALPHA] -= h * row[W] * row[STIFF] * (begin - row[Q0])
    row[Q0], row[WAY] = begin, way


@flat_kernel
def compliance(row, keeps):
    """What the row adds to its errors per impulse; ``NEVER`` if nothing acts, 0 if it is hard."""
    if keeps == PRESCRIBED or row[STOP] != 0.0:
        return 0.0
    return 1.0 / row[BETA] if row[BETA] > 0.0 else NEVER


@flat_kernel
def error(row, keeps, impulse):
    """By how much the row misses its law or its target after the look-ahead."""
    if keeps == PRESCRIBED:
        return row[WAY] + row[Q0] - row[TARGET]
    if row[STOP] != 0.0:
        return row[WAY] + row[Q0] - (row[HI] if row[STOP] > 0.0 else row[LO])
    if row[BETA] > 0.0:
        return row[WAY] + (impulse - row[ALPHA]) / row[BETA]
    return 0.0


@flat_kernel
def beyond(row, keeps):
    """How far the row is beyond a stop, or from its target, after the look-ahead."""
    place = row[Q0] + row[WAY]
    if keeps == PRESCRIBED:
        return abs(place - row[TARGET])
    return max(place - row[HI], row[LO] - place, 0.0)


@flat_kernel
def constant(row, keeps):
    """The impulse of a row that does not depend on where it goes."""
    if keeps == PRESCRIBED or row[STOP] != 0.0 or row[BETA] > 0.0:
        return 0.0
    return row[ALPHA]


@flat_kernel
def sticks(row, keeps):
    """Whether friction holds the row."""
    return keeps == LAW and row[RUB] > 0.0 and row[SLIP] == 0.0 and row[STOP] == 0.0


@flat_kernel
def creep(h):
    """How exactly a row must be known that friction holds: a tenth of what it creeps in a step."""
    return max(0.1 * _CREEP * h, 1e-12)


@flat_kernel
def _arrival(row, way, h):
    """Speed at the stop ``way`` ahead, of a row that goes on evenly beyond it: v² = v₀² + 2 a s.

    A row that would be back within a step or two comes to rest: its speed does not count.
    """
    change = 2.0 * (row[WAY] / h - row[V0]) / h
    speed = math.sqrt(max(row[V0] * row[V0] + 2.0 * change * way, 0.0))
    return speed if row[BOUNCE] * speed > abs(change) * h else 0.0


@flat_kernel
def settle(row, keeps, drive, impulse, h, gap):
    """Chooses the pieces anew that fit where the row has gone; true if all held.

    Ways below ``gap`` are not seen: they would let friction stick and slip by turns.
    """
    if keeps == PRESCRIBED:
        return True
    held = True
    w, way = row[W], row[WAY]
    push = drive[0] - drive[1] * (row[Q0] + w * way) - drive[2] * way / h
    side = 1.0 if push > drive[4] else (-1.0 if push < drive[3] else 0.0)
    if side != row[DRIVE]:
        row[DRIVE] = side if row[DRIVE] == 0.0 else 0.0
        held = False
    if row[RUB] > 0.0:
        if row[SLIP] == 0.0:
            if abs(way) > _CREEP * h + 2.0 * creep(h):
                row[SLIP] = 1.0 if way > 0.0 else -1.0
                held = False
        elif way * row[SLIP] < -gap:
            row[SLIP] = 0.0
            held = False
    place = row[Q0] + way
    if row[STOP] == 0.0:
        if place > row[HI] + 1e-13:
            row[STOP] = 1.0
            row[IMPACT] = _arrival(row, row[HI] - row[Q0], h)
            held = False
        elif place < row[LO] - 1e-13:
            row[STOP] = -1.0
            row[IMPACT] = -_arrival(row, row[LO] - row[Q0], h)
            held = False
    else:  # it would pull, and by more than friction holds at the stop
        pull = (impulse - row[ALPHA] + row[BETA] * way) * row[STOP]
        rubs = row[RUB] > 0.0 and row[SLIP] == 0.0
        if pull > (w * h * row[RUB] if rubs else 0.0):
            if rubs:
                row[SLIP] = -row[STOP]
            row[STOP] = 0.0
            held = False
    return held


@flat_kernel
def rest_of(row, keeps, drive, h):
    """The part of the impulse that acts at the end of the step: half; the stiff lends of it."""
    row[LENT] = row[GIVEN] = 0.0
    if keeps == PRESCRIBED:
        return 0.0
    w, way = row[W], row[WAY]
    place, speed = row[Q0] + w * way, way / h
    force = row[STIFF] * (row[REST] - place) - row[DAMP] * speed
    push = drive[0] - drive[1] * place - drive[2] * speed
    force += min(max(push, drive[3]), drive[4])
    if row[RUB] > 0.0:
        force -= row[RUB] * min(max(speed / _CREEP, -1.0), 1.0)
    if row[STOP] != 0.0:
        return (1.0 - w) * h * force
    row[LENT] = force
    return 0.5 * h * force


@flat_kernel
def end_compliance(row, keeps, mobility):
    """As :func:`compliance`, for the speeds at the end of the step.

    A rotor is as hard as its inertia; what is stiff the harder, the more of it acts at starts.
    """
    row[SHARE] = 0.0
    if keeps == PRESCRIBED or row[STOP] != 0.0:
        return 0.0
    stiff = min(2.0 * row[W] - 1.0, _STIFFEST)
    if stiff <= 0.0:
        return 1.0 / row[ROTOR] if row[ROTOR] > 0.0 else NEVER
    soft = mobility * (1.0 - stiff) / stiff
    row[SHARE] = 1.0 / (1.0 + row[ROTOR] * soft)
    return soft * row[SHARE]


@flat_kernel
def end_speed(row, keeps, h):
    """The speed that the row must have at the end of the step, where it must have one."""
    if keeps == PRESCRIBED:
        return row[RATE]
    if row[STOP] != 0.0:
        back = -row[BOUNCE] * row[IMPACT]
        return min(back, 0.0) if row[STOP] > 0.0 else max(back, 0.0)
    return row[WAY] / h


@flat_kernel
def effort(row, keeps, drive, impulse, q, v, h):
    """What drives, springs and friction put on the degree of freedom at the end of a step."""
    if keeps == PRESCRIBED:
        return impulse / h
    push = min(max(drive[0] - drive[1] * q - drive[2] * v, drive[3]), drive[4])
    force = row[STIFF] * (row[REST] - q) - row[DAMP] * v + push
    if row[RUB] > 0.0:
        force -= row[RUB] * min(max(row[WAY] / (h * _CREEP), -1.0), 1.0)
    return force
