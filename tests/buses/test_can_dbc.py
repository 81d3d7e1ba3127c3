"""DBC files: read by cantools, with the line of what is wrong; our codec agrees with cantools."""

import builtins
import math
import os
import random
from pathlib import Path
from typing import Any

import cantools
import pytest
from cantools.database.can import Database as Theirs
from cantools.database.can import Message
from cantools.database.can import Signal as TheirSignal
from cantools.database.conversion import BaseConversion
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import cases
from linkwork.buses.can import dbc
from linkwork.buses.can.dbc import DbcError, DbcFile, parse_dbc, read_dbc
from linkwork.buses.can.frame_codec import CanMessage, CanSignal, decode, encode
from linkwork.core.errors import LinkworkError


def theirs(message: CanMessage) -> Message:
    """The same message as cantools has it."""
    signals = [
        TheirSignal(
            s.name, s.start, s.length, "big_endian" if s.big_endian else "little_endian", s.signed,
            conversion=BaseConversion.factory(scale=s.scale, offset=s.offset, is_float=s.float),
        )
        for s in message.signals
    ]  # fmt: skip
    return Message(message.id, message.name, message.length, signals)


RICH = """VERSION "1.2"

NS_ :
\tCM_
\tVAL_

BS_:

BU_: Arm Pad

VAL_TABLE_ OnOff 1 "on" 0 "off" ;

BO_ 291 Joint: 8 Arm
 SG_ Angle : 0|12@1- (0.1,5) [-199.8|209.7] "deg" Pad
 SG_ Speed : 23|10@0+ (0.5,-20) [0|0] "deg/s"  Pad,Arm
 SG_ Brake : 40|1@1+ (1,0) [0|1] "" Vector__XXX

BO_ 2147484672 Multi: 8 Vector__XXX
 SG_ Kind M : 0|4@1+ (1,0) [0|15] "" Vector__XXX
 SG_ Temp m0 : 8|16@1- (0.01,0) [0|0] "°C" Vector__XXX
 SG_ Volt m1 : 8|16@1+ (0.001,0) [0|0] "V" Vector__XXX

BO_ 300 Nested: 8 Pad
 SG_ A M : 0|4@1+ (1,0) [0|0] "" Vector__XXX
 SG_ B m1M : 8|4@1+ (1,0) [0|0] "" Vector__XXX
 SG_ C m2 : 16|8@1+ (1,0) [0|0] "" Vector__XXX
 SG_ D m3 : 24|32@1- (1,0) [0|0] "" Vector__XXX

BO_TX_BU_ 291 : Arm,Pad;

EV_ Door: 0 [0|1] "" 0 1 DUMMY_NODE_VECTOR0 Arm;

CM_ "All of it";
CM_ BU_ Arm "The arm";
CM_ BO_ 291 "A joint, \\"seen\\" from outside
on two lines";
CM_ SG_ 291 Angle "Its angle";
BA_DEF_ BO_ "GenMsgCycleTime" INT 0 65535;
BA_DEF_ SG_ "Mood" ENUM "calm","wild";
BA_DEF_ "BusType" STRING ;
BA_DEF_DEF_ "GenMsgCycleTime" 0;
BA_DEF_DEF_ "Mood" "calm";
BA_DEF_DEF_ "BusType" "CAN";
BA_ "GenMsgCycleTime" BO_ 291 10;
BA_ "Mood" SG_ 291 Angle 1;
VAL_ 291 Brake 1 "closed" 0 "open" ;
SIG_VALTYPE_ 300 D : 1;
SIG_GROUP_ 291 Motion 1 : Angle Speed;
SG_MUL_VAL_ 300 B A 1-1;
SG_MUL_VAL_ 300 C B 2-3, 5-5;
SG_MUL_VAL_ 300 D A 3-4;
"""


