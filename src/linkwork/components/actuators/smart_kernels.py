"""Kernels of smart servos."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel

#: Addresses: effort (five numbers, a stride apart), coordinate, speed, acceleration, targets.
EFFORT, AT_Q, AT_V, AT_A, AT_TARGET, AT_SPEED, AT_EFFORT, ROBOT, MODE, LOOP, EVERY, MOTOR_SIDE = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
)  # fmt: skip
#: Modes, and control laws of positions.
POSITION, VELOCITY, TORQUE = 0, 1, 2
PID, COMPLIANCE = 0, 1

#: Live numbers.
KP, KI, KD, MARGIN_CW, MARGIN_CCW, SLOPE_CW, SLOPE_CCW, PUNCH = 0, 1, 2, 3, 4, 5, 6, 7
MAX_DUTY, MAX_ACCELERATION, SUPPLY, ENABLED, MAX_EFFORT = 8, 9, 10, 11, 12
GAIN_COLUMNS = 13

#: Constants: motor constant [N m/A], resistance [Ω] when cool, efficiency, speed below which the
#: gears' added loss when driven back fades [rad/s], reflected inertia, cogging and its phase per
#: radian, backlash, encoder step, time of the speed's filter, nominal voltage, supply's resistance,
#: idle current, thermal resistance and capacity, ambient and maximum temperature, lowest and
#: highest value, maximum speed, temperature coefficient of the resistance.
K, OHM, SHARE, FADE, INERTIA, COG, CYCLES, BACKLASH, RESOLUTION, FILTER, NOMINAL = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
)  # fmt: skip
LINE_OHM, IDLE, TO_AIR, CAPACITY, AMBIENT, HOTTEST, LO, HI, FASTEST, COPPER = (
    11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
)  # fmt: skip

#: Memory: profile and loop; motor; law of this step, for the meter; meters.
SETPOINT, RATE, MEASURED, SPEED, INTEGRAL, DUTY, VOLTAGE, CURRENT, POWER, TEMPERATURE, FAULT = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
)  # fmt: skip
PLAY, SIDE, ROTOR, LAST_Q, DRAG, COG_NOW, COG_SLOPE, KNOCK, HOT_OHM = (
    11, 12, 13, 14, 15, 16, 17, 18, 19,
)  # fmt: skip
#: Share of the gears' loss that holds the joint, with its sign; the largest, and its slope.
GRIP, LOSS, LOSS_SLOPE = 20, 21, 22
ENERGY, ENERGY_GROSS, WORK, WORK_GROSS, HEAT, SHAFT, STANDBY = 23, 24, 25, 26, 27, 28, 29
MEMORY_COLUMNS = 30
#: Displacement within which the gears' loss builds up when the motor is driven back [rad or m].
PRESLIDING = 2e-4
#: Bound of efforts where nothing limits them, in stall efforts: engines may be at a limit of the
#: step before.
BOUND = 1e3
#: Per robot: voltage at its servos, current that it draws; then its servos' meters.
BUS_VOLTAGE, BUS_CURRENT, BUS_METERS = 0, 1, 2
ROBOT_COLUMNS = 2 + STANDBY - ENERGY + 1


@inner_kernel
def _profile(h, wanted, fastest, most, row):
    """Moves the setpoint toward ``wanted`` within the limits of speed and acceleration."""
    distance = wanted - row[SETPOINT]
    if math.isinf(most):
        step = distance if math.isinf(fastest) else min(max(distance, -fastest * h), fastest * h)
        # A target reached within the step has no speed: staircases must not excite the joint.
        row[RATE] = step / h if step != distance else 0.0
        row[SETPOINT] += step
        return
    far = abs(distance)
    # The speed from which steps of −most·h come to rest exactly there.
    allowed = most * h * (math.sqrt(0.25 + 2.0 * far / (most * h * h)) - 0.5) if most > 0.0 else 0.0
    speed = math.copysign(min(fastest, allowed), distance)
    row[RATE] += min(max(speed - row[RATE], -most * h), most * h)
    if far <= most * h * h and abs(row[RATE]) <= 2.0 * most * h:
        row[SETPOINT], row[RATE] = wanted, 0.0
    else:
        row[SETPOINT] += row[RATE] * h


@inner_kernel
def _sense(t, exact, v, step, tau, row):
    """Reads the encoder after the time ``t``, and computes the speed from two readings."""
    if step > 0.0:
        read = step * math.floor(exact / step + 0.5)
        raw = (read - row[MEASURED]) / t
    else:
        read, raw = exact, v
    row[SPEED] += (raw - row[SPEED]) * t / (t + tau)
    row[MEASURED] = read


@inner_kernel
def _hold(t, gain, compliance, most, row):
    """Duty that holds the position, and its slopes in angle and speed."""
    error = row[SETPOINT] - row[MEASURED]
    slope = gain[KP]
    duty = slope * error
    if compliance:
        cw = error < 0.0
        margin = gain[MARGIN_CW] if cw else gain[MARGIN_CCW]
        width = max(gain[SLOPE_CW] if cw else gain[SLOPE_CCW], 1e-6)
        beyond = abs(error) - margin
        duty, slope = 0.0, 0.0
        if beyond > 0.0:
            slope = (1.0 - gain[PUNCH]) / width
            duty = math.copysign(gain[PUNCH] + slope * beyond, error)
    duty += gain[KD] * (row[RATE] - row[SPEED])
    _integrate(t, gain[KI] * error, duty, most, row)
    return duty + row[INTEGRAL], slope, gain[KD]


@inner_kernel
def _integrate(t, change, duty, most, row):
    """Updates the integral, unless the bridge is saturated in that direction."""
    if abs(duty + row[INTEGRAL]) < most or change * (duty + row[INTEGRAL]) < 0.0:
        row[INTEGRAL] = min(max(row[INTEGRAL] + t * change, -most), most)


@inner_kernel
def _decide(h, step, data, at, gain, fixed, row):
    """Runs profile and inner loop; returns the duty and its slopes in angle and speed."""
    most = min(gain[MAX_DUTY], 1.0)
    q, v = data[at[AT_Q]], data[at[AT_V]]
    mode = at[MODE]
    if mode == POSITION:
        wanted = min(max(data[at[AT_TARGET]], fixed[LO]), fixed[HI])
        fastest = min(max(data[at[AT_SPEED]], 0.0), fixed[FASTEST])
        _profile(h, wanted, fastest, gain[MAX_ACCELERATION], row)
    elif mode == VELOCITY:
        wanted = min(max(data[at[AT_SPEED]], -fixed[FASTEST]), fixed[FASTEST])
        change = gain[MAX_ACCELERATION] * h
        row[RATE] += min(max(wanted - row[RATE], -change), change)
        row[SETPOINT] = q
    else:
        row[SETPOINT] = q
    every = at[EVERY]
    if every > 0 and step % every != 0:
        return row[DUTY], 0.0, 0.0
    t = h * max(every, 1)
    _sense(t, q + (row[PLAY] if at[MOTOR_SIDE] else 0.0), v, fixed[RESOLUTION], fixed[FILTER], row)
    duty, of_angle, of_speed = 0.0, 0.0, 0.0
    if mode == POSITION:
        duty, of_angle, of_speed = _hold(t, gain, at[LOOP] == COMPLIANCE, most, row)
    elif mode == VELOCITY:
        error = row[RATE] - row[SPEED]
        duty = fixed[K] * row[RATE] / fixed[NOMINAL] + gain[KP] * error
        _integrate(t, gain[KI] * error, duty, most, row)
        duty += row[INTEGRAL]
        of_speed = gain[KP]
    else:
        current = data[at[AT_EFFORT]] / (fixed[K] * fixed[SHARE])
        duty = (current * row[HOT_OHM] + fixed[K] * v) / max(gain[SUPPLY], 1e-9)
        row[DUTY] = min(max(duty, -most), most)
        return duty, 0.0, 0.0
    row[DUTY] = min(max(duty, -most), most)
    if every > 0:
        return row[DUTY], 0.0, 0.0
    return duty, of_angle, of_speed


@inner_kernel
def _cross(h, volts, v, a, push, limit, fixed, row):
    """Moves the rotor through the backlash of the gears; returns whether they are separated.

    ``push`` is the motor's effort, at most ``limit``. Gears separate when the transmitted effort
    changes its sign; the rotor then turns freely. When it meets the teeth again, its momentum is
    applied to the joint as an impact; the motor's effort of that step is applied to the joint as in
    any other. An impact is not an acceleration that could separate them.
    """
    knocked = row[KNOCK] != 0.0
    row[KNOCK] = 0.0
    half, inertia, k = 0.5 * fixed[BACKLASH], fixed[INERTIA], fixed[K]
    if half <= 0.0:
        return False
    if row[SIDE] != 0.0:
        if knocked or (push - inertia * a) * row[SIDE] >= 0.0:
            row[PLAY] = half * row[SIDE]
            return False
        row[SIDE], row[ROTOR] = 0.0, v
    before, damping = row[ROTOR], k * k / row[HOT_OHM]
    drive = k * volts / row[HOT_OHM]
    speed = (before * inertia / h + drive) / (inertia / h + damping)
    effort = min(max(drive - damping * speed, -limit), limit)
    if inertia > 0.0:
        speed = before + h * effort / inertia
    row[PLAY] += h * (speed - v - h * a)
    if abs(row[PLAY]) < half:
        row[ROTOR], row[CURRENT] = speed, effort / k
        return True
    row[SIDE] = 1.0 if row[PLAY] > 0.0 else -1.0
    row[PLAY] = half * row[SIDE]
    row[KNOCK] = inertia * (before - v) / h
    return False


@inner_kernel
def _write(data, place, stride, bias, kp, kd, lowest, highest):
    data[place] = bias
    data[place + stride] = kp
    data[place + 2 * stride] = kd
    data[place + 3 * stride] = lowest
    data[place + 4 * stride] = highest


@inner_kernel
def _grip(now, v, share, fade, row):
    """Updates the gears' loss that helps to hold; returns its damping and slope in this step.

    Driven back by a displacement x, the loss is 2 (1 − η) |τ_m| x/δ, up to its largest: within that
    band the joint holds without creeping. It is damped while it builds up.
    """
    most = 2.0 * (1.0 - share) * abs(now)
    grip = row[GRIP]
    grip = min(max(grip, 0.0), 1.0) if now > 0.0 else min(max(grip, -1.0), 0.0)
    if now == 0.0:
        grip = 0.0
    row[GRIP], row[LOSS], row[LOSS_SLOPE] = grip, most, 0.0
    part = abs(grip)
    backward, drag = now * v < 0.0, 0.0
    if backward:
        drag = (1.0 - part) * most / max(abs(v), fade)
    if (backward and part < 1.0) or (not backward and part > 0.0 and (v != 0.0 or part < 1.0)):
        row[LOSS_SLOPE] = most / PRESLIDING
    return drag, row[LOSS_SLOPE]


@inner_kernel
def _push(h, stride, data, at, gain, fixed, duty, of_angle, of_speed, volts, row):
    """Writes one servo's affine effort for its supply voltage in this step."""
    q, v = data[at[AT_Q]], data[at[AT_V]]
    k, ohm = fixed[K], row[HOT_OHM]
    most, limit = min(gain[MAX_DUTY], 1.0), gain[MAX_EFFORT]
    torque = at[MODE] == TORQUE
    used = min(max(duty, -most), most)
    now = k * (used * volts - k * v) / ohm
    if torque:
        wanted = data[at[AT_EFFORT]] / fixed[SHARE]
        now = min(max(wanted, k * (-most * volts - k * v) / ohm), k * (most * volts - k * v) / ohm)
    reach = limit / fixed[SHARE]
    now = min(max(now, -reach), reach)
    if _cross(h, used * volts, v, data[at[AT_A]], now, reach, fixed, row):
        row[GRIP] = 0.0
        _write(data, at[EFFORT], stride, 0.0, 0.0, 0.0, -math.inf, math.inf)
        return
    lowest, highest = -BOUND * k * volts / ohm, BOUND * k * volts / ohm
    bias, kp, kd = k * used * volts / ohm, 0.0, k * k / ohm
    if torque:
        bias, kd = now, 0.0
    elif used == duty:  # within the range of the bridge the law itself is passed on
        bias = k * volts * (duty + of_angle * q + of_speed * v) / ohm
        kp = k * volts * of_angle / ohm
        kd += k * volts * of_speed / ohm
        if kp > 0.0 or of_speed > 0.0:
            lowest = k * (-most * volts - k * v) / ohm
            highest = k * (most * volts - k * v) / ohm
    # Gear losses are dry friction that grows with the load: it is subtracted when the motor drives
    # (and from rest), and added when the motor is driven back.
    share = fixed[SHARE]
    bias, kp, kd = share * bias, share * kp, share * kd
    drag, loss_slope = _grip(now, v, share, fixed[FADE], row)
    held = row[GRIP] * row[LOSS]
    bias, kp, kd = bias + held + loss_slope * q, kp + loss_slope, kd + drag
    lowest, highest = share * lowest - drag * v + held, share * highest - drag * v + held
    if loss_slope > 0.0:  # the loss is between 0 and its largest
        driving, backdriven = share * now, share * now + math.copysign(row[LOSS], now)
        lowest = max(lowest, min(driving, backdriven))
        highest = min(highest, max(driving, backdriven))
    slope = 0.0
    cog = 0.0
    if fixed[COG] > 0.0:
        cog = -fixed[COG] * math.sin(fixed[CYCLES] * q)
        slope = min(-fixed[COG] * fixed[CYCLES] * math.cos(fixed[CYCLES] * q), 0.0)
        bias += cog - slope * q
        kp -= slope
    row[DRAG], row[COG_NOW], row[COG_SLOPE] = drag, cog, slope
    bias += row[KNOCK]
    lowest = min(max(lowest + cog, -limit), limit) + min(row[KNOCK], 0.0)
    highest = max(min(highest + cog, limit), -limit) + max(row[KNOCK], 0.0)
    _write(data, at[EFFORT], stride, bias, kp, kd, lowest, highest)


