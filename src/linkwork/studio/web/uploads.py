"""Uploads: files uploaded by a browser to be opened."""

from __future__ import annotations

import hashlib
import io
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from linkwork.core.atomic import write_private
from linkwork.core.errors import FormatError, os_error_text
from linkwork.formats.robots.xml import root_tag

#: Files that refer to others by quoted paths, or in SDF by <uri>.
_DESCRIBING = (".urdf", ".toml", ".sdf", ".world", ".xml", ".mjcf", ".gltf")
_REFERENCE = re.compile(r"""["']([^"'\r\n<>]{1,400})["']|<uri>\s*([^<>\r\n]{1,400}?)\s*</uri>""")
#: Attributes of an MJCF file that name the folders of meshes and images.
_ASSETS = re.compile(r"""\b(?:assetdir|meshdir|texturedir)\s*=\s*["']([^"'\r\n<>]{1,400})["']""")
_PATH_STEP = re.compile(r"(?!\.\.\Z)[^/\\:\0]{1,200}\Z")
#: Maximum number of references and of asset folders that are looked at in a file.
MAX_REFERENCES, MAX_ASSET_FOLDERS = 20_000, 8
#: A folder around the uploaded files, for references that lead out of it.
_AROUND = "brought"


def place_loose_files(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files, with those beside a robot or scene also at the paths by which it refers to them.

    A browser omits the folders of files picked or dropped one by one. A reference
    ``meshes/arm.stl`` or ``package://robot/meshes/arm.stl`` then means the ``arm.stl`` beside the
    file that holds it, unless the referenced path exists.
    """
    wanted = [
        (main, beside, steps)
        for main in files
        if main.lower().endswith(_DESCRIBING)
        for beside, steps in _references(main, files)
    ]
    depth = max((_relative_path(main, steps) for main, _, steps in wanted), default=0)
    around = f"{_AROUND}/" * depth
    made = {around + name: content for name, content in files.items()}
    for main, beside, steps in wanted:
        target = _joined(around + main, steps)
        if not any("/".join(target[:n]) in made for n in range(1, len(target))):
            made.setdefault("/".join(target), files[beside])
    return made


def _references(main: str, files: dict[str, bytes]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Files beside one that refers to them elsewhere, and the relative paths to there."""
    folder = PurePosixPath(main).parent
    text = files[main].decode("utf-8", "replace")
    found = islice(_REFERENCE.finditer(text), MAX_REFERENCES)
    named = dict.fromkeys(each[1] or each[2] for each in found)
    bases = [*dict.fromkeys(_ASSETS.findall(text))][:MAX_ASSET_FOLDERS]
    for reference in [*named, *(f"{base}/{name}" for base in bases for name in named)]:
        path = unquote(reference).replace("\\", "/")
        scheme, separator, rest = path.partition("://")
        if separator and scheme not in ("package", "model"):
            continue  # another scheme, such as file:
        steps = tuple(s for s in (rest if separator else path).split("/") if s not in ("", "."))
        if (
            len(steps) < 2
            or path.startswith("/")
            or not all(map(_PATH_STEP.match, steps[_ups(steps) :]))
        ):
            continue
        beside = str(folder / steps[-1])
        if beside in files and "/".join(_joined(main, steps)) not in files:
            yield beside, steps


def _ups(steps: tuple[str, ...]) -> int:
    """Number of parent steps at the beginning of a path."""
    return next((n for n, step in enumerate(steps) if step != ".."), len(steps))


def _relative_path(main: str, steps: tuple[str, ...]) -> int:
    """Number of folders needed around all files for a path to stay inside."""
    return max(0, _ups(steps) - main.count("/"))


def _joined(main: str, steps: tuple[str, ...]) -> tuple[str, ...]:
    folders, ups = main.split("/")[:-1], _ups(steps)
    return (*folders[: max(0, len(folders) - ups)], *steps[ups:])


#: Folder for imported files.
UPLOAD_FOLDER = Path("~/.linkwork/imports")
#: Maximum size of an upload [byte], packed or not, and maximum number of files.
MAX_BYTES, MAX_FILES = 256 * 2**20, 5000

#: Maximum ratio of an archive's content to its size, for content above a size [byte]: text of
#: robots and meshes reaches 30.
MAX_RATIO, RATIO_FROM = 200, 16 * 2**20

#: Exceptions that the ZIP reader raises for damaged files.
_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError)
_DISPOSITION = re.compile(rb'(?i)^content-disposition:.*?\bfilename="((?:[^"\\\r\n]|\\.)*)"', re.M)
#: Endings of files that can be opened, best first within a line: robots and scenes, then drawings,
#: which may only be meshes of a robot.
_ROBOTS = (".toml", ".urdf", ".mjcf", ".xml", ".sdf", ".world", ".robot", ".cfg", ".mcap")
_ASSEMBLIES, _MESHES = (".step", ".stp", ".glb", ".gltf"), (".stl", ".obj", ".dae")
_STEP = re.compile(r"[^/\\:\0]{1,200}\Z")


def store_upload(content_type: str, body: bytes, folder: Path | None = None) -> Path:
    """Stores the files of a multipart form and returns the one to open.

    Raises:
        FormatError: If the form is invalid, or contains nothing that can be opened.
    """
    return store_files(place_loose_files(unpacked(files_of(content_type, body))), folder)


