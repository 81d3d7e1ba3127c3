"""Ports: what files say of them, how commands come in, sensors go out, and controllers get lost."""

from __future__ import annotations

import math
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from bus_fixture import (
    Partner,
    block_of,
    bus_client,
    line_type,
    logged,
    port_of,
    process_of,
    rig,
    until,
)
from command_line import linkwork
from effort import cases
from linkwork.buses import messages as talk
from linkwork.buses.port_listing import port_lines
from linkwork.core.errors import LinkworkError, SessionError
from linkwork.formats import load_scene, save
from linkwork.link import connect
from linkwork.model.parts import Spec
from linkwork.model.scene import Scene
from linkwork.model.scene.archive import pack, unpack
from linkwork.model.world import compile_scene
from linkwork.project.document import Document
from linkwork.session import messages as m
from linkwork.session.cycle import Cycle
from linkwork.session.replay import replay
from linkwork.session.session import Session
from session_scenes import ARM_FILE, SCENE_FILE, H, bench, program

BUS = """
[[bus]]
name = "can0"
type = "loop"
period_ms = 10
deadline_ms = 100

[[port]]
name = "tilt"
group = "legs/front"
commands = [{ name = "wish", lo_deg = -90, hi_deg = 90, bits = 8, signed = true, wire = "7" }]
sensors = [{ signal = "angle.angle", bits = 12 }]
parameters = [{ signal = "arm/J1.kp", name = "stiffness", bits = 16, lo = 0, hi = 100 }]
"""
JOINT_BUS = "bus = { can_id = 4, bits = 10, lo_deg = -90, hi_deg = 90 }"


@pytest.fixture(autouse=True, scope="module")
def type_of_the_rig() -> Iterator[None]:
    """The rig's type of bus, registered while this module's tests run."""
    with line_type():
        yield


def files(folder: Path, bus: str = BUS, joint: str = JOINT_BUS, more: str = "") -> Path:
    """A scene's files: an arm whose first joint is on a bus."""
    text = ARM_FILE.replace("kd = 1 }\n", f"kd = 1 }}\n{joint}\n", 1) + more
    (folder / "arm.toml").write_text(text)
    scene = SCENE_FILE.split("[[agent]]")[0] + bus
    (folder / "scene.toml").write_text(scene)
    return folder / "scene.toml"


def served(scene: Scene | Path, **options: Any) -> Session:
    """A session whose buses have no process: the tests say what comes over them."""
    return Session(scene, watch=False, buses=False, **options)


# ---- files ---------------------------------------------------------------------------------------


def test_an_empty_table_puts_a_joint_on_the_only_bus(tmp_path: Path) -> None:
    """``bus = {}`` says all by default; it survives saving, and no table is no port."""
    scene = load_scene(files(tmp_path, joint="bus = { }"))
    save(scene, tmp_path / "again.toml")
    for each in (scene, load_scene(tmp_path / "again.toml")):
        with served(each) as session:
            keys = list(session.cycle.bus("can0").rows)
            assert keys[-2:] == ["arm/J1.target", "arm/J1.angle"]
            assert not any(key.startswith("arm/J2") for key in keys)


@pytest.mark.capability(29)
def test_a_joint_is_bound_to_a_bus_in_its_file(tmp_path: Path) -> None:
    """``bus = { can_id = 4, bits = 10 }`` makes a port with the joint's target and angle."""
    inner = '[[port]]\nname = "inner"\nsensors = [{ signal = "J2.speed" }]\n'
    cycle = Cycle(compile_scene(load_scene(files(tmp_path, more=inner))))
    lines = {line.name: line for line in port_lines(cycle)}
    assert set(lines) == {
        "can0/arm/J1.target", "can0/arm/J1.angle", "can0/tilt.wish", "can0/tilt.angle",
        "can0/tilt.stiffness", "can0/arm/inner.speed",
    }  # fmt: skip
    target = lines["can0/arm/J1.target"]
    assert (target.role, target.bits, target.address) == ("command", 10, {"can_id": 4})
    assert (target.lo, target.hi) == (-math.pi / 2, math.pi / 2)
    assert target.raw == 512  # 0 rad lies between two codes; the even one
    assert lines["can0/tilt.wish"].group == "legs/front"
    assert lines["can0/arm/inner.speed"].behind == "arm/J2.speed"
    assert cycle.bus("can0").every == 5


def test_files_archives_and_python_say_the_same(tmp_path: Path) -> None:
    """Buses and ports survive saving and packing; Python has the same words."""
    scene = load_scene(files(tmp_path))
    save(scene, tmp_path / "again.toml")
    again = load_scene(tmp_path / "again.toml")
    assert again == scene
    packed = unpack(pack(scene), tmp_path)
    assert (packed.buses, packed.ports, packed.parts) == (scene.buses, scene.ports, scene.parts)
    python = bench()
    python.bus("can0", "loop", period=0.01, deadline=0.1)
    python.port("tilt", **scene.ports[0].params)
    assert [(s.name, s.type, s.params) for s in python.ports] == [
        (s.name, s.type, s.params) for s in scene.ports
    ]
    assert python.buses[0].params == scene.buses[0].params


