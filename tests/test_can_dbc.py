"""DBC files: read, written, and turned into bits exactly as cantools does."""

import math
import os
import random
import re
from pathlib import Path

import cantools
import pytest
from cantools.database.can import Database as Theirs
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.buses.can.dbc import (
    Attribute,
    Database,
    DbcError,
    DbcMessage,
    DbcNode,
    DbcSignal,
    dbc_text,
    decode,
    encode,
    parse_dbc,
    read_dbc,
    symbol,
    write_dbc,
)
from linkwork.errors import LinkworkError


def theirs(text: str) -> Theirs:
    database = cantools.database.load_string(text, "dbc", prune_choices=False)
    assert isinstance(database, Theirs)
    return database


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


def test_all_that_a_file_says_is_read() -> None:
    """Signals of both orders, multiplexing of both kinds, words, comments, attributes."""
    database = parse_dbc(RICH)
    assert database.version == "1.2"
    assert [node.name for node in database.nodes] == ["Arm", "Pad"]
    joint = database.message("Joint")
    assert (joint.id, joint.extended, joint.length, joint.sender) == (291, False, 8, "Arm")
    assert joint.senders == ["Arm", "Pad"]
    assert joint.comment == 'A joint, "seen" from outside\non two lines'
    assert joint.attributes == {"GenMsgCycleTime": 10}
    angle, speed, brake = joint.signals
    assert (angle.signed, angle.scale, angle.offset, angle.unit) == (True, 0.1, 5, "deg")
    assert (speed.big_endian, speed.minimum, speed.receivers) == (True, None, ["Pad", "Arm"])
    assert brake.values == {1: "closed", 0: "open"}
    assert database.message("Multi").id == 1024
    assert database.message("Multi").extended
    nested = database.message("Nested")
    assert [s.parent for s in nested.signals] == ["", "A", "B", "A"]
    assert nested.signal("C").ranges == [(2, 3), (5, 5)]
    assert nested.signal("D").float
    assert database.comment == "All of it"
    assert database.tables == {"OnOff": {1: "on", 0: "off"}}


def same_as_cantools(text: str, seed: int = 0, rounds: int = 25) -> None:
    """Both read the same messages and find the same values in the same bits."""
    chance = random.Random(seed)
    ours, other = parse_dbc(text), theirs(text)
    assert {(m.id, m.extended, m.name, m.length) for m in ours} == {
        (m.frame_id, m.is_extended_frame, m.name, m.length) for m in other.messages
    }
    for message in other.messages:
        mine = ours.message(message.name)
        assert mine.comment == (message.comment or "")
        for signal in message.signals:
            own = mine.signal(signal.name)
            assert (own.start, own.length, own.signed, own.float) == (
                signal.start,
                signal.length,
                signal.is_signed,
                signal.is_float,
            )
            assert (own.scale, own.offset, own.unit) == (
                signal.scale,
                signal.offset,
                signal.unit or "",
            )
            assert (own.minimum, own.maximum) == (signal.minimum, signal.maximum)
            assert own.values == {k: str(v) for k, v in (signal.choices or {}).items()}
        for _ in range(rounds):
            data = chance.randbytes(message.length)
            try:
                expected = message.decode(data, decode_choices=False)
            except Exception:
                continue  # a multiplexer value without signals: theirs refuses, ours gives the rest
            got = decode(mine, data)
            assert isinstance(expected, dict)
            assert got.keys() == expected.keys()
            for name, value in expected.items():
                assert got[name] == value or (math.isnan(float(str(value))))


def test_cantools_sees_the_same() -> None:
    """In the file as written by hand, and in the same written by us."""
    same_as_cantools(RICH)
    written = dbc_text(parse_dbc(RICH))
    same_as_cantools(written)
    assert dbc_text(parse_dbc(written)) == written


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("bits", range(8, 17))
def test_every_code_is_exact_against_cantools(bits: int, signed: bool) -> None:
    """Each code of 8 to 16 bits, in both byte orders, decodes and encodes to the same."""
    low, high = -1.7, 2.3
    scale = (high - low) / ((1 << bits) - 1)
    offset = low + (scale * (1 << (bits - 1)) if signed else 0.0)
    signals = [
        DbcSignal("Intel", 3, bits, False, signed, scale, offset, unit="rad"),
        DbcSignal("Motorola", 38, bits, True, signed, scale, offset, unit="rad"),
    ]
    message = DbcMessage(0x123, "Joint", 8, signals=signals)
    text = dbc_text(Database(messages=[message]))
    (read,) = parse_dbc(text).messages
    assert [s.scale for s in read.signals] == [scale, scale]
    other = theirs(text).get_message_by_name("Joint")
    start, end = signals[0].raw_range
    for raw in range(start, end + 1):
        value = raw * scale + offset
        data = encode(read, {"Intel": value, "Motorola": value})
        assert data == other.encode({"Intel": value, "Motorola": value}, strict=False), raw
        got = decode(read, data)
        assert got == other.decode(data), raw
        assert got["Intel"] == got["Motorola"] == value
    for fraction in range(997):
        value = low + (high - low) * fraction / 997
        values = {"Intel": value, "Motorola": value}
        assert encode(read, values) == other.encode(values)


