"""STEP assemblies (ISO 10303-21) as parts: an element for each component."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from linkwork.core.atomic import cache_folder
from linkwork.core.errors import FormatError, MeshError, Origin, os_error_text
from linkwork.formats.drawings.gltf import read_gltf_part
from linkwork.model.parts import Part
from linkwork.model.scene import Scene

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_TEXT = re.compile(rb"'[^']*'|/\*.*?(?:\*/|\Z)", re.DOTALL)  # strings and comments
_ENTITY = re.compile(rb"#(\d+)\s*=")
_REFERENCE = re.compile(rb"#(\d+)")


def check_syntax(data: bytes, origin: Origin) -> None:
    """Checks that a file is an exchange structure of ISO 10303-21 without dangling references.

    Raises:
        FormatError: Naming the line where one is known.
    """
    if not data.lstrip().startswith(b"ISO-10303-21;"):
        found = data.lstrip()[:40].decode("latin-1").partition("\n")[0]
        raise FormatError(
            f"this is no STEP file: it begins with {found!r}, not with ISO-10303-21;.",
            origin=origin,
        )
    if not data.rstrip(b"\0 \t\r\n").endswith(b"END-ISO-10303-21;"):
        raise FormatError(
            "the file does not end with END-ISO-10303-21;: it is cut off.", origin=origin
        )

    def wrong(place: int, what: str) -> FormatError:
        line = data.count(b"\n", 0, place) + 1
        return FormatError(what, origin=Origin(origin.file, line), hint="The file is damaged.")

    body = data.rstrip(b"\0 \t\r\n")
    if odd := _CONTROL.search(body):
        raise wrong(odd.start(), f"byte 0x{body[odd.start()]:02x} is no text.")

    def blank(found: re.Match[bytes]) -> bytes:
        if found[0].startswith(b"/*") and (len(found[0]) < 4 or not found[0].endswith(b"*/")):
            raise wrong(found.start(), "a comment is not closed.")
        return b" " * len(found[0])

    bare = _TEXT.sub(blank, body)
    if (open_ := bare.find(b"'")) >= 0:
        raise wrong(open_, "a text is not closed.")
    if bare.count(b"(") != bare.count(b")"):
        raise wrong(len(bare), "brackets are not closed.")
    known = {found[1] for found in _ENTITY.finditer(bare)}
    for found in _REFERENCE.finditer(bare):
        if found[1] not in known:
            raise wrong(found.start(), f"#{found[1].decode()} is not defined.")


#: Maximum size of a file [bytes].
MAX_BYTES = 512 * 2**20
#: Timeout [s] and memory limit [bytes] for one file.
TIMEOUT = 300.0
MEMORY = 8 * 2**30
#: Linear [mm] and angular [rad] tolerance of the triangles.
DEVIATION, ANGULAR_DEVIATION = 0.1, 0.35

_WORK = f"""
import sys
try:
    import resource
except ImportError:  # Windows cannot limit the memory of a process this way
    pass
else:
    resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
import cascadio
sys.exit(bool(cascadio.step_to_glb(sys.argv[1], sys.argv[2], {DEVIATION}, {ANGULAR_DEVIATION},
                                   use_parallel=False)))
"""


def triangles_of(path: Path) -> Path:
    """Returns the glTF file of a STEP file's triangles, in meters and the file's own axes.

    The conversion runs in its own process, because a damaged file can crash the C++ library.

    Raises:
        FormatError: If the file is not a STEP file, damaged or takes too long, or the extra ``cad``
            is not installed.
    """
    origin = Origin(str(path))
    data = _bytes(path, origin)
    check_syntax(data, origin)
    if find_spec("cascadio") is None:
        raise FormatError(
            "STEP files need the extra 'cad', which is not installed.",
            origin=origin,
            hint='Install it: pip install "linkwork[cad]"',
        )
    key = hashlib.sha256(data + f"{DEVIATION} {ANGULAR_DEVIATION}".encode()).hexdigest()[:32]
    kept = _cache() / key / f"{path.stem}.glb"
    if not kept.is_file():
        _convert(path, kept, origin)
    return kept


def _bytes(path: Path, origin: Origin) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FormatError(f"the file is larger than {MAX_BYTES // 2**20} MB.", origin=origin)
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = os_error_text(error)
        raise FormatError(f"the file cannot be read: {why}.", origin=origin) from error


def _cache() -> Path:
    return cache_folder() / "step"


def _convert(path: Path, kept: Path, origin: Origin) -> None:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            made = Path(folder) / "made.glb"
            job = subprocess.run(
                [sys.executable, "-P", "-c", _WORK, str(path.resolve()), str(made)],
                capture_output=True, timeout=TIMEOUT, check=False,
            )  # fmt: skip
            if job.returncode != 0 or not made.is_file():
                raise FormatError(
                    "Open CASCADE cannot read this STEP file: it is damaged, or holds no solids.",
                    origin=origin,
                    hint="Export it again, as AP203, AP214 or AP242.",
                )
            made.replace(kept)
    except subprocess.TimeoutExpired:
        raise FormatError(
            f"the file was not read within {TIMEOUT:g} s.",
            origin=origin,
            hint="Export fewer or simpler components.",
        ) from None
    except OSError as error:
        why = os_error_text(error)
        raise FormatError(f"its triangles cannot be kept: {why}.", origin=origin) from error


__all__ = ["StepFormat"]


class StepFormat:
    """Reads STEP files, with the extra ``cad`` (cascadio, which holds Open CASCADE).

    The triangles are kept in the user's cache; ``linkwork convert`` and ``linkwork new --from``
    copy them beside the written file.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".step", ".stp")
    writes: ClassVar[bool] = False

    def read(self, path: str | os.PathLike[str]) -> Part:
        """Returns the part of an assembly; see :meth:`read_with_notes`."""
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part, list[str]]:
        """Returns the part of an assembly, and assumptions.

        Raises:
            LinkworkError: If the file cannot be read, or the extra is not installed.
        """
        file = Path(path)
        kept = triangles_of(file)
        try:
            return read_gltf_part(kept, up="Z", of=file)
        except MeshError as error:
            raise FormatError(f"its triangles: {error.message}", origin=Origin(str(file))) from None

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Refuses to write: parts consist of triangles, STEP of surfaces.

        Raises:
            FormatError: Always; it names formats that can be written.
        """
        raise FormatError(
            f"{os.fspath(path)!r}: {thing.name!r} cannot be written as STEP.",
            origin=thing.origin,
            hint="Write it as .toml, .urdf or .glb.",
        )
