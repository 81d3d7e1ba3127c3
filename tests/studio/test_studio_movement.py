"""A movement edited in the studio: the session's side, spoken to as the server does."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import linkwork as lw
from host_fixture import Backstage, backstage
from linkwork.session.replay import replay
from linkwork.studio import protocol as m
from linkwork.studio.host.movement_files import open_movement, save_movement
from linkwork.studio.host.open_scene import OpenScene
from studio_state import eventually

DEG = math.pi / 180


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Backstage]:
    """The humanoid held at its back, paused, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    with backstage("bioloid/fixed", tmp_path) as made:
        made.until("scene")
        made.ask(m.Pause())
        made.ask(m.Reset())
        yield made


def scene_of(here: Backstage) -> OpenScene:
    assert isinstance(here.host.open, OpenScene)
    return here.host.open


def angle(here: Backstage, joint: str) -> float:
    return scene_of(here).session.signals.value(f"robot/{joint}.angle") / DEG


def owner(here: Backstage, joint: str) -> str | None:
    return scene_of(here).session.signals.owners.get(f"robot/{joint}.target")


def edited(here: Backstage, test: Any = lambda logged: True) -> Any:
    return here.until("movement", test)


def placed(here: Backstage, joint: str, value: float, gesture: int = 0) -> None:
    here.ask(m.DragJoint(f"robot/{joint}", "", value * DEG, gesture))


def draft(logged: Any) -> m.MovementDraft:
    return msgspec.convert(logged["draft"], m.MovementDraft)


@pytest.mark.capability(171, 172)
def test_a_movement_is_made_by_hand_mirrored_undone_and_saved(
    bench: Backstage, tmp_path: Path
) -> None:
    """Postures are added, shaped by hand, mirrored, timed, undone; the file says the same."""
    bench.ask(m.AddPosture())
    logged = edited(bench, lambda s: s["draft"])
    assert logged["on"] == "robot"
    assert (logged["selected"], logged["shown"]) == (-1, False)
    assert len(logged["draft"]["postures"][0]["joints"]) == 19
    bench.ask(m.AddPosture(time=1.5))
    bench.ask(m.ShowMovement(posture=1))
    logged = edited(bench, lambda s: s["selected"] == 1)
    assert logged["shown"]
    placed(bench, "left_shoulder_roll", 60.0, gesture=7)
    placed(bench, "left_shoulder_roll", 70.0, gesture=7)
    placed(bench, "neck", 30.0)
    logged = edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] == 30 * DEG)
    assert logged["draft"]["postures"][1]["joints"]["left_shoulder_roll"] == 70 * DEG
    assert logged["draft"]["postures"][0]["joints"]["neck"] == 0.0
    bench.ask(m.MirrorMovement(1))
    logged = edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] == -30 * DEG)
    joints = logged["draft"]["postures"][1]["joints"]
    assert joints["right_shoulder_roll"] == 70 * DEG
    assert joints["left_shoulder_roll"] == 0.0
    assert angle(bench, "neck") == pytest.approx(-30.0)
    bench.ask(m.Undo())  # the mirror
    edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] == 30 * DEG)
    bench.ask(m.Undo())  # the neck
    logged = edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] == 0.0)
    assert logged["draft"]["postures"][1]["joints"]["left_shoulder_roll"] == 70 * DEG
    assert angle(bench, "neck") == pytest.approx(0.0)
    bench.ask(m.Undo())  # both places of one gesture
    edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["left_shoulder_roll"] != 70 * DEG)
    for _ in range(3):
        bench.ask(m.Redo())
    edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] == -30 * DEG)
    bench.ask(m.SaveMovement("wave.toml"))
    logged = edited(bench, lambda s: not s["dirty"])
    assert Path(logged["file"]) == tmp_path / "wave.toml"
    kept = lw.load_movement(logged["file"])
    assert [p.time for p in kept.postures] == [0.0, 1.5]
    assert kept.postures[1].joints == joints
    assert "joints_deg" in (tmp_path / "wave.toml").read_text()


