"""Visum §5: impulses that hold joints, against the paper and theory."""

import importlib
import math
from pathlib import Path

import numpy as np
import pytest

from effort import seconds
from linkwork.model.parts import Box, Element, Part
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from mechanisms import centers, chain, four_bar, scene_of, top

CASES = {
    "double pendulum of balls": lambda: chain(2, "ball"),
    "four-bar": four_bar,
    "double pendulum of hinges": lambda: chain(2),
    "top": top,
}


def after(case: str, step: float, order: int) -> np.ndarray:
    """Returns the poses of all bodies at sixteen times within 0.64 s."""
    scene = scene_of(CASES[case](), step=step, order=order, gap=1e-13, most=200)
    with Session(scene) as session:
        found = []
        for _ in range(16):
            session.step(round(0.04 / step))
            found.append(centers(session))
        return np.array(found)


@pytest.mark.capability(10)
@pytest.mark.parametrize("case", CASES)
def test_orders_are_what_they_are_called(case: str) -> None:
    """Halving the step divides the error by 4, 16 and 64."""
    truth = after(case, 0.00125, 6)
    for order, step in ((2, 0.005), (4, 0.005), (6, 0.008 if case == "four-bar" else 0.01)):
        coarse, fine = (np.linalg.norm(after(case, h, order) - truth) for h in (step, step / 2))
        assert math.log2(coarse / fine) == pytest.approx(order, abs=0.1), (order, coarse, fine)


@pytest.mark.capability(11, 13, 15)
@pytest.mark.parametrize("case", ["four-bar", "hexapod", "ring of 20"])
def test_joints_hold_to_their_tolerance_and_energy_is_kept(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default, at 1 ms, over 10 s: gaps below 1e-9 m, energy always to 0.1 %."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    ours, linkages = (importlib.import_module(f"shared.{x}") for x in ("loops_ours", "linkages"))
    with ours.session_of(linkages.CASES[case]()) as session:
        report = session.state.report
        energies, swing = [], 0.0
        for _ in range(1000):
            session.step(10)
            energies.append(report.energy.sum())
            swing = max(swing, report.energy[0])
        whole = session.report()
        (account,) = whole.accounts
        assert whole.gap <= 1e-9  # of every loop after every step, from the poses
        assert account.gap <= 1e-10
        assert account.speed_gap <= 1e-9
        assert (account.halved, account.exceeded) == (0, 0)
        assert np.ptp(energies) <= 1e-3 * swing


@pytest.mark.capability(12)
def test_anytime_keeps_the_papers_tolerances() -> None:
    """Sequential: Dmax 1e-6 m and Vmax 1e-4 m/s are kept, and it converges to the same."""
    published = scene_of(four_bar(), solver="anytime", gap=1e-6, speed_gap=1e-4, most=2000)
    with Session(published) as session, Session(scene_of(four_bar())) as other:
        session.step(500)
        other.step(500)
        (account,) = session.report().accounts
        assert account.steps == 500
        assert account.gap <= 1e-6  # of all joints, after every step
        assert account.speed_gap <= 1e-4
        assert account.exceeded == 0
        np.testing.assert_allclose(session.state.q, other.state.q, atol=1e-3)


@pytest.mark.capability(12)
def test_one_correction_per_joint_damps_and_does_not_fall_apart() -> None:
    """Under extreme load a model loses energy, but its joints hold."""
    with Session(scene_of(chain(6), solver="anytime", most=1)) as session:
        session.step()
        first = session.state.report.energy.sum()
        session.step(5000)
        assert session.state.report.energy.sum() < first
        tips = centers(session)
        steps = np.linalg.norm(np.diff(tips[1:], axis=0), axis=1)
        assert steps.max() < 0.201  # neighbors are still a bar apart
        assert np.isfinite(session.state.pose).all()


@pytest.mark.capability(13)
def test_a_chaotic_double_pendulum_keeps_its_energy() -> None:
    """Its energy stays within narrow bounds for 20 s, with ``--full`` for a minute."""
    count = round(seconds(60.0, 20.0))
    with Session(scene_of(chain(2, value=-2.0), step=2e-3)) as session:
        session.step()
        first = session.state.report.energy.sum()
        off = []
        for _ in range(count):
            session.step(500)
            off.append(session.state.report.energy.sum() - first)
        whole = 1.5  # [J], potential energy released when it hangs
        assert np.abs(off).max() < 5e-3 * whole
        assert (
            abs(np.mean(off[count // 2 :]) - np.mean(off[: count // 2])) < 1e-3 * whole
        )  # and it does not drift


def elliptic(u: float, m: float) -> tuple[float, float, float]:
    """Jacobi's sn, cn, dn by arithmetic and geometric means (Abramowitz and Stegun 16.4)."""
    a, c = [1.0], [math.sqrt(m)]
    b = math.sqrt(1.0 - m)
    while abs(c[-1]) > 1e-16:
        a.append(0.5 * (a[-1] + b))
        c.append(0.5 * (a[-2] - b))
        b = math.sqrt(a[-2] * b)
    phi = 2 ** (len(a) - 1) * a[-1] * u
    before = phi
    for n in range(len(a) - 1, 0, -1):
        before = phi
        phi = 0.5 * (phi + math.asin(c[n] * math.sin(phi) / a[n]))
    sn, cn = math.sin(phi), math.cos(phi)
    return sn, cn, cn / math.cos(before - phi) if len(a) > 1 else 1.0


@pytest.mark.capability(14)
def test_a_free_top_turns_as_jacobi_says() -> None:
    """The angular velocity of a free body, against the closed form, for 20 s."""
    sizes = np.array([0.3, 0.2, 0.1])
    slow, fast = 1.5, 6.0
    box = Part("box").add(
        Element("box", (Box(size=(0.3, 0.2, 0.1), collide=False),), mass=1.2, spin=(slow, 0, fast))
    )
    scene = Scene("space", step=5e-3, gravity=(0, 0, 0)).place(box, base="free").engine("impulse")
    i1, i2, i3 = 0.1 * ((sizes**2).sum() - sizes**2)
    middle = slow * math.sqrt(i1 * (i3 - i1) / (i2 * (i3 - i2)))
    rate = fast * math.sqrt((i3 - i1) * (i3 - i2) / (i1 * i2))
    m = (i2 - i1) * i1 * slow**2 / ((i3 - i2) * i3 * fast**2)
    with Session(scene) as session:
        for _ in range(40):
            session.step(100)
            sn, cn, dn = elliptic(rate * session.state.step * 5e-3, m)
            truth = (slow * cn, middle * sn, fast * dn)
            np.testing.assert_allclose(session.state.v[3:6], truth, atol=1e-9)
