"""Triangles of a STEP file, made by Open CASCADE in a process of its own and kept in a cache."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from linkwork.errors import FormatError, Origin
from linkwork.formats.step.syntax import check_syntax

#: A larger file is not read [bytes].
LARGEST = 512 * 2**20
#: Longest time for one file [s], and most memory [bytes].
PATIENCE = 300.0
MEMORY = 8 * 2**30
#: How far triangles may stand off a surface [mm], and turn along it [rad].
DEVIATION, TURN = 0.1, 0.35

_WORK = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
import cascadio
sys.exit(bool(cascadio.step_to_glb(sys.argv[1], sys.argv[2], {DEVIATION}, {TURN},
                                   use_parallel=False)))
"""


def triangles_of(path: Path) -> Path:
    """The glTF file of a STEP file's triangles, in metres and the file's own axes.

    A damaged file can take a library of C++ down; it takes down only the process it runs in.

    Raises:
        FormatError: If the file is no STEP file, damaged or takes too long, or the extra ``cad``
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
    key = hashlib.sha256(data + f"{DEVIATION} {TURN}".encode()).hexdigest()[:32]
    kept = _cache() / key / f"{path.stem}.glb"
    if not kept.is_file():
        _convert(path, kept, origin)
    return kept


def _bytes(path: Path, origin: Origin) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise FormatError(f"the file is larger than {LARGEST // 2**20} MB.", origin=origin)
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(f"the file cannot be read: {why}.", origin=origin) from error


def _cache() -> Path:
    base = os.environ.get("LINKWORK_CACHE")
    if base is None:
        home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        base = str(Path(home) / "linkwork")
    return Path(base) / "step"


def _convert(path: Path, kept: Path, origin: Origin) -> None:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            made = Path(folder) / "made.glb"
            job = subprocess.run(
                [sys.executable, "-c", _WORK, str(path.resolve()), str(made)],
                capture_output=True, timeout=PATIENCE, check=False,
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
            f"the file was not read within {PATIENCE:g} s.",
            origin=origin,
            hint="Export fewer or simpler components.",
        ) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise FormatError(f"its triangles cannot be kept: {why}.", origin=origin) from error
