"""The file that maps physical devices to logical inputs."""

import math
from pathlib import Path

import pytest

from command_line import linkwork
from linkwork.core.errors import LinkworkError, NameNotFound
from linkwork.devices import DeviceMapping, load_devices

DEVICES = """\
format = "linkwork/devices 1"
title = "A desk with a gamepad and a SpaceMouse"

[[device]]
name = "pad"
type = "gamepad"
match = "Xbox"

[[device.map]]
from = "axis0"
to = "arm/J1.target"
scale_deg = 90
deadzone = 0.1

[[device.map]]
from = "axis1"
to = "drive"
invert = true
scale = 2

[[device.map]]
from = "button0"
to = "grip"

[[device]]
name = "mouse"
type = "spacemouse"

[[device.map]]
from = "axis5"
to = "arm/J1.target"
scale_deg = 10
offset_deg = 1
"""


def read(folder: Path, text: str = DEVICES) -> DeviceMapping:
    path = folder / "devices.toml"
    path.write_text(text)
    return load_devices(path)


@pytest.mark.capability(101)
def test_physical_values_become_logical_ones(tmp_path: Path) -> None:
    """Scale, dead zone, inversion and offset act; maps onto one input add up."""
    mapping = read(tmp_path)
    assert mapping.inputs() == ["arm/J1.target", "drive", "grip"]
    rest = mapping.apply({})
    assert rest == {"arm/J1.target": math.radians(1), "drive": 0.0, "grip": 0.0}
    made = mapping.apply(
        {"pad": {"axis0": 0.55, "axis1": 0.5, "button0": 1}, "mouse": {"axis5": -1}}
    )
    # (0.55 − 0.1)/0.9 of 90° is 45°; −10° and 1° from the other device
    assert math.isclose(made["arm/J1.target"], math.radians(45 - 10 + 1))
    assert made["drive"] == -1.0
    assert made["grip"] == 1.0


@pytest.mark.capability(101)
def test_the_dead_zone_is_still_and_does_not_jump() -> None:
    """Inside the dead zone nothing moves; beyond, values grow from 0 to the full scale."""
    from linkwork.devices import InputMap

    one = InputMap("axis0", "x", deadzone=0.2)
    assert one.value(0.2) == one.value(-0.1) == 0.0
    assert one.value(0.2 + 1e-9) < 1e-8
    assert (one.value(1.0), one.value(-7.0), one.value(math.nan)) == (1.0, -1.0, 0.0)


@pytest.mark.capability(101)
def test_check_prints_the_table(tmp_path: Path) -> None:
    """``linkwork check devices.toml`` validates the file and shows what means what."""
    read(tmp_path)
    done = linkwork("check", tmp_path / "devices.toml")
    assert done.code == 0, done.err
    assert "spacemouse" in done.out
    assert "2 devices, 3 logical inputs" in done.out
    read_wrong = tmp_path / "wrong.toml"
    read_wrong.write_text(DEVICES.replace("axis5", "axle5"))
    done = linkwork("check", read_wrong)
    assert done.code == 1
    assert "wrong.toml:30" in done.err


def test_a_connected_device_finds_its_entry(tmp_path: Path) -> None:
    """By type, and by a text in the name that the system gives it."""
    mapping = read(tmp_path)
    found = mapping.find("gamepad", "Microsoft XBOX 360 pad")
    assert found is not None
    assert found.name == "pad"
    assert mapping.find("gamepad", "Other") is None
    with pytest.raises(NameNotFound, match="'pad'"):
        mapping.apply({"pda": {}})


@pytest.mark.parametrize(
    ("right", "wrong", "line", "reported"),
    [
        ("linkwork/devices 1", "linkwork/devices 9", 1, "devices 1"),
        ('type = "gamepad"', 'type = "gampad"', 6, "gamepad"),
        ('from = "button0"', 'from = "key:A"', 22, "axis0 or button0"),
        ("deadzone = 0.1", "deadzone = 1.5", 13, "0.99"),
        ("invert = true", "inverted = true", 18, "invert"),
        ('name = "mouse"', 'name = "pad"', 26, "taken"),
        ('to = "drive"\n', "\n", 15, "needs 'to'"),
    ],
)
def test_mistakes_are_told(
    tmp_path: Path, right: str, wrong: str, line: int, reported: str
) -> None:
    """Each mistake names its line, what stands there and what is allowed."""
    assert right in DEVICES
    with pytest.raises(LinkworkError) as caught:
        read(tmp_path, DEVICES.replace(right, wrong, 1))
    assert reported in str(caught.value)
    assert f"devices.toml:{line}:" in str(caught.value)
