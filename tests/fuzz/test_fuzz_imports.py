"""Broken files of every format that is read give errors that name them, never a traceback.

A tenth of the 3500 cases runs, all of them with ``--full``. A failing case prints its
number; the same number makes the same file again. TOML, URDF and SDF have fuzz tests of their own
beside this one; together they are more than 10 000 cases.
"""

import math
import random
import resource
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from components.test_movement import NOD
from contract.examples import FORMAT_EXAMPLES
from corrupted_files import corrupted
from devices.test_devices import DEVICES
from effort import FULL
from formats.test_humanoid_xml import MOVEMENTS
from linkwork.core.errors import LinkworkError, Origin
from linkwork.core.registry import FORMATS
from linkwork.devices import load_devices
from linkwork.formats import format_for
from linkwork.formats.drawings.step import check_syntax
from linkwork.formats.movements import load_movement
from linkwork.geometry.meshes import clear_mesh_cache
from linkwork.model.parts import Part
from linkwork.model.scene import Scene
from mesh_files import bent, samples

SCALE = 1.0 if FULL else 0.1

#: Suffix and complete file of each reader, and its number of cases.
FILES: dict[str, tuple[str, bytes, int]] = {}


def _fill() -> None:
    for name, example in FORMAT_EXAMPLES.items():
        content = example.sample
        if content and name not in ("mesh", "gltf", "step"):
            data = content if isinstance(content, bytes) else content.encode()
            FILES[name] = (FORMATS.get(name).suffixes[0], data, 500)
    robot = FILES["humanoid_xml"][1].decode().replace("</robot>", MOVEMENTS)
    FILES["humanoid_xml"] = (".xml", robot.encode(), 2000)
    FILES["robotix"] = (".cfg", FILES["robotix"][1], 2000)
    for file, data in samples(bent()).items():
        FILES[file] = (Path(file).suffix, data, 500)


_fill()


def cases(name: str) -> Iterator[tuple[int, bytes]]:
    """Yields number and content of each case: words exchanged, bytes changed, truncated."""
    _, whole, count = FILES[name]
    for number in range(max(10, int(count * SCALE))):
        yield number, corrupted(random.Random(f"{name} {number}"), whole)


def refusal(path: Path, read: Callable[[Path], object]) -> str:
    """Returns the error of reading a file, or an empty text; other exceptions fail the test."""
    clear_mesh_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            read(path)
        except LinkworkError as error:
            return str(error)
        except Exception as error:
            pytest.fail(f"{path.read_bytes()!r}: {type(error).__name__}: {error}")
    return ""


def read_all(path: Path) -> None:
    """Reads a file in its format, with its movements."""
    form = format_for(path)
    assert isinstance(form.read(path), Part | Scene)
    for movement in getattr(form, "movements", lambda path: [])(path):
        assert movement.duration >= 0.0


@pytest.mark.parametrize("name", FILES)
def test_spoilt_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    """Each case gives a part, a scene or an error that names its file, in little memory."""
    path = tmp_path / f"case{FILES[name][0]}"
    refused = read = 0
    room = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number, data in cases(name):
        path.write_bytes(data)
        reported = refusal(path, read_all)
        assert not reported or "case" in reported, f"case {number}: {reported}"
        refused, read = refused + bool(reported), read + (not reported)
    assert refused > read / 20
    assert read > 0 or not FULL  # few cases may all be rejected
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - room
    assert grown < 600 * 1024  # [kB]


def test_spoilt_device_files_are_read_or_refused(tmp_path: Path) -> None:
    """1 500 broken device files give a valid mapping, or an error with its file."""
    path = tmp_path / "case.toml"

    def apply(path: Path) -> None:
        mapping = load_devices(path)
        assert mapping.apply({}).keys() == {*mapping.inputs()}

    reported = []
    for number in range(max(10, int(1500 * SCALE))):
        path.write_bytes(corrupted(random.Random(number), DEVICES.encode()))
        reported.append(refusal(path, apply))
    assert "" in reported
    assert all("case.toml" in each for each in reported if each)


def test_spoilt_movement_files_are_read_or_refused(tmp_path: Path) -> None:
    """800 broken movement files give tracks with values, or an error with its file."""
    path = tmp_path / "case.toml"

    def play(path: Path) -> None:
        movement = load_movement(path)
        for joint in movement.joints():
            assert math.isfinite(movement.track(joint).value(movement.duration / 2.0))

    reported = []
    for number in range(max(10, int(800 * SCALE))):
        path.write_bytes(corrupted(random.Random(number), NOD.encode()))
        reported.append(refusal(path, play))
    assert "" in reported
    assert all("case.toml" in each for each in reported if each)


def test_spoilt_step_files_never_reach_the_user_as_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 broken STEP files are rejected by the syntax check, or survive the CAD library."""
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "cache"))
    whole = FORMAT_EXAMPLES["step"].sample
    assert isinstance(whole, str)
    path = tmp_path / "case.step"
    passed: list[bytes] = []
    for number in range(max(10, int(300 * SCALE))):
        data = corrupted(random.Random(number), whole.encode())
        path.write_bytes(data)
        reported = refusal(path, lambda path: check_syntax(path.read_bytes(), Origin(str(path))))
        assert not reported or "case.step" in reported
        passed += [data] if not reported else []
    assert passed
    for data in passed[:: max(1, len(passed) // 12)]:
        path.write_bytes(data)
        reported = refusal(path, read_all)
        assert not reported or "case.step" in reported


def test_files_are_spoilt_in_many_ways_and_the_same_again() -> None:
    """A thousand cases of one file are nearly all different, and reproducible by seed."""
    made = [data for _, data in cases("robotix")][:1000]
    assert len({*made}) > 0.8 * len(made)
    assert made[7] == [data for _, data in cases("robotix")][7]


BOMB = """<?xml version="1.0"?>
<!DOCTYPE bomb [
<!ENTITY a "ha">
{lines}
]>
<{root}>&a9;</{root}>
"""
OUTSIDE = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><{root}><a b="1">&x;</a></{root}>'
ROOTS = {".xml": ("robot", "mujoco"), ".urdf": ("robot",), ".sdf": ("sdf",), ".dae": ("COLLADA",)}


@pytest.mark.parametrize(("suffix", "root"), [(s, r) for s, roots in ROOTS.items() for r in roots])
def test_entity_bombs_are_refused(tmp_path: Path, suffix: str, root: str) -> None:
    """Expanding or external entities are rejected in every XML format."""
    names = ["a", *(f"a{n}" for n in range(10))]
    lines = "\n".join(
        f'<!ENTITY {name} "{10 * f"&{before};"}">' for before, name in pairwise(names)
    )
    path = tmp_path / f"bomb{suffix}"
    for text in (BOMB.format(lines=lines, root=root), OUTSIDE):
        path.write_text(text.replace("{root}", root))
        with pytest.raises(LinkworkError) as caught:
            format_for(path).read(path)
        assert "bomb" in str(caught.value)
        assert "root:" not in str(caught.value)