MISTAKES = {
    "no bus": ('name = "tilt"', 'name = "tilt"\nbus = "can9"', "no bus named 'can9'"),
    "no signal": ("angle.angle", "angle.angel", "no signal named 'angle.angel'"),
    "an output": ('name = "wish"', 'signal = "arm/J2.angle"', "'arm/J2.angle' is not an input"),
    "no parameter": ("arm/J1.kp", "arm/J1.target", "is not a parameter"),
    "bits without range": (", lo_deg = -90, hi_deg = 90", "", "from -inf to inf"),
    "too many bits": ("bits = 8", "bits = 80", "from 1 to 52"),
    "turned about": ("lo = 0, hi = 100", "lo = 100, hi = 0", "from 100 to 0"),
    "no name": ('name = "wish", ', "", "needs a name"),
    "two of a name": ('name = "stiffness"', 'name = "wish"', "two signals named 'wish'"),
    "two ports": ('name = "tilt"', 'name = "tilt"\n[[port]]\nname = "tilt"', "name of another"),
    "plant": ("period_ms", 'plant = "ral"\nperiod_ms', "virtual, real, both"),
    "policy": ("period_ms", 'on_loss = "panic"\nperiod_ms', "hold, ramp, torque_off, stop, pause"),
    "closes": ("period_ms", 'closes = "real"\nperiod_ms', "cannot close the loop"),
    "period": ("period_ms = 10", "period_ms = 3", "whole multiple"),
    "unknown key": ("period_ms = 10", "perod_ms = 10", "no key 'perod'"),
    "unknown type": ('"loop"', '"lop"', "no bus type named 'lop'"),
    "address": ('wire = "7"', "wire = 7", "wire"),
    "person": ('name = "can0"', 'name = "user"', "needs a name"),
    "text for ms": ("deadline_ms = 100", 'ramp_ms = "fast"', "a number"),
    "scale and range": ("bits = 8", "bits = 8, scale_deg = 1", "exclude each other"),
    "unsafe": ("bits = 8", "bits = 8, safe_deg = 1000", "safe must be from -1.5708 to 1.5708"),
    "two command it": (
        'name = "wish", lo_deg = -90, hi_deg = 90',
        'signal = "arm/J1.target"',
        "'tilt' and 'arm/J1' of bus 'can0' both command 'arm/J1.target'",
    ),
    "odd deadline": ("deadline_ms = 100", "deadline_ms = -1", "0 or more"),
}


@pytest.mark.parametrize(("old", "new", "text"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, old: str, new: str, text: str) -> None:
    """The error names the file and the line, what is wrong and what is allowed."""
    file = files(tmp_path, BUS.replace(old, new, 1))
    with pytest.raises(LinkworkError) as caught:
        Cycle(compile_scene(load_scene(file)))
    assert text in str(caught.value)
    assert str(caught.value).startswith((f"{file}:", f"{file.parent / 'arm.toml'}:"))


CAN_BUS = """
[[bus]]
name = "can0"
type = "can"
socketcand = 0

[[port]]
name = "tilt"
sensors = [{ signal = "angle.angle", can_id = 7, bits = 12, send = "period", every_ms = 20 }]
"""
CAN_MISTAKES = {
    "text": (
        "can_id = 7",
        'can_id = "7"',
        "can_id must be a whole number from 0 to 536870911",
    ),
    "negative": ("can_id = 7", "can_id = -7", "from 0 to 536870911, not -7"),
    "large": ("can_id = 7", "can_id = 0xFFFFFFFFF", "from 0 to 536870911, not 68719476735"),
    "word": ('"period"', '"cyclic"', 'send must be one of change, period, request, not "cyclic"'),
    "every": ("every_ms = 20", 'every_ms = "20"', 'every_ms must be a number, not "20"'),
    "key": ("every_ms = 20", "evry_ms = 20", "no key 'evry'. Did you mean 'every'?"),
    "bitrate": ("socketcand", 'bitrate = "500k"\nsocketcand', 'from 1000 to 10000000, not "500k"'),
    "port": ("socketcand = 0", "slcan = 99999", "from 0 to 65535 or true or false, not 99999"),
    "channel": ("socketcand", 'channel = "a b"\nsocketcand', "1 to 16 letters and digits"),
    "flag": ("socketcand", 'timed = "no!"\nsocketcand', "timed must be true or false"),
    "no file": ("can_id = 7", 'dbc = "A.B"', "needs a DBC file"),
}


@pytest.mark.parametrize(("old", "new", "text"), CAN_MISTAKES.values(), ids=CAN_MISTAKES)
def test_a_mistake_about_a_wire_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, text: str
) -> None:
    """In the words of the file: the key, what is allowed and what was found."""
    file = files(tmp_path, CAN_BUS.replace(old, new, 1))
    with pytest.raises(LinkworkError) as caught:
        Cycle(compile_scene(load_scene(file)))
    assert text in str(caught.value)
    assert str(caught.value).startswith(f"{file}:")
    assert "Expected" not in str(caught.value)


@pytest.mark.parametrize(
    ("joint", "text"),
    [
        ("bus = { can_id = 4, start = 60, bits = 10 }", "10 bits from 60 do not fit"),
        ("bus = { bits = 10 }", "arm/J1.angle has no address on the bus. Give it a can_id."),
    ],
)
def test_a_place_that_cannot_be_is_told_at_the_joint(tmp_path: Path, joint: str, text: str) -> None:
    """What the type refuses of one signal is told where that signal is said, not at the bus."""
    file = files(tmp_path, CAN_BUS, joint)
    with pytest.raises(LinkworkError) as caught:
        Cycle(compile_scene(load_scene(file)))
    assert text in str(caught.value)
    part = file.parent / "arm.toml"
    line = next(n for n, row in enumerate(part.read_text().split("\n"), 1) if "[[joint]]" in row)
    assert str(caught.value).startswith(f"{part}:{line}:")


