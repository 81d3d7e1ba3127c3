"""Inbox messages that were mutated or made up: refused or applied, never a traceback or a hang."""

import math
import os
import random
from typing import Any

import msgspec
import numpy as np
import pytest

from linkwork.errors import FormatError, LinkworkError
from linkwork.scene import Scene
from linkwork.scene.archive import pack
from linkwork.session.messages import (
    Advance,
    Drop,
    Grab,
    Message,
    Pause,
    Place,
    Play,
    Posture,
    Release,
    Reload,
    Reset,
    Restore,
    Set,
    Swap,
    Take,
    Watch,
    decode,
    encode,
)
from linkwork.session.session import Session
from linkwork.spatial import Pose
from session_scenes import bench, box, program

CASES = int(os.environ.get("LINKWORK_FUZZ_CASES", "3000"))

WORDS: list[Any] = [
    "", "arm/J1.target", "arm/J2.target", "arm/J1.angle", "arm/J1", "arm/upper", "box/cube", "box",
    "user", "wave", "count", "up", "world.gravity_z", "arm/upper.mass", "arm/J1.kp", "x" * 600,
    "\u0000", "é/é", "..", "arm/J1.max_effort", "arm/upper.friction", "x", "rz", "angle",
]  # fmt: skip
NUMBERS: list[Any] = [
    0, 1, -1, 0.5, -0.5, 1e-300, 1e300, -1e300, math.inf, -math.inf, math.nan, 2**31, 2**63 - 1,
    -(2**63), 3, 4, 1e6, 1e-9, True,
]  # fmt: skip
KINDS = [kind.__name__.lower() for kind in Message.__subclasses__()]
FIELDS = [
    "type", "signal", "value", "owner", "element", "target", "point", "slot", "stiffness",
    "damping", "name", "agent", "source", "archive", "ids", "sources", "speed", "steps", "signals",
    "joint", "dof", "state", "extra",
]  # fmt: skip


def scene() -> Scene:
    made = bench().place(box(), at=Pose((1.0, 0.0, 0.5)), base="free")
    made.postures["up"] = {"arm/J1": -0.9, "arm/J2": 0.4}
    made.agent("wave", "wave", joint="arm/J1", amplitude=0.3)
    return program(made, "count", "def loop(self):\n    self.memory.n = self.memory('n') + 1")


ARCHIVE = pack(scene())


def valid(rng: random.Random, session: Session) -> Message:
    """A message that could be meant."""
    return rng.choice(
        [
            lambda: Set(rng.choice(WORDS[:20]), rng.choice([0.1, -0.3, 2.0, 40.0]), rng.choice(["user", "wave"])),
            lambda: Take(rng.choice(WORDS[:4]), rng.choice(["user", "wave", "other"])),
            lambda: Release(rng.choice(["user", "other", "wave"])),
            lambda: Grab(rng.choice(WORDS[4:8]), (rng.random(), rng.random(), 1.0), slot=rng.randrange(4)),
            lambda: Drop(rng.randrange(4)),
            lambda: Posture("up"),
            lambda: Place(rng.choice(["arm/J1", "arm/J2", "box"]), rng.choice(["", "x", "rz"]), rng.uniform(-1, 1)),
            lambda: Restore(session.state.save()),
            lambda: Reset(),
            lambda: Reload("count", rng.choice(["class Control: pass", "x = (", "1 / 0", ""])),
            lambda: Play(rng.choice([None, 0.0, 1.0, 1e3])),
            lambda: Pause(),
            lambda: Advance(rng.randrange(1, 5)),
            lambda: Watch([rng.choice(WORDS)]),
            lambda: Swap(ARCHIVE),
        ]
    )()  # fmt: skip


def anything(rng: random.Random, depth: int = 0) -> Any:
    """A value of any shape."""
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
    """A message with some of its fields replaced, added or missing."""
    fields = msgspec.to_builtins(message, builtin_types=(bytes,))
    for _ in range(rng.randrange(1, 3)):
        name = rng.choice([*fields, rng.choice(FIELDS)])
        if rng.random() < 0.2:
            fields.pop(name, None)
        else:
            fields[name] = rng.choice(KINDS) if name == "type" else anything(rng)
    return fields


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The bytes with some of them changed, cut out, doubled or appended."""
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
    match rng.randrange(6):
        case 0:
            return encode(message)
        case 1:
            return mutated(rng, encode(message))
        case 2:
            return msgspec.msgpack.encode(bent(rng, message))
        case 3:
            return mutated(rng, msgspec.json.encode(message))
        case 4:
            return msgspec.msgpack.encode(anything(rng))
        case _:
            return rng.randbytes(rng.randrange(64))


def healthy(session: Session) -> bool:
    state = session.state
    return bool(
        np.isfinite(state.q).all() and np.isfinite(state.v).all() and np.isfinite(state.pose).all()
    )


@pytest.mark.parametrize("seed", range(3))
def test_no_message_spoils_a_session(seed: int) -> None:
    """Each is decoded, applied and stepped: an error of ours at most, and finite numbers always."""
    rng = random.Random(seed)
    applied = 0
    with Session(scene()) as session:
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
                session.apply(Reset())
                for slot in range(4):
                    session.apply(Drop(slot))
                session.step()
            assert healthy(session), (number, message)
        session.apply(Reset())
        session.apply(Reload("count", "class Control: pass"))
        session.step(10)
        assert session.state.step == 10
    assert applied > CASES // 12


def test_no_bytes_spoil_the_decoder() -> None:
    """Random bytes, deep nesting and huge lengths end in a FormatError."""
    rng = random.Random(9)
    deep = [b"\x91" * n for n in (10, 1000, 100_000)] + [b"[" * 100_000, b'{"a":' * 50_000]
    long = [
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xff",
    ]
    tagged = [b'{"type":"watch","signals":' + b"[" * 100_000]
    for data in [*deep, *long, *tagged, *(rng.randbytes(rng.randrange(200)) for _ in range(CASES))]:
        try:
            assert isinstance(decode(data), Message)
        except FormatError as error:
            assert len(str(error)) < 1000
