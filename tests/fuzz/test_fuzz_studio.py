"""What a browser could send to the studio, mutated or made up: taken or refused, never a crash."""

import asyncio
import json
import os
import random
from typing import Any

import msgspec

from linkwork.errors import FormatError
from linkwork.server import messages as m
from linkwork.server import relay
from linkwork.server.hub import Hub
from linkwork.server.stream import Stream
from linkwork.session.link import connect, serve
from studio_rig import Studio, studio

CASES = int(os.environ.get("LINKWORK_FUZZ_CASES", "3000"))
KINDS = [str(kind.__struct_config__.tag) for kind in m.FromClient.__args__]
WORDS: list[Any] = ["", "x", "gripper/J1.target", "x" * 5000, "\u0000", "../etc", "é", "scene"]
NUMBERS: list[Any] = [0, 1, -1, 0.5, 1e300, -1e300, 2**31, 2**64, -(2**63), 1e-300, True]


def anything(rng: random.Random, depth: int = 0) -> Any:
    """A value of any shape."""
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
    """A message of a kind there is, with fields of the right names and of any values."""
    kind = rng.choice(m.FromClient.__args__)
    fields = {"type": str(kind.__struct_config__.tag)}
    for field in msgspec.structs.fields(kind):
        if rng.random() < 0.85:
            fields[field.name] = anything(rng)
    return fields


def bent(rng: random.Random, data: bytes) -> bytes:
    """The bytes with some of them changed, cut out, doubled or added."""
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
    """A text or binary frame."""
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
    """The message, or why it is none."""
    try:
        return m.decode(data)
    except FormatError as error:
        return str(error)


def test_every_frame_is_a_message_or_refused_in_a_few_words() -> None:
    """Text and bytes; also what nests deeply or is long."""
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
            assert relay.decode_inward(relay.encode(relay.Ask("A", found))) is not None
            taken += 1
    assert taken > CASES // 20


class Ears:
    """Where a stream sends to."""

    async def send_text(self, data: str) -> None:
        json.loads(data)

    async def send_bytes(self, data: bytes) -> None:
        assert data


def test_no_frame_of_a_client_disturbs_the_hub() -> None:
    """Whoever sends it, driver or watcher: it is done, passed on or answered."""

    async def run() -> None:
        with serve() as link, connect(link.address, link.key) as peer:
            hub = Hub(peer, "0", lambda: None)
            streams = [Stream(Ears()) for _ in range(2)]
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


def test_a_studio_goes_on_after_what_nobody_would_send(tmp_path_factory: Any) -> None:
    """Over a real socket, as the driver: afterwards the scene still runs and answers."""
    rng = random.Random(3)
    # What ends, replaces or writes the scene has tests of its own.
    calm = {"open", "close_scene", "save", "record", "edit", "speed", "undo", "redo"}
    with studio("gripper/follow", tmp_path_factory.mktemp("studio")) as here:
        harass(here, rng, calm)
        with here.client() as after:
            after.until("scene")
            after.send("inspect", name="gripper", kind="part")
            assert after.until("attributes")["name"] == "gripper"


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
