"""Numbers of files and wires are written in ASCII digits; Python reads others, too."""

from collections.abc import Callable
from pathlib import Path

import pytest

from linkwork import load
from linkwork.buses.can.frame import parse_frame
from linkwork.buses.can.socketcand.text import hex_number, whole
from linkwork.buses.tcp.lines import parse_commands, parse_sensors
from linkwork.cli.measured_log import read_measured_log
from linkwork.core.errors import LinkworkError
from linkwork.core.mistakes import ascii_float
from linkwork.geometry.meshes import load_mesh
from linkwork.link import connect

#: Arabic-Indic, full-width and mathematical digits, and an underscore between ASCII ones.
OTHER = ["\u0661", "\uff11", "\U0001d7ce", "1_0"]

OBJ = "v 0 0 0\nv {0} 0 0\nv 0 1 0\nf 1 2 3\n"
OBJ_FACE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 {0}\n"
STL = (
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex {0} 0 0\nvertex 0 1 0\n"
    "endloop\nendfacet\nendsolid a\n"
)
URDF = (
    '<robot name="a"><link name="b"><visual><geometry><sphere radius="{0}"/></geometry></visual>'
    "</link></robot>"
)


def on_file(name: str, text: str, read: Callable[[Path], object]) -> Callable[[str, Path], object]:
    def reads(digit: str, folder: Path) -> object:
        path = folder / name
        path.write_text(text.format(digit), encoding="utf-8")
        return read(path)

    return reads


READERS: dict[str, Callable[[str, Path], object]] = {
    "tcp commands": lambda digit, _: parse_commands(f"c {digit}", 1),
    "tcp sensors": lambda digit, _: parse_sensors(f"s 1 0.1 {digit}", 1),
    "can identifier": lambda digit, _: parse_frame(f"10{digit[:1]}#"),
    "can data": lambda digit, _: parse_frame(f"100#{digit}0"),
    "can remote": lambda digit, _: parse_frame(f"100#R{digit}"),
    "socketcand hexadecimal": lambda digit, _: hex_number(digit, 0xFFFF),
    "socketcand decimal": lambda digit, _: whole(digit, 0xFFFF),
    "obj vertex": on_file("a.obj", OBJ, load_mesh),
    "obj face": on_file("a.obj", OBJ_FACE, load_mesh),
    "stl": on_file("a.stl", STL, load_mesh),
    "urdf": on_file("a.urdf", URDF, load),
    "log": on_file("a.csv", "time,arm/J1.target\n0,0\n1,{0}\n", read_measured_log),
    "link address": lambda digit, _: connect(f"tcp:127.0.0.1:{digit}", "k", timeout=0.01),
    "number": lambda digit, _: ascii_float(digit),
}


@pytest.mark.parametrize(
    ("reader", "digit"),
    [
        (reader, digit)
        for reader in READERS
        for digit in OTHER
        if digit != "1_0" or reader not in ("can identifier", "obj face")  # another error
    ],
)
def test_digits_of_other_scripts_are_refused(reader: str, digit: str, tmp_path: Path) -> None:
    """Whoever else reads the same file would read another number, or none."""
    with pytest.raises((LinkworkError, ValueError)):
        READERS[reader](digit, tmp_path)


@pytest.mark.parametrize("reader", sorted(READERS.keys() - {"link address", "obj face"}))
def test_ascii_digits_are_read(reader: str, tmp_path: Path) -> None:
    """The same text with a plain 1 is fine."""
    READERS[reader]("1", tmp_path)