def test_what_the_bus_needs_of_a_file_is_read() -> None:
    """Signals of both orders, multiplexing of both kinds, names of values, at their lines."""
    file = parse_dbc(RICH, file="rich.dbc")
    assert [message.name for message in file] == ["Joint", "Multi", "Nested"]
    joint = file.message("Joint")
    assert (joint.id, joint.extended, joint.length) == (291, False, 8)
    angle, speed, brake = joint.signals
    assert (angle.signed, angle.scale, angle.offset, angle.unit) == (True, 0.1, 5, "deg")
    assert (angle.minimum, angle.maximum) == (-199.8, 209.7)
    assert (speed.big_endian, speed.minimum, speed.start, speed.length) == (True, None, 23, 10)
    assert brake.values == {1: "closed", 0: "open"}
    assert RICH.splitlines()[joint.origin.line - 1].startswith("BO_ 291 Joint")
    for signal in joint.signals:
        assert f"SG_ {signal.name} " in RICH.splitlines()[signal.origin.line - 1]
    multi = file.message("Multi")
    assert (multi.id, multi.extended) == (1024, True)
    nested = file.message("Nested")
    assert [s.parent for s in nested.signals] == ["", "A", "B", "A"]
    assert nested.signal("C").ranges == [(2, 3), (5, 5)]
    assert nested.signal("D").float
    with pytest.raises(LinkworkError, match="Did you mean 'Joint'"):
        file.message("Jiont")


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("bits", range(8, 17))
def test_every_code_is_exact_against_cantools(bits: int, signed: bool) -> None:
    """Each code of 8 to 16 bits, in both byte orders, decodes and encodes to the same."""
    low, high = -1.7, 2.3
    scale = (high - low) / ((1 << bits) - 1)
    offset = low + (scale * (1 << (bits - 1)) if signed else 0.0)
    signals = [
        CanSignal("Intel", 3, bits, False, signed, scale, offset, unit="rad"),
        CanSignal("Motorola", 38, bits, True, signed, scale, offset, unit="rad"),
    ]
    message = CanMessage(0x123, "Joint", 8, signals=signals)
    other = theirs(message)
    start, end = signals[0].raw_range
    for raw in range(start, end + 1):
        value = raw * scale + offset
        data = encode(message, {"Intel": value, "Motorola": value})
        assert data == other.encode({"Intel": value, "Motorola": value}, strict=False), raw
        got = decode(message, data)
        assert got == other.decode(data), raw
        assert got["Intel"] == got["Motorola"] == value
    for fraction in range(997):
        value = low + (high - low) * fraction / 997
        values = {"Intel": value, "Motorola": value}
        assert encode(message, values) == other.encode(values)