def test_a_missing_dbc_file_is_told_at_the_port(tmp_path: Path) -> None:
    """The scene's line, and the file that is not there."""
    text = CAN_BUS.replace("socketcand = 0", 'file = "nix.dbc"').replace(
        "can_id = 7", 'dbc = "A.B"'
    )
    file = files(tmp_path, text)
    with pytest.raises(LinkworkError, match=r"port 'tilt': .*nix.dbc: cannot be read") as caught:
        Cycle(compile_scene(load_scene(file)))
    assert str(caught.value).startswith(f"{file}:")


def test_a_port_must_say_which_of_several_buses(tmp_path: Path) -> None:
    """With two buses a port and a joint must name theirs; without any a joint's table sleeps."""
    two = BUS + '[[bus]]\nname = "can1"\ntype = "loop"\n'
    with pytest.raises(LinkworkError, match=r"port 'tilt' must name its bus: there are several"):
        Cycle(compile_scene(load_scene(files(tmp_path, two))))
    named = two.replace('name = "tilt"', 'name = "tilt"\nbus = "can1"')
    with pytest.raises(LinkworkError, match="joint 'arm/J1' must name its bus"):
        Cycle(compile_scene(load_scene(files(tmp_path, named))))
    joint = JOINT_BUS.replace("{ ", '{ bus = "can0", ')
    cycle = Cycle(compile_scene(load_scene(files(tmp_path, named, joint))))
    assert [line.bus for line in port_lines(cycle)] == ["can0"] * 2 + ["can1"] * 3
    assert Cycle(compile_scene(load_scene(files(tmp_path, "")))).buses == []


def test_a_joint_may_tell_and_take_more(tmp_path: Path) -> None:
    """Speeds, efforts and gains of the joint by name, with a quantization of their own or none."""
    joint = (
        'bus = { can_id = 4, bits = 10, commands = ["target", "target_speed"], '
        'sensors = ["angle", "effort"], '
        'parameters = [{ signal = "kp", bits = 8, lo = 0, hi = 50 }]}'
    )
    cycle = Cycle(compile_scene(load_scene(files(tmp_path, joint=joint))))
    lines = {line.signal: line for line in port_lines(cycle) if line.port == "arm/J1"}
    assert list(lines) == ["target", "target_speed", "angle", "effort", "kp"]
    assert [line.bits for line in lines.values()] == [10, 0, 10, 0, 8]
    assert all(line.address == {"can_id": 4} for line in lines.values())


def test_a_joint_may_only_take_or_only_tell(tmp_path: Path) -> None:
    """A sensor on the bus that moves a joint is its frame's only sender."""
    for empty, left in (("sensors", "target"), ("commands", "angle")):
        joint = f"bus = {{ can_id = 4, bits = 10, {empty} = [] }}"
        cycle = Cycle(compile_scene(load_scene(files(tmp_path, CAN_BUS, joint))))
        assert [n.signal for n in port_lines(cycle) if n.port == "arm/J1"] == [left]
        sent = [key for key in block_of(cycle, "can0").plan.outputs if key.startswith("arm/J1")]
        assert sent == (["arm/J1.angle"] if left == "angle" else [])


def test_a_signal_may_have_a_scale_and_an_offset(tmp_path: Path) -> None:
    """As a DBC file says it, with limits from the signal's range; a scale needs bits."""
    bus = BUS.replace("bits = 12", "bits = 12, scale_deg = 0.1, offset_deg = -180, signed = false")
    cycle = Cycle(compile_scene(load_scene(files(tmp_path, bus))))
    quant = block_of(cycle, "can0").rows["tilt.angle"].signal.quant
    assert quant is not None
    assert (quant.scale, quant.offset) == (0.1 * math.pi / 180, -180 * math.pi / 180)
    with pytest.raises(LinkworkError, match="needs bits"):
        Cycle(compile_scene(load_scene(files(tmp_path, BUS.replace("bits = 12", "scale = 1")))))


def test_a_bus_can_be_renamed_in_a_document(tmp_path: Path) -> None:
    """The port's reference follows."""
    file = files(tmp_path, BUS.replace('group = "legs/front"', 'bus = "can0"'))
    document = Document.open(file)
    document.rename("bus", "can0", "left")
    assert 'bus = "left"' in document.text


# ---- the cycle -----------------------------------------------------------------------------------


@pytest.mark.capability(26)
def test_a_feed_moves_the_joint_in_the_name_of_the_bus() -> None:
    """Commands apply at the step boundary, quantised; the joint belongs to the bus from then on."""
    with served(rig()) as session:
        session.step(3)
        assert not session.signals.owners
        session.send(m.BusInputs("line0", {"J1.target": 0.3}))
        session.step(300)
        quant = block_of(session.cycle).rows["J1.target"].signal.quant
        assert quant is not None
        assert session["arm/J1.target"] == quant.nearest(0.3)
        assert session.signals.owners["arm/J1.target"] == "line0"
        assert "arm/J2.target" not in session.signals.owners
        assert abs(session["line0/J1.angle"] - session["arm/J1.angle"]) <= quant.scale / 2
        assert session["line0/J1.angle"] != session["arm/J1.angle"]
        assert session["line0.inputs"] == 1
        assert session["line0.age"] == pytest.approx(300 * H)