@flat_kernel
def drive_smart_servos(h, step, stride, data, where, form, gains, memory, robots, slopes):
    """Runs all inner loops, computes the supplies' voltages, and writes the efforts.

    A robot's supply sags by its resistance times the current of all its servos; with their duties
    given that is linear, with the solution sag = r Σ(u² S − u k ω)/R / (1 + r Σ u²/R).
    ``slopes`` (n×3) is scratch.
    """
    for r in range(robots.shape[0]):
        robots[r, BUS_VOLTAGE] = robots[r, BUS_CURRENT] = 0.0
    for n in range(where.shape[0]):
        at, gain, fixed, row = where[n], gains[n], form[n], memory[n]
        row[GRIP] -= (data[at[AT_Q]] - row[LAST_Q]) / PRESLIDING
        row[LAST_Q] = data[at[AT_Q]]
        row[DRAG] = row[COG_NOW] = row[COG_SLOPE] = row[LOSS] = row[LOSS_SLOPE] = 0.0
        row[HOT_OHM] = fixed[OHM] * (1.0 + fixed[COPPER] * (row[TEMPERATURE] - fixed[AMBIENT]))
        if gain[ENABLED] < 0.5:
            row[FAULT] = 0.0
        duty, of_angle, of_speed = _decide(h, step, data, at, gain, fixed, row)
        robot = robots[at[ROBOT]]
        robot[BUS_CURRENT] += fixed[IDLE]
        if gain[ENABLED] < 0.5 or row[FAULT] > 0.0:
            row[DUTY] = row[INTEGRAL] = row[RATE] = row[KNOCK] = row[GRIP] = 0.0
            row[SETPOINT] = data[at[AT_Q]]
            row[SIDE], row[ROTOR] = 0.0, data[at[AT_V]]
            slopes[n, 0] = math.nan
            continue
        slopes[n, 0], slopes[n, 1], slopes[n, 2] = duty, of_angle, of_speed
        used, ohm = row[DUTY], row[HOT_OHM]
        back = fixed[K] * data[at[AT_V]]
        robot[BUS_CURRENT] += used * (used * gain[SUPPLY] - back) / ohm
        robot[BUS_VOLTAGE] += used * used / ohm
    for n in range(where.shape[0]):
        at, gain, fixed, row = where[n], gains[n], form[n], memory[n]
        robot = robots[at[ROBOT]]
        line = fixed[LINE_OHM]
        sag = line * robot[BUS_CURRENT] / (1.0 + line * robot[BUS_VOLTAGE])
        row[VOLTAGE] = max(gain[SUPPLY] - sag, 0.0)
        if math.isnan(slopes[n, 0]):
            _write(data, at[EFFORT], stride, 0.0, 0.0, 0.0, 0.0, 0.0)
            continue
        duty, of_angle, of_speed = slopes[n, 0], slopes[n, 1], slopes[n, 2]
        volts = row[VOLTAGE]
        _push(h, stride, data, at, gain, fixed, duty, of_angle, of_speed, volts, row)