@st.composite
def layouts(draw: st.DrawFn) -> DbcMessage:
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
            DbcSignal(
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
    return DbcMessage(draw(st.integers(0, 0x7FF)), "M", length, signals=signals)


@settings(max_examples=150)
@given(layouts(), st.randoms(use_true_random=False))
def test_generated_layouts_agree_with_cantools(message: DbcMessage, chance: random.Random) -> None:
    """Random layouts, random codes: the same bits out of the same values, and back."""
    try:
        text = dbc_text(Database(messages=[message]))
    except DbcError:
        return  # signals of different order that cross
    other = theirs(text).get_message_by_name("M")
    for _ in range(10):
        values = {}
        for signal in message.signals:
            raw = chance.randint(*signal.raw_range)
            values[signal.name] = raw * signal.scale + signal.offset
        data = encode(message, values)
        assert data == other.encode(values)
        assert decode(message, data) == other.decode(data) == values


def test_multiplexed_frames_hold_what_the_multiplexer_says() -> None:
    """Encoding asks for the right signals, and tells when one is missing or too many."""
    database = parse_dbc(RICH)
    multi = database.message("Multi")
    data = encode(multi, {"Kind": 1, "Volt": 12.5})
    assert decode(multi, data) == {"Kind": 1, "Volt": pytest.approx(12.5)}
    with pytest.raises(DbcError, match="needs a value for 'Volt'"):
        encode(multi, {"Kind": 1})
    with pytest.raises(DbcError, match="'Temp' is not in this frame"):
        encode(multi, {"Kind": 1, "Volt": 1.0, "Temp": 3.0})
    nested = database.message("Nested")
    data = encode(nested, {"A": 1, "B": 5, "C": 77})
    assert decode(nested, data) == {"A": 1, "B": 5, "C": 77}
    assert theirs(RICH).get_message_by_name("Nested").encode({"A": 1, "B": 5, "C": 77}) == data
    data = encode(nested, {"A": 4, "D": 1.5})
    assert decode(nested, data) == {"A": 4, "D": 1.5}


def test_values_are_checked() -> None:
    """Words, limits, nan and unknown names."""
    joint = parse_dbc(RICH).message("Joint")
    good = {"Angle": 0.0, "Speed": 0.0, "Brake": "closed"}
    assert decode(joint, encode(joint, good), words=True)["Brake"] == "closed"
    for name, value, words in [
        ("Angle", 1000.0, "is from -199.8 to 209.7"),
        ("Angle", float("nan"), "cannot be nan"),
        ("Angle", float("inf"), "is from"),
        ("Speed", 1e6, "does not fit 10 bits"),
        ("Speed", float("-inf"), "does not fit 10 bits"),
        ("Brake", "ajar", "Available|mean"),
    ]:
        with pytest.raises(LinkworkError, match=words):
            encode(joint, good | {name: value})
    clipped = encode(joint, good | {"Angle": 1e9, "Speed": float("-inf")}, clip=True)
    assert decode(joint, clipped)["Angle"] == pytest.approx(209.7)
    assert decode(joint, clipped)["Speed"] == -20
    with pytest.raises(LinkworkError, match="Angel"):
        encode(joint, good | {"Angel": 1.0})
    assert decode(joint, b"\x00\x00") == {"Angle": 5}  # a short frame gives what it has


def test_long_names_survive() -> None:
    """Names beyond the format's 32 characters go into attributes, as other tools do it."""
    name = "a_joint_with_a_name_that_is_much_too_long_for_the_format"
    signals = [DbcSignal(f"{name}_{n}", 8 * n, 8) for n in range(3)]
    database = Database(
        nodes=[DbcNode(name)],
        messages=[DbcMessage(1, f"{name}_m", 8, signals=signals, sender=name, senders=[name])],
    )
    text = dbc_text(database)
    names = re.findall(r"^(?:BO_ \d+| SG_|BU_:) (\w+)", text, re.MULTILINE)
    assert len(names) == 5
    assert len(set(names[2:])) == 3
    assert max(map(len, names)) == 32
    (message,) = parse_dbc(text).messages
    assert message.name == f"{name}_m"
    assert message.sender == name
    assert [signal.name for signal in message.signals] == [signal.name for signal in signals]
    other = theirs(text).messages[0]
    assert other.name == f"{name}_m"
    assert {signal.name for signal in other.signals} == {signal.name for signal in signals}
    assert database.messages[0].name == f"{name}_m"  # the caller's own is untouched


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (DbcMessage(1, "arm/J2", 8), "arm_J2"),
        (DbcMessage(0x800, "M", 8), "0 to 2047"),
        (DbcMessage(1, "M", 99), "99 bytes"),
        (DbcMessage(1, "M", 8, signals=[DbcSignal("a b", 0, 8)]), "a_b"),
        (DbcMessage(1, "M", 8, signals=[DbcSignal("s", 0, 8, scale=math.nan)]), "finite"),
        (DbcMessage(1, "M", 8, signals=[DbcSignal("s", 0, 8, scale=0)]), "not 0"),
        (DbcMessage(1, "M", 8, signals=[DbcSignal("s", 0, 0)]), "0 bits"),
        (DbcMessage(1, "M", 8, signals=[DbcSignal("s", 60, 8)]), "does not fit"),
        (DbcMessage(1, "M", 8, signals=[DbcSignal("s", 0, 8, float=True)]), "IEEE"),
    ],
)
def test_what_no_reader_would_take_is_not_written(message: DbcMessage, words: str) -> None:
    """The message says what would do."""
    with pytest.raises(DbcError, match=words):
        dbc_text(Database(messages=[message]))
    assert symbol("2nd arm/J2.angle") == "_2nd_arm_J2_angle"


