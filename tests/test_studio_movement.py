"""A movement edited in the studio: the session's side, spoken to as the server does."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from host_rig import Backstage, backstage
from linkwork.server import messages as m
from linkwork.server.host.open_scene import OpenScene

DEG = math.pi / 180


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Backstage]:
    """The humanoid held at its back, paused, in an empty folder."""
    with backstage("bioloid/fixed", tmp_path) as made:
        made.until("scene")
        made.ask(m.Pause())
        yield made


def scene_of(here: Backstage) -> OpenScene:
    assert isinstance(here.host.open, OpenScene)
    return here.host.open


def angle(here: Backstage, joint: str) -> float:
    return scene_of(here).session.signals.value(f"robot/{joint}.angle") / DEG


def edited(here: Backstage, test: Any = lambda said: True) -> Any:
    return here.until("movement", test)


def placed(here: Backstage, joint: str, value: float, gesture: int = 0) -> None:
    here.ask(m.Place(f"robot/{joint}", "", value * DEG, gesture))


def draft(said: Any) -> m.MovementDraft:
    import msgspec

    return msgspec.convert(said["draft"], m.MovementDraft)


@pytest.mark.capability(171, 172)
def test_a_movement_is_made_by_hand_mirrored_undone_and_saved(
    bench: Backstage, tmp_path: Path
) -> None:
    """Postures are added, shaped by hand, mirrored, timed, undone; the file says the same."""
    bench.ask(m.Reset())
    bench.ask(m.AddPosture())
    said = edited(bench, lambda s: s["draft"])
    assert said["on"] == "robot"
    assert (said["selected"], said["shown"]) == (0, True)
    assert len(said["draft"]["postures"][0]["joints"]) == 19
    bench.ask(m.AddPosture(time=1.5))
    edited(bench, lambda s: s["selected"] == 1)
    placed(bench, "left_shoulder_roll", 60.0, gesture=7)
    placed(bench, "left_shoulder_roll", 70.0, gesture=7)
    placed(bench, "neck", 30.0)
    said = edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] == 30 * DEG)
    assert said["draft"]["postures"][1]["joints"]["left_shoulder_roll"] == 70 * DEG
    assert said["draft"]["postures"][0]["joints"]["neck"] == 0.0
    bench.ask(m.MirrorMovement(1))
    said = edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] == -30 * DEG)
    joints = said["draft"]["postures"][1]["joints"]
    assert joints["right_shoulder_roll"] == 70 * DEG
    assert joints["left_shoulder_roll"] == said["draft"]["postures"][0]["joints"]["right_shoulder_roll"]
    assert angle(bench, "neck") == pytest.approx(-30.0)
    bench.ask(m.Undo())  # the mirror
    edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] == 30 * DEG)
    bench.ask(m.Undo())  # the neck
    said = edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] == 0.0)
    assert said["draft"]["postures"][1]["joints"]["left_shoulder_roll"] == 70 * DEG
    assert angle(bench, "neck") == pytest.approx(0.0)
    bench.ask(m.Undo())  # both places of one gesture
    edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["left_shoulder_roll"] != 70 * DEG)
    for _ in range(3):
        bench.ask(m.Redo())
    edited(bench, lambda s: s["draft"]["postures"][1]["joints"]["neck"] == -30 * DEG)
    bench.ask(m.SaveMovement("wave.toml"))
    said = edited(bench, lambda s: not s["dirty"])
    assert said["file"] == str(tmp_path.resolve() / "wave.toml") or Path(said["file"]).name == "wave.toml"
    kept = lw.load_movement(said["file"])
    assert [p.time for p in kept.postures] == [0.0, 1.5]
    assert kept.postures[1].joints == joints
    Path(said["file"]).unlink()