@pytest.mark.capability(171, 172)
def test_a_preview_drives_the_robot_and_asks_before_it_takes_joints_over(bench: Backstage) -> None:
    """A program's joints are taken over only when told; the robot goes to the last posture."""
    session = scene_of(bench).session
    bench.ask(m.Speed(0.0))
    bench.ask(m.AddPosture())
    placed(bench, "neck", 40.0)
    bench.ask(m.AddPosture(time=0.8))
    logged = edited(bench, lambda s: s["draft"] and len(s["draft"]["postures"]) == 2)
    necks = [posture["joints"]["neck"] for posture in logged["draft"]["postures"]]
    assert necks == pytest.approx([0.0, 40 * DEG], abs=1e-4)  # the first is as it was added
    bench.ask(m.SingleStep(2))  # the scene's own agent plays its movement
    eventually("greet drives", lambda: owner(bench, "neck") == "greet")
    assert "greet drives" in bench.refused(m.PlayMovement())
    bench.ask(m.PlayMovement(take=True))
    bench.until("movement_time", lambda t: t["playing"])
    bench.until("movement_time", lambda t: not t["playing"] and t["time"] == 0.8)
    bench.ask(m.AddPosture(wanted=True))  # what is asked for next comes after the pause
    edited(bench, lambda s: len(s["draft"]["postures"]) == 3)
    assert not session.running
    assert session.signals.owners["robot/neck.target"] == "user"
    assert session.signals.value("robot/neck.target") == pytest.approx(40 * DEG)
    assert angle(bench, "neck") == pytest.approx(40.0, abs=1.0)


def test_a_preview_is_recorded_and_replayed_bit_for_bit(bench: Backstage) -> None:
    """Postures shown and targets written go in by the inbox: a replay needs no editor."""
    session = scene_of(bench).session
    bench.ask(m.Speed(0.0))
    bench.ask(m.Record(on=True))
    bench.ask(m.OpenMovement("bioloid/neck"))
    bench.ask(m.ShowMovement(posture=1))
    bench.ask(m.PlayMovement(take=True))
    bench.until("movement_time", lambda t: t["playing"])
    bench.until("movement_time", lambda t: not t["playing"])
    eventually("paused", lambda: not session.running)
    recording = scene_of(bench)._recording.file
    bench.ask(m.Record(on=False))
    eventually("written", lambda: scene_of(bench)._recording.file is None)
    assert recording is not None
    assert replay(recording).same


@pytest.mark.capability(171, 172)
def test_a_movement_is_scrubbed_without_dynamics(bench: Backstage) -> None:
    """At any time of it the robot has the posture that the movement says, while time stands."""
    bench.ask(m.OpenMovement("bioloid/greet"))
    logged = edited(bench, lambda s: s["draft"])
    assert (logged["draft"]["name"], logged["file"], logged["dirty"]) == ("greet", "", False)
    greet = lw.load_movement("bioloid/greet")
    for time in (0.3, 1.7, 4.0):
        bench.ask(m.ShowMovement(time=time))
        bench.until("movement_time", lambda t, time=time: t["time"] == time)
        for joint, value in greet.at(time).items():
            assert angle(bench, joint) == pytest.approx(value / DEG, abs=1e-9)
    assert scene_of(bench).session.state.step == 0
    bench.ask(m.Play())
    eventually("greet drives", lambda: owner(bench, "neck") == "greet")
    assert "greet drives" in bench.refused(m.ShowMovement(time=1.0))