def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    """With an attribute for the period, as tools look for it."""
    message = DbcMessage(5, "M", 1, signals=[DbcSignal("S", 0, 8, unit="°")])
    message.attributes["GenMsgCycleTime"] = 20
    database = Database(
        messages=[message],
        definitions={"GenMsgCycleTime": Attribute("GenMsgCycleTime", "BO_", "INT", 0, 10000)},
    )
    path = tmp_path / "bus.dbc"
    write_dbc(database, path)
    assert read_dbc(path).messages[0].signals[0].unit == "°"
    other = cantools.database.load_file(path)
    assert isinstance(other, Theirs)
    assert other.messages[0].cycle_time == 20
    path.write_bytes(dbc_text(database).encode("cp1252"))
    assert read_dbc(path).messages[0].signals[0].unit == "°"


HEAD = "BU_: A\nBO_ 1 M: 8 A\n"
SIGNAL = ' SG_ S : 0|8@1+ (1,0) [0|0] "" A\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("BO_ x M: 8 A", 1, "identifier"),
        ("BO_ 4096 M: 8 A", 1, "does not fit"),
        ("BO_ 3000000000 M: 8 A", 1, None),
        ("BO_ -1 M: 8 A", 1, "does not fit"),
        ("BO_ 1 M: 99 A", 1, "99 bytes"),
        ("\nBO_ 1 M 8 A", 2, "':' expected"),
        (SIGNAL, 1, "before the first message"),
        (HEAD + ' SG_ S : 0|8@2+ (1,0) [0|0] "" A', 3, "byte order"),
        (HEAD + ' SG_ S : 0|8@1* (1,0) [0|0] "" A', 3, "cannot be read"),
        (HEAD + ' SG_ S : 0|0@1+ (1,0) [0|0] "" A', 3, "0 bits"),
        (HEAD + ' SG_ S : 0|8@1+ (0,0) [0|0] "" A', 3, "scale 0"),
        (HEAD + ' SG_ S : 0|8@1+ (nan,0) [0|0] "" A', 3, "scale"),
        (HEAD + ' SG_ S : 0|8@1+ (1e999,0) [0|0] "" A', 3, "too large"),
        (HEAD + ' SG_ S : 60|8@1+ (1,0) [0|0] "" A', 3, "does not fit into the 8 bytes"),
        (HEAD + ' SG_ S : 0|9@0+ (1,0) [0|0] "" A\n' + SIGNAL.replace("S", "T"), 3, None),
        (HEAD + SIGNAL + SIGNAL, 4, "twice"),
        (HEAD + SIGNAL + SIGNAL.replace(" S ", " T "), 4, "overlap at bit"),
        (HEAD + SIGNAL.replace("S :", "S m1 :"), 3, "no multiplexer"),
        (HEAD + SIGNAL.replace("S :", "S q1 :"), 3, "multiplexing 'q1'"),
        (HEAD + "BO_ 1 N: 8 A", 3, "identifier of 'M'"),
        (HEAD + "BO_ 2 M: 8 A", 3, "defined twice"),
        ("BU_: A A", 1, "named twice"),
        (HEAD + 'CM_ SG_ 1 T "x";', 3, "no signal 'T'"),
        (HEAD + 'CM_ BO_ 9 "x";', 3, "no message with the identifier 9"),
        (HEAD + 'CM_ BU_ B "x";', 3, "no node 'B'"),
        (HEAD + 'CM_ "x', 3, "does not end"),
        (HEAD + 'CM_ "x"', 3, "';' expected"),
        (HEAD + 'BA_ "X" 1;', 3, "not defined"),
        (HEAD + 'BA_DEF_ "X" ENUM "a","b";\nBA_ "X" 7;', 4, "no choice 7"),
        (HEAD + 'BA_DEF_ "X" INT 0 9;\nBA_ "X" "a";', 4, "is a number"),
        (HEAD + 'BA_DEF_ "X" BOOL;', 3, "type 'BOOL'"),
        (HEAD + SIGNAL + 'VAL_ 1 S 0.5 "a";', 4, "raw value"),
        (HEAD + SIGNAL + "SIG_VALTYPE_ 1 S : 1;", 4, "value type 1"),
        (HEAD + SIGNAL + "SG_MUL_VAL_ 1 S S 0-0;", 3, "no multiplexer"),
        (HEAD + "WHAT_ 1;", 3, "a statement expected"),
        (HEAD + "123", 3, "a statement expected"),
        (HEAD + "§", 3, "cannot be read"),
        ("NS_DESC_ never ends", 1, "';' expected"),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, line: int, words: str | None) -> None:
    """What was found and what was expected, at file and line."""
    with pytest.raises(DbcError) as caught:
        parse_dbc(text, file="bus.dbc")
    assert caught.value.origin
    if words is not None:
        assert f"bus.dbc:{line}: " in str(caught.value)
        assert words in str(caught.value)


