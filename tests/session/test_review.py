"""Promises that a reading of the code found broken once."""

from __future__ import annotations

import math

import pytest

from linkwork import Box, Element, Joint, Part, Plane, Pose, Scene, Session
from linkwork.core.errors import SceneError
from linkwork.model.parts import Coupling, Spec
from linkwork.session import messages


def arm(*joints: str) -> Part:
    """A chain of light links with a servo each."""
    part = Part("arm").add(Element("base", (Box((0.1, 0.1, 0.1)),), mass=1.0))
    before = "base"
    for name in joints:
        link = f"link_{name}"
        shape = Box((0.02, 0.02, 0.1), at=Pose((0.0, 0.0, 0.05)), collide=False)
        drive = Spec("actuator", "servo", params={"kp": 20.0, "kd": 1.0})
        part.add(
            Element(link, (shape,), mass=0.2),
            Joint(
                name, "hinge", before, link, at=Pose((0.0, 0.0, 0.1)), axis=(0, 1, 0),
                range=(-1.5, 1.5), max_speed=1.0, drive=drive,
            ),
        )  # fmt: skip
        before = link
    return part


def test_many_contacts_are_all_reported() -> None:
    """Twenty boxes on the floor press with their weight, the twentieth too."""
    scene = Scene("boxes").add(Element("floor", (Plane(),)))
    for n in range(20):
        box = Part("box").add(Element("b", (Box((0.1, 0.1, 0.1)),), mass=0.3))
        scene.place(box, name=f"box{n}", at=Pose((0.3 * n, 0.0, 0.05)), base="free")
        scene.sensor(f"force{n}", "contact", on=f"box{n}/b")
    with Session(scene) as session:
        session.run(1.0)
        for n in range(20):
            assert session[f"force{n}.force"] == pytest.approx(0.3 * 9.81, rel=0.01)


def test_placing_one_joint_leaves_other_servos_on_their_way() -> None:
    """A servo that ramps to its target goes on ramping while another joint is placed."""
    with Session(Scene("s").place(arm("J1", "J2"))) as session:
        session["arm/J2.target"] = 1.4
        session.run(0.2)
        on_the_way = session["arm/J2.setpoint"]
        assert 0.1 < on_the_way < 0.4
        session.apply(messages.PlaceJoint("arm/J1", "", 0.5))
        assert session["arm/J1.angle"] == 0.5
        assert session["arm/J2.setpoint"] == on_the_way


def test_placing_moves_a_chain_of_followers() -> None:
    """A follower of a follower is placed as well."""
    part = arm("J1", "J2", "J3")
    part.add(Coupling("J2", "J1", ratio=1.0), Coupling("J3", "J2", ratio=0.5))
    with Session(Scene("s").place(part).engine("kinematic")) as session:
        session.apply(messages.PlaceJoint("arm/J1", "", 0.5))
        assert session["arm/J2.angle"] == pytest.approx(0.5)
        assert session["arm/J3.angle"] == pytest.approx(0.25)


def test_reset_is_a_fresh_start_whatever_exit_does() -> None:
    """What a program sets in its exit() belongs to the run that ends."""
    source = (
        "from linkwork import Control\n"
        "class Last(Control):\n"
        "    def exit(self):\n"
        "        self.joint('J1').target = 1.0\n"
    )
    scene = Scene("s").place(arm("J1")).agent("last", "program", source=source)
    with Session(scene) as session:
        fresh = session.state.hash()
        session.run(0.1)
        session.apply(messages.ResetState())
        assert session["arm/J1.target"] == 0.0
        assert session.state.hash() == fresh


def test_a_kinematic_body_cannot_be_pulled() -> None:
    """A pull that would do nothing is refused with what to do instead."""
    with Session(Scene("s").place(arm("J1")).engine("kinematic")) as session:
        assert not session.apply(messages.GrabElement("arm/link_J1", (1.0, 0.0, 0.0)))
        assert "has no forces" in session.outbox.events[-1].text


def test_a_live_edit_that_moves_a_free_part_moves_it() -> None:
    """The edited placement counts; what the edit did not touch keeps its state."""

    def scene(x: float) -> Scene:
        box = Part("box").add(Element("b", (Box((0.1, 0.1, 0.1)),), mass=0.3))
        made = Scene("s").add(Element("floor", (Plane(),))).place(arm("J1"), at=Pose((3.0, 0, 0)))
        return made.place(box, at=Pose((x, 0.0, 0.05)), base="free")

    with Session(scene(1.0)) as session:
        session["arm/J1.target"] = 0.3
        session.run(1.0)
        before = session["arm/J1.angle"]
        session.swap(scene(2.0)).result()
        session.process_inbox()
        assert session["box.x"] == pytest.approx(2.0)
        assert session["arm/J1.angle"] == before


def test_a_posture_out_of_range_is_refused() -> None:
    """A posture keeps to the joints' ranges, as their signals do."""
    scene = Scene("s").place(arm("J1"))
    scene.postures["up"] = {"arm/J1": math.radians(170)}
    with pytest.raises(SceneError, match="out of its range"):
        Session(scene)


def test_a_follower_beyond_its_range_is_found() -> None:
    """Kinematic says before the run that a follower may leave its range."""
    part = arm("J1", "J2").add(Coupling("J2", "J1", ratio=3.0))
    with Session(Scene("s").place(part).engine("kinematic")) as session:
        assert any(
            "beyond" in f.text or "leave its own range" in f.text for f in session.cycle.findings
        )