def test_a_bad_feed_changes_nothing() -> None:
    """Unknown keys, sensors and what is no number are refused whole."""
    with served(rig()) as session:
        session.step()
        before = session.cycle.bus("line0").slot("inputs").copy()
        for values in ({"J1.target": 0.1, "no": 1.0}, {"J1.angle": 0.1}, {"J1.target": math.nan},
                       {"J2.target": math.inf, "J1.target": 0.1}):  # fmt: skip
            session.outbox.events.clear()
            session.send(m.BusInputs("line0", values))
            session.step()
            assert [e.level for e in session.outbox.events] == ["error"]
        session.send(m.BusInputs("nobody", {}))
        session.step()
        assert logged(session, "no bus named 'nobody'")
        assert (session.cycle.bus("line0").slot("inputs") == before).all()
        assert session["line0.inputs"] == 0


@settings(max_examples=cases(300), deadline=None)
@given(st.lists(st.one_of(
    st.builds(
        m.BusInputs, bus=st.sampled_from(["line0", "x"]), turn=st.booleans(),
        values=st.dictionaries(
            st.sampled_from(["J1.target", "J2.target", "J1.angle", "J1", "", "x"]), st.floats(),
            max_size=3,
        ),
    ),
    st.builds(
        m.BusHealth, bus=st.just("line0"), clients=st.integers(0, 3), restarts=st.integers(0, 3),
        counters=st.dictionaries(st.sampled_from(["lines", "x"]), st.floats(), max_size=2),
    ),
    st.builds(
        m.OverrideSignal,
        signal=st.sampled_from(
            ["line0/J1.target", "line0/J1.angle", "line0/x", "line0", "x/J1.angle", "line0.age"]
        ),
        value=st.none() | st.floats(),
    ),
    st.builds(m.TakeSignal, signal=st.sampled_from(["line0/J1.target", "arm/J1.target"])),
    st.builds(m.ReleaseSignals, owner=st.sampled_from(["user", "line0"])),
    st.just(m.ResetState()),
), max_size=8))  # fmt: skip
def test_no_message_about_buses_breaks_a_session(
    fuzzed: Session, messages: list[m.Message]
) -> None:
    """Any feeds, health and overrides in any order: refused or done, and the state stays sound."""
    session = fuzzed
    for message in messages:
        session.apply(message)  # as from outside: one that is wrong is answered
    session.step(3)
    block = block_of(session.cycle, "line0")
    for key, row in block.rows.items():
        value = session[row.own.name]
        slack = row.signal.quant.scale  # type: ignore[union-attr]
        assert row.signal.lo - slack <= value <= row.signal.hi + slack, key
    assert abs(session["arm/J1.angle"]) < 3.0


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[Session]:
    """One session for all that is thrown at it."""
    with served(rig(deadline=0.01, on_loss="ramp", ramp=0.02)) as session:
        yield session


@pytest.mark.capability(30)
def test_a_person_overrides_a_command_and_lets_go() -> None:
    """While held, the bus's commands wait; then the newest of them counts."""
    with served(rig()) as session:
        session.send(m.BusInputs("line0", {"J1.target": 0.3}))
        session.step()
        session.send(m.OverrideSignal("line0/J1.target", -0.2))
        session.step()
        assert session["line0/J1.target"] == -0.2
        assert session["arm/J1.target"] == pytest.approx(-0.2, abs=1e-3)
        assert session.signals.owners["line0/J1.target"] == "user"
        (line,) = (n for n in port_lines(session.cycle) if n.name == "line0/J1.target")
        assert (line.held, line.owner) == (True, "user")
        session.send(m.BusInputs("line0", {"J1.target": 0.6}))
        session.step()
        assert session["line0/J1.target"] == -0.2
        assert session["line0.refused"] == 1
        session.send(m.OverrideSignal("line0/J1.target"))
        session.step()
        assert session["line0/J1.target"] == 0.6
        assert session.signals.owners["line0/J1.target"] == "line0"
        session.apply(m.OverrideSignal("line0/J1.target", 99.0))  # as a peer sends it
        assert logged(session, "takes -1.5 to 1.5 rad, not 99")


@pytest.mark.parametrize(
    ("signal", "value", "reported"),
    [
        ("line0/nix", 1.0, "no signal of bus 'line0' named 'nix'. Available .*J1.angle"),
        ("line9/J1.angle", 1.0, "no bus named 'line9'. .*line0"),
        ("J1", 1.0, "no bus named 'J1'"),
        ("line0/J1.angle", math.nan, "takes -1.5 to 1.5 rad, not nan"),
        ("line0/J1.angle", math.inf, "not inf"),
        ("line0/J1.target", 99.0, "takes -1.5 to 1.5 rad, not 99"),
        ("line0/nix", None, "'nix'"),
    ],
)
def test_an_override_of_nothing_is_refused_at_once(
    signal: str, value: float | None, reported: str
) -> None:
    """A script learns where it is sent, not from an event that it does not read."""
    with served(rig()) as session:
        with pytest.raises(LinkworkError, match=reported):
            session.send(m.OverrideSignal(signal, value))
        session.step()
        assert not session.outbox.events


@pytest.mark.capability(30)
def test_a_sensor_is_held_at_a_value() -> None:
    """A stuck sensor: what goes out stays, while the joint moves."""
    with served(rig()) as session:
        session.send(m.OverrideSignal("line0/J1.angle", 0.75))
        session.send(m.BusInputs("line0", {"J1.target": 0.3}))
        session.step(100)
        assert session["line0/J1.angle"] == 0.75
        assert block_of(session.cycle, "line0").outgoing[0] == 0.75
        assert session["arm/J1.angle"] > 0.1
        session.send(m.OverrideSignal("line0/J1.angle"))
        session.step()
        assert session["line0/J1.angle"] == pytest.approx(session["arm/J1.angle"], abs=1e-3)


