"""Waves and sequences: signals as functions of time."""

import math

import pytest

from agent_fixture import STEP, SmallBench
from linkwork.core.errors import LinkworkError


def trace(type: str, steps: int, **params: object) -> list[float]:
    """J1's angle after each step."""
    bench = SmallBench(("w", type, {"joint": "J1", **params})).start()
    angles = []
    for _ in range(steps):
        bench.step()
        angles.append(bench.angle("arm/J1"))
    return angles


def times(steps: int) -> list[float]:
    return [n * STEP for n in range(steps)]


def test_a_sine_is_its_closed_form() -> None:
    """offset + amplitude·sin(2π·f·t + phase), to rounding, for 10 s."""
    found = trace("wave", 1000, amplitude=0.4, offset=0.1, frequency=0.7, phase=0.3)
    wanted = [0.1 + 0.4 * math.sin(2.0 * math.pi * 0.7 * t + 0.3) for t in times(1000)]
    assert found == pytest.approx(wanted, abs=1e-12)


def test_a_square_has_the_sign_of_the_sine() -> None:
    """Both halves of the period are as long as the sine's."""
    found = trace("wave", 200, shape="square", amplitude=2.0, frequency=1.0, phase=0.01)
    wanted = [math.copysign(2.0, math.sin(2.0 * math.pi * t + 0.01)) for t in times(200)]
    assert found == wanted


def test_a_triangle_meets_the_sine_at_zeros_and_peaks() -> None:
    """It is 2/π·asin(sin(…)): straight between the peaks."""
    found = trace("wave", 300, shape="triangle", frequency=0.5, phase=-0.4)
    wanted = [
        2.0 / math.pi * math.asin(math.sin(2.0 * math.pi * 0.5 * t - 0.4)) for t in times(300)
    ]
    assert found == pytest.approx(wanted, abs=1e-7)


@pytest.mark.capability(161)
def test_a_wave_is_written_at_its_own_period() -> None:
    """Between the periods the target stays."""
    found = trace("wave", 10, period=5 * STEP)
    assert found[:5] == [0.0] * 5
    assert found[5:] == [math.sin(2.0 * math.pi * 5 * STEP)] * 5


def test_a_ramp_leads_from_the_first_value_to_the_wave() -> None:
    """(1 − s)·first + s·wave while s rises evenly, and the wave after."""
    bench = SmallBench(("w", "wave", {"joint": "J1", "offset": 1.0, "ramp": 0.5})).start()
    bench.turn("arm/J1", -0.5)
    kept = bench.state.copy()
    for t in times(80):
        bench.step()
        wave, s = 1.0 + math.sin(2.0 * math.pi * t), min(t / 0.5, 1.0)
        assert bench.angle("arm/J1") == pytest.approx((1.0 - s) * -0.5 + s * wave, abs=1e-12)
    end = bench.state.copy()
    bench.state.restore(kept)
    bench.run(80)
    assert bench.state.same(end)


def test_a_signal_can_be_named_and_has_one_owner() -> None:
    """A wave on a speed takes it; a second wave on the same signal is refused."""
    wave = {"signal": "arm/J1.target_speed", "amplitude": 0.5, "phase": math.pi / 2}
    bench = SmallBench(("a", "wave", wave), ("b", "wave", wave)).start()
    with pytest.raises(LinkworkError, match="owned by 'a', not by 'b'"):
        bench.step()
    assert bench.state.target_speed[0] == 0.5


@pytest.mark.parametrize(
    ("params", "expected_text"),
    [
        ({}, "either a 'signal' or a 'joint'"),
        ({"joint": "J1", "signal": "J1.target"}, "either a 'signal' or a 'joint'"),
        ({"joint": "J8"}, "no joint named 'J8'"),
        ({"signal": "J8.target"}, "no signal named 'J8.target'"),
        ({"signal": "J1.angle"}, "is measured"),
        ({"joint": "lift"}, "has no target"),
        ({"joint": "J2", "amplitude": 2.0}, "goes from -2 to 2 rad, but signal 'arm/J2.target'"),
        ({"joint": "J1", "frequency": -1}, "frequency must be a finite number of 0 or more"),
        ({"joint": "J1", "amplitude": math.nan}, "amplitude must be a finite number, not nan"),
        ({"joint": "J1", "ramp": -1.0}, "ramp must be"),
        ({"joint": "J1", "shape": "saw"}, 'must be one of sine, square, triangle, not "saw"'),
        ({"joint": "J1", "period": 0.003}, "not a whole multiple"),
        ({"joint": "J1", "amplitud": 1}, "Did you mean 'amplitude'?"),
    ],
)
def test_a_wrong_wave_is_refused_before_the_first_step(params: dict, expected_text: str) -> None:
    """Parameters, names and range are checked when the session starts at the latest."""
    with pytest.raises(LinkworkError) as caught:
        SmallBench(("w", "wave", params)).start()
    assert expected_text in str(caught.value)


def test_a_sequence_goes_straight_from_value_to_value() -> None:
    """Linear between the times, constant outside."""
    found = trace("sequence", 60, times=[0.1, 0.3, 0.4], values=[1.0, -1.0, 0.5])
    for t, angle in zip(times(60), found, strict=True):
        if t <= 0.1:
            wanted = 1.0
        elif t <= 0.3:
            wanted = 1.0 - 10.0 * (t - 0.1)
        else:
            wanted = min(-1.0 + 15.0 * (t - 0.3), 0.5)
        assert angle == pytest.approx(wanted, abs=1e-12)


def test_a_held_sequence_jumps_and_a_repeated_one_begins_again() -> None:
    """Each value stays until the next time; the last time is the first of the next round."""
    found = trace(
        "sequence", 70, times=[0.0, 0.105, 0.295], values=[1, 2, 3], hold=True, repeat=True
    )
    wanted = []
    for t in times(70):
        part = t % 0.295
        wanted.append(1.0 if part < 0.105 else 2.0)
    assert found == wanted


@pytest.mark.parametrize(
    ("params", "expected_text"),
    [
        ({}, "not 0 values at 0 times"),
        ({"times": [0, 1], "values": [1]}, "not 1 values at 2 times"),
        ({"times": [0, 0], "values": [1, 2]}, "times must rise"),
        ({"times": [0, math.inf], "values": [1, 2]}, "finite"),
        ({"times": [0], "values": [1], "repeat": True}, "at least two times"),
        ({"times": "soon", "values": [1]}, "times"),
    ],
)
def test_a_wrong_sequence_is_refused(params: dict, expected_text: str) -> None:
    """Lengths, order and numbers are checked."""
    with pytest.raises(LinkworkError) as caught:
        SmallBench(("s", "sequence", {"joint": "J1", **params}))
    assert expected_text in str(caught.value)