def test_a_posture_of_the_past_is_added_as_it_is_seen(bench: Backstage) -> None:
    """Who looks at an earlier instant and edits a movement gets its posture, and loses no run."""
    session = scene_of(bench).session
    bench.ask(m.Speed(0.0))
    bench.ask(m.SingleStep(500))  # the scene's own agent turns the head
    eventually("500 steps", lambda: session.state.step == 500)
    bench.ask(m.AddPosture())
    late = edited(bench, lambda s: s["draft"])["draft"]["postures"][0]["joints"]["neck"]
    bench.ask(m.SetMovement(None))
    bench.ask(m.Seek(0.5))
    bench.ask(m.AddPosture())
    logged = edited(bench, lambda s: s["draft"])
    early = logged["draft"]["postures"][0]["joints"]["neck"]
    past = scene_of(bench)._time.shown
    assert past.step < 500
    assert 0.0 < early < late
    assert early == pytest.approx(past.q[session.world.single_dof("robot/neck")], abs=1e-4)
    made, q = draft(logged), session.state.q.copy()
    one = made.postures[0]
    other = msgspec.structs.replace(one, time=1.0, joints={**one.joints, "neck": 0.3})
    bench.ask(m.SetMovement(msgspec.structs.replace(made, postures=[one, other]), 1))
    logged = edited(bench, lambda s: len(s["draft"]["postures"]) == 2)
    assert not logged["shown"]
    bench.ask(m.MirrorMovement(1))
    edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] < 0)
    bench.ask(m.Undo())
    edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] > 0)
    bench.ask(m.Redo())
    edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] < 0)
    assert scene_of(bench)._time.shown is past
    assert session.state.step == 500
    assert (session.state.q == q).all()
    bench.ask(m.ShowMovement(posture=1))  # that is shown on the robot, which goes on from there
    edited(bench, lambda s: s["shown"])
    assert session.state.step == past.step


def test_edits_that_cannot_be_are_refused_and_others_are_told_as_problems(
    bench: Backstage,
) -> None:
    """Two postures at one time, a joint not known; a value or a plan out of reach is told."""
    bench.ask(m.AddPosture())
    bench.ask(m.AddPosture(time=0.1))
    logged = edited(bench, lambda s: s["draft"] and len(s["draft"]["postures"]) == 2)
    made = draft(logged)
    one, two = made.postures
    change = msgspec.structs.replace

    def with_two(**more: Any) -> m.SetMovement:
        return m.SetMovement(change(made, postures=[one, change(two, **more)]), 1)

    assert "at 0 s already" in bench.refused(with_two(time=0.0))
    assert "Did you mean 'neck'" in bench.refused(with_two(joints={"nek": 0.1}))
    assert "no joint" in bench.refused(with_two(joints={}))
    assert "already" in bench.refused(m.AddPosture(time=0.1))
    assert "posture 8" in bench.refused(m.MirrorMovement(7))
    bench.ask(with_two(joints={"left_knee": 1.0}))
    logged = edited(bench, lambda s: s["problems"])
    assert "left_knee is to go to 57.3°, but goes from −98° … 32°" in logged["problems"][0]
    assert "cannot be played" in bench.refused(m.PlayMovement())
    fast = change(
        made, planner="acceleration", postures=[one, change(two, joints={"neck": 1.0})],
        limits={"neck": m.JointLimits(speed=1.0, acceleration=2.0)},
    )  # fmt: skip
    bench.ask(m.SetMovement(fast, 1))
    logged = edited(bench, lambda s: s["draft"]["planner"] == "acceleration")
    assert "neck" in logged["problems"][0]
    bench.ask(m.SetMovement(change(fast, postures=[one, change(two, time=4.0)]), 1))
    assert edited(bench, lambda s: s["draft"]["postures"][1]["time"] == 4.0)["problems"] == []
    bench.ask(m.SetMovement(None))
    edited(bench, lambda s: s["draft"] is None)
    assert "no movement yet" in bench.refused(m.PlayMovement())
    bench.ask(m.Undo())
    edited(bench, lambda s: s["draft"] is not None)