def test_one_owner_each() -> None:
    """What an agent owns is not the bus's; a person may take the joint from the bus."""
    scene = rig().agent("wave", "wave", joint="arm/J1", amplitude=0.2, frequency=1.0)
    with served(scene) as session:
        session.step()
        session.send(m.BusInputs("line0", {"J1.target": 0.3, "J2.target": 0.4}))
        session.step(5)
        assert session.signals.owners["arm/J1.target"] == "wave"
        assert session["line0.refused"] == 5
        warnings = [e for e in session.outbox.events if e.level == "warning"]
        assert len(warnings) == 1
        assert "owned by 'wave', not by 'line0'" in warnings[0].text
        assert session["arm/J2.target"] == pytest.approx(0.4, abs=1e-3)
        session.take("arm/J2.target")
        session.step()
        session["arm/J2.target"] = -0.1
        session.send(m.BusInputs("line0", {"J2.target": 0.5}))
        session.step(2)
        assert session["arm/J2.target"] == -0.1
        session.release()
        session.step(2)
        assert session["arm/J2.target"] == pytest.approx(0.5, abs=1e-3)


# ---- loss ----------------------------------------------------------------------------------------


def lose(policy: str, **params: Any) -> Session:
    """A session whose controller wanted J1 at 0.8 and fell silent."""
    session = served(rig(deadline=0.05, on_loss=policy, **params))
    session.send(m.BusInputs("line0", {"J1.target": 0.8}))
    session.step(25)
    assert session["line0.lost"] == 0
    session.step(1)
    return session


def test_hold_keeps_the_last_command_and_counts() -> None:
    """Each deadline that passes is a miss; the loss is told once, and so is the end of it."""
    with lose("hold") as session:
        assert (session["line0.lost"], session["line0.losses"]) == (1, 1)
        session.step(74)
        assert session["line0.misses"] == 3
        assert session["line0.age"] == pytest.approx(0.2)
        assert session["line0/J1.target"] == 0.8
        assert sum("nothing was received for 0.05 s" in e.text for e in session.outbox.events) == 1
        session.send(m.BusInputs("line0", {"J1.target": 0.1}))
        session.step()
        assert (session["line0.lost"], session["line0.misses"]) == (0, 3)
        assert logged(session, "its controller is back.")


def test_nothing_is_lost_that_never_came() -> None:
    """Without a first command there is no deadline."""
    with served(rig(deadline=0.01, on_loss="pause")) as session:
        session.step(100)
        assert session["line0.lost"] == session["line0.misses"] == session["line0.age"] == 0


def test_ramp_leads_to_the_safe_value() -> None:
    """Evenly in the given time: half way after half of it, there at its end."""
    with lose("ramp", ramp=0.1) as session:
        assert session["line0/J1.target"] == pytest.approx(0.8 * (1 - 0.02))
        session.step(24)
        assert session["line0/J1.target"] == pytest.approx(0.4)
        session.step(100)
        assert session["line0/J1.target"] == 0.0
    scene = bench().bus("line0", "line", deadline=0.05, on_loss="ramp", ramp=0.1)
    scene.port("J1", commands=[{"signal": "arm/J1.target", "safe": 0.5}])
    with served(scene) as session:
        session.send(m.BusInputs("line0", {"J1.target": 0.8}))
        session.step(100)
        assert session["arm/J1.target"] == 0.5


def test_stop_stays_where_it_is() -> None:
    """The joint is wanted where it was when the loss was seen."""
    with lose("stop") as session:
        here = session["line0/J1.target"]
        assert 0.02 < here < 0.5
        session.step(300)
        assert session["arm/J1.angle"] == pytest.approx(here, abs=0.2)


def test_limp_lets_the_arm_fall_and_gives_it_back() -> None:
    """No effort until the controller is back, then as much as before."""
    with lose("torque_off") as session:
        assert session["arm/J1.max_effort"] == 0.0
        session.step(200)
        assert session["arm/J1.effort"] == pytest.approx(0.0, abs=0.1)
        low = session["arm/J1.angle"]
        for _ in range(40):
            session.send(m.BusInputs("line0", {"J1.target": 0.2}))
            session.step(10)
        assert session["arm/J1.max_effort"] == 20.0
        assert abs(session["arm/J1.angle"] - 0.2) < min(0.1, abs(low - 0.2))


def test_pause_stops_time() -> None:
    """The session is paused with an error."""
    with lose("pause") as session:
        assert not session.running
        (event,) = (e for e in session.outbox.events if e.level == "error")
        assert "the session is paused" in event.text
        assert event.source == "line0"


def test_a_script_is_told_that_a_bus_has_stopped_its_run() -> None:
    """Nobody could let it go on, so the run ends with an error; the next one goes on."""
    with served(rig(deadline=0.05, on_loss="pause")) as session:
        session.send(m.BusInputs("line0", {"J1.target": 0.8}))
        with pytest.raises(SessionError, match=r"bus 'line0' has lost .* is paused at 0\.05\d* s"):
            session.run(1.0)
        assert not session.running
        session.run(0.02)
        assert 0.06 < session.time < 0.1


