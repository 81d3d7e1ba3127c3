"""Imports: files that a browser brings along, put into a folder of the user's to be opened."""

from __future__ import annotations

import hashlib
import io
import re
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from linkwork.errors import FormatError
from linkwork.formats.xml_tree import root_tag
from linkwork.server.loose_files import put_in_place

#: Where imported files go.
FOLDER = Path("~/.linkwork/imports")
#: Most that is taken at a time [byte], packed or not, and in how many files.
MOST, MOST_FILES = 256 * 2**20, 5000

#: What the reader of ZIP files raises for damaged ones.
_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError)
_DISPOSITION = re.compile(rb'(?i)^content-disposition:.*?\bfilename="((?:[^"\\\r\n]|\\.)*)"', re.M)
#: Endings of what can be opened, best first within a line: robots and scenes, then drawings, which
#: may only be what a robot looks like.
_ROBOTS = (".toml", ".urdf", ".mjcf", ".xml", ".sdf", ".world", ".robot", ".cfg", ".mcap")
_ASSEMBLIES, _MESHES = (".step", ".stp", ".glb", ".gltf"), (".stl", ".obj", ".dae")
_STEP = re.compile(r"[^/\\:\0]{1,200}\Z")


def bring(content_type: str, body: bytes, folder: Path | None = None) -> Path:
    """Keeps the files of a multipart form and returns the one to open.

    Raises:
        FormatError: If it is no such form, or holds nothing that can be opened.
    """
    return keep(put_in_place(unpacked(files_of(content_type, body))), folder)


def files_of(content_type: str, body: bytes) -> dict[str, bytes]:
    """The files in a multipart form, by the relative path that the browser gave them.

    Raises:
        FormatError: If it is no such form, or a path leads out of its folder.
    """
    found = re.search(r'(?i)^multipart/form-data\s*;.*boundary="?([^";]{1,200})"?', content_type)
    if found is None:
        raise FormatError("files are sent as multipart/form-data.")
    files: dict[str, bytes] = {}
    pieces = (b"\r\n" + body).split(b"\r\n--" + found[1].encode())
    for piece in pieces[1:]:
        head, gap, content = piece.partition(b"\r\n\r\n")
        named = _DISPOSITION.search(head)
        if gap and named is not None and named[1]:
            files[_place(named[1].decode("utf-8", "replace"))] = content
    if not files:
        raise FormatError("there is no file in what was sent.")
    return files


def unpacked(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files with those inside ZIP files in their place.

    Raises:
        FormatError: If a ZIP file is broken, locked or too large, or a path in it leads out.
    """
    zips = [name for name in files if name.lower().endswith(".zip")]
    made = {name: content for name, content in files.items() if name not in zips}
    room = MOST - sum(map(len, made.values()))
    for name in zips:
        # Side by side they get folders of their own, so that none hides a file of another.
        folder = f"{PurePosixPath(name).stem}/" if len(files) > 1 else ""
        for inside, content in _unzip(name, files[name], room).items():
            made[folder + inside] = content
            room -= len(content)
        if len(made) > MOST_FILES:
            raise FormatError(f"more than {MOST_FILES} files are not taken.")
    if not made:
        raise FormatError(f"{', '.join(zips)} holds no files.")
    return made


def _unzip(name: str, data: bytes, room: int) -> dict[str, bytes]:
    made: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [each for each in archive.infolist() if not _is_beside_the_point(each)]
            if len(entries) > MOST_FILES:
                raise FormatError(f"{name} holds more than {MOST_FILES} files.")
            for entry in entries:
                if entry.flag_bits & 1:
                    raise FormatError(f"{name} is locked with a password.", hint="Unpack it first.")
                with archive.open(entry) as stream:
                    content = stream.read(room + 1)  # what it says of its size need not be true
                if len(content) > room:
                    raise FormatError(f"{name} unpacks to more than {MOST >> 20} MB.")
                room -= len(content)
                made[_place(entry.filename)] = content
    except _BROKEN as e:
        raise FormatError(f"{name} is not a ZIP file that can be read: {e}.") from None
    return made


def _is_beside_the_point(entry: zipfile.ZipInfo) -> bool:
    """Folders, links, and what systems leave in archives."""
    link = stat.S_ISLNK(entry.external_attr >> 16)
    return entry.is_dir() or link or entry.filename.startswith("__MACOSX/")


def _place(name: str) -> str:
    path = PurePosixPath(name.replace("\\", "/"))
    steps = [step for step in path.parts if step != "."]
    if path.is_absolute() or not steps or not all(_STEP.match(s) and s != ".." for s in steps):
        raise FormatError(f"{name!r} is no path inside a folder.")
    return "/".join(steps)


def keep(files: dict[str, bytes], folder: Path | None = None) -> Path:
    """Writes files into a folder of their own and returns the one to open.

    Raises:
        FormatError: If none of them is a scene or robot, or they cannot be written.
    """
    main = _main(files)
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", PurePosixPath(main).stem)[:60]
    place, number = folder or FOLDER.expanduser(), 1
    home = place / f"{stem}-{digest.hexdigest()[:8]}"
    try:
        while home.exists() and not _is_as_brought(home, files):
            number += 1  # it was edited since; that stays
            home = place / f"{stem}-{digest.hexdigest()[:8]}-{number}"
        for name, content in files.items():
            target = home / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as error:
        raise FormatError(f"{home} cannot be written: {error.strerror}.") from None
    return home / main


def _is_as_brought(home: Path, files: dict[str, bytes]) -> bool:
    return all(
        (home / name).is_file() and (home / name).read_bytes() == content
        for name, content in files.items()
    )


def _is_model(head: bytes) -> bool:
    """Whether an XML file is a whole model: MuJoCo's with bodies, or the humanoid simulator's."""
    return (root_tag(head) not in ("", "package", "mujocoinclude") and b"<worldbody" in head) or (
        root_tag(head) not in ("", "package", "mujocoinclude", "mujoco")
    )


def _main(files: dict[str, bytes]) -> str:
    """The file to open: a scene before a robot before a drawing, the least deep first.

    Raises:
        FormatError: If there is none, or there are drawings of which none is the first.
    """

    def rank(name: str) -> tuple[int, int, str]:
        head, ending = files[name][:65536], PurePosixPath(name.lower()).suffix
        order = 0 if b"linkwork/scene" in head else 1
        if (ending == ".toml" and b"linkwork/" not in head) or ending == ".cfg":
            order = 2  # a TOML file of something else; settings more often than a robot
        if ending == ".xml" and not _is_model(head):
            order = 3  # an included file, or a package's description
        if ending in _ASSEMBLIES + _MESHES:
            order = 4 if ending in _ASSEMBLIES else 5
        return (order, name.count("/"), name)

    named = [n for n in files if n.lower().endswith(_ROBOTS + _ASSEMBLIES + _MESHES)]
    if not named:
        brought = ", ".join(sorted(files)[:5])
        raise FormatError(
            f"none of the files is a scene, robot or recording: {brought}.",
            hint="Bring a .toml, .urdf, .xml, .mjcf or .sdf with its meshes, a .glb, .stl, .obj, "
            ".dae or .step, a robot text, a folder, a .zip, or an .mcap recording.",
        )
    main = min(named, key=rank)
    equal = sorted(n for n in named if rank(n)[:2] == rank(main)[:2])
    if rank(main)[0] >= 4 and len(equal) > 1:
        raise FormatError(
            f"these are drawings without a robot that names them: {', '.join(equal[:5])}.",
            hint="Bring one of them, or the robot with them.",
        )
    return main
