"""Loops closed, and bars changed, while a mechanism runs."""

from dataclasses import replace

import numpy as np
import pytest

from linkwork.engines.common.kernels import loop_state
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Joint, Loop, Part
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session
from linkwork.session.transfer import transfer
from mechanisms import bar, chain, four_bar, ground, scene_of


def gap(session: Session) -> float:
    """Returns the largest gap of a loop [m]."""
    world, state = session.world, session.state
    found, _ = loop_state(
        np.arange(len(world.loop_names)), *world.loop_arrays, state.pose, state.loop_q.copy(),
        state["loop_turns"].copy(),
    )  # fmt: skip
    return found


def opened(by: float = 0.0) -> Scene:
    """Returns a four-bar whose coupler and rocker are not connected."""
    part = four_bar(open_by=by)
    del part.loops["C"]
    return scene_of(part)


def swapped(session: Session, scene: Scene) -> None:
    session.swap(scene).result()
    session.step(1)


def kinetic(cycle: Cycle) -> float:
    """Returns the kinetic energy of bodies that move in the plane of x and z [J]."""
    world, twist = cycle.world, cycle.state.twist
    moving = (twist[:, :3] ** 2).sum(axis=1)
    return float(0.5 * (world.mass @ moving + world.inertia[:, 1, 1] @ twist[:, 4] ** 2))


@pytest.mark.capability(99)
@pytest.mark.parametrize("by", [0.0, 1e-5])
def test_a_loop_that_is_closed_while_it_runs_holds_from_then_on(by: float) -> None:
    """Separate chains are closed without a jerk, and stay closed.

    They continue from their present pose even if the rounded drawing closes only nearly.
    """
    with Session(opened(by)) as session:
        session.step(60)
        closed = opened(by)
        closed.loops["held"] = Loop(
            "held", "four_bar/end", "four_bar/tip", "hinge", axis=(0, -1, 0)
        )
        before = kinetic(session.cycle)
        edited = Cycle(compile_scene(closed))
        transfer(session.cycle, edited)
        assert 0.0 < kinetic(edited) <= before * (1 + 1e-9), "it was not thrown"
        swapped(session, closed)
        assert session.world.loop_names == ["held"]
        assert gap(session) < 1e-9
        session.step(500)
        assert gap(session) < 1e-9
        swapped(session, opened(by))
        session.step(60)
        assert session.world.loop_names == []


def test_a_closed_loop_takes_an_edit_that_leaves_it_open() -> None:
    """A lengthened rocker stays closed at its end."""
    with Session(scene_of(four_bar())) as session:
        session.step(60)
        longer = four_bar()
        tip = longer.anchors["tip"]
        longer.anchors["tip"] = replace(tip, at=replace(tip.at, xyz=(0.27, 0.0, 0.0)))
        swapped(session, scene_of(longer))
        assert gap(session) < 1e-9
        session.step(200)
        assert gap(session) < 1e-9


def latch(*, shut: bool) -> Part:
    """Returns a bar on a hinge that can be hooked at its initial pose."""
    part = Part("latch").add(ground(), bar("bar", 0.2, 0.3))
    part.add(
        Joint("J", "hinge", "ground", "bar", axis=(0, 1, 0)),
        Anchor("hook", "ground", Pose.of((0.2, 0, 0))), Anchor("tip", "bar", Pose.of((0.2, 0, 0))),
    )  # fmt: skip
    return part.add(Loop("L", "hook", "tip", "ball")) if shut else part


@pytest.mark.parametrize("apart", [False, True])
def test_what_cannot_be_closed_begins_anew_and_nothing_else(apart: bool) -> None:
    """A bar far from its hook restarts at it; the chain beside it continues."""

    def cycle(*, shut: bool) -> Cycle:
        scene = Scene("bench", gravity=(0.0, 0.0, 0.0), step=1e-3)
        scene.place(latch(shut=shut)).place(chain(2), at=Pose.of((0, 1, 0))).engine("impulse")
        if apart:
            scene.engine("impulse", owns=["chain"])
        return Cycle(compile_scene(scene))

    old, new = cycle(shut=False), cycle(shut=True)
    old.state.q[:], old.state.v[:] = (np.pi, 0.9, -0.4), (0.0, 1.0, -2.0)
    old.refresh()
    for _ in range(20):
        old.move()
    turned = old.state.q.copy()
    assert turned[0] == pytest.approx(np.pi)
    transfer(old, new)
    assert new.state.q[0] == pytest.approx(0.0, abs=1e-9)
    assert np.abs(turned[1:] - new.first.q[1:]).min() > 0.1
    np.testing.assert_allclose(new.state.q[1:], turned[1:], atol=1e-9)
    np.testing.assert_allclose(new.state.v[1:], old.state.v[1:], atol=1e-9)
    (logged,) = [f for f in new.findings if "starts in the scene's posture, because" in f.text]
    assert logged.about == "latch"
    assert "latch/L" in logged.text
    new.move()
    assert new.state.report.gap[0] < 1e-9
