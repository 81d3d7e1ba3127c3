"""Lima et al. §4: equations and figures of its planners, as printed and corrected."""

import math

import numpy as np
import pytest

from command_line import linkwork
from linkwork.cli.measured_log import read_measured_log
from linkwork.components.actuators.smart_params import FOLDER
from linkwork.motion.profiles import MotionLimits, MotorLosses, Waypoint, plan_together, segment
from linkwork.motion.profiles.span import Span
from linkwork.motion.profiles.switch_times import (
    of_least_acceleration,
    of_least_energy,
    of_least_speed,
    of_least_work,
    span_energy,
)
from linkwork.motion.profiles.worked_example import (
    END,
    INERTIA,
    SERVO,
    START,
    TABLE_1,
    compare,
    energy_as_printed,
    mechanical,
    servo_step,
)

K = 4 * math.pi**2 / 360**2
EXAMPLE = Span.of(np.radians(27.0), np.radians(20.0), np.radians(30.0), 1.0)


def spans(count: int = 10_000) -> tuple[Span, np.ndarray, np.ndarray]:
    """Returns random conditions, with t1 and a switch between t1 and t2."""
    random = np.random.default_rng(4)
    time = random.uniform(0.05, 5.0, count)
    distance, first, last = random.uniform(-5.0, 5.0, (3, count))
    span = Span(distance, first, last, time)
    return span, random.uniform(-3.0, 3.0, count), time * random.uniform(0.01, 0.99, count)


def test_the_example_bulges_by_4_degrees_a_second() -> None:
    """h = 4 deg/s (eq. 4); the arm of 0.174 kg and 0.2 m has 0.00232 kg m²."""
    assert np.degrees(EXAMPLE.area_excess) == pytest.approx(4.0, abs=1e-12)
    assert pytest.approx(0.00232, abs=1e-15) == INERTIA


