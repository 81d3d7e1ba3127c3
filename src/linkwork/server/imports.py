"""Imports: files that a browser brings along, put into a folder of the user's to be opened."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path, PurePosixPath

from linkwork.errors import FormatError

#: Where imported files go.
FOLDER = Path("~/.linkwork/imports")
#: Most that is taken at a time [byte].
MOST = 256 * 2**20

_DISPOSITION = re.compile(rb'(?i)^content-disposition:.*?\bfilename="((?:[^"\\\r\n]|\\.)*)"', re.M)
_STEP = re.compile(r"[^/\\:\0]{1,200}\Z")


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
    home = (folder or FOLDER.expanduser()) / f"{stem}-{digest.hexdigest()[:8]}"
    try:
        for name, content in files.items():
            target = home / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as error:
        raise FormatError(f"{home} cannot be written: {error.strerror}.") from None
    return home / main


def _main(files: dict[str, bytes]) -> str:
    """The file to open: a scene before a robot, the least deep first."""

    def rank(name: str) -> tuple[int, int, str]:
        scene = b"linkwork/scene" in files[name][:4096]
        return (0 if scene else 1, name.count("/"), name)

    named = [n for n in files if n.lower().endswith((".toml", ".urdf", ".mcap"))]
    if not named:
        brought = ", ".join(sorted(files)[:5])
        raise FormatError(
            f"none of the files is a scene, robot or recording: {brought}.",
            hint="Bring a .toml or .urdf file, together with its meshes, or a recording (.mcap).",
        )
    return min(named, key=rank)
