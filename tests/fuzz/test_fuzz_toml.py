"""Broken TOML files: a LinkworkError with the file's name, or nothing; no traceback, no hang.

A tenth of the 3500 cases runs, all of them with ``--full``. A failing case prints its
number; the same number makes the same case again.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType

import pytest

from effort import cases
from formats.test_toml import SCENE, UPPER_ARM
from linkwork.core.errors import LinkworkError
from linkwork.formats import load
from linkwork.formats.toml import TomlFormat
from linkwork.model.parts import find_kits, kit_part
from linkwork.project.document import Document
from project.test_document import ARM, BENCH

CASES = cases(3500)

#: Timeout [s], ten times the longest case.
HANGS_AFTER = 60

JOINTS = """\
format = "linkwork/part 1"
name = "joints"
labels = { en = "all", de = "alle" }
[aliases]
old = "a"
[[element]]
name = "a"
shapes = [
    { box = { size_mm = [1, 2, 3] }, at = { quat = [1, 0, 0, 0] }, visible = false },
    { cone = { radius = 0.1, length = 0.2, top_radius = 0.05 }, color = "#11223344" },
]
mass = 2
com = [0, 0, 0.1]
inertia = [0.1, 0.1, 0.1, 0.01, 0, 0]
[[element]]
name = "b"
density = 800
[[joint]]
name = "j"
type = "planar"
from = "a"
to = "b"
ranges = { x = [-1, 1], angle_deg = [-90, 90] }
value = { y = 0.5 }
[[joint]]
name = "r"
type = "rail"
from = "b"
to = "c"
rail = [{ length = 1, turn_deg = 90 }, { length_mm = 5, climb = 0.1 }]
[[element]]
name = "c"
on = ""
"""

SEEDS = [
    UPPER_ARM, SCENE, ARM, BENCH, JOINTS,
    *(kit_part(n).read_text(encoding="utf-8") for k in find_kits().values()
      for n in k.parts() + k.scenes()),
]  # fmt: skip

#: Long seeds cost more without other failures: they are used less often.
WEIGHTS = [1.0 / len(text) for text in SEEDS]

PIECES = [
    "[", "]", "{", "}", "[[", "]]", "=", ".", ",", '"', "'", '"""', "'''", "#", "\n", "\r", "\r\n",
    "\\", "\x00", "\ufeff", "\u2028", "é", "1e999", "-1e308", "nan", "inf", "0", "-0.0", "true",
    "1" * 30, "9" * 5000, "1979-05-27", "a.b.c", "x = 1\n", "[x]\n", "[[element]]\n", "[[joint]]\n",
    'name = "tube"\n', "mass = -1\n", "at = { rpy = [1e30, 1, 1] }\n", "[" * 50, "{a=" * 50,
    'part = "./arm.toml"\n', 'part = "./self.toml"\n', 'part = "../"\n', 'part = "a/b"\n',
    'part = "/dev/zero"\n', 'file = "/dev/zero"\n', "range_deg = [1, 2]\n", "_deg", "_mm", "/",
]  # fmt: skip


def mutated(rng: Random) -> bytes:
    (text,) = rng.choices(SEEDS, WEIGHTS)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at, length = rng.randrange(len(text) + 1), rng.choice([0, 1, 2, 5, 20, 200])
        way = rng.randrange(6)
        if way == 0:
            text = text[:at] + text[at + length :]
        elif way == 1:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif way == 2:
            text = text[:at] + rng.choice(PIECES) + text[at + length :]
        elif way == 3:
            other = rng.randrange(len(text) + 1)
            text = text[:at] + text[other : other + length] + text[at:]
        elif way == 4:
            text = swapped_word(text, rng)
        else:
            lines = text.splitlines(keepends=True)
            number = rng.randrange(len(lines) or 1)
            lines[number:number] = lines[rng.randrange(len(lines) or 1) :][: rng.randint(1, 4)]
            text = "".join(lines)
        text = text or "\n"
    raw = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        at = rng.randrange(len(raw) + 1)
        raw = raw[:at] + rng.randbytes(rng.randint(1, 4)) + raw[at:]
    return raw


def swapped_word(text: str, rng: Random) -> str:
    """Returns the text with one value replaced by that of another line."""
    lines = text.splitlines(keepends=True)
    pairs = [n for n, line in enumerate(lines) if " = " in line]
    if not pairs:
        return text
    to, source = rng.choice(pairs), rng.choice(pairs)
    lines[to] = lines[to].split(" = ", 1)[0] + " = " + lines[source].split(" = ", 1)[1]
    return "".join(lines)


def made(rng: Random) -> bytes:
    way = rng.random()
    if way < 0.85:
        return mutated(rng)
    if way < 0.9:
        return rng.randbytes(rng.randrange(200))
    head = rng.choice(["", 'format = "linkwork/part 1"\n', 'format = "linkwork/scene 1"\n'])
    words = [rng.choice(PIECES) for _ in range(rng.randrange(30))]
    return (head + "".join(words)).encode("utf-8")


@contextmanager
def no_hang() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"still busy after {HANGS_AFTER} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANGS_AFTER)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "arm.toml").write_text(ARM, encoding="utf-8")
    return tmp_path


def test_broken_files_are_told_not_thrown(folder: Path) -> None:
    """Mutated and random files give a LinkworkError that names the file, or are read.

    Files that are read survive a round trip.
    """
    path = folder / "self.toml"
    form = TomlFormat()
    refused = 0
    for case in range(CASES):
        path.write_bytes(made(Random(case)))
        message, thing = "", None
        try:
            with no_hang():
                thing = load(path)
        except LinkworkError as error:
            message = str(error)
            refused += 1
        except Exception as error:
            raise AssertionError(f"case {case}: {path.read_bytes()!r}") from error
        assert not message or str(folder) in message, f"case {case}: {message}"
        if thing is not None:
            assert form.parse(form.text(thing, path), path) == thing, f"case {case}"
    assert CASES // 3 < refused < CASES - CASES // 50, "the changes are too rough or too gentle"


def test_wild_edits_are_told_not_thrown(folder: Path) -> None:
    """Edits with odd paths, names and values: applied or rejected, and undone bit-exact."""
    values = [
        1,
        -1.5,
        "tube",
        "",
        "é\n\"'",
        True,
        None,
        [1, 2, 3],
        [[]],
        {},
        {"a b": {"c": 1}},
        1e400,
    ]
    steps = ["element", "joint", "tube", "elbow", "name", "at", "x.y", "", 0, 1, -1, 99, "range",
             "labels", "en", "drive", "kp", "sensor", "nope", "part", "left", "posture", "home",
             "joints", "collide", "never"]  # fmt: skip
    for case in range(CASES // 10):
        rng = Random(case)
        text = rng.choice([ARM, BENCH])
        document = Document(text, folder / "self.toml")
        for _ in range(4):
            path = tuple(rng.choice(steps) for _ in range(rng.randint(1, 4)))
            name, value = rng.choice(steps), rng.choice(values)
            verbs = [
                lambda d, p=path, v=value: d.set_value(p, v),
                lambda d, p=path, n=name, v=value: d.add(str(p[0]), {"name": n, "on": v}),
                lambda d, p=path, n=name: d.remove(str(p[0]), n),
                lambda d, p=path, n=name, v=value: d.rename(str(p[0]), str(n), str(v)),
            ]
            try:
                with no_hang():
                    rng.choice(verbs)(document)
            except LinkworkError:
                pass
            except Exception as error:
                raise AssertionError(f"case {case}: {path} {name!r} {value!r}") from error
        while document.history:
            document.undo()
        assert document.text == text, f"case {case}"
