"""Planners: end states, limits and optimality on random cases."""

import math

import numpy as np
import pytest

from linkwork.core.errors import LinkworkError
from linkwork.motion.profiles import (
    MotionLimits,
    MotorLosses,
    Profile,
    UnreachableWaypoint,
    Waypoint,
    passing_speeds,
    plan,
    plan_together,
    segment,
)
from linkwork.motion.profiles.reachability import distance_range, shortest_time
from linkwork.motion.profiles.span import Span
from linkwork.motion.profiles.switch_times import (
    of_least_acceleration,
    of_least_energy,
    of_least_speed,
    of_least_work,
    piece_energy,
    span_energy,
)

#: Random cases; with random limits about half of twice as many are feasible.
COUNT = 1_000
GRID = np.linspace(0.0, 1.0, 2_003)[1:-1, None]
SERVO = MotorLosses(inertia=0.003, copper=8.0, viscous=0.02, coulomb=0.05, recuperation=0.3)


def cases(seed: int, count: int = COUNT) -> Span:
    """Returns random spans; a fifth of them with equal velocities, some of those at rest."""
    random = np.random.default_rng(seed)
    way = random.uniform(-3.0, 3.0, count)
    first, last = random.uniform(-4.0, 4.0, (2, count))
    last[: count // 5] = first[: count // 5]
    first[: count // 10] = last[: count // 10] = 0.0
    return Span(way, first, last, 10.0 ** random.uniform(-1.0, 1.0, count))


def one(span: Span, n: int | np.intp) -> tuple[Waypoint, Waypoint]:
    way, first, last, time = (
        float(x[n]) for x in (span.distance, span.first, span.last, span.time)
    )
    return Waypoint(0.5, 0.3, first), Waypoint(0.5 + time, 0.3 + way, last)


def tried(span: Span) -> tuple[np.ndarray, ...]:
    """Returns switches over each span; ωm, a1 and a2 from areas under the velocity, not from L2."""
    s = GRID * span.time
    rest = span.time - s
    middle = (2.0 * span.distance - span.first * s - span.last * rest) / span.time
    return s, middle, (middle - span.first) / s, (span.last - middle) / rest


def with_limits(span: Span, seed: int) -> tuple[list[MotionLimits], np.ndarray]:
    """Returns limits for each span, from tight to loose, and which are feasible in two segments."""
    random = np.random.default_rng(seed)
    count = len(span.distance)
    a = span.least_acceleration() * random.uniform(1.0, 4.0, count)
    wanted = span.peak_speed(of_least_acceleration(span)) * random.uniform(0.7, 1.5, count)
    top = np.where(random.random(count) < 0.5, math.inf, np.maximum(wanted, 1e-3))
    limits = [MotionLimits(float(v), max(float(x), 1e-6)) for v, x in zip(top, a, strict=True)]
    return limits, np.array([feasible(span, n, each) for n, each in enumerate(limits)])


def feasible(span: Span, n: int | np.intp, limits: MotionLimits) -> bool:
    first, last, time = (float(x[n]) for x in (span.first, span.last, span.time))
    found = distance_range(first, last, time, limits)
    return found is not None and found[0] <= span.distance[n] <= found[1]


def test_every_planner_meets_both_states_within_the_limits() -> None:
    """1 000 random cases per criterion: positions and velocities to 1e-12, within limits."""
    span = cases(1, 2 * COUNT)
    limits, fits = with_limits(span, 2)
    assert fits.sum() >= COUNT
    for planner in ("acceleration", "speed", "energy", "cruise"):
        for n in np.flatnonzero(fits):
            start, end = one(span, n)
            made = segment(start, end, planner, limits[n], losses=MotorLosses())
            for each in (start, end):
                x, v, _ = made.states(each.time)
                assert abs(x - each.position) < 1e-12
                assert abs(v - each.speed) < 1e-12
            assert made.peak_speed <= limits[n].speed * (1 + 1e-11)
            assert made.peak_acceleration <= limits[n].acceleration * (1 + 1e-9)


def test_the_least_acceleration_is_least() -> None:
    """No switch on a fine grid has a lower peak; nor has any of random laws of 40 segments."""
    span = cases(3)
    found = span.peak_acceleration(of_least_acceleration(span))
    _, _, a1, a2 = tried(span)
    lowest = np.maximum(np.abs(a1), np.abs(a2)).min(axis=0)
    assert np.all(found <= lowest * (1 + 1e-9) + 1e-12)
    assert np.all(lowest <= found * 1.05 + 1e-9)
    np.testing.assert_allclose(found, span.least_acceleration(), rtol=1e-9)
    random = np.random.default_rng(4)
    law = random.uniform(-1.0, 1.0, (40, COUNT)) * 10.0 ** random.uniform(-1, 1, COUNT)
    dt = span.time / 40
    speeds = span.first + np.cumsum(law, axis=0) * dt
    before = np.vstack([span.first[None], speeds[:-1]])
    way = ((before + speeds) / 2 * dt).sum(axis=0)
    reached = Span(way, span.first, speeds[-1], span.time)
    assert np.all(reached.least_acceleration() <= np.abs(law).max(axis=0) * (1 + 1e-9))


def test_the_least_acceleration_under_a_speed_limit_is_least() -> None:
    """No switch within both limits has a lower peak."""
    span = cases(5, 2 * COUNT)
    limits, fits = with_limits(span, 6)
    assert fits.sum() >= COUNT
    _, middle, a1, a2 = tried(span)
    peak = np.maximum(np.abs(a1), np.abs(a2))
    for n in np.flatnonzero(fits):
        inside = np.abs(middle[:, n]) <= limits[n].speed
        if inside.any():
            part = Span.of(span.distance[n], span.first[n], span.last[n], span.time[n])
            found = part.peak_acceleration(of_least_acceleration(part, limits[n]))
            assert found <= peak[inside, n].min() * (1 + 1e-9) + 1e-12


def test_the_least_speed_is_least() -> None:
    """No switch within the maximum acceleration has a lower peak velocity, nor |ωm|."""
    span = cases(7, 2 * COUNT)
    limits, fits = with_limits(span, 8)
    _, middle, a1, a2 = tried(span)
    ends = np.maximum(np.abs(span.first), np.abs(span.last))
    seen = 0
    for n in np.flatnonzero(fits):
        part = Span.of(span.distance[n], span.first[n], span.last[n], span.time[n])
        allowed = np.maximum(np.abs(a1[:, n]), np.abs(a2[:, n])) <= limits[n].acceleration
        if allowed.any():
            s = of_least_speed(part, limits[n])
            least = np.abs(middle[allowed, n]).min()
            assert abs(part.middle(s)) <= least * (1 + 1e-9) + 1e-12
            assert part.peak_speed(s) <= max(ends[n], least) * (1 + 1e-9) + 1e-12
            seen += 1
    assert seen >= COUNT


def test_the_energy_of_a_piece_is_the_integral_of_its_power() -> None:
    """Against sums of P over 4 000 samples: supplied and recovered separately."""
    span, x = cases(9, 200), (np.arange(4_000)[:, None] + 0.5) / 4_000
    given, back = piece_energy(span.first, span.last, span.time, SERVO)
    w = span.first + x * span.rise
    effort = SERVO.inertia * span.slope + SERVO.viscous * w + SERVO.coulomb * np.sign(w)
    power = effort * w + SERVO.copper * effort**2
    scale = np.abs(power).mean(axis=0) * span.time
    np.testing.assert_allclose(
        given, np.maximum(power, 0).mean(axis=0) * span.time, atol=2e-3 * scale.max()
    )
    wanted = SERVO.recuperation * np.maximum(-power, 0).mean(axis=0) * span.time
    np.testing.assert_allclose(back, wanted, atol=2e-3 * scale.max())
    np.testing.assert_allclose(given - back / SERVO.recuperation, power.mean(axis=0) * span.time,
                               atol=2e-3 * scale.max())  # fmt: skip


@pytest.mark.parametrize(
    ("losses", "most"),
    [
        (SERVO, math.inf),
        (MotorLosses(copper=2.0, recuperation=1.0), math.inf),
        (MotorLosses(copper=1.0), 40.0),
        (MotorLosses(viscous=0.3, coulomb=0.2), 60.0),
    ],
)
def test_the_least_energy_is_least(losses: MotorLosses, most: float) -> None:
    """1 000 random cases: no switch on a fine grid costs less under the stated losses."""
    span, limits = cases(10, 2 * COUNT), MotionLimits(acceleration=most)
    keep = np.flatnonzero(span.least_acceleration() < 0.99 * most)[:COUNT]
    span = Span(*(x[keep] for x in (span.distance, span.first, span.last, span.time)))
    assert len(keep) == COUNT
    best = of_least_energy(span, limits, losses)
    assert np.all((best > 0.0) & (best < span.time))
    assert np.all(span.peak_acceleration(best) <= most * (1 + 1e-9))
    s, _, a1, a2 = (x[::7] for x in tried(span))
    wide = Span(span.distance[None], span.first[None], span.last[None], span.time[None])
    costs = span_energy(wide, s, losses)
    costs = np.where(np.maximum(np.abs(a1), np.abs(a2)) <= most, costs, np.inf)
    lowest = costs.min(axis=0)
    assert np.all(span_energy(span, best, losses) <= lowest + 1e-9 * np.abs(lowest) + 1e-12)


def test_pieces_of_no_time_keep_their_limit() -> None:
    """A switch 1e-12 s before the end: rounding does not exceed the acceleration limit."""
    for end in (Waypoint(4.0, 0.0, 3.3e-9), Waypoint(804.0, 7e-6, 0.0)):
        limits = MotionLimits(acceleration=1000.0)
        made = segment(Waypoint(3.0, 0.0), end, "speed", limits)
        assert made.peak_acceleration <= 1000.0
        assert abs(made.states(end.time)[0] - end.position) < 1e-12


def test_friction_alone_wants_a_largest_acceleration() -> None:
    """Without copper loss the energy has no minimum, which is an error with a hint."""
    with pytest.raises(LinkworkError, match="Give max_acceleration"):
        of_least_energy(cases(11, 10), MotionLimits(), MotorLosses(viscous=0.3))
    with pytest.raises(LinkworkError, match=r"neck: with inertia alone.*Give max_acceleration"):
        segment(Waypoint(0, 0, 0.1), Waypoint(1, 2.5), "energy", name="neck")
    made = segment(Waypoint(0, 0, 0.1), Waypoint(1, 2.5), "energy", MotionLimits(acceleration=50.0))
    assert made.peak_acceleration == pytest.approx(50.0)


def test_the_least_work_is_least_and_gentle() -> None:
    """∫|P| of inertia alone: no switch needs less, and no equal one has less acceleration."""
    span = cases(12)
    found = of_least_work(span)
    _, middle, a1, a2 = tried(span)

    def work(m: np.ndarray) -> np.ndarray:
        """Returns the sum of rises and falls of ω², through 0 at reversals."""
        total = np.zeros(np.broadcast_shapes(m.shape, span.first.shape))
        for a, b in ((span.first, m), (m, span.last)):
            total = total + np.where(a * b < 0, a**2 + b**2, np.abs(a**2 - b**2))
        return total

    least, mine = work(middle).min(axis=0), work(span.middle(found))
    assert np.all(mine <= least * (1 + 1e-9) + 1e-9)
    peak = np.where(work(middle) <= mine * (1 + 1e-12), np.maximum(np.abs(a1), np.abs(a2)), np.inf)
    assert np.all(span.peak_acceleration(found) <= peak.min(axis=0) * (1 + 1e-9) + 1e-9)


def test_cruising_needs_the_least_acceleration_of_all() -> None:
    """With slightly less, even the highest feasible velocities do not cover the distance."""
    random, seen = np.random.default_rng(13), 0
    for _ in range(300):
        top = random.uniform(1.0, 4.0)
        u, w = random.uniform(-top, top, 2)
        time = random.uniform(0.2, 3.0)
        way = random.uniform(-0.97, 0.97) * top * time
        try:
            made = segment(Waypoint(0, 0, u), Waypoint(time, way, w), "cruise", MotionLimits(top))
        except UnreachableWaypoint:
            continue
        if len(made.jerks) < 3:
            continue
        seen += 1
        assert abs(made.states(time)[0] - way) < 1e-12
        a = made.peak_acceleration * (1 - 1e-3)
        t = np.linspace(0.0, time, 20_001)
        side = math.copysign(1.0, made.speeds[1])
        upper = np.minimum(np.minimum(side * u + a * t, top), side * w + a * (time - t))
        assert np.trapezoid(upper, t) < side * way
    assert seen > 50


def test_what_cannot_be_met_is_refused_with_what_is_nearest() -> None:
    """The given time is the first feasible one; so is the given position at that time."""
    span = cases(14, 300)
    limits, _ = with_limits(span, 15)
    random, seen = np.random.default_rng(16), 0
    for n in range(300):
        tight = MotionLimits(limits[n].speed, limits[n].acceleration * random.uniform(0.2, 0.9))
        if feasible(span, n, tight):
            continue
        start, end = one(span, n)
        with pytest.raises(UnreachableWaypoint) as caught:
            segment(start, end, "acceleration", tight)
        nearest = caught.value
        if nearest.time is not None:
            seen += 1
            segment(start, Waypoint(nearest.time, end.position, end.speed), "acceleration", tight)
            for share in (0.0, 0.3, 0.7, 0.999):
                early = end.time + share * (nearest.time - end.time)
                with pytest.raises(UnreachableWaypoint):
                    segment(start, Waypoint(early, end.position, end.speed), "acceleration", tight)
        if nearest.position is not None:
            segment(start, Waypoint(end.time, nearest.position, end.speed), "acceleration", tight)
            beyond = nearest.position + 1e-3 * (end.position - nearest.position)
            with pytest.raises(UnreachableWaypoint):
                segment(start, Waypoint(end.time, beyond, end.speed), "acceleration", tight)
    assert seen > 100


def test_the_refusal_says_what_is_in_the_way() -> None:
    """Acceleration, velocity, or the given velocity itself; in degrees, with a remedy."""
    deg = math.radians
    servo = MotionLimits(deg(281), deg(1400))
    with pytest.raises(UnreachableWaypoint) as caught:
        segment(Waypoint(0, 0), Waypoint(0.2, deg(90)), limits=servo, name="neck")
    assert str(caught.value) == (
        "neck cannot go from 0° at 0°/s to 90° at 0°/s between 0 s and 0.2 s: it needs 9000°/s² "
        "where 1400°/s² is allowed. Nearest: there at 0.64057 s, or 14° at 0.2 s."
    )
    with pytest.raises(
        UnreachableWaypoint, match=r"needs 300°/s where 281°/s is allowed.*'cruise' can"
    ):
        segment(Waypoint(0, 0), Waypoint(0.6, deg(90)), limits=servo)
    with pytest.raises(UnreachableWaypoint, match="a wanted speed of 300°/s is above 281°/s"):
        segment(Waypoint(0, 0), Waypoint(1.0, 1.0, deg(300)), limits=servo)
    with pytest.raises(UnreachableWaypoint, match="a wanted speed of 300°/s is above 281°/s"):
        segment(
            Waypoint(0, 0), Waypoint(1.0, 1.0, deg(300)), "jerk", MotionLimits(deg(281), jerk=99.0)
        )
    with pytest.raises(UnreachableWaypoint, match=r"jerk.*Nearest: there at"):
        segment(
            Waypoint(0, 0),
            Waypoint(0.56, deg(90)),
            "jerk",
            MotionLimits(deg(281), deg(1400), 200.0),
        )
    with pytest.raises(LinkworkError, match="Did you mean 'energy'"):
        segment(Waypoint(0, 0), Waypoint(1, 1), "enrgy")
    with pytest.raises(LinkworkError, match="needs a maximum acceleration"):
        segment(Waypoint(0, 0), Waypoint(1, 1), "speed")
    with pytest.raises(LinkworkError, match="times must ascend"):
        segment(Waypoint(1, 0), Waypoint(1, 1))
    with pytest.raises(LinkworkError, match="must be finite"):
        segment(Waypoint(0, 0), Waypoint(1, math.nan))
    with pytest.raises(LinkworkError, match="must be above 0"):
        MotionLimits(speed=0.0)
    with pytest.raises(LinkworkError, match="from 0 to 1"):
        MotorLosses(recuperation=1.5)


def test_jerk_is_kept_within_its_limit() -> None:
    """200 random steps by Ruckig: both states without acceleration, all three limits kept."""
    random, seen, late = np.random.default_rng(17), 0, []
    limits = MotionLimits(5.0, 20.0, 300.0)
    for _ in range(200):
        u, w = random.uniform(-2.0, 2.0, 2)
        start, end = (
            Waypoint(1.0, 0.0, u),
            Waypoint(1.0 + random.uniform(0.2, 3.0), random.uniform(-2, 2), w),
        )
        try:
            made = segment(start, end, "jerk", limits)
        except UnreachableWaypoint as error:
            late.append((error.time or 0.0) - end.time)
            continue
        seen += 1
        for each in (start, end):
            x, v, a = made.states(each.time)
            assert abs(x - each.position) < 1e-12
            assert abs(v - each.speed) < 1e-12
            assert abs(a) < 1e-9
        assert made.peak_jerk <= limits.jerk * (1 + 1e-9)
        assert made.peak_acceleration <= limits.acceleration * (1 + 1e-9)
        assert made.peak_speed <= limits.speed * (1 + 1e-9)
        assert np.abs(np.diff(made.states(made.times)[2])).max() <= limits.jerk * made.duration
    assert seen > 100
    assert late
    assert min(late) > 0.0


def test_joints_arrive_together_as_soon_as_the_slowest_can() -> None:
    """The slowest alone takes as long; 1 % less is too short for it, not for the others."""
    starts, ends = {"a": 0.0, "b": 1.0, "c": 0.5}, {"a": 2.0, "b": 0.5, "c": 0.5}
    limits = {name: MotionLimits(2.0, 8.0, 100.0) for name in starts}
    for planner in ("acceleration", "speed", "energy", "cruise", "jerk"):
        made = plan_together(starts, ends, limits, planner=planner)
        (time,) = {round(p.times[-1], 9) for p in made.values()}
        for name, way in made.items():
            assert way.value(0.0) == starts[name]
            assert way.value(time) == pytest.approx(ends[name], abs=1e-9)
            assert way.peak_speed <= 2.0 + 1e-9
        with pytest.raises(UnreachableWaypoint, match=r"^a cannot"):
            plan_together(starts, ends, limits, planner=planner, duration=0.99 * time)
    cruise = shortest_time(2.0, 0.0, 0.0, MotionLimits(2.0, 8.0))
    assert cruise == pytest.approx(1.25)  # 2/2 + 2/8 s
    with pytest.raises(LinkworkError, match="duration would be 0"):
        plan_together({"a": 0.0}, {"a": 1.0}, {})
    with pytest.raises(LinkworkError, match="same joints"):
        plan_together({"a": 0.0}, {"b": 1.0}, {})
    still = plan_together({"a": 1.0}, {"a": 1.0}, limits)
    assert still["a"].value(0.0) == 1.0


def test_soonest_is_the_least_time_of_the_double_integrator() -> None:
    """Against a search in small time steps over the reachable set, gaps included."""
    random = np.random.default_rng(18)
    for _ in range(200):
        limits = MotionLimits(random.uniform(1.5, 4.0), random.uniform(1.0, 20.0))
        u, w = random.uniform(-1.5, 1.5, 2)
        way = random.uniform(-1.0, 1.0)
        after = random.choice([0.0, random.uniform(0.0, 1.0)])
        for cruise in (True, False):
            found = shortest_time(way, u, w, limits, after=after, cruise=cruise)
            grid = np.arange(max(after, 1e-6), 30.0, 2e-3)
            first = next(
                (
                    t
                    for t in grid
                    if (r := distance_range(u, w, t, limits, cruise=cruise)) and r[0] <= way <= r[1]
                ),
                None,
            )
            if first is None:
                assert found is None or found > 29.0
            else:
                assert found is not None
                assert first - 2.1e-3 <= found <= first + 1e-9


def test_references_in_a_row_never_overshoot() -> None:
    """With a spline's velocities, at most twice the mean ones, steps stay between their ends."""
    random = np.random.default_rng(19)
    for _ in range(200):
        times = np.cumsum(random.uniform(0.1, 2.0, 6))
        positions = random.uniform(-2.0, 2.0, 6)
        speeds = passing_speeds(times.tolist(), positions.tolist())
        assert speeds[0] == speeds[-1] == 0.0
        way = plan([Waypoint(*row) for row in zip(times, positions, speeds, strict=True)])
        for n in range(5):
            t = np.linspace(times[n], times[n + 1], 50)
            x = way.states(t)[0]
            assert x.min() >= min(positions[n : n + 2]) - 1e-9
            assert x.max() <= max(positions[n : n + 2]) + 1e-9
        np.testing.assert_allclose(way.states(times)[0], positions, atol=1e-12)
        np.testing.assert_allclose(way.states(times)[1], speeds, atol=1e-12)
    assert passing_speeds([0, 1, 2], [0, 1, 2], [None, 0.25, 3.0]) == [0.0, 0.25, 3.0]
    assert passing_speeds([0, 1, 2], [0, 1, 2], limit=0.5)[1] == 0.5
    # Clamped cubic through 0, 1, 3 at 0, 1, 2 s: 2(1 + 1)·m = 3(1 + 2), bound by twice 1.
    assert passing_speeds([0, 1, 2], [0, 1, 3]) == [0.0, 2.0, 0.0]
    assert passing_speeds([0, 1, 2], [0, 1, 2.5])[1] == pytest.approx(7.5 / 4.0)
    assert passing_speeds([5.0], [1.0]) == [0.0]
    one_stop = plan([Waypoint(2.0, 0.7)])
    assert (one_stop.value(0.0), one_stop.value(5.0), one_stop.peak_speed) == (0.7, 0.7, 0.0)
    with pytest.raises(LinkworkError, match="2 planners are given"):
        plan([Waypoint(0, 0), Waypoint(1, 1)], ["acceleration", "jerk"])


def test_a_profile_tells_what_its_pieces_are() -> None:
    """Positions, velocities and extrema of a cubic segment; rest before and after; samples."""
    way = Profile.of_phases(1.0, 0.0, 1.0, [(2.0, -1.0), (0.0, 9.0), (1.0, 0.0, 6.0)])
    t = np.array([0.0, 1.5, 2.0, 3.0, 3.5, 4.0, 9.0])
    np.testing.assert_allclose(way.states(t)[0], [0, 0.375, 0.5, 0.0, -0.375, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(way.states(t)[1], [0, 0.5, 0.0, -1.0, -0.25, 2.0, 0.0], atol=1e-15)
    np.testing.assert_allclose([way.value(x) for x in t], way.states(t)[0], atol=1e-15)
    assert way.extent() == (pytest.approx(-2 / 3 * math.sqrt(1 / 3)), pytest.approx(0.5))
    assert (way.peak_speed, way.peak_acceleration, way.peak_jerk) == (2.0, 6.0, 6.0)
    np.testing.assert_allclose(way.sampled(0.7), [1.0, 1.7, 2.4, 3.1, 3.8, 4.0])
    np.testing.assert_allclose(way.sampled(1.5), [1.0, 2.5, 4.0])
