"""Mutated or invented inbox messages: rejected or applied, never a traceback or a hang."""

import math
import random
from typing import Any

import msgspec
import numpy as np
import pytest

from effort import cases
from linkwork.core.errors import FormatError, LinkworkError
from linkwork.geometry import Pose
from linkwork.model.scene import Scene
from linkwork.model.scene.archive import pack
from linkwork.session.messages import (
    AdvanceSteps,
    ApplyPosture,
    BusCommand,
    BusHealth,
    BusInputs,
    ControllerLost,
    GrabElement,
    Message,
    OverrideSignal,
    PauseClock,
    PlaceJoint,
    ReleaseGrab,
    ReleaseSignals,
    ReloadProgram,
    ResetState,
    RestoreState,
    SetSignal,
    StartClock,
    SwapScene,
    TakeSignal,
    decode,
    encode,
)
from linkwork.session.session import Session
from session_scenes import bench, box, program

CASES = cases(3500)

WORDS: list[Any] = [
    "", "arm/J1.target", "arm/J2.target", "arm/J1.angle", "arm/J1", "arm/upper", "box/cube", "box",
    "user", "wave", "count", "up", "world.gravity_z", "arm/upper.mass", "arm/J1.kp", "x" * 600,
    "\u0000", "é/é", "..", "arm/J1.max_effort", "arm/upper.friction", "x", "rz", "angle",
    "b0", "b0/elbow.target", "elbow.target", "b0/elbow.angle", "b0.age",
]  # fmt: skip
NUMBERS: list[Any] = [
    0, 1, -1, 0.5, -0.5, 1e-300, 1e300, -1e300, math.inf, -math.inf, math.nan, 2**31, 2**63 - 1,
    -(2**63), 3, 4, 1e6, 1e-9, True,
]  # fmt: skip
KINDS = [kind.__name__.lower() for kind in Message.__subclasses__()]
FIELDS = [
    "type", "signal", "value", "owner", "element", "target", "point", "slot", "stiffness",
    "damping", "name", "agent", "source", "archive", "ids", "sources", "speed", "steps", "signals",
    "joint", "dof", "state", "extra", "bus", "values", "turn", "partners", "counters", "args",
]  # fmt: skip


def scene() -> Scene:
    made = bench().place(box(), at=Pose((1.0, 0.0, 0.5)), base="free")
    made.postures["up"] = {"arm/J1": -0.9, "arm/J2": 0.4}
    made.agent("wave", "wave", joint="arm/J1", amplitude=0.3)
    made.bus("b0", "loop", deadline=0.01, on_loss="ramp", ramp=0.02)
    elbow = [{"signal": "arm/J2.target", "bits": 8}], [{"signal": "arm/J2.angle", "bits": 8}]
    made.port("elbow", commands=elbow[0], sensors=elbow[1])
    return program(made, "count", "def loop(self):\n    self.memory.n = self.memory('n') + 1")


ARCHIVE = pack(scene())


def valid(rng: random.Random, session: Session) -> Message:
    """Returns a plausible message."""
    pick = rng.choice
    return pick(
        [
            lambda: SetSignal(
                pick(WORDS[:20]), pick([0.1, -0.3, 2.0, 40.0]), pick(["user", "wave"])
            ),
            lambda: TakeSignal(pick(WORDS[:4]), pick(["user", "wave", "other"])),
            lambda: ReleaseSignals(pick(["user", "other", "wave"])),
            lambda: GrabElement(pick(WORDS[4:8]), (rng.random(), 0.0, 1.0), slot=rng.randrange(4)),
            lambda: ReleaseGrab(rng.randrange(4)),
            lambda: ApplyPosture("up"),
            lambda: PlaceJoint(pick(["arm/J1", "box"]), pick(["", "x", "rz"]), rng.uniform(-1, 1)),
            lambda: RestoreState(session.state.save()),
            lambda: ResetState(),
            lambda: ReloadProgram("count", pick(["class Control: pass", "x = (", "1 / 0", ""])),
            lambda: StartClock(pick([None, 0.0, 1.0, 1e3])),
            lambda: PauseClock(),
            lambda: AdvanceSteps(rng.randrange(1, 5)),
            lambda: SwapScene(ARCHIVE),
            lambda: BusInputs("b0", {"elbow.target": rng.uniform(-2, 2)}, turn=rng.random() < 0.5),
            lambda: ControllerLost("b0", pick(WORDS)),
            lambda: BusHealth("b0", rng.randrange(3), rng.randrange(3), {"frames": rng.random()}),
            lambda: OverrideSignal(pick(WORDS[-4:]), pick([None, 0.3, -0.3])),
            lambda: BusCommand("b0", pick(["log", "fault"]), {"on": True}),
        ]
    )()


