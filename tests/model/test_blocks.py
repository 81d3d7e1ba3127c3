"""Blocks: parameters are checked, variables are in the state, signals refer to it."""

import math
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pytest

from linkwork.core.errors import FormatError, Origin, SceneError, SessionError, SignalError
from linkwork.core.signals import Signals
from linkwork.core.state import Layout, State
from linkwork.formats import load_scene, save
from linkwork.model.blocks import (
    Block,
    SignalSpec,
    add_blocks,
    add_signals,
    period_in_steps,
    read_params,
    scoped_name,
)
from linkwork.model.parts import Element, Joint, Part, Spec
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from linkwork.session.session import Session

HERE = Origin("f.toml", 12)
WORLD = compile_scene(Scene("s"))


class Params(msgspec.Struct, forbid_unknown_fields=True):
    joint: str
    gain: Annotated[float, msgspec.Meta(gt=0.0)] = 1.0


def spec(**params: Any) -> Spec:
    return Spec("sensor", "meter", "m1", params, HERE)


def test_parameters_become_a_struct() -> None:
    """Integers are accepted as numbers; omitted parameters have their defaults."""
    assert read_params(spec(joint="a/j", gain=2), Params) == Params("a/j", 2.0)
    assert read_params(spec(joint="a/j"), Params).gain == 1.0


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"joint": "j", "gian": 2}, "sensor 'm1' has no key 'gian'. Did you mean 'gain'"),
        ({"joint": "j", "zzz": 2}, ".*no key 'zzz'. Available keys: gain, joint"),
        ({}, "sensor 'm1' needs 'joint'."),
        ({"joint": "j", "gain": 0}, "sensor 'm1': gain must be a number above 0, not 0"),
        (
            {"joint": "j", "gain": "much"},
            "sensor 'm1': gain must be a number above 0, not \"much\"",
        ),
        ({"joint": "j", "gain": "2"}, "sensor 'm1': gain must be a number above 0, not \"2\""),
        ({"joint": 3}, "sensor 'm1': joint must be text in quotes .*, not 3"),
        ({"joint": "j", "gain": 10**400}, "sensor 'm1': "),
    ],
)
def test_wrong_parameters_are_named_with_their_place(params: dict[str, Any], words: str) -> None:
    """The message names the parameter, the value, the allowed values, file and line."""
    with pytest.raises(FormatError, match=rf"^f\.toml:12: {words}"):
        read_params(spec(**params), Params)


@pytest.mark.parametrize(
    "gain", [np.float64(2.0), np.float32(2.0), np.int64(2), np.array(2.0), np.array([2.0])[0]]
)
def test_numpys_numbers_are_numbers(gain: Any) -> None:
    """NumPy numbers are accepted as Python numbers."""
    assert read_params(spec(joint="a/j", gain=gain), Params) == Params("a/j", 2.0)
    assert type(spec(gain=gain).params["gain"]) in (int, float)


def test_numpys_arrays_are_lists() -> None:
    """Also inside tables and lists, and of integers and booleans."""
    made = spec(a=np.arange(3), b={"c": [np.bool_(True)], "d": (np.eye(2),)}).params
    assert made == {"a": [0, 1, 2], "b": {"c": [True], "d": ([[1.0, 0.0], [0.0, 1.0]],)}}
    assert type(made["b"]["c"][0]) is bool


def test_a_mistake_is_in_the_line_of_its_key(tmp_path: Path) -> None:
    """The line is that of the key, not of its table, also for keys with units."""
    for line, wrong in ((9, 'opening_deg = "70"'), (9, "pixels = 3"), (9, 'width = "160"')):
        path = tmp_path / "s.toml"
        path.write_text(
            'format = "linkwork/scene 1"\nname = "s"\n[[element]]\nname = "e"\n[[sensor]]\n'
            f'name = "c"\ntype = "camera"\non = "e"\n{wrong}\n'
        )
        with pytest.raises(FormatError, match=rf"^{path}:{line}: sensor 'c'"):
            Session(path, watch=False)


