"""Mutated or invented frames to the studio: accepted or rejected, never a crash."""

import asyncio
import json
import random
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

import linkwork
from effort import cases
from host_fixture import backstage
from linkwork.core.errors import FormatError
from linkwork.link import connect, serve
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.protocol import link_messages
from linkwork.studio.web.hub import Hub
from linkwork.studio.web.stream import ClientStream
from studio_fixture import Studio, studio

CASES = cases(3000)
KITS = Path(linkwork.__file__).parent / "kits"
KINDS = [str(kind.__struct_config__.tag) for kind in m.FromClient.__args__]
WORDS: list[Any] = ["", "x", "gripper/J1.target", "x" * 5000, "\u0000", "../etc", "é", "scene"]
#: Objects of the edited scene, and their keys.
THINGS = [
    ("ground", "element", ["friction", "color", "shape.plane.size", "name"]),
    ("arm/J1", "joint", ["axis", "limits", "limits_deg", "name"]),
    ("lift", "agent", ["amplitude_deg", "frequency", "joint", "type"]),
    ("follow", "agent", ["file", "on"]),
    ("", "scene", ["step", "title", "gravity", "format"]),
    ("arm", "part", ["at", "part", "on"]),
    ("nothing", "element", ["mass"]),
]
KEYS = ["²", "٣", "", ".", "a.0.b", "shapes.99999999999999999999", "friction.x", "\0", "é", "0"]
VALUES = ["1" * 5000, "[" * 500, "1979-05-27", "07:32:00", "nan", "inf", "-inf", "1e400", "0x10",
          "{ a = 1 }", "[[1, 2], [3]]", "1\nb = 2", "'", '"""', "true", "[1, 'a']"]  # fmt: skip
PATHS = ["~nobody-of-this-name/x.toml", "x\0.toml", "x" * 400 + ".toml", "follow.toml/x.toml", ".",
         "/", "../x.toml", "mine.toml", "sub/mine.toml", "mine.txt", "follow.py/.toml"]  # fmt: skip
NUMBERS: list[Any] = [0, 1, -1, 0.5, 1e300, -1e300, 2**31, 2**64, -(2**63), 1e-300, True]


def anything(rng: random.Random, depth: int = 0) -> Any:
    """Returns a value of any structure."""
    match rng.randrange(6 if depth < 3 else 3):
        case 0:
            return rng.choice(WORDS)
        case 1:
            return rng.choice(NUMBERS)
        case 2:
            return rng.choice([None, [], {}, "NaN"])
        case 3:
            return [anything(rng, depth + 1) for _ in range(rng.randrange(5))]
        case 4:
            return [rng.choice(NUMBERS) for _ in range(3)]
        case _:
            return {rng.choice(["type", "x", ""]): anything(rng, depth + 1)}


def message(rng: random.Random) -> dict[str, Any]:
    """Returns a message of an existing kind, with valid field names and any values."""
    kind = rng.choice(m.FromClient.__args__)
    fields = {"type": str(kind.__struct_config__.tag)}
    for field in msgspec.structs.fields(kind):
        if rng.random() < 0.85:
            fields[field.name] = anything(rng)
    return fields


def bent(rng: random.Random, data: bytes) -> bytes:
    """Returns the bytes with some changed, removed, duplicated or added."""
    raw = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(raw) + 1)
        match rng.randrange(3):
            case 0:
                raw[at : at + 1] = rng.randbytes(1)
            case 1:
                del raw[at : at + rng.randrange(1, 9)]
            case _:
                raw[at:at] = rng.randbytes(rng.randrange(1, 5))
    return bytes(raw)


def case(rng: random.Random) -> bytes:
    """Returns a text or binary frame."""
    match rng.randrange(5):
        case 0:
            return rng.randbytes(rng.randrange(120))
        case 1:
            return json.dumps(anything(rng)).encode()
        case 2:
            return bent(rng, json.dumps(message(rng)).encode())
        case _:
            return json.dumps(message(rng)).encode()


def read(data: bytes | str) -> m.FromClient | str:
    """Returns the message, or the reason of its rejection."""
    try:
        return m.decode(data)
    except FormatError as error:
        return str(error)


def test_every_frame_is_a_message_or_refused_in_a_few_words() -> None:
    """Text and bytes, including deep nesting and great length."""
    rng = random.Random(1)
    deep = [b"[" * 100_000, b'{"type":' * 50_000, b'{"type":"watch","signals":' + b"[" * 100_000]
    taken = 0
    for data in [*deep, *(case(rng) for _ in range(2 * CASES))]:
        for form in (data, data.decode("utf-8", "replace")):
            found = read(form)
            if isinstance(found, str):
                assert len(found) < 1000
                continue
            assert m.type_of(found) in KINDS
            assert (
                link_messages.decode_to_host(
                    link_messages.encode(link_messages.ClientRequest("A", found))
                )
                is not None
            )
            taken += 1
    assert taken > CASES // 20


