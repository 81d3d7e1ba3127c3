"""What the studio is told of frames: the ports' bits as cantools knows them, and a DBC file's."""

from pathlib import Path

import cantools
from cantools.database.can import Database

from can_arm_fixture import ARM, SCENE
from linkwork.buses.adapter import WireFrame, WireSignal
from linkwork.buses.block import bus_blocks
from linkwork.formats import load_scene
from linkwork.session.session import Session
from linkwork.studio.host.bus_monitor import describe_buses

DBC = """VERSION ""
NS_ :
BS_:
BU_: Arm Host
BO_ 513 Wanted: 4 Host
 SG_ Shoulder : 7|16@0- (0.01,0) [-90|90] "deg" Arm
 SG_ Spare : 16|8@1+ (0.5,-10) [-10|117.5] "%" Arm
BO_ 2147484416 State: 2 Arm
 SG_ Page M : 0|4@1+ (1,0) [0|15] "" Host
 SG_ Heat m1 : 8|8@1- (1,0) [-40|125] "degC" Host
VAL_ 2147484416 Page 0 "quiet" ;
"""


def frames(folder: Path, bus: str, arm: str = ARM) -> list[WireFrame]:
    (folder / "arm.toml").write_text(arm)
    (folder / "bench.toml").write_text(SCENE.replace("socketcand = 0", f"socketcand = 0\n{bus}"))
    with Session(load_scene(folder / "bench.toml"), watch=False, buses=False) as session:
        (block,) = bus_blocks(session.cycle)
        (view,) = describe_buses(session.cycle)
        found = block.adapter.wire(block.plan)
    assert [each.address for each in view.frames] == [each.address for each in found]
    return found


def test_a_ports_signal_stands_on_both_ways(tmp_path: Path) -> None:
    """The joint's one identifier means its target coming in and its angle going out."""
    found = {frame.way: frame for frame in frames(tmp_path, "")}
    assert {way: frame.signals[0].name for way, frame in found.items()} == {
        "in": "arm/shoulder.target", "out": "arm/shoulder.angle",
    }  # fmt: skip
    target = found["in"].signals[0]
    assert (found["in"].address, found["in"].length) == ("201", 2)
    assert (target.start, target.bits, target.big_endian, target.unit) == (0, 12, False, "rad")
    assert abs(4095 * target.scale + target.offset - 1.5707963) < 1e-6


def test_a_dbc_file_adds_what_no_port_has(tmp_path: Path) -> None:
    """Other signals of a bound frame, and frames that nobody bound, as cantools reads the file."""
    (tmp_path / "arm.dbc").write_text(DBC)
    bus = 'bus = { can_id = 0x201, bits = 12, group = "arm/drives" }'
    arm = ARM.replace(bus, 'bus = { dbc = "Wanted.Shoulder" }')
    found = {(each.address, each.way): each for each in frames(tmp_path, 'file = "arm.dbc"', arm)}
    assert set(found) == {("201", "in"), ("201", "out"), ("00000300", "")}
    wanted, state = found["201", "in"], found["00000300", ""]
    assert (wanted.name, wanted.length) == ("Wanted", 4)
    assert [signal.name for signal in wanted.signals] == ["arm/shoulder.target", "Spare"]
    database = cantools.database.load_string(DBC)
    assert isinstance(database, Database)
    for signal, (message, name) in (
        (wanted.signals[1], ("Wanted", "Spare")),
        (state.signals[0], ("State", "Page")),
        (state.signals[1], ("State", "Heat")),
    ):
        theirs = database.get_message_by_name(message).get_signal_by_name(name)
        assert signal == WireSignal(
            name, theirs.start, theirs.length, theirs.byte_order == "big_endian",
            theirs.is_signed, theirs.is_float, float(theirs.scale), float(theirs.offset),
            theirs.unit or "", {int(k): str(v) for k, v in (theirs.choices or {}).items()},
            theirs.multiplexer_signal or "",
            tuple((n, n) for n in theirs.multiplexer_ids or ()),
        )  # fmt: skip
    bound = wanted.signals[0]
    assert (bound.start, bound.bits, bound.big_endian, bound.signed) == (7, 16, True, True)
