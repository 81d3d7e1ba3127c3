"""Fuzzing the MJCF reader: any file gives a scene or an error with the reason."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from effort import cases
from linkwork.core.errors import LinkworkError
from linkwork.formats.robots.mjcf import MjcfFormat
from linkwork.model.scene import Scene

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
    """Returns "scene", or the error's text."""
    path.write_text(text, encoding="utf-8")
    try:
        found = "scene" if isinstance(MjcfFormat().read(path), Scene) else "something else"
    except LinkworkError as error:
        found = str(error)
    assert found == "scene" or str(path.parent) in found
    return found


def spoiled(chance: random.Random) -> str:
    """Returns the seed with changed attributes, elements or characters."""
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
    """A thousand corrupted models: never a traceback, and both outcomes occur."""
    chance = random.Random(11)
    found = [outcome(spoiled(chance), tmp_path / "spoiled.xml") for _ in range(cases(1000))]
    assert outcome(SEED, tmp_path / "seed.xml") == "scene"
    assert 0.05 * len(found) < found.count("scene") < 0.9 * len(found)
    lines = [each for each in found if re.search(r"spoiled\.xml:\d+: ", each)]
    assert len(lines) > 0.9 * (len(found) - found.count("scene"))  # errors name their line


BOMB = """<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY c "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<mujoco model="&c;"><worldbody/></mujoco>"""


def _model(world: str = "", rest: str = "") -> str:
    return f"<mujoco>{rest}<worldbody>{world}</worldbody></mujoco>"


_JOINT = '<body><joint name="j"/><geom name="g" size="1"/></body>'
_CONTACT, _GENERAL = '<contact num="1000"/>', '<general joint="j"/>'
#: Expensive models, and the expected messages.
COSTLY: dict[str, tuple[str, str]] = {
    "replicas": (
        _model('<replicate count="20000">' * 3 + "<body/>" + "</replicate>" * 3),
        "more than 20000 elements, replicas included",
    ),
    "nesting": (_model("<body>" * 5000 + "</body>" * 5000), "nested deeper than 499"),
    "crowd": (_model("<body/>" * 30_000), "more than 20000 elements"),
    "large file": (_model(" " * 2**24), "larger than 16 MB"),
    "way out": (_model('<include file="/etc/hostname"/>'), "which is outside of"),
    "too far up": (_model(f'<include file="{"../" * 9}etc/hostname.xml"/>'), "which is outside of"),
    "way up": (_model('<include file="../outside.xml"/>'), "cannot be read"),
    "composites": (
        _model('<composite type="cable" count="100000 1 1"/><flexcomp count="999 999 999"/>'),
        "scene",
    ),
    "memory": (_model(rest='<size memory="900G" nuser_body="99999999"/>'), "scene"),
    "texture": (
        _model(
            rest='<asset><texture name="t" builtin="flat" width="99999" height="99999"/></asset>'
        ),
        "scene",
    ),
    "grid": (
        _model(rest='<asset><hfield name="h" nrow="99999" ncol="99999" size="1 1 1 1"/></asset>'),
        "at most",
    ),
    "custom": (_model(rest="<custom><numeric name='n' size='999999999'/></custom>"), "scene"),
    "lengths": (
        _model(
            _JOINT,
            '<compiler><lengthrange mode="all" inttotal="1e12" interval="1e11" timestep="1e-9"/>'
            '</compiler><actuator><motor joint="j"/></actuator>',
        ),
        "at most 20000 steps",
    ),
    "keyframes": (
        _model(
            "<body><freejoint/><geom size='1'/></body>" * 400,
            f"<keyframe>{'<key/>' * 400}</keyframe>",
        ),
        "400 keyframes of 5200 numbers each",
    ),
    "keyframes of replicas": (
        _model(
            "<replicate count='3000'><body><joint/><geom size='1'/></body></replicate>",
            f"<default><joint type='ball'/></default><keyframe>{'<key/>' * 5000}</keyframe>",
        ),
        "5000 keyframes of 21000 numbers each",
    ),
    "contacts": (_model(_JOINT, '<sensor><contact num="50000000"/></sensor>'), "num='50000000'"),
    "many contacts": (
        _model(_JOINT, f"<sensor>{_CONTACT * 2000}</sensor>"),
        "sensors and actuators hold more than",
    ),
    "samples": (
        _model(_JOINT, '<sensor><jointpos joint="j" nsample="2000000000"/></sensor>'),
        "nsample='2000000000'",
    ),
    "pixels": (
        _model(
            '<camera name="c" resolution="9999 9999"/>',
            '<sensor><rangefinder camera="c"/></sensor>',
        ),
        "sensors and actuators hold more than",
    ),
    "resolution": (_model('<camera resolution="999999999 9"/>'), "resolution='999999999'"),
    "activations": (
        _model(
            _JOINT, '<actuator><general joint="j" dyntype="user" actdim="100000000"/></actuator>'
        ),
        "actdim='100000000'",
    ),
    "inherited activations": (
        _model(
            _JOINT,
            '<default><general dyntype="user" actdim="1000" nsample="1000"/></default>'
            f"<actuator>{_GENERAL * 100}</actuator>",
        ),
        "sensors and actuators hold more than",
    ),
    "searches": (_model(rest='<option sdf_initpoints="999999999"/>'), "sdf_initpoints"),
}
_READER = """
import json, resource, sys, time
from pathlib import Path
from linkwork.core.errors import LinkworkError
from linkwork.formats.robots.mjcf import MjcfFormat

def outcome(path):
    began = time.perf_counter()
    try:
        MjcfFormat().read(path)
        found = "scene"
    except LinkworkError as error:
        found = str(error)
    return found, time.perf_counter() - began

outcome(Path(sys.argv[1]))
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + 400 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for path in sys.argv[2:]:
    print(json.dumps(outcome(Path(path))), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by Linux's means")
def test_models_beyond_measure_cost_little(tmp_path: Path) -> None:
    """Each is read in seconds with at most 400 MB more memory, MuJoCo's included."""
    seed = tmp_path / "seed.xml"
    seed.write_text(SEED, encoding="utf-8")
    paths = [tmp_path / f"{about}.xml" for about in COSTLY]
    for path, (text, _) in zip(paths, COSTLY.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", _READER, str(seed), *map(str, paths)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert made.returncode == 0, made.stderr
    found = [json.loads(line) for line in made.stdout.splitlines()]
    for (about, (_, expected)), (logged, seconds) in zip(COSTLY.items(), found, strict=True):
        assert expected in logged, about
        assert seconds < 5.0, about


def test_counts_in_use_are_read(tmp_path: Path) -> None:
    """Realistic models are far below the limits: samples, resolutions, contacts, keyframes."""
    text = _model(
        f'{_JOINT}<camera name="c" resolution="1920 1080"/>',
        '<option iterations="100" ls_iterations="50" sdf_initpoints="40"/>'
        '<sensor><contact geom1="g" num="5"/><jointpos joint="j" nsample="100"/></sensor>'
        f"<keyframe>{'<key/>' * 1000}</keyframe>",
    )
    assert outcome(text, tmp_path / "usual.xml") == "scene"


def test_entities_are_refused(tmp_path: Path) -> None:
    """A document type is rejected before any expansion."""
    assert "refused" in outcome(BOMB, tmp_path / "bomb.xml")