@inner_kernel
def _currents(h, stride, data, at, fixed, row):
    """Effort on the joint, current and the rotor's speed in the completed step."""
    q, k = data[at[AT_Q]], fixed[K]
    speed = (q - row[LAST_Q]) / h
    place = at[EFFORT]
    lowest, highest = data[place + 3 * stride], data[place + 4 * stride]
    if lowest == 0.0 and highest == 0.0:  # off, or failed
        return 0.0, 0.0, speed
    if fixed[BACKLASH] > 0.0 and row[SIDE] == 0.0:
        return 0.0, row[CURRENT], row[ROTOR]
    effort = data[place] - data[place + stride] * q - data[place + 2 * stride] * speed
    effort = min(max(effort, lowest), highest)
    cog = row[COG_NOW] + row[COG_SLOPE] * (q - row[LAST_Q])
    held = row[GRIP] * row[LOSS] - row[LOSS_SLOPE] * (q - row[LAST_Q])
    held = min(max(held, -row[LOSS]), row[LOSS])
    motor = (effort - row[KNOCK] - cog + row[DRAG] * speed - held) / fixed[SHARE]
    return effort, motor / k, speed


@flat_kernel
def meter_smart_servos(h, stride, data, where, form, memory, robots):
    """Computes current, power and heat of the completed step, and accumulates energy and work."""
    for r in range(robots.shape[0]):
        robots[r] = 0.0
    for n in range(where.shape[0]):
        at, fixed, row = where[n], form[n], memory[n]
        effort, current, speed = _currents(h, stride, data, at, fixed, row)
        ohm = row[HOT_OHM]
        power = current * (ohm * current + fixed[K] * speed)
        standby = fixed[IDLE] * row[VOLTAGE]
        work = effort * (data[at[AT_Q]] - row[LAST_Q])
        row[CURRENT], row[POWER] = current, power + standby
        row[ENERGY] += h * (power + standby)
        row[ENERGY_GROSS] += h * (max(power, 0.0) + standby)
        row[WORK] += work
        row[WORK_GROSS] += max(work, 0.0)
        row[HEAT] += h * ohm * current * current
        row[SHAFT] += h * fixed[K] * current * speed
        row[STANDBY] += h * standby
        if fixed[CAPACITY] > 0.0:
            lost = (row[TEMPERATURE] - fixed[AMBIENT]) / fixed[TO_AIR]
            row[TEMPERATURE] += h * (ohm * current * current - lost) / fixed[CAPACITY]
            if row[TEMPERATURE] > fixed[HOTTEST]:
                row[FAULT] = 1.0
        robot = robots[at[ROBOT]]
        robot[BUS_VOLTAGE] = row[VOLTAGE]
        if row[VOLTAGE] > 0.0:
            robot[BUS_CURRENT] += row[POWER] / row[VOLTAGE]
        for m in range(STANDBY - ENERGY + 1):
            robot[BUS_METERS + m] += row[ENERGY + m]