@pytest.mark.capability(157, 171)
def test_files_are_written_only_where_they_may_be(bench: Backstage, tmp_path: Path) -> None:
    """TOML and Lima's XML are; other folders, kits, other suffixes and taken names are refused."""
    assert "no movement yet" in bench.refused(m.SaveMovement("a.toml"))
    bench.ask(m.OpenMovement("bioloid/greet"))
    edited(bench, lambda s: s["draft"])
    bench.ask(m.SaveMovement("greet.humanoid.xml"))
    edited(bench, lambda s: s["file"].endswith("greet.humanoid.xml"))
    kept = lw.load_movement(tmp_path / "greet.humanoid.xml")
    assert [p.joints for p in kept.postures] == [
        p.joints for p in lw.load_movement("bioloid/greet").postures
    ]
    assert lw.load_part(tmp_path / "greet.humanoid.xml").joints.keys() == (
        lw.load_part("bioloid/humanoid").joints.keys()
    )
    (tmp_path / "notes.toml").write_text("# mine\n")
    lw.save(lw.load_movement("bioloid/neck"), tmp_path / "mine.toml")
    before = "# mine\n" + (tmp_path / "mine.toml").read_text()
    (tmp_path / "mine.toml").write_text(before)
    assert "must end in .toml" in bench.refused(m.SaveMovement("greet.urdf"))
    assert "not in a folder" in bench.refused(m.SaveMovement("/etc/greet.toml"))
    assert "not in a folder" in bench.refused(m.SaveMovement("../../greet.toml"))
    assert "exists already" in bench.refused(m.SaveMovement("mine.toml"))
    assert "is not a movement" in bench.refused(m.SaveMovement("notes.toml", overwrite=True))
    assert (tmp_path / "mine.toml").read_text() == before
    assert (tmp_path / "notes.toml").read_text() == "# mine\n"
    bench.ask(m.SaveMovement("mine.toml", overwrite=True))
    bench.until("event", lambda e: "comments are not kept" in e["text"])
    edited(
        bench,
        lambda s: s["file"].endswith("mine.toml") and str(tmp_path / "mine.toml") in s["files"],
    )
    assert lw.load_movement(tmp_path / "mine.toml").name == "greet"
    assert "not in a folder" in bench.refused(m.OpenMovement("/etc/passwd.toml"))
    assert "holds no movement" in bench.refused(m.OpenMovement("bioloid/stand"))


def test_undo_goes_through_movement_and_files_in_the_order_of_doing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit of the scene between two of the movement is undone between them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(
        'format = "linkwork/scene 1"\nname = "s"\n[[part]]\nname = "arm"\npart = "gripper/arm"\n'
    )
    with backstage("s.toml", tmp_path) as here:
        here.until("scene")
        here.ask(m.Pause())
        here.ask(m.AddPosture())
        here.until("undo", lambda u: u["undo"] == "add a posture")
        here.ask(m.EditAttribute("", "scene", "title", "A title"))
        here.until("undo", lambda u: "title" in u["undo"])
        here.until("scene", lambda s: s["title"] == "A title")
        here.ask(m.AddPosture(time=2.0))
        here.until("undo", lambda u: u["undo"] == "add a posture")
        here.ask(m.Undo())
        edited(here, lambda s: s["draft"] and len(s["draft"]["postures"]) == 1)
        here.ask(m.Undo())
        here.until("scene", lambda s: s["title"] != "A title")
        here.ask(m.Undo())
        edited(here, lambda s: s["draft"] is None)
        for _ in range(2):
            here.ask(m.Redo())
        here.until("scene", lambda s: s["title"] == "A title")
        here.ask(m.Redo())
        edited(here, lambda s: s["draft"] and len(s["draft"]["postures"]) == 2)
        assert "a file of the scene" in here.refused(m.SaveMovement("s.toml", overwrite=True))
        here.ask(m.SaveAs("t.toml"))  # its history begins anew, the order stays
        here.until("saved")
        here.ask(m.EditAttribute("", "scene", "title", "Another"))
        here.until("scene", lambda s: s["title"] == "Another")
        here.ask(m.Undo())
        here.until("scene", lambda s: s["title"] == "A title")
        assert len(scene_of(here).movement.work.movement.postures) == 2
        here.ask(m.Undo())
        edited(here, lambda s: len(s["draft"]["postures"]) == 1)
        here.ask(m.AddPosture(time=5.0))  # another way: nothing that was undone is done again
        here.until("undo", lambda u: u["undo"] == "add a posture" and not u["can_redo"])
        assert "nothing to redo" in here.refused(m.Redo())
        here.ask(m.Undo())
        here.until("undo", lambda u: u["can_redo"])
        here.ask(m.EditAttribute("", "scene", "title", "A third"))
        here.until("undo", lambda u: "title" in u["undo"] and not u["can_redo"])
        assert "nothing to redo" in here.refused(m.Redo())