def odd(rng: random.Random, session: Session) -> dict[str, Any]:
    """Returns a message with correct types and implausible values."""
    fields = msgspec.to_builtins(valid(rng, session), builtin_types=(bytes,))
    for name, value in fields.items():
        if name == "type" or rng.random() < 0.3:
            continue
        if isinstance(value, str):
            fields[name] = rng.choice(WORDS)
        elif isinstance(value, int | float):
            fields[name] = rng.choice(NUMBERS)
        elif isinstance(value, bytes):
            fields[name] = mutated(rng, value)
        elif isinstance(value, list | tuple) and len(value) == 3:
            fields[name] = [rng.choice(NUMBERS[:8]) for _ in range(3)]
    return fields


def anything(rng: random.Random, depth: int = 0) -> Any:
    """Returns a value of any structure."""
    kind = rng.randrange(8 if depth < 3 else 4)
    if kind == 0:
        return rng.choice(WORDS)
    if kind == 1:
        return rng.choice(NUMBERS)
    if kind == 2:
        return rng.choice([None, b"", b"\x00" * 20, rng.randbytes(8), [], {}])
    if kind == 3:
        return rng.uniform(-2.0, 2.0)
    if kind == 4:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(5))]
    if kind == 5:
        return [rng.choice(NUMBERS) for _ in range(3)]
    return {rng.choice(FIELDS): anything(rng, depth + 1) for _ in range(rng.randrange(4))}


def bent(rng: random.Random, message: Message) -> dict[str, Any]:
    """Returns a message with some fields replaced, added or missing."""
    fields = msgspec.to_builtins(message, builtin_types=(bytes,))
    for _ in range(rng.randrange(1, 3)):
        name = rng.choice([*fields, rng.choice(FIELDS)])
        if rng.random() < 0.2:
            fields.pop(name, None)
        else:
            fields[name] = rng.choice(KINDS) if name == "type" else anything(rng)
    return fields


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Returns the bytes with some changed, removed, duplicated or appended."""
    raw = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(raw) + 1)
        match rng.randrange(4):
            case 0:
                raw[place : place + 1] = rng.randbytes(1)
            case 1:
                del raw[place : place + rng.randrange(1, 9)]
            case 2:
                raw[place:place] = raw[place : place + rng.randrange(1, 9)]
            case _:
                raw[place:place] = rng.randbytes(rng.randrange(1, 5))
    return bytes(raw)


def case(rng: random.Random, session: Session) -> bytes:
    message = valid(rng, session)
    match rng.randrange(10):
        case 0 | 1:
            return encode(message)
        case 2:
            return mutated(rng, encode(message))
        case 3:
            return msgspec.msgpack.encode(bent(rng, message))
        case 4:
            return mutated(rng, msgspec.json.encode(message))
        case 5:
            return msgspec.msgpack.encode(anything(rng))
        case _:
            return msgspec.msgpack.encode(odd(rng, session))


def healthy(session: Session) -> bool:
    state = session.state
    return all(np.isfinite(block).all() for block in (state.q, state.v, state.pose, state.twist))


@pytest.mark.parametrize("seed", range(3))
def test_no_message_spoils_a_session(seed: int) -> None:
    """Each is decoded, applied and stepped: a LinkworkError at most, and finite numbers."""
    rng = random.Random(seed)
    applied = 0
    with Session(scene(), buses=False) as session:
        for number in range(CASES // 3):
            data = case(rng, session)
            try:
                message = decode(data)
            except FormatError:
                continue
            session.apply(message)
            applied += 1
            assert healthy(session), (number, message)
            try:
                session.step()
            except LinkworkError:
                session.apply(ResetState())
                for slot in range(4):
                    session.apply(ReleaseGrab(slot))
                # A mutated archive may hold a program that fails at every step.
                session.apply(ReloadProgram("count", "class Control: pass"))
                session.step()
            assert healthy(session), (number, message)
        session.apply(ResetState())
        session.apply(ReloadProgram("count", "class Control: pass"))
        session.step(10)
        assert session.state.step == 10
    assert applied > CASES // 8


def test_no_bytes_spoil_the_decoder() -> None:
    """Random bytes, deep nesting and huge lengths give a short FormatError."""
    rng = random.Random(9)
    deep = [b"\x91" * n for n in (10, 1000, 100_000)] + [b"[" * 100_000, b'{"a":' * 50_000]
    long = [kind + b"\xff\xff\xff\xff" for kind in (b"\xdd", b"\xdf", b"\xc6", b"\xdb")]
    tagged = b'{"type":"watch","signals":' + b"[" * 100_000
    for data in [*deep, *long, tagged, *(rng.randbytes(rng.randrange(200)) for _ in range(CASES))]:
        with pytest.raises(FormatError) as error:
            decode(data)
        assert len(str(error.value)) < 1000