def test_equations_1_to_8_hold() -> None:
    """(tm, ωm) on L2 covers the distance (eqs 1, 2); h is eq. 3; eqs 5 to 8 meet the end state."""
    span, _, s = spans()
    d, w1, w2, t = span.distance, span.first, span.last, span.time
    wm = 2 * (d - s / 2 * w1 - (t - s) / 2 * w2) / t
    np.testing.assert_allclose(span.middle(s), wm, atol=1e-11)
    np.testing.assert_allclose(wm * t - (wm - w1) * s / 2 - (wm - w2) * (t - s) / 2, d, atol=1e-11)
    np.testing.assert_allclose(span.middle(0.0) - w1, span.area_excess, atol=1e-12)
    a1, a2 = (wm - w1) / s, (w2 - wm) / (t - s)
    for mine, theirs in zip(span.accelerations(s), (a1, a2), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    half = w1 * s + a1 * s**2 / 2
    np.testing.assert_allclose(half + wm * (t - s) + a2 * (t - s) ** 2 / 2, d, atol=1e-11)


def test_equations_9_to_11_are_the_least_acceleration() -> None:
    """|a1| = |a2|; tm is eq. 10 and ωm the root of eq. 11 between t1 and t2."""
    span, t1, _ = spans()
    w1, w2, t2, h = span.first, span.last, t1 + span.time, span.area_excess
    s = of_least_acceleration(span)
    a1, a2 = span.accelerations(s)
    np.testing.assert_allclose(np.abs(a1), np.abs(a2), rtol=1e-9)
    wm = (w1 + w2 + h) / 2 + np.sign(h) * np.sqrt((w2 - w1) ** 2 + h**2) / 2
    np.testing.assert_allclose(span.middle(s), wm, atol=1e-10)
    tm = (wm * (-t2 - t1) + w1 * t2 + w2 * t1) / (w1 + w2 - 2 * wm)
    np.testing.assert_allclose(t1 + s, tm, atol=1e-9)


def test_equation_12_needs_the_sign_of_h() -> None:
    """As printed tm leaves [t1, t2] in half of all cases; with sign(h)·a_max never."""
    span, _, _ = spans()
    a = 1.5 * span.least_acceleration()
    printed = span.area_excess / (a - span.slope)
    outside = np.mean((printed < 0) | (printed > span.time))
    assert outside == pytest.approx(0.5, abs=0.03)
    corrected = span.area_excess / (np.sign(span.area_excess) * a - span.slope)
    assert np.all((corrected >= 0) & (corrected <= span.time))
    rising = np.flatnonzero(
        (span.area_excess * span.slope > 0) & (span.middle(corrected) * span.area_excess > 0)
    )
    for n in rising[:200]:  # if the velocity rises with h, it is the least velocity
        one = Span.of(span.distance[n], span.first[n], span.last[n], span.time[n])
        assert of_least_speed(one, MotionLimits(acceleration=float(a[n]))) == pytest.approx(
            corrected[n]
        )


def test_equation_12_is_not_the_least_speed_where_speeds_fall() -> None:
    """The example reversed: eq. 12 peaks at 33.8 deg/s, the latest switch only at 30."""
    back = Span.of(np.radians(27.0), np.radians(30.0), np.radians(20.0), 1.0)
    limits = MotionLimits(acceleration=math.radians(200.0))
    early = back.area_excess / (limits.acceleration - back.slope)
    assert np.degrees(back.peak_speed(early)) == pytest.approx(33.81, abs=0.01)
    late = of_least_speed(back, limits)
    assert np.degrees(back.peak_speed(late)) == pytest.approx(30.0)
    assert np.degrees(back.middle(late)) == pytest.approx(24.2105, abs=1e-4)


def test_equation_16_is_where_the_second_piece_keeps_its_speed() -> None:
    """tm = (ω1 t1 − 2 ω2 t2 − 2θ1 + 2θ2 + ω2 t1)/(ω1 − ω2), where ωm = ω2."""
    span, t1, _ = spans()
    w1, w2, t2 = span.first, span.last, t1 + span.time
    tm = (w1 * t1 - 2 * w2 * t2 + 2 * span.distance + w2 * t1) / (w1 - w2)
    inside = (tm > t1) & (tm < t2)
    np.testing.assert_allclose(span.middle(tm - t1)[inside], w2[inside], atol=1e-9)
    # With h in the rising direction it is also the switch of least |work|.
    ends = inside & (span.area_excess * span.slope > 0)
    np.testing.assert_allclose(of_least_work(span)[ends], (tm - t1)[ends], atol=1e-9)
    assert ends.sum() > 500


@pytest.mark.parametrize(
    ("planner", "switch", "middle", "peak", "printed", "work", "effort"),
    [
        ("acceleration", 3.8385, 32.385, 14.770, 0.1807, 0.1767, 0.2818),
        ("speed", 3.0211, 24.211, 200.0, 0.2004, 0.1767, 0.1767),
        ("energy", 3.6, 30.0, 16.667, 0.1767, 0.1767, 0.1767),
    ],
)
def test_table_1(
    planner: str,
    switch: float,
    middle: float,
    peak: float,
    printed: float,
    work: float,
    effort: float,
) -> None:
    """tm, ωm and |a|max reproduce; printed energies, ∫P dt and ∫|P| dt are three values."""
    row = next(each for each in compare() if each.planner == planner)
    assert row.switch == pytest.approx(switch, abs=5e-5)
    assert math.degrees(row.middle) == pytest.approx(middle, abs=5e-4)
    assert math.degrees(row.acceleration) == pytest.approx(peak, abs=5e-4)
    assert 1e3 * row.as_printed == pytest.approx(printed, abs=5e-5)
    assert 1e3 * row.work == pytest.approx(work, abs=5e-5)
    assert 1e3 * row.effort == pytest.approx(effort, abs=5e-5)
    page = TABLE_1[planner]
    assert row.switch == pytest.approx(page.switch, abs=5e-3)
    assert math.degrees(row.middle) == pytest.approx(page.middle, abs=6e-3)
    assert math.degrees(row.acceleration) == pytest.approx(page.acceleration, abs=5e-3)
    assert 1e3 * row.as_printed == pytest.approx(page.energy, abs=5e-5)


def test_the_printed_energies_are_a_slip() -> None:
    """A second segment started at ω2 gives Table 1, started at ωm always ∫P dt."""
    s = np.linspace(0.01, 0.99, 99)
    wm = 24.0 + 10.0 * s
    ki = 0.5 * K * 0.00232
    slip = ki * ((wm**2 - 400) + 2 * 30 * (30 - wm) + (30 - wm) ** 2)
    np.testing.assert_allclose(energy_as_printed(EXAMPLE, s, INERTIA), slip, rtol=1e-12)
    work, _ = mechanical(EXAMPLE, s, INERTIA)
    np.testing.assert_allclose(work, ki * (30**2 - 20**2), rtol=1e-12)
    lowest, highest = slip.min(), slip[1]
    assert (highest - lowest) / lowest == pytest.approx(0.13, abs=0.01)  # the "13 percent"


def test_figure_15_as_printed() -> None:
    """0.2021, 0.1767 and 0.1880 mJ at tm = 3, 3.6 and 4 s."""
    found = 1e3 * energy_as_printed(EXAMPLE, np.array([0.0, 0.6, 1.0]), INERTIA)
    np.testing.assert_allclose(found, [0.2021, 0.1767, 0.1880], atol=5e-5)


def test_every_switch_up_to_3_6_s_is_of_least_work() -> None:
    """∫|P| dt is constant up to tm = 3.6 s and rises after it; 3.6 s has least acceleration."""
    _, before = mechanical(EXAMPLE, np.linspace(0.01, 0.6, 60), INERTIA)
    np.testing.assert_allclose(before, before[0], rtol=1e-12)
    _, after = mechanical(EXAMPLE, np.linspace(0.61, 0.99, 39), INERTIA)
    assert np.all(np.diff(after) > 0)
    assert after[0] > before[0] * (1 + 1e-6)
    assert of_least_work(EXAMPLE) == pytest.approx(0.6, abs=1e-12)
    gentle = EXAMPLE.peak_acceleration(np.linspace(0.05, 0.6, 50))
    assert np.all(np.diff(gentle) < 0)


def test_a_loss_model_has_one_best_switch() -> None:
    """With copper loss and friction another switch is optimal, better than all of Table 1."""
    best = float(of_least_energy(EXAMPLE, MotionLimits(), SERVO))
    cost = float(span_energy(EXAMPLE, best, SERVO))
    grid = np.linspace(0.001, 0.999, 9_999)
    assert cost <= span_energy(EXAMPLE, grid, SERVO).min() * (1 + 1e-12)
    rows = compare(limits=MotionLimits(acceleration=math.radians(200.0)))
    assert min(row.drawn for row in rows) == next(
        row.drawn for row in rows if row.planner == "energy with losses"
    )
    copper = MotorLosses(inertia=INERTIA, copper=8.0, recuperation=1.0)
    only = float(
        of_least_energy(EXAMPLE, MotionLimits(), copper)
    )  # ∫a² alone: switch of least cost
    squares = [sum(a**2 * t for a, t in zip(EXAMPLE.accelerations(s), (s, 1 - s), strict=True))
               for s in grid]  # fmt: skip
    assert only == pytest.approx(grid[int(np.argmin(squares))], abs=2e-4)


def test_the_step_reaches_the_stated_figures() -> None:
    """0 to 50° at rest, 1400 deg/s² up to 281 deg/s; with 1400 both ways it would be slower."""
    step = servo_step()
    assert math.degrees(step.peak_speed) == pytest.approx(281.0)
    assert math.degrees(step.accelerations[0]) == pytest.approx(1400.0)
    assert math.degrees(step.accelerations[1]) == pytest.approx(-1811.0, abs=0.5)
    assert math.degrees(step.states(step.times[-1])[0]) == pytest.approx(50.0)
    assert step.states(step.times[-1])[1] == pytest.approx(0.0, abs=1e-12)
    limits = MotionLimits(speed=math.radians(281.0), acceleration=math.radians(1400.0))
    quick = plan_together({"servo": 0.0}, {"servo": math.radians(50.0)}, {"servo": limits})["servo"]
    assert math.degrees(quick.peak_speed) == pytest.approx(math.sqrt(1400.0 * 50.0))
    assert quick.duration == pytest.approx(2.0 * math.sqrt(50.0 / 1400.0))
    assert quick.duration > step.duration


def test_the_samples_of_the_step_are_the_data_that_ship() -> None:
    """The profile at 30 Hz is the file that `linkwork fit` reads."""
    times = np.arange(25) / 30.0
    log = read_measured_log(FOLDER / "lima_step.csv")
    np.testing.assert_allclose(log.time, times, atol=1e-6)
    np.testing.assert_allclose(log.angle(), servo_step().states(times)[0], atol=1e-6)


@pytest.mark.capability(165)
def test_the_example_is_planned_in_three_ways() -> None:
    """0° at 20 deg/s at 3 s to 27° at 30 deg/s at 4 s: each planner meets both states."""
    limits = MotionLimits(acceleration=math.radians(200.0))
    for planner in ("acceleration", "speed", "energy"):
        distance = segment(START, END, planner, limits)
        for time, position, speed in ((3.0, 0.0, 20.0), (4.0, 27.0, 30.0)):
            x, v, _ = distance.states(time)
            assert math.degrees(x) == pytest.approx(position, abs=1e-12)
            assert math.degrees(v) == pytest.approx(speed, abs=1e-12)


def test_references_may_lie_anywhere_in_time() -> None:
    """The same conditions at another time give the same profile, shifted."""
    early = segment(
        Waypoint(0.0, START.position, START.speed), Waypoint(1.0, END.position, END.speed)
    )
    late = segment(START, END)
    np.testing.assert_allclose(late.times - 3.0, early.times, atol=1e-12)


@pytest.mark.capability(166)
def test_the_command_prints_the_table() -> None:
    """`linkwork plan` shows Table 1 with printed and corrected values side by side."""
    done = linkwork("plan")
    assert done.code == 0, done.err
    rows = {line.split("  ")[0].strip(): line for line in done.out.splitlines()}
    for figure in ("3.84", "3.8385", "32.39", "32.385", "14.77", "0.1807", "0.1767", "0.2818"):
        assert figure in rows["acceleration"]
    for figure in ("3.02", "3.0211", "24.21", "24.211", "200", "0.2004", "0.1767"):
        assert figure in rows["speed"]
    for figure in ("3.6", "30", "16.67", "16.667", "0.1767"):
        assert figure in rows["energy"]