def test_undo_brings_back_the_file_with_the_movement(bench: Backstage, tmp_path: Path) -> None:
    """What was opened second is not written over by what was opened first; saved stays saved."""
    greet = lw.load_movement("bioloid/greet")
    lw.save(replace(greet, name="a"), tmp_path / "a.toml")
    lw.save(replace(greet, name="b", title="Another"), tmp_path / "b.toml")
    other = (tmp_path / "b.toml").read_bytes()
    bench.ask(m.OpenMovement("a.toml"))
    bench.ask(m.OpenMovement("b.toml"))
    edited(bench, lambda s: s["file"].endswith("b.toml"))
    bench.ask(m.Undo())
    logged = edited(bench, lambda s: s["draft"]["name"] == "a")
    assert (Path(logged["file"]).name, logged["dirty"]) == ("a.toml", False)
    made = msgspec.structs.replace(draft(logged), title="A title")
    bench.ask(m.SetMovement(made, number=7))
    logged = edited(bench, lambda s: s["dirty"])
    assert logged["number"] == 7
    bench.ask(m.SaveMovement(logged["file"]))
    edited(bench, lambda s: not s["dirty"])
    assert (tmp_path / "b.toml").read_bytes() == other
    assert lw.load_movement(tmp_path / "a.toml").title == "A title"
    bench.ask(m.Undo())  # the title, which is in the file
    logged = edited(bench, lambda s: s["draft"]["title"] != "A title")
    assert (Path(logged["file"]).name, logged["dirty"]) == ("a.toml", True)
    bench.ask(m.SetMovement(None))
    assert edited(bench, lambda s: s["draft"] is None)["file"] == ""
    bench.ask(m.Undo())
    assert Path(edited(bench, lambda s: s["draft"])["file"]).name == "a.toml"


def test_a_movement_of_a_robots_file_goes_back_into_it(bench: Backstage, tmp_path: Path) -> None:
    """Whatever the suffix of the robot's XML; what else is in the file stays."""
    greet, neck = lw.load_movement("bioloid/greet"), lw.load_movement("bioloid/neck")
    made = tmp_path / "robot.humanoid.xml"
    lw.save(greet, made, robot=lw.load_part("bioloid/humanoid"))
    lw.save(neck, made)
    (tmp_path / "other.xml").write_text("<mujoco/>")
    file = made.rename(tmp_path / "robot.xml")
    bench.ask(m.OpenMovement("robot.xml", "neck"))
    logged = edited(bench, lambda s: s["draft"])
    assert logged["file"] == str(file)
    shorter = draft(logged)
    del shorter.postures[-1]
    bench.ask(m.SetMovement(shorter))
    bench.ask(m.SaveMovement(logged["file"]))
    edited(bench, lambda s: len(s["draft"]["postures"]) == len(shorter.postures) and not s["dirty"])
    kept = lw.load_movement(file, "neck")
    assert [p.time for p in kept.postures] == [p.time for p in shorter.postures]
    assert len(lw.load_movement(file, "greet").postures) == len(greet.postures)
    assert "must end in" in bench.refused(m.SaveMovement("new.xml"))
    assert "must end in" in bench.refused(m.SaveMovement("other.xml", overwrite=True))


