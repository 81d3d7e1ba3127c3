"""Small files that unpack or nest to something huge are refused before the work is done."""

import io
import struct
import time
import zipfile
from pathlib import Path

import pytest

from linkwork import load
from linkwork.components.actuators.smart_params import read_model
from linkwork.core.errors import LinkworkError
from linkwork.studio.web.uploads import MAX_RATIO, place_loose_files, unpacked

#: Just below the limit on the number of XML elements.
N = 199_900
TOML = 'format = "linkwork/scene 1"\nname = "a"\n'


def nested(start: str, tag: str, end: str) -> str:
    return f"{start}{f'<{tag}>' * N}{f'</{tag}>' * N}{end}"


BOMBS = {
    "a.urdf": nested('<robot name="a">', "link", "</robot>"),
    "open.urdf": f"<robot>{'<link>' * N}",
    "a.sdf": nested('<sdf version="1.9">', "model", "</sdf>"),
    "a.mjcf": nested("<mujoco><worldbody>", "body", "</worldbody></mujoco>"),
    "a.xml": nested('<robot name="a">', "joint", "</robot>"),
    "a.dae": nested("<COLLADA>", "node", "</COLLADA>"),
    "a.toml": f"{TOML}x = {'[' * N}{']' * N}\n",
    "table.toml": f"{TOML}x = {'{a=' * N}1{'}' * N}\n",
    "dots.toml": f"{TOML}{'a.' * N}a = 1\n",
    "header.toml": f"{TOML}[{'a.' * N}a]\n",
    "a.gltf": '{"asset":{"version":"2.0"},"extras":' + "[" * N + "]" * N + "}",
    "chain.gltf": '{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":['
    + ",".join(f'{{"children":[{i + 1}]}}' for i in range(N))
    + ",{}]}",
    "a.robot": "ROBOT = a\n" + "(" * N,
}


@pytest.mark.parametrize("name", BOMBS)
def test_200_000_nested_tags_are_refused_at_once(name: str, tmp_path: Path) -> None:
    """Each in under 0.2 s on the machine of the benchmarks; it took up to 13 s."""
    path = tmp_path / name
    path.write_text(BOMBS[name])
    since = time.process_time()
    with pytest.raises(LinkworkError):
        load(path)
    assert time.process_time() - since < 5.0


def test_a_servo_file_is_bounded(tmp_path: Path) -> None:
    """Nested too deep, or larger than any servo."""
    path = tmp_path / "servo.toml"
    for text in (f"x = {'[' * N}{']' * N}", "# long\n" * 1_000_000):
        path.write_text(text)
        with pytest.raises(LinkworkError, match="cannot be read"):
            read_model(path)


def packed(megabytes: int, method: int = zipfile.ZIP_DEFLATED, files: int = 1) -> bytearray:
    """A ZIP of zeros."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for number in range(files):
            with archive.open(f"a{number}.stl", "w", force_zip64=True) as file:
                for _ in range(megabytes):
                    file.write(bytes(2**20))
    return bytearray(made.getvalue())


@pytest.mark.parametrize(
    ("megabytes", "method", "files", "why"),
    [
        (1024, zipfile.ZIP_DEFLATED, 1, "more than 256 MB"),
        (64, zipfile.ZIP_DEFLATED, 5, "more than 256 MB"),
        (100, zipfile.ZIP_DEFLATED, 1, f"at most {MAX_RATIO} times"),
        (15, zipfile.ZIP_LZMA, 1, "uncommon method"),
        (15, zipfile.ZIP_BZIP2, 1, "uncommon method"),
    ],
)
def test_a_zip_bomb_is_refused_unread(megabytes: int, method: int, files: int, why: str) -> None:
    """By what it declares, in milliseconds; it took 16 s for 1 GB."""
    data = bytes(packed(megabytes, method, files))
    since = time.process_time()
    with pytest.raises(LinkworkError, match=why):
        unpacked({"bomb.zip": data})
    assert time.process_time() - since < 1.0


def test_a_zip_that_declares_too_little_is_read_no_further() -> None:
    """The reader stops at the declared size, and the checksum is wrong."""
    data = packed(64)
    struct.pack_into("<I", data, data.rfind(b"PK\x01\x02") + 24, 1000)
    with pytest.raises(LinkworkError, match="CRC"):
        unpacked({"bomb.zip": bytes(data)})


def test_a_robot_packs_well_and_is_taken() -> None:
    """Text of a robot, and small files of any ratio."""
    made = io.BytesIO()
    text = b'<robot name="a"><link name="b"/></robot>' * 1000 + bytes(2**20)
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.urdf", text)
    assert unpacked({"a.zip": made.getvalue()}) == {"a.urdf": text}


def test_references_are_looked_at_in_bounded_number() -> None:
    """Many names times many asset folders would be 10⁹ paths."""
    text = "".join(f'<a b="x/{n}.stl"/>' for n in range(40_000))
    text += "".join(f'<compiler meshdir="m{n}"/>' for n in range(40_000))
    files = {"a.xml": text.encode(), "1.stl": b"solid"}
    since = time.process_time()
    assert place_loose_files(files)["x/1.stl"] == b"solid"
    assert time.process_time() - since < 5.0