@st.composite
def layouts(draw: st.DrawFn) -> CanMessage:
    """A message whose signals lie behind each other, in both orders, of any length and scale."""
    length = draw(st.integers(1, 8))
    signals, place = [], 0
    while place < 8 * length and len(signals) < 6:
        place += draw(st.integers(0, 5))
        room = 8 * length - place
        if room < 1:
            break
        bits = draw(st.integers(1, min(room, 40)))
        big = draw(st.booleans())
        # In the other order a signal must not cross into bytes that are taken: whole bytes only.
        if big:
            place = -(-place // 8) * 8
            bits = min(bits, 8 * length - place)
            if bits < 1:
                break
        start = 8 * (place // 8) + 7 if big else place
        scale = draw(st.sampled_from([1, 2, 0.5, 0.1, 0.01, -0.25, 3.7]))
        signals.append(
            CanSignal(
                f"S{len(signals)}",
                start,
                bits,
                big,
                draw(st.booleans()),
                scale,
                draw(st.sampled_from([0, 1, -40, 0.5])),
            )
        )
        place += -(-bits // 8) * 8 if big else bits
        if not big:
            place = -(-place // 8) * 8 if draw(st.booleans()) else place
    return CanMessage(draw(st.integers(0, 0x7FF)), "M", length, signals=signals)


@settings(max_examples=cases(150))
@given(layouts(), st.randoms(use_true_random=False))
def test_generated_layouts_agree_with_cantools(message: CanMessage, chance: random.Random) -> None:
    """Random layouts, random codes: the same bits out of the same values, and back."""
    try:
        other = theirs(message)
    except cantools.database.errors.Error:
        return  # signals of different order that cross
    for _ in range(10):
        values = {}
        for signal in message.signals:
            raw = chance.randint(*signal.raw_range)
            values[signal.name] = raw * signal.scale + signal.offset
        data = encode(message, values)
        assert data == other.encode(values)
        assert decode(message, data) == other.decode(data) == values


def test_values_are_checked() -> None:
    """Limits, nan and unknown names."""
    joint = parse_dbc(RICH).message("Joint")
    good = {"Angle": 0.0, "Speed": 0.0, "Brake": 1}
    for name, value, words in [
        ("Angle", 1000.0, "is from -199.8 to 209.7"),
        ("Angle", float("nan"), "cannot be nan"),
        ("Angle", float("inf"), "is from"),
        ("Speed", 1e6, "does not fit 10 bits"),
        ("Speed", float("-inf"), "does not fit 10 bits"),
    ]:
        with pytest.raises(LinkworkError, match=words):
            encode(joint, good | {name: value})
    clipped = encode(joint, good | {"Angle": 1e9, "Speed": float("-inf")}, clip=True)
    assert decode(joint, clipped)["Angle"] == pytest.approx(209.7)
    assert decode(joint, clipped)["Speed"] == -20
    with pytest.raises(LinkworkError, match="Angel"):
        encode(joint, good | {"Angel": 1.0})
    with pytest.raises(LinkworkError, match="needs a value for 'Brake'"):
        encode(joint, {"Angle": 0.0, "Speed": 0.0})
    assert decode(joint, b"\x00\x00") == {"Angle": 5}  # a short frame gives what it has


def test_files_are_read_in_both_encodings(tmp_path: Path) -> None:
    """UTF-8 with or without its mark, and Windows-1252 of the older tools."""
    path = tmp_path / "bus.dbc"
    for encoding in ("utf-8", "utf-8-sig", "cp1252"):
        path.write_bytes(RICH.encode(encoding))
        assert read_dbc(path).message("Multi").signal("Temp").unit == "°C"


def test_long_names_are_read_from_their_attributes() -> None:
    """Names beyond the format's 32 characters, as other tools write them; lines stay right."""
    name = "a_joint_with_a_name_that_is_much_too_long_for_the_format"
    text = (
        HEAD
        + SIGNAL
        + 'BA_DEF_ SG_ "SystemSignalLongSymbol" STRING ;\n'
        + 'BA_DEF_DEF_ "SystemSignalLongSymbol" "";\n'
        + f'BA_ "SystemSignalLongSymbol" SG_ 1 S "{name}";\n'
    )
    (signal,) = parse_dbc(text).message("M").signals
    assert (signal.name, signal.origin.line) == (name, 3)


HEAD = "BU_: A\nBO_ 1 M: 8 A\n"
SIGNAL = ' SG_ S : 0|8@1+ (1,0) [0|0] "" A\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("BO_ x M: 8 A", 1, "invalid syntax in column 5"),
        ("BO_ 4096 M: 8 A", 1, "does not fit"),
        ("BO_ 3000000000 M: 8 A", 1, None),
        ("BO_ 1 M: 99 A", 1, "99 bytes"),
        ("\nBO_ 1 M 8 A", 2, "invalid syntax"),
        (SIGNAL, 1, "invalid syntax"),
        (HEAD + ' SG_ S : 0|8@1* (1,0) [0|0] "" A', 3, "invalid syntax"),
        (HEAD + ' SG_ S : 0|0@1+ (1,0) [0|0] "" A', 3, "0 bits"),
        (HEAD + ' SG_ S : 0|8@1+ (0,0) [0|0] "" A', 3, "the scale not 0"),
        (HEAD + ' SG_ S : 0|8@1+ (nan,0) [0|0] "" A', 3, "invalid syntax"),
        (HEAD + ' SG_ S : 0|8@1+ (1e999,0) [0|0] "" A', 3, "must be finite"),
        (HEAD + ' SG_ S : 60|8@1+ (1,0) [0|0] "" A', 3, "does not fit into the 8 bytes"),
        (HEAD + SIGNAL + SIGNAL, 4, "twice"),
        (HEAD + SIGNAL + SIGNAL.replace(" S ", " T "), 4, "overlap at bit"),
        (HEAD + "BO_ 1 N: 8 A", 3, "identifier of 'M'"),
        (HEAD + "BO_ 2 M: 8 A", 3, "defined twice"),
        (HEAD + 'CM_ "x', 3, "invalid syntax"),
        (HEAD + 'BA_ "X" 1;', 3, "'X' is used but not defined"),
        (HEAD + "WHAT_ 1;", 3, "invalid syntax"),
        (HEAD + "123", 3, "invalid syntax"),
        (HEAD + "§", 3, "invalid syntax"),
        (HEAD + SIGNAL + "SG_MUL_VAL_ 1 S S 0-4294967295;", 4, "more than 65536 values"),
        ("NS_DESC_ never ends", 1, "invalid syntax"),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, line: int, words: str | None) -> None:
    """What is wrong, at file and line."""
    with pytest.raises(DbcError) as caught:
        parse_dbc(text, file="bus.dbc")
    assert caught.value.origin
    if words is not None:
        assert caught.value.origin.line == line
        assert words in str(caught.value)


def test_a_statement_quoted_in_a_comment_has_no_line() -> None:
    """Lines are those of the statements, not of text in comments."""
    comment = 'CM_ BO_ 1 "Replaces\nBO_ 5 OLD: 8 A\nSG_ S : 0|8@1+\nsince 2019";\n'
    second = f"BO_ 2147483650 N: 8 A\n{SIGNAL}"
    read = parse_dbc(HEAD + SIGNAL + second + comment, file="bus.dbc")
    assert [(m.name, m.origin.line, m.signals[0].origin.line) for m in read] == [
        ("M", 2, 3), ("N", 4, 5)
    ]  # fmt: skip


def test_a_circle_of_multiplexers_is_refused() -> None:
    """Two that choose each other choose nothing."""
    text = (
        HEAD
        + ' SG_ A m0M : 0|8@1+ (1,0) [0|0] "" A\n SG_ B m0M : 8|8@1+ (1,0) [0|0] "" A\n'
        + "SG_MUL_VAL_ 1 A B 0-0;\nSG_MUL_VAL_ 1 B A 0-0;\n"
    )
    with pytest.raises(DbcError, match="circular"):
        parse_dbc(text)


def test_a_missing_or_huge_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback for a wrong path."""
    with pytest.raises(DbcError, match="cannot be read"):
        read_dbc(tmp_path / "none.dbc")
    (tmp_path / "huge.dbc").write_text(RICH)
    monkeypatch.setattr(dbc, "MAX_BYTES", 100)
    with pytest.raises(DbcError, match="is larger than"):
        read_dbc(tmp_path / "huge.dbc")


def test_without_cantools_the_message_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The extra ``bus`` brings it."""
    whole = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("cantools"):
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LinkworkError, match=r"cantools.*linkwork\[bus\]"):
        parse_dbc(RICH)


FILES = sorted(Path(os.environ.get("LINKWORK_DBC_FILES", "/nowhere")).glob("*.[dD][bB][cC]"))

if FILES:  # such as cantools' own tests/files/dbc, which are not ours to keep

    @pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
    def test_files_of_the_wild_are_read_or_refused(path: Path) -> None:
        """What cantools refuses is a DbcError; what it reads has the same messages."""
        try:
            other = cantools.database.load_file(path, prune_choices=False)
        except Exception:
            with pytest.raises(DbcError):
                read_dbc(path)
            return
        assert isinstance(other, Theirs)
        try:
            found: DbcFile = read_dbc(path)
        except DbcError:
            return  # stricter than cantools
        assert {m.name for m in found} == {m.name for m in other.messages}
        for message in found:
            for signal in message.signals:
                assert math.isfinite(signal.scale)