def files_of(content_type: str, body: bytes) -> dict[str, bytes]:
    """The files in a multipart form, by the relative path that the browser gave them.

    Raises:
        FormatError: If the form is invalid, or a path leads out of its folder.
    """
    found = re.search(r'(?i)^multipart/form-data\s*;.*boundary="?([^";]{1,200})"?', content_type)
    if found is None:
        raise FormatError("files are sent as multipart/form-data.")
    files: dict[str, bytes] = {}
    sections = (b"\r\n" + body).split(b"\r\n--" + found[1].encode())
    for section in sections[1:]:
        head, gap, content = section.partition(b"\r\n\r\n")
        named = _DISPOSITION.search(head)
        if gap and named is not None and named[1]:
            files[_place(named[1].decode("utf-8", "replace"))] = content
    if not files:
        raise FormatError("the upload contains no file.")
    return files


def unpacked(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files with ZIP files replaced by their content.

    Raises:
        FormatError: If a ZIP file is broken, locked or too large, or a path in it leads out.
    """
    zips = [name for name in files if name.lower().endswith(".zip")]
    made = {name: content for name, content in files.items() if name not in zips}
    room = MAX_BYTES - sum(map(len, made.values()))
    for name in zips:
        # Several ZIP files are unpacked into separate folders, so that no file hides another.
        folder = f"{PurePosixPath(name).stem}/" if len(files) > 1 else ""
        for inside, content in _unzip(name, files[name], room).items():
            made[folder + inside] = content
            room -= len(content)
        if len(made) > MAX_FILES:
            raise FormatError(f"more than {MAX_FILES} files are not taken.")
    if not made:
        raise FormatError(f"{', '.join(zips)} holds no files.")
    return made


def _unzip(name: str, data: bytes, room: int) -> dict[str, bytes]:
    made: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [each for each in archive.infolist() if not _is_ignored(each)]
            if len(entries) > MAX_FILES:
                raise FormatError(f"{name} holds more than {MAX_FILES} files.")
            # A reader stops at the declared size: what is declared bounds the work.
            total = sum(entry.file_size for entry in entries)
            if total > room:
                raise FormatError(f"{name} unpacks to more than {MAX_BYTES >> 20} MB.")
            if total > max(RATIO_FROM, MAX_RATIO * len(data)):
                raise FormatError(
                    f"{name} unpacks to {total / len(data):.0f} times its size; at most "
                    f"{MAX_RATIO} times are unpacked.",
                    hint="Bring its files unpacked.",
                )
            for entry in entries:
                if entry.flag_bits & 1:
                    raise FormatError(f"{name} is locked with a password.", hint="Unpack it first.")
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    # Python's readers of the other methods do not stop at the declared size.
                    raise FormatError(
                        f"{entry.filename} in {name} is packed with an uncommon method.",
                        hint="Pack it with deflate, as ZIP programs do by default.",
                    )
                with archive.open(entry) as stream:
                    content = stream.read(room + 1)  # the declared size may be wrong
                if len(content) > room:
                    raise FormatError(f"{name} unpacks to more than {MAX_BYTES >> 20} MB.")
                room -= len(content)
                made[_place(entry.filename)] = content
    except _BROKEN as e:
        raise FormatError(f"{name} is not a ZIP file that can be read: {e}.") from None
    return made


def _is_ignored(entry: zipfile.ZipInfo) -> bool:
    """Whether to skip an entry: folders, links, and system files in archives."""
    link = stat.S_ISLNK(entry.external_attr >> 16)
    return entry.is_dir() or link or entry.filename.startswith("__MACOSX/")


def _place(name: str) -> str:
    path = PurePosixPath(name.replace("\\", "/"))
    steps = [step for step in path.parts if step != "."]
    if path.is_absolute() or not steps or not all(_STEP.match(s) and s != ".." for s in steps):
        raise FormatError(f"{name!r} is not a path inside a folder.")
    return "/".join(steps)


def store_files(files: dict[str, bytes], folder: Path | None = None) -> Path:
    """Writes files into a folder of their own and returns the one to open.

    Raises:
        FormatError: If none of them is a scene or robot, or they cannot be written.
    """
    main = _main(files)
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", PurePosixPath(main).stem)[:60]
    place, number = folder or UPLOAD_FOLDER.expanduser(), 1
    home = place / f"{stem}-{digest.hexdigest()[:8]}"
    try:
        while home.exists() and not _is_as_brought(home, files):
            number += 1  # it was edited since; keep that
            home = place / f"{stem}-{digest.hexdigest()[:8]}-{number}"
        for name, content in files.items():
            write_private(home / name, content)
    except OSError as error:
        raise FormatError(f"{home} cannot be written: {os_error_text(error)}.") from None
    return home / main


def _is_as_brought(home: Path, files: dict[str, bytes]) -> bool:
    return all(
        (home / name).is_file() and (home / name).read_bytes() == content
        for name, content in files.items()
    )


def _is_model(head: bytes) -> bool:
    """Whether an XML file is a whole model: MJCF with bodies, or the humanoid simulator's."""
    return (root_tag(head) not in ("", "package", "mujocoinclude") and b"<worldbody" in head) or (
        root_tag(head) not in ("", "package", "mujocoinclude", "mujoco")
    )


def _main(files: dict[str, bytes]) -> str:
    """The file to open: a scene before a robot before a drawing, the shallowest first.

    Raises:
        FormatError: If there is none, or there are several drawings and none is preferred.
    """

    def rank(name: str) -> tuple[int, int, str]:
        head, ending = files[name][:65536], PurePosixPath(name.lower()).suffix
        order = 0 if b"linkwork/scene" in head else 1
        if (ending == ".toml" and b"linkwork/" not in head) or ending == ".cfg":
            order = 2  # another TOML file; more likely settings than a robot
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
