"""Who may talk to the studio, what it opens for them, and who drives."""

import subprocess
import sys
from pathlib import Path

import pytest

from linkwork.core.errors import FormatError, LinkworkError
from linkwork.core.hosts import is_loopback
from linkwork.studio.web.access import Access, check_token, resolve_allowed
from linkwork.studio.web.gallery import Recents
from linkwork.studio.web.hub import ClientRoster
from linkwork.studio.web.uploads import files_of, store_files


def test_the_server_loads_neither_the_compiler_nor_the_physics() -> None:
    """Everything that the server's process imports comes without numba and MuJoCo."""
    code = (
        "import sys, linkwork.studio.web.__main__; "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "starlette" in loaded
    assert not loaded & {"numba", "llvmlite", "mujoco"}


@pytest.mark.parametrize(
    ("headers", "trusted"),
    [
        ({"host": "localhost:8350"}, True),
        ({"host": "127.0.0.1:8350", "origin": "http://127.0.0.1:8350"}, True),
        ({"host": "[::1]:8350", "origin": "http://[::1]:8350"}, True),
        ({"host": "localhost:8350", "origin": "http://evil.example"}, False),
        ({"host": "localhost:8350", "origin": "http://localhost:1"}, False),
        ({"host": "localhost:8350", "origin": "null"}, False),
        ({"host": "evil.example:8350", "origin": "http://evil.example:8350"}, False),
        ({}, False),
        ({"host": "["}, False),
        ({"host": "localhost:8350", "origin": "http://["}, False),
    ],
)
def test_on_loopback_only_our_own_page_is_trusted(headers: dict[str, str], trusted: bool) -> None:
    """Another site's page, and a foreign name that leads here, are turned away."""
    assert Access("t", "127.0.0.1").trusts(headers) is trusted


def test_a_token_is_compared_whole() -> None:
    """A part of the token, nothing and other characters are wrong."""
    access = Access("secret", "127.0.0.1")
    assert access.knows("secret")
    assert not any(access.knows(t) for t in (None, "", "secre", "secrets", "s\N{EURO SIGN}"))


def test_a_short_token_is_for_this_machine_only() -> None:
    """Where others reach the studio it must be long; none at all is made up."""
    for token, host in (("lab", "127.0.0.1"), ("", "0.0.0.0"), ("workbench", "0.0.0.0")):
        check_token(token, host)
    with pytest.raises(LinkworkError, match="too short"):
        check_token("lab", "0.0.0.0")


def test_names_of_this_machine() -> None:
    """Every loopback address counts, nothing else."""
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.8.8.8", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.168.1.2", "localhost.evil.example", "")))


def test_only_kits_folders_and_known_files_are_opened(tmp_path: Path) -> None:
    """A path that leads out of the folders is refused, however it is written."""
    inside, outside = tmp_path / "in", tmp_path / "out.toml"
    inside.mkdir()
    outside.touch()
    assert resolve_allowed("tripod/level", [], []) == "tripod/level"
    assert resolve_allowed(str(inside / "a.toml"), [inside], []) == str(inside / "a.toml")
    assert resolve_allowed(str(outside), [inside], [str(outside)]) == str(outside)
    (inside / "link.toml").symlink_to(outside)
    for name in (outside, inside / ".." / "out.toml", inside / "link.toml", "/etc/passwd", "a\0b"):
        with pytest.raises(FormatError):
            resolve_allowed(str(name), [inside], [])


def form(*files: tuple[str, bytes]) -> tuple[str, bytes]:
    body = b"".join(
        b'--B\r\nContent-Disposition: form-data; name="files"; filename="'
        + name.encode()
        + b'"\r\nContent-Type: application/octet-stream\r\n\r\n'
        + content
        + b"\r\n"
        for name, content in files
    )
    return "multipart/form-data; boundary=B", body + b"--B--\r\n"


def test_imported_files_are_kept_to_the_byte(tmp_path: Path) -> None:
    """A robot and its meshes land in one folder, and the robot is what is opened."""
    mesh = bytes(range(256)) * 3 + b"\r\n--\r\n"
    files = files_of(*form(("bot/meshes/a.stl", mesh), ("bot/bot.urdf", b"<robot/>")))
    main = store_files(files, tmp_path)
    assert main.name == "bot.urdf"
    assert (main.parent / "meshes" / "a.stl").read_bytes() == mesh


@pytest.mark.parametrize(
    "name", ["../x.toml", "/x.toml", "a/../../x.toml", "..\\x.toml", "c:x.toml"]
)
def test_an_imported_file_cannot_leave_its_folder(name: str) -> None:
    """Paths upward, from the root and with drives are refused."""
    with pytest.raises(FormatError, match="inside a folder"):
        files_of(*form((name, b"")))


def test_what_is_no_robot_is_refused(tmp_path: Path) -> None:
    """Without a scene or robot among them, files are not kept."""
    with pytest.raises(FormatError, match="none of the files"):
        store_files({"a.txt": b""}, tmp_path)
    with pytest.raises(FormatError, match="multipart"):
        files_of("text/plain", b"x")


def test_one_drives_and_hands_over_on_request() -> None:
    """The first drives; others ask; who is granted drives; nobody drives by accident."""
    people = ClientRoster()
    assert [people.join() for _ in range(3)] == ["A", "B", "C"]
    assert people.driver == "A"
    people.ask("B")
    assert (people.driver, people.requester) == ("A", "B")
    assert people.grant("B")
    assert (people.driver, people.requester) == ("B", None)
    assert not people.grant("Z")
    people.leave("B")
    assert people.driver is None
    people.ask("C")
    assert people.driver == "C"
    assert people.join() == "B"
    assert people.driver == "C"


def test_recent_files_are_newest_first_and_exist(tmp_path: Path) -> None:
    """A file opened again moves up; one that is gone is not listed; a broken list is empty."""
    recents = Recents(tmp_path / "recent.json")
    for name in ("a", "b", "a"):
        (tmp_path / name).touch()
        recents.add(str(tmp_path / name), name)
    assert [each.name for each in recents.all()] == ["a", "b"]
    (tmp_path / "a").unlink()
    assert [each.name for each in recents.all()] == ["b"]
    (tmp_path / "recent.json").write_text("{")
    assert recents.all() == []