def test_a_partner_that_leaves_is_a_loss() -> None:
    """No deadline is needed to see that the connection is closed."""
    with served(rig(on_loss="stop")) as session:
        session.send(m.BusHealth("line0", 1, 0, {"lines": 7.0}))
        session.step()
        assert (session["line0.clients"], session["line0.lines"]) == (1, 7)
        session.send(m.BusInputs("line0", {"J1.target": 0.8}))
        session.step()
        session.send(m.BusHealth("line0", 0))
        session.step()
        assert session["line0.lost"] == 1


# ---- plants and programs -------------------------------------------------------------------------

LEVEL = """
def init(self):
    self.elbow = self.port("J1")
def loop(self):
    self.elbow.target = 0.5 - self.elbow.angle
"""


def plant(kind: str, closes: str | None = None) -> Session:
    """One program that speaks to a port alone, and the plant that one line of the scene names."""
    params: dict[str, Any] = {"plant": kind} | ({"closes": closes} if closes else {})
    return served(program(rig(**params), "level", LEVEL))


def test_the_hardware_end_is_swapped_by_one_line() -> None:
    """The same program drives the scene, or the hardware on the bus, as ``plant`` says."""
    with plant("virtual") as session:
        session.step(400)
        assert session["arm/J1.angle"] == pytest.approx(0.25, abs=0.05)
        assert list(block_of(session.cycle).plan.outputs) == ["J1.angle", "J2.angle"]
    with plant("real") as session:
        block = block_of(session.cycle, "line0")
        assert list(block.plan.outputs) == ["J1.target", "J2.target"]
        session.step(5)
        session.send(m.BusInputs("line0", {"J1.angle": 0.125}))
        session.step(3)
        assert session["line0/J1.angle"] == 0.125
        assert block.outgoing[0] == 0.375  # what goes to the hardware
        session.step(300)  # and the scene's arm shows where the hardware is
        assert session["arm/J1.angle"] == pytest.approx(0.125, abs=0.05)
        session.send(m.BusInputs("line0", {"J1.target": 0.1}))
        session.step()
        assert logged(session, "no input of bus 'line0' named 'J1.target'")


def test_a_prescribed_joint_shows_the_machines_posture() -> None:
    """A servo lags and sags; a prescribed joint is where the hardware says that it is."""
    scene = program(rig(plant="real"), "level", LEVEL).engine("mujoco", prescribed=["arm/J1"])
    with served(scene) as session:
        for angle in np.linspace(0.0, 0.5, 100):
            session.send(m.BusInputs("line0", {"J1.angle": float(angle)}))
            session.step()
        session.step(2)
        quant = block_of(session.cycle).rows["J1.angle"].signal.quant
        assert quant is not None
        assert session["arm/J1.angle"] == pytest.approx(0.5, abs=quant.scale)


@pytest.mark.parametrize("closes", ["virtual", "real"])
def test_real_and_virtual_are_driven_at_once(closes: str) -> None:
    """Commands go to both; the sensors of the one that closes the loop are the program's."""
    with plant("both", closes) as session:
        block = block_of(session.cycle, "line0")
        for _ in range(200):
            session.send(m.BusInputs("line0", {"J1.angle": -0.25}))
            session.step(2)
        if closes == "real":
            assert session["line0/J1.angle"] == -0.25
            assert block.outgoing[0] == 0.75
            assert session["arm/J1.angle"] == pytest.approx(0.75, abs=0.05)
        else:
            assert session["line0/J1.angle"] == pytest.approx(0.25, abs=0.05)
            assert block.outgoing[0] == pytest.approx(0.25, abs=0.05)


class Machine(threading.Thread):
    """A machine on the bus: goes where it is told, by its own law, and says where it is."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.client = Partner(port)
        self.angle = 0.0

    def run(self) -> None:
        try:
            while True:
                wanted = self.client.read().get("arm/J1.target", 0.0)
                self.angle += 0.05 * (0.5 * wanted - self.angle)  # half as far as the scene's arm
                self.client.send_text({"arm/J1.angle": self.angle})
        except (EOFError, OSError):
            return


def run_plant(folder: Path, plant: str) -> tuple[float, float, float]:
    """Runs the scene's file for a while: the port's, the scene's and the machine's angle."""
    bus = f'[[bus]]\nname = "line0"\ntype = "line"\n{plant}\n'
    agent = '[[agent]]\nname = "level"\ntype = "program"\nfile = "level.py"\n'
    file = files(folder, bus + agent, "bus = { bits = 16 }")
    (folder / "level.py").write_text(
        "from linkwork import Control\n\n\nclass Level(Control):\n    def loop(self):\n"
        "        elbow = self.port('arm/J1')\n        elbow.target = 0.5 - elbow.angle\n"
    )
    with Session(file, watch=False) as session:
        machine = Machine(port_of(session)) if "virtual" not in plant.partition("\n")[0] else None
        if machine is not None:
            machine.start()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            session.step(10)
            done = machine is None or (session["line0.inputs"] > 300 and machine.angle > 0.05)
            if done and session.time > 2.0:
                break
            time.sleep(0.002)
        angles = session["line0/arm/J1.angle"], session["arm/J1.angle"]
    if machine is not None:
        machine.join(30)
        machine.client.close()
    return *angles, machine.angle if machine is not None else math.nan


@pytest.mark.capability(26, 27, 60)
def test_one_program_drives_the_scene_the_machine_or_both(tmp_path: Path) -> None:
    """One line of the scene's file is all that differs; the loop closes where the line says."""
    port, scene, _ = run_plant(tmp_path, 'plant = "virtual"')
    assert port == pytest.approx(0.25, abs=0.05)
    assert scene == pytest.approx(port, abs=0.01)
    port, scene, machine = run_plant(tmp_path, 'plant = "real"')
    assert port == pytest.approx(1 / 6, abs=0.02)  # 0.5·(0.5 − x) = x
    assert machine == pytest.approx(port, abs=0.02)
    assert scene == pytest.approx(port, abs=0.05)  # the scene shows the machine
    port, scene, machine = run_plant(tmp_path, 'plant = "both"\ncloses = "virtual"')
    assert port == pytest.approx(0.25, abs=0.05)
    assert scene == pytest.approx(port, abs=0.01)
    assert machine == pytest.approx(0.125, abs=0.03)
    port, scene, machine = run_plant(tmp_path, 'plant = "both"\ncloses = "real"')
    assert port == pytest.approx(1 / 6, abs=0.02)
    assert scene == pytest.approx(0.5 - port, abs=0.05)