def test_numpys_numbers_reach_every_kind(tmp_path: Path) -> None:
    """Engine, sensor, actuator and agent run with them, and they are saved normally."""
    arm = Part("arm").add(
        Element("base"), Element("tip", mass=1.0), Joint("J", "hinge", "base", "tip", armature=1.0)
    )
    scene = Scene("s", step=0.002).place(arm)
    scene.add(Element("eye"))
    scene.engine("mujoco", iterations=np.int64(50))
    scene.sensor(
        "c", "camera", on="eye", width=np.int32(16), height=np.int32(12), opening=np.radians(70)
    )
    scene.actuator(
        "a", "general", joints={"arm/J": np.float64(1.0)}, gain=np.array([1.0, 0.0, 0.0])
    )
    scene.agent("w", "wave", signal="a.control", amplitude=np.float32(0.5))
    with Session(scene, watch=False) as session:
        session.run(0.01)
    save(scene, tmp_path / "s.toml")
    again = load_scene(tmp_path / "s.toml")
    assert again.sensors[0].params["opening"] == pytest.approx(math.radians(70))


def test_names_in_a_parts_file_are_the_parts() -> None:
    """A sensor of a part refers to the part's joints."""
    assert scoped_name(Spec("sensor", "meter", scope="left/arm"), "J1") == "left/arm/J1"
    assert scoped_name(Spec("sensor", "meter"), "arm/J1") == "arm/J1"


@pytest.mark.parametrize(
    ("period", "step", "count"),
    [(0.0, 0.002, 1), (0.002, 0.002, 1), (0.1, 0.002, 50), (0.3, 0.1, 3), (3600.0, 0.001, 3600000)],
)
def test_periods_are_whole_steps(period: float, step: float, count: int) -> None:
    """Rounding of decimal fractions is ignored; no period means every step."""
    assert period_in_steps(period, step, "sensor 'm'", HERE) == count


@pytest.mark.parametrize(
    ("period", "hint"),
    [
        (0.003, "0.004"), (0.0005, "0.002"), (-0.002, "0.002"), (math.nan, "0.002"),
        (math.inf, "0.002"), (2000.001, "2000"),
    ],
)  # fmt: skip
def test_other_periods_name_the_nearest(period: float, hint: str) -> None:
    """The message names the owner, file and line."""
    words = rf"^f\.toml:12: sensor 'm': the period .* is not a whole multiple .* Nearest: {hint} s"
    with pytest.raises(SceneError, match=words):
        period_in_steps(period, 0.002, "sensor 'm'", HERE)


class Meter(Block):
    kind = "sensor"
    type = "meter"

    def slots(self) -> dict[str, tuple[int, ...]]:
        return {"reading": (2, 3), "int:count": (1,)}

    def reset(self) -> None:
        self.slot("reading")[:] = 4.0
        self.slot("count")[0] = 2**60

    def signals(self) -> list[SignalSpec]:
        return [SignalSpec("m.y", self.field("reading"), (1, 2), "m", 0.0, 9.0, "param")]


def test_a_blocks_memory_and_signals_are_in_the_state() -> None:
    """Slots are named after the block; a copy of the state copies them."""
    layout = Layout()
    layout.add_world(0, 0, 1, 0, 0)
    blocks: list[Block] = [Meter(WORLD, []), Meter(WORLD, [], "second")]
    add_blocks(layout, blocks)
    state = State(layout)
    signals = Signals(state.data)
    add_signals(signals, state, blocks[:1])
    for block in blocks:
        block.bind(state)
        assert block.check() == []
    blocks[0].reset()
    assert (state["sensor/meter/reading"] == 4.0).all()
    assert state["sensor/meter/count"].tolist() == [2**60]
    assert not state["second/reading"].any()
    signals.set("m.y", 5.0, "me")
    np.testing.assert_array_equal(blocks[0].slot("reading")[1], [4.0, 4.0, 5.0])
    assert (signals["m.y"].unit, signals["m.y"].hi) == ("m", 9.0)
    with pytest.raises(SignalError, match=r"two signals named 'm.y'"):
        add_signals(signals, state, blocks[1:])
    with pytest.raises(SessionError, match="two blocks of the state are named 'second/reading'"):
        add_blocks(layout, blocks[1:])