def test_a_path_means_the_same_file_to_open_and_to_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative one is in the first folder, wherever the program works."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine"
    file, _ = save_movement(
        lw.load_movement("bioloid/neck"), "n.toml", None, [folder], overwrite=False
    )
    assert Path(file) == folder / "n.toml"
    assert open_movement("n.toml", "", [folder])[1] == file
    assert open_movement("bioloid/neck", "", [folder])[1] == ""
    with pytest.raises(lw.LinkworkError, match="not in a folder"):
        open_movement("../n.toml", "", [folder])


def test_an_edit_or_stop_ends_a_preview_and_the_time_that_it_began(
    bench: Backstage, tmp_path: Path
) -> None:
    """Time stands again, unless somebody wanted it to run."""
    session, play = scene_of(bench).session, scene_of(bench).movement.play

    def begun() -> None:
        bench.ask(m.PlayMovement(take=True))
        eventually("begun", lambda: play.playing and session.running)

    bench.ask(m.OpenMovement("bioloid/greet"))
    logged = edited(bench, lambda s: s["draft"])
    begun()
    bench.ask(m.PlayMovement(on=False))
    eventually("stopped", lambda: not (play.playing or session.running))
    begun()
    bench.ask(m.SetMovement(msgspec.structs.replace(draft(logged), title="A title")))
    eventually("edited", lambda: not (play.playing or session.running))
    begun()
    bench.ask(m.Play())
    bench.ask(m.PlayMovement(on=False))
    bench.ask(m.SaveMovement("greet.toml"))
    eventually("all done", (tmp_path / "greet.toml").exists)
    assert session.running
    assert not play.playing


def test_only_joints_that_can_be_driven_go_into_postures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What hangs loose follows; a movement of the drives can be played."""
    monkeypatch.chdir(tmp_path)
    arm = lw.load_part("gripper/arm")
    loose = replace(arm, joints={**arm.joints, "J3": replace(arm.joints["J3"], drive=None)})
    scene = lw.Scene("s")
    scene.place(loose, name="arm")
    lw.save(scene, tmp_path / "s.toml")
    with backstage("s.toml", tmp_path) as here:
        here.until("scene")
        here.ask(m.Pause())
        here.ask(m.Reset())
        here.ask(m.AddPosture())
        logged = edited(here, lambda s: s["draft"])
        assert set(logged["draft"]["postures"][0]["joints"]) == {"J1", "J2"}
        here.ask(m.DragJoint("arm/J3", "", 0.2))
        here.ask(m.AddPosture(time=0.1))
        logged = edited(here, lambda s: len(s["draft"]["postures"]) == 2)
        assert all(set(p["joints"]) == {"J1", "J2"} for p in logged["draft"]["postures"])
        here.ask(m.PlayMovement())
        here.until("movement_time", lambda t: t["playing"])


def test_a_mirror_says_what_it_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A joint without an image is left as it is; one that the scene has no more is told."""
    monkeypatch.chdir(tmp_path)
    with backstage("bioloid/fixed", tmp_path) as here:
        here.until("scene")
        here.ask(m.Pause())
        here.ask(m.Reset())
        placed(here, "neck", 30.0)
        here.ask(m.AddPosture())
        edited(here, lambda s: s["draft"] and s["draft"]["postures"][0]["joints"]["neck"] > 0.5)
        work = scene_of(here).movement.work
        found = work.mirror()
        knee = work.robot.dofs["left_knee"]
        images = {dof: to for dof, to in found.images.items() if dof != knee}
        work._mirror = replace(found, images=images, left_out=(knee,))
        here.ask(m.MirrorMovement(0))
        logged = edited(here, lambda s: s["draft"]["postures"][0]["joints"]["neck"] < 0)
        assert "left_knee" in logged["draft"]["postures"][0]["joints"]
        here.until("event", lambda e: "left_knee: no mirror image" in e["text"])
        movement = work.movement
        posture = replace(movement.postures[0], joints={"wing": 0.1})
        work.now = replace(work.now, movement=replace(movement, postures=(posture,)))
        assert "has no joint wing" in here.refused(m.MirrorMovement(0))