def test_both_sends_out_what_others_want_of_the_joint() -> None:
    """A person's target of the joint goes to the hardware as well."""
    with served(rig(plant="both")) as session:
        session["arm/J2.target"] = 0.625
        session.step(2)
        nobody, reported = block_of(session.cycle, "line0").outgoing
        assert math.isnan(nobody)  # a machine does not jump to where the scene happens to begin
        assert reported == 0.625


def test_a_program_reads_commands_and_tells_readings_of_its_own() -> None:
    """Ports without signals behind them are a program's own doors."""
    scene = bench().bus("line0", "line")
    scene.port("brain", commands=[{"name": "wish", "unit": "rad", "lo": -1, "hi": 1}],
               sensors=[{"name": "mood", "lo": 0, "hi": 10, "bits": 8}])  # fmt: skip
    text = """
def loop(self):
    self.port("brain").mood = 5 + self.port("line0/brain").wish
"""
    with served(program(scene, "think", text)) as session:
        session.send(m.BusInputs("line0", {"brain.wish": 0.5}))
        session.step(2)
        assert session["line0/brain.mood"] == 5.5
        assert block_of(session.cycle, "line0").outgoing == [5.5]


def test_a_program_is_told_which_ports_there_are() -> None:
    """Unknown ports and signals are errors that list what exists."""
    with (
        served(program(rig(), "p", "def loop(self):\n    self.port('J9').x")) as session,
        pytest.raises(LinkworkError, match="line0/J1"),
    ):
        session.step()
    with (
        served(program(rig(), "p", "def loop(self):\n    self.port('J1').x = 1")) as session,
        pytest.raises(LinkworkError, match="target"),
    ):
        session.step()


# ---- recordings and edits ------------------------------------------------------------------------


def test_a_recording_replays_without_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came over the bus is in the recording, to the last bit; no process is needed."""
    path = tmp_path / "run.mcap"
    scene = rig(deadline=0.02, on_loss="ramp", ramp=0.1)
    with Session(scene, watch=False, record=path) as session:
        with bus_client(session) as client:
            for n in range(40):
                client.send(J1_target=0.01 * n, J2_target=-0.02 * n)
                session.step(20)
            until(session, lambda: session["line0/J1.target"] != 0.0)
            session.send(m.OverrideSignal("line0/J2.angle", 0.5))
            session.step(20)
        until(session, lambda: session["line0.lost"])
        session.step(30)
        steps, last = session.state.step, session.state.hash()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a replay starts no process")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    seen: list[str] = []
    result = replay(path, watch=lambda each: seen.append(each.state.hash()))
    assert result.same, result.mismatch
    assert result.steps == steps
    assert seen[-1] == last


def test_a_live_edit_keeps_what_the_ports_hold() -> None:
    """Another port is added while a controller drives: nothing of the others changes."""
    with Session(rig(deadline=1.0), watch=False) as session, bus_client(session) as client:
        client.send(J1_target=0.3)
        until(session, lambda: session["line0.inputs"] > 0)
        session.send(m.OverrideSignal("line0/J2.angle", 0.5))
        session.step(10)
        number = process_of(session).pid
        edited = rig(deadline=1.0)
        edited.port("gain", parameters=["arm/J1.kp"])
        edited.ports.insert(0, edited.ports.pop())
        feeds, age = session["line0.inputs"], session["line0.age"]
        session.swap(edited).result(timeout=60)
        session.step()
        assert session.version == 2
        assert session["line0/J1.target"] == 0.3
        assert session["line0/J2.angle"] == 0.5
        assert session["line0.inputs"] == feeds
        assert session["line0.age"] == pytest.approx(age + H)
        assert session.signals.owners["arm/J1.target"] == "line0"
        client.file.write(b'{"gain.kp": 55.0}\n')
        client.send(J1_target=-0.3)
        until(session, lambda: session["arm/J1.kp"] == 55.0 and session["line0/J1.target"] == -0.3)
        assert process_of(session).pid == number
        until(session, lambda: "gain.kp" not in client.read())


def test_a_live_edit_leaves_the_way_free_for_commands() -> None:
    """However many came before it: the session and its bus count anew what is under way."""
    with Session(rig(), watch=False) as session, bus_client(session) as client:
        for version in (1, 2, 3):
            for n in range(20):
                target = 0.01 * version + 0.001 * n
                client.send(J1_target=target)
                until(session, lambda target=target: session["line0/J1.target"] == target)
            edited = rig()
            edited.port(f"gain{version}", parameters=["arm/J1.kp"])
            session.swap(edited).result(timeout=60)
            until(session, lambda version=version: session.version == version + 1)


def test_what_was_under_way_during_an_edit_is_taken() -> None:
    """A command of the ports before the edit counts for those that are still there."""
    with Session(rig(), watch=False) as session:
        edited = rig()
        edited.ports.pop()
        session.swap(edited).result(timeout=60)
        until(session, lambda: session.version == 2)
        process = process_of(session)
        with connect(process.link.address, process.link.key) as peer:
            peer.send(talk.encode(talk.InputValues(1, {"J1.target": 0.25, "J2.target": 0.5})))
            until(session, lambda: session["line0/J1.target"] == 0.25)
        assert session["line0.inputs"] == 1


def test_a_live_edit_adds_changes_and_removes_a_bus() -> None:
    """Processes come and go with the scene's buses, and begin anew where the bus is another."""
    with Session(bench(), watch=False) as session:
        session.step()
        assert session.bus_processes is None
        session.swap(rig()).result(timeout=60)
        until(session, lambda: session.bus_processes is not None and process_of(session).ready)
        first = process_of(session).pid
        with bus_client(session) as client:
            client.send(J1_target=0.25)
            until(session, lambda: session["line0/J1.target"] == 0.25)
        session.swap(rig(plant="real")).result(timeout=60)
        until(session, lambda: process_of(session).ready and session.version == 3)
        assert process_of(session).pid != first
        session.swap(bench()).result(timeout=60)
        until(session, lambda: session.version == 4)
        assert session.bus_processes.processes == {}  # type: ignore[union-attr]
        session.step(5)


