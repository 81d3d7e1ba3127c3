"""Fuzzing the MJCF reader: whatever the file holds, it is a scene or an error that says why."""

from __future__ import annotations

import random
import re
import tracemalloc
from pathlib import Path

import pytest

from linkwork.errors import LinkworkError
from linkwork.formats.mjcf import MjcfFormat
from linkwork.scene import Scene

SEED = """<mujoco model="seed">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.002" integrator="RK4"><flag contact="enable"/></option>
  <default><geom density="500" friction="0.7"/>
    <default class="a"><joint damping="1"/></default></default>
  <asset>
    <material name="m" rgba="1 0 0 1"/><hfield name="h" nrow="3" ncol="3" size="1 1 1 0.1"/>
    <mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/><geom type="hfield" hfield="h"/>
    <light pos="0 0 3"/><camera name="c" pos="0 -1 1"/>
    <body name="b1" pos="0 0 1" childclass="a">
      <freejoint name="f"/><geom type="box" size="0.1 0.1 0.1" material="m"/><site name="s"/>
      <body name="b2"><joint name="j1" axis="0 1 0" range="-1 1" ref="0.1"/>
        <joint name="j2" type="slide"/>
        <geom name="g" type="capsule" fromto="0 0 0 0 0 1" size="0.1"/>
      </body>
    </body>
    <replicate count="3" offset="1 0 0"><body name="r"><joint/><geom size="0.1"/></body></replicate>
  </worldbody>
  <contact><pair geom1="floor" geom2="g"/><exclude body1="b1" body2="b2"/></contact>
  <tendon><fixed name="x"><joint joint="j1" coef="1"/><joint joint="j2" coef="2"/></fixed></tendon>
  <equality><joint joint1="j1" joint2="j2"/><connect body1="b2" anchor="0 0 1"/></equality>
  <actuator><motor joint="j1" gear="3"/><position tendon="x" kp="2"/></actuator>
  <sensor><gyro site="s"/><framepos objtype="body" objname="b2"/></sensor>
  <keyframe><key name="k" time="1"/></keyframe>
</mujoco>
"""
VALUES = [
    "nan", "inf", "-1", "0", "1e308", "1e-308", "99999999999", "", "a b", "1 2 3 4 5 6 7 8 9",
    "../../etc/passwd", "~1", "\u00e9", "true", "-0", "1e15", "0x10", "b1", "world", "j1",
]  # fmt: skip


def outcome(text: str, path: Path) -> str:
    """What reading gives: "scene", or the error's text."""
    path.write_text(text, encoding="utf-8")
    try:
        found = "scene" if isinstance(MjcfFormat().read(path), Scene) else "something else"
    except LinkworkError as error:
        found = str(error)
    assert found == "scene" or str(path.parent) in found
    return found


def spoiled(chance: random.Random) -> str:
    """The seed with attributes, elements or characters changed."""
    text = SEED
    for _ in range(chance.randrange(1, 3)):
        match chance.choice((0, 0, 0, 0, 1, 2, 3, 4, 5)):
            case 0:
                found = chance.choice(list(re.finditer(r'="([^"]*)"', text)))
                text = text[: found.start(1)] + chance.choice(VALUES) + text[found.end(1) :]
            case 1:
                lines = text.splitlines(keepends=True)
                del lines[chance.randrange(1, len(lines) - 1)]
                text = "".join(lines)
            case 2:
                lines = text.splitlines(keepends=True)
                k = chance.randrange(len(lines))
                text = "".join([*lines[:k], lines[chance.randrange(len(lines))], *lines[k:]])
            case 3:
                words = re.findall(r"<(\w+)", text)
                text = text.replace(f"<{chance.choice(words)}", f"<{chance.choice(words)}", 1)
            case 4:
                k = chance.randrange(len(text))
                text = text[:k] + chance.choice("<>&\"'/= 09\n") + text[k + 1 :]
            case 5:
                found = chance.choice(list(re.finditer(r" (\w+)=", text)))
                word = chance.choice(re.findall(r" (\w+)=", text))
                text = text[: found.start(1)] + word + text[found.end(1) :]
    return text


def test_spoiled_models_are_scenes_or_errors(tmp_path: Path) -> None:
    """A thousand spoiled models: never a traceback, and both outcomes occur."""
    chance = random.Random(11)
    found = [outcome(spoiled(chance), tmp_path / "spoiled.xml") for _ in range(1000)]
    assert outcome(SEED, tmp_path / "seed.xml") == "scene"
    assert 50 < found.count("scene") < 900
    lines = [each for each in found if re.search(r"spoiled\.xml:\d+: ", each)]
    assert len(lines) > 0.9 * (len(found) - found.count("scene"))  # errors name their line


BOMB = """<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY c "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<mujoco model="&c;"><worldbody/></mujoco>"""


@pytest.mark.parametrize(
    "body",
    [
        '<replicate count="20000">' * 3 + "<body/>" + "</replicate>" * 3,
        "<body>" * 5000 + "</body>" * 5000,
        "<body/>" * 30_000,
        '<include file="/etc/hostname"/>',
        '<include file="../outside.xml"/>',
        '<composite type="cable" count="100000 1 1"/><flexcomp type="grid" count="999 999 999"/>',
    ],
)
def test_models_beyond_measure_cost_little(tmp_path: Path, body: str) -> None:
    """Replicas, nesting, crowds and paths that lead out are refused or left out at once."""
    tracemalloc.start()
    outcome(f"<mujoco><worldbody>{body}</worldbody></mujoco>", tmp_path / "large.xml")
    assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
    tracemalloc.stop()


def test_settings_of_memory_and_large_assets_do_nothing(tmp_path: Path) -> None:
    """What would make MuJoCo ask for all memory is not handed on to it."""
    for text in (
        '<size memory="900G" nuser_body="99999999"/>',
        '<asset><texture name="t" type="2d" builtin="flat" width="99999" height="99999"/></asset>',
        '<asset><hfield name="h" nrow="99999" ncol="99999" size="1 1 1 1"/></asset>',
        "<custom><numeric name='n' size='999999999'/></custom>",
    ):
        outcome(f"<mujoco>{text}<worldbody/></mujoco>", tmp_path / "assets.xml")


def test_entities_are_refused(tmp_path: Path) -> None:
    """A document type is refused before anything of it is expanded."""
    assert "refused" in outcome(BOMB, tmp_path / "bomb.xml")
