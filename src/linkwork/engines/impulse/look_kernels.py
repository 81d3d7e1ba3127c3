"""The look-ahead: where joints are after the step, and which pieces of laws hold in it."""

from __future__ import annotations

from linkwork.engines.impulse import row_kernels as law
from linkwork.engines.impulse.body_kernels import MASS_INV, fly
from linkwork.engines.impulse.coupling_kernels import coupling_error, turning
from linkwork.engines.impulse.frame_kernels import ball_way, coordinate, stand, turn_vector
from linkwork.engines.impulse.joint_columns import COUPLING, KIND, POINT, SOFT_COUNT, SOFT_FIRST, S
from linkwork.engines.impulse.joint_kernels import errors, point_errors, speeds
from linkwork.engines.impulse.phase_kernels import GAP, WHERE
from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.kernels import BALL, SCREW


@flat_kernel
def begin_rows(mechanism, desk, scratch, soft_whole, soft, drive, h):
    """Where soft rows are and how fast, at the start of a step."""
    bodies, whole, number, rail = mechanism
    j, _y, raw, _blocks, _first, _diagonal, _error, _impulse, _total, _pivot = desk
    frame, ride, _series, six = scratch
    last = -1
    for n in range(soft.shape[0]):
        at, k = soft_whole[n, law.JOINT], soft_whole[n, law.ROW]
        if at != last:
            stand(bodies, whole[at], number[at], rail, False, frame, ride)
            speeds(bodies, whole, j, at, six, 0)
            last = at
        q = coordinate(whole[at], frame, k, soft[n, law.Q0] + soft[n, law.WAY], number[at])
        push_by = drive[:, soft_whole[n, law.DOF]]
        law.begin(soft[n], push_by, q, six[0, k], h, raw[at, k, k])
        law.law(soft[n], push_by, h)


@inner_kernel
def _worst(error, n):
    """The largest error of a joint, which may be no number."""
    worst = 0.0
    for k in range(6):
        size = abs(error[n, k])
        if size > worst or size != size:  # what is no number stays the worst
            worst = size
    return worst


@inner_kernel
def miss(mechanism, desk, scratch, soft_whole, soft, h, gap, n):
    """Fills in the errors of joint ``n`` after the look-ahead; returns the worst.

    Those of rows that stick count for more: at ``gap`` they are as small as friction needs.
    """
    bodies, whole, number, rail = mechanism
    _j, _y, _raw, _blocks, _first, _diagonal, error, impulse, _total, _pivot = desk
    frame, ride, _series, _six = scratch
    if whole[n, POINT] == 2:
        point_errors(bodies, whole, number, n, True, error)
        return _worst(error, n)
    for k in range(6):
        error[n, k] = 0.0
    if whole[n, KIND] == COUPLING:
        error[n, 0] = coupling_error(bodies, whole, number, rail, n, True, h, frame, ride)
        return abs(error[n, 0])
    arc = number[n, S]
    if whole[n, KIND] == SCREW:
        number[n, S] = arc + h * turning(bodies, whole, number, n, 5)
    stand(bodies, whole[n], number[n], rail, True, frame, ride)
    errors(whole[n], number[n], frame, error[n])
    turn = way = 0.0, 0.0, 0.0
    if whole[n, KIND] == BALL and whole[n, SOFT_COUNT]:
        turn = turn_vector(frame)
        way = ball_way(bodies, whole[n], number[n], rail, frame, ride)
    for m in range(whole[n, SOFT_FIRST], whole[n, SOFT_FIRST] + whole[n, SOFT_COUNT]):
        k, keeps = soft_whole[m, law.ROW], soft_whole[m, law.KEEPS]
        if whole[n, KIND] == BALL:
            law.turn_ball(soft[m], turn[k - 3], way[k - 3], h)
        else:
            q = soft[m, law.Q0]
            if h * max(abs(soft[m, law.V0]), abs(soft[m, law.RATE])) > 1.0:  # it may turn round
                q += h * turning(bodies, whole, number, n, k)
            q = coordinate(whole[n], frame, k, q, number[n])
            soft[m, law.WAY] = q - soft[m, law.Q0]
        error[n, k] = law.error(soft[m], keeps, impulse[n, k])
    number[n, S] = arc
    worst = _worst(error, n)
    for m in range(whole[n, SOFT_FIRST], whole[n, SOFT_FIRST] + whole[n, SOFT_COUNT]):
        if law.sticks(soft[m], soft_whole[m, law.KEEPS]):
            worst = max(worst, abs(error[n, soft_whole[m, law.ROW]]) * gap / law.creep(h))
    return worst


@inner_kernel
def look(mechanism, desk, scratch, soft_whole, soft, h, gap, account):
    """Errors of all rows after a flight of ``h``; returns the worst."""
    bodies, whole = mechanism[0], mechanism[1]
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            fly(bodies[n], h, scratch[2])
    worst, at = 0.0, 0
    for n in range(whole.shape[0]):
        size = miss(mechanism, desk, scratch, soft_whole, soft, h, gap, n)
        if size > worst or size != size:
            worst, at = size, n
    account[GAP], account[WHERE] = worst, at
    return worst


@flat_kernel
def tell_stops(soft_whole, soft, account):
    """Tells how far joints are beyond a stop or from where they must be, if that is more."""
    for n in range(soft.shape[0]):
        size = law.beyond(soft[n], soft_whole[n, law.KEEPS])
        if size > account[GAP]:
            account[GAP], account[WHERE] = size, soft_whole[n, law.JOINT]


@flat_kernel
def settle(soft_whole, soft, drive, impulse, h, gap, single):
    """Chooses pieces of laws anew that do not hold; returns the joint of the last, or -1.

    All of them, or a ``single`` one: of rows that act on each other, all at once may be wrong by
    turns without end, one after the other in a fixed order (Murty's rule) is not.
    """
    changed = -1
    for n in range(soft.shape[0]):
        at, k, keeps = soft_whole[n, law.JOINT], soft_whole[n, law.ROW], soft_whole[n, law.KEEPS]
        push_by = drive[:, soft_whole[n, law.DOF]]
        if not law.settle(soft[n], keeps, push_by, impulse[at, k], h, gap):
            law.law(soft[n], push_by, h)
            changed = at
            if single:
                break
    return changed


@inner_kernel
def give_constant(soft_whole, soft, impulse):
    """Rows whose impulse does not depend on where they go have it set."""
    for n in range(soft.shape[0]):
        at, k, keeps = soft_whole[n, law.JOINT], soft_whole[n, law.ROW], soft_whole[n, law.KEEPS]
        if law.compliance(soft[n], keeps) >= law.NEVER:
            impulse[at, k] = law.constant(soft[n], keeps)