# ---- command line --------------------------------------------------------------------------------


@pytest.mark.capability(29)
def test_the_command_line_lists_ports(tmp_path: Path) -> None:
    """Physical and raw value, unit, range, bits and address of each signal."""
    file = files(tmp_path)
    done = linkwork("ports", str(file))
    assert done.code == 0, done.err
    row = next(line for line in done.out.splitlines() if "arm/J1.target" in line)
    assert row.split() == [
        "can0", "arm/J1.target", "command", "0.000", "0x200", "°", "−90.000", "…", "90.000",
        "10", "can_id=0x4",
    ]  # fmt: skip
    assert "can0: loop, plant virtual, period 0.01 s, deadline 0.1 s, on loss hold" in done.out
    assert linkwork("ports", str(file), "--bus", "can7").code == 1


def test_the_listing_writes_codes_and_identifiers_as_the_wire_has_them(tmp_path: Path) -> None:
    """Hexadecimal, negative codes as two's complement; also where a DBC file has the identifier."""
    (tmp_path / "robot.dbc").write_text(
        'VERSION ""\nBU_: Arm\nBO_ 416 State: 2 Arm\n'
        ' SG_ Angle : 0|12@1- (0.1,20) [0|0] "deg" Arm\n'
    )
    text = CAN_BUS.replace("socketcand = 0", 'file = "robot.dbc"')
    file = files(tmp_path, text.replace("can_id = 7, bits = 12", 'dbc = "State.Angle"'))
    done = linkwork("ports", str(file))
    assert done.code == 0, done.err
    row = next(line for line in done.out.splitlines() if "tilt.angle" in line)
    assert " 0xF38 " in row  # -200 of 12 bits: the angle 0 with this offset
    assert row.rstrip().endswith("can_id=0x1A0")


def test_a_run_without_buses_starts_no_process(tmp_path: Path) -> None:
    """``--no-buses`` runs the scene by itself."""
    file = files(tmp_path)
    done = linkwork("run", str(file), "--for", "0.1", "--no-buses", "--watch", "can0.*")
    assert done.code == 0, done.err
    assert "can0.clients  0.000" in " ".join(done.out.split()).replace("clients 0", "clients  0")


@pytest.mark.parametrize(
    ("types", "ports"),
    [((), []), (("tcp",), ["b0"]), (("tcp", "tcp"), []), (("can", "tcp"), ["b0"])],
)
def test_a_part_made_for_can_works_without_can(types: tuple[str, ...], ports: list[str]) -> None:
    """Its ``can_id`` has no effect on TCP; with CAN among several buses the joint is there."""
    part = lw.Part("arm").add(
        lw.Element("a", mass=1.0), lw.Element("b", (lw.Box((0.1, 0.1, 0.1)),), mass=1.0),
        lw.Joint(
            "J", "hinge", "a", "b", range=(-1.0, 1.0), bus={"can_id": 4, "bits": 10},
            drive=Spec("drive", "servo"),
        ),
    )  # fmt: skip
    scene = lw.Scene("s").place(part)
    for number, each in enumerate(types):
        scene.bus(f"b{number}", each)
    with lw.Session(scene, buses=False) as session:
        named = {s.name.partition("/")[0] for s in session.signals if "/arm/J." in s.name}
        assert sorted(named) == ports
        session.run(0.1)


def test_a_key_that_no_bus_knows_is_still_refused() -> None:
    """A misspelled ``can_id`` is not the address of another type of bus."""
    part = lw.Part("arm").add(
        lw.Element("a", mass=1.0), lw.Element("b", (lw.Box((0.1, 0.1, 0.1)),), mass=1.0),
        lw.Joint("J", "hinge", "a", "b", bus={"cann_id": 4}, drive=Spec("drive", "servo")),
    )  # fmt: skip
    with pytest.raises(lw.LinkworkError, match="has no key 'cann_id'"):
        lw.Session(lw.Scene("s").place(part).bus("b0", "tcp"), buses=False)