def test_a_circle_of_multiplexers_is_refused() -> None:
    """Two that choose each other choose nothing."""
    text = (
        HEAD
        + ' SG_ A m0M : 0|8@1+ (1,0) [0|0] "" A\n SG_ B m0M : 8|8@1+ (1,0) [0|0] "" A\n'
        + "SG_MUL_VAL_ 1 A B 0-0;\nSG_MUL_VAL_ 1 B A 0-0;\n"
    )
    with pytest.raises(DbcError, match="circle"):
        parse_dbc(text)


def test_a_lenient_reader_takes_what_overlaps() -> None:
    """Files of the wild that strict reading refuses."""
    text = HEAD + SIGNAL + SIGNAL.replace(" S ", " T ")
    assert len(parse_dbc(text, strict=False).messages[0].signals) == 2


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    """No traceback for a wrong path."""
    with pytest.raises(DbcError, match="cannot be read"):
        read_dbc(tmp_path / "none.dbc")


FILES = sorted(Path(os.environ.get("LINKWORK_DBC_FILES", "/nowhere")).glob("*.[dD][bB][cC]"))

if FILES:  # such as cantools' own tests/files/dbc, which are not ours to keep

    @pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
    def test_files_of_the_wild_agree_with_cantools(path: Path) -> None:
        """Both read the file, or neither; what we write of it means the same."""
        try:
            other = cantools.database.load_file(path, prune_choices=False)
        except Exception:
            with pytest.raises(DbcError):
                read_dbc(path)
            return
        assert isinstance(other, Theirs)
        written = dbc_text(read_dbc(path))
        same_as_cantools(written, rounds=5)
        assert len(theirs(written).messages) == len(other.messages)