class Ears:
    """Receiver of a stream."""

    async def send_text(self, data: str) -> None:
        json.loads(data)

    async def send_bytes(self, data: bytes) -> None:
        assert data


def test_no_frame_of_a_client_disturbs_the_hub() -> None:
    """From driver or watcher: each is executed, forwarded or answered."""

    async def run() -> None:
        with serve() as link, connect(link.address, link.key) as peer:
            hub = Hub(peer, "0", lambda: None)
            streams = [ClientStream(Ears()) for _ in range(2)]
            names = [hub.join(stream) for stream in streams]
            senders = [asyncio.ensure_future(stream.run()) for stream in streams]
            rng = random.Random(2)
            for n in range(CASES):
                data = case(rng)
                hub.take(rng.choice(names), data if n % 2 else data.decode("utf-8", "replace"))
                if n % 50 == 0:
                    link.receive()
                    await asyncio.sleep(0)
            assert not any(sender.done() for sender in senders)
            for sender in senders:
                sender.cancel()
            await asyncio.gather(*senders, return_exceptions=True)

    asyncio.run(run())


def folder_of_ones_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Creates a user's scene in the working directory; returns its file."""
    for name in ("follow.toml", "follow.py", "arm.toml"):
        shutil.copy(KITS / "gripper" / name, folder / name)
    monkeypatch.chdir(folder)
    return folder / "follow.toml"


def kit_files() -> dict[str, bytes]:
    """Returns all files of the package's kits."""
    files = (each for each in KITS.rglob("*") if each.is_file() and "__pycache__" not in each.parts)
    return {str(each): each.read_bytes() for each in files}


def test_a_studio_goes_on_after_what_nobody_would_send(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a real socket, as the driver: afterward the scene still runs and responds."""
    scene, before = folder_of_ones_own(tmp_path, monkeypatch), kit_files()
    # Messages that end or replace the scene have their own tests.
    calm = {"open", "close_scene", "record", "speed", "new_scene"}
    with studio(str(scene), tmp_path) as here:
        harass(here, random.Random(3), calm)
        with here.client() as after:
            after.until("scene")
            after.send("inspect", name="ground", kind="element")
            assert after.until("attributes")["name"] == "ground"
    assert kit_files() == before


def harass(here: Studio, rng: random.Random, spared: set[str]) -> None:
    with here.client() as client:
        client.until("scene")
        for _ in range(300):
            data = case(rng)
            if any(word.encode() in data for word in spared):
                continue
            text = data.decode("utf-8", "replace")
            client.socket.send(text if rng.random() < 0.7 else data)
        client.send("control_grant", to="nobody")
        client.until("refused", lambda found: found["what"] == "control_grant")


def edit(rng: random.Random) -> m.FromClient:
    """Returns an edit of an existing or similar object, or a file to save to."""
    name, kind, keys = rng.choice(THINGS)
    value = rng.choice([*VALUES, *WORDS, *map(float, NUMBERS[:6]), True])
    match rng.randrange(8):
        case 0:
            return m.SaveAs(rng.choice(PATHS), rng.random() < 0.5)
        case 1:
            return rng.choice([m.Undo(), m.Redo(), m.Save(), m.ConvertToToml()])
        case 2:
            return m.StorePosture(rng.choice(["home", "", "²", "a b", "x" * 300]))
    return m.EditAttribute(name, kind, rng.choice([*keys, *KEYS]), value)


def test_no_edit_and_no_path_ends_the_studio_or_is_its_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Implausible values, keys and files: accepted, or rejected with a message."""
    scene, before = folder_of_ones_own(tmp_path, monkeypatch), kit_files()
    rng = random.Random(4)
    with backstage(str(scene), tmp_path) as here:
        here.until("scene")
        for number in range(CASES // 40):
            here.ask(edit(rng))
            probe = f"probe {number}"  # it has no answer of an edit
            here.ask(m.Inspect(probe, "element"))
            here.until("refused", lambda found, probe=probe: found["key"] == probe)
    assert "Traceback" not in caplog.text
    assert kit_files() == before


def test_no_message_ends_a_recording(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """While one is shown, every message is executed or rejected."""
    path, rng = tmp_path / "recordings" / "run.mcap", random.Random(5)
    path.parent.mkdir()
    with Session("gripper/follow", record=path) as session:
        session.run(0.2)
    with backstage(str(path), tmp_path) as here:
        here.until("scene")
        for _ in range(CASES // 10):
            found = read(json.dumps(message(rng)))
            if not isinstance(
                found, str | m.Open | m.NewScene | m.CloseScene | m.ContinueRecording
            ):
                here.ask(found)
        for when in (-1e9, 1e9, 0.1):
            here.ask(m.Seek(when))
        here.ask(m.Inspect("ground", "element"))
        here.until("attributes")
    assert isinstance(read('{"type":"seek","time":1e308}'), str)
    assert "Traceback" not in caplog.text