@flat_kernel
def _turn(h, wheel, law, q, v):
    """Speed at the end of an implicit Euler step, with stiction.

    ``wheel``: inertia, Coulomb friction, damping, load. ``law``: bias, kp, kd, lowest, highest.
    """
    inertia, rub, damping, load = wheel[0], wheel[1], wheel[2], wheel[3]
    speed = 0.0
    kp, kd, bias = law[1], law[2], law[0]
    for _ in range(3):  # within the limits, or at the limit that is reached
        push = inertia * v + h * (bias - kp * q - load)
        push -= min(max(push, -h * rub), h * rub)
        speed = push / (inertia + h * (kd + damping) + h * h * kp)
        effort = bias - kp * (q + h * speed) - kd * speed
        if effort > law[4]:
            bias, kp, kd = law[4], 0.0, 0.0
        elif effort < law[3]:
            bias, kp, kd = law[3], 0.0, 0.0
        else:
            break
    return speed


@flat_kernel
def respond(h, targets, wheel, law, data, where, form, gains, memory, robots, slopes, out):
    """Simulates a target in each step; ``out`` (n×3) gets angle, speed and energy."""
    at = where[0]
    for n in range(targets.shape[0]):
        data[at[AT_TARGET]] = targets[n]
        drive_smart_servos(h, n, 1, data, where, form, gains, memory, robots, slopes)
        for k in range(5):
            law[k] = data[at[EFFORT] + k]
        q, v = data[at[AT_Q]], data[at[AT_V]]
        after = _turn(h, wheel, law, q, v)
        data[at[AT_A]] = (after - v) / h
        data[at[AT_V]] = after
        data[at[AT_Q]] = q + h * after
        meter_smart_servos(h, 1, data, where, form, memory, robots)
        out[n, 0], out[n, 1], out[n, 2] = data[at[AT_Q]], after, robots[0, 2]
