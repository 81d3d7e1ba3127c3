"""Archive: a scene with all its files as bytes."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from linkwork.core.errors import FormatError, Origin, SceneError, os_error_text
from linkwork.core.program_folder import recordable_modules
from linkwork.core.renamed_keys import RENAMED_CLASSES, current_params
from linkwork.geometry import Inertia, Pose
from linkwork.geometry.meshes import mesh_files
from linkwork.model import parts
from linkwork.model.parts import Arc, Attachment, Coupling, Loop, Polyline, Spline, Spring
from linkwork.model.scene import CollisionRules, Light, Placement, Scene, Viewpoint

FORM = "linkwork/archive 1"

_CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in [
        *parts.SHAPES.values(),
        *(parts.Element, parts.Joint, parts.RailPiece, parts.Anchor, parts.Part, parts.Spec),
        *(Attachment, Coupling, Loop, CollisionRules, Light, Placement, Scene, Viewpoint),
        *(Inertia, Pose, Origin, Arc, Polyline, Spline, Spring),
    ]
}
#: Parameters of specs and shapes that name files.
_FILE_KEYS = ("file", "texture")
#: Meshes that name other files: glTF its buffers, OBJ its materials.
_MULTI_FILE_SUFFIXES = (".gltf", ".obj")
#: A relative path that stays inside the folder.
_RELATIVE_PATH = re.compile(r"(?!\.{1,2}(/|\Z))[^/\\:\0]+(/(?!\.{1,2}(/|\Z))[^/\\:\0]+)*\Z")
_INT64 = range(-(2**63), 2**63)


def pack(scene: Scene) -> bytes:
    """Serializes a scene with its meshes, textures and programs, with the modules beside them.

    Raises:
        SceneError: If a file that the scene names cannot be read.
    """
    files: dict[str, bytes] = {}
    plain = _to_plain(scene, files)
    return msgspec.msgpack.encode({"format": FORM, "scene": plain, "files": files})


def unpack(data: bytes, folder: Path, notes: list[str] | None = None) -> Scene:
    """Reads a scene back; its files are written into ``folder``.

    Args:
        data: The archive.
        folder: Folder for its files.
        notes: Receives a line for each renamed key of an earlier version.

    Raises:
        FormatError: If the bytes are not an archive, or its files cannot be written.
    """
    try:
        content = msgspec.msgpack.decode(data)
        if content["format"] != FORM:
            raise FormatError(f"an archive of form {content['format']!r} cannot be read.")
        files = content["files"]
        for name in files:
            if not _RELATIVE_PATH.match(name):
                raise FormatError(f"an archive holds a file named {name!r}.")
        paths = {name: str(folder / name) for name in files}
        scene = _from_plain(content["scene"], paths, [] if notes is None else notes)
        if not isinstance(scene, Scene):
            raise FormatError("this archive holds no scene.")
        for name, blob in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(blob)
    except (
        msgspec.MsgspecError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
    ) as error:
        raise FormatError(f"this is not a scene archive: {error}.") from None
    except OSError as error:
        raise FormatError(
            f"an archive cannot be unpacked to {str(folder)!r}: {os_error_text(error)}."
        ) from None
    return scene


def _store_file(
    path: str, origin: Origin, files: dict[str, bytes], *, program: bool = False
) -> str:
    """Adds a file, and those it names or can import, to ``files``; returns its path there."""
    found = Path(path)
    if not found.is_absolute() and origin.file:
        found = Path(origin.file).parent / found
    beside = [found]
    if found.suffix.lower() in _MULTI_FILE_SUFFIXES:
        beside = mesh_files(found)
    digest = hashlib.sha256()
    blobs: dict[str, bytes] = {}
    for file in beside:
        try:
            if file.exists() and not (file.is_file() or file.is_dir()):  # a pipe does not end
                raise OSError(errno.EINVAL, "it is not a file")
            blob = file.read_bytes()
        except (OSError, ValueError) as error:
            why = os_error_text(error)
            raise SceneError(f"file {str(file)!r} cannot be read: {why}.", origin=origin) from None
        within = file.relative_to(found.parent).as_posix() if file != found else ""
        digest.update(within.encode() + b"\0" + blob + b"\0")
        blobs[within or _safe_name(found)] = blob
    for name, blob in recordable_modules(found).items() if program else ():
        if blobs.setdefault(name, blob) is blob:
            digest.update(name.encode() + b"\0" + blob + b"\0")
    key = digest.hexdigest()[:16]
    files.update({f"{key}/{name}": blob for name, blob in blobs.items()})
    return f"{key}/{_safe_name(found)}"


def _safe_name(file: Path) -> str:
    """Returns the file's name, without characters that are special on other systems."""
    return re.sub(r"[\\:]", "_", file.name)


def _to_plain(thing: Any, files: dict[str, bytes]) -> Any:
    if isinstance(thing, parts.Spec):
        params = dict(thing.params)
        for key in _FILE_KEYS:
            if isinstance(params.get(key), str) and params[key]:
                program = thing.kind == "agent" and thing.type == "program"
                place = _store_file(params[key], thing.origin, files, program=program)
                params[key] = _File(place)
        plain = {f.name: getattr(thing, f.name) for f in dataclasses.fields(thing)}
        plain["params"] = params
        return {"~": "Spec", **{k: _to_plain(v, files) for k, v in plain.items()}}
    if isinstance(thing, _File):
        return {"~f": thing.place}
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        plain = {}
        for field in dataclasses.fields(thing):
            value = getattr(thing, field.name)
            if field.name in _FILE_KEYS and isinstance(thing, parts.Shape) and value:
                value = _File(_store_file(value, Origin(), files))
            plain[field.name] = _to_plain(value, files)
        return {"~": type(thing).__name__, **plain}
    if isinstance(thing, np.ndarray):
        raw = np.ascontiguousarray(thing).tobytes()
        return {"~a": raw, "shape": list(thing.shape), "type": thing.dtype.str}
    if isinstance(thing, tuple):
        return {"~t": [_to_plain(v, files) for v in thing]}
    if isinstance(thing, list):
        return [_to_plain(v, files) for v in thing]
    if isinstance(thing, dict):
        inner = {k: _to_plain(v, files) for k, v in thing.items()}
        marked = any(str(k).startswith("~") for k in inner)
        return {"~d": list(map(list, inner.items()))} if marked else inner
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, int) and thing not in _INT64:
        return {"~i": str(thing)}
    return thing


@dataclasses.dataclass(frozen=True)
class _File:
    """A file of the archive, by its path in it."""

    place: str


def _from_plain(plain: Any, files: dict[str, str], notes: list[str]) -> Any:
    if isinstance(plain, list):
        return [_from_plain(v, files, notes) for v in plain]
    if not isinstance(plain, dict):
        return plain
    if "~f" in plain:
        return files[plain["~f"]]
    if "~t" in plain:
        return tuple(_from_plain(v, files, notes) for v in plain["~t"])
    if "~d" in plain:
        return {k: _from_plain(v, files, notes) for k, v in plain["~d"]}
    if "~i" in plain:
        return int(plain["~i"])
    if "~a" in plain:
        kind = np.dtype(plain["type"])
        if kind.hasobject:
            raise FormatError("an archive holds an array of objects.")
        return np.frombuffer(plain["~a"], kind).reshape(plain["shape"]).copy()
    inner = {k: _from_plain(v, files, notes) for k, v in plain.items() if k != "~"}
    if "~" not in plain:
        return inner
    name = str(plain["~"])
    cls = _CLASSES.get(RENAMED_CLASSES.get(name, name))
    if cls is parts.Spec:
        params, renamed = current_params(inner["kind"], inner["type"], inner["params"])
        about = f"{inner['kind']} {inner.get('name') or inner['type']!r}"
        notes += [f"{about}: {note}" for _, note in renamed]
        inner["params"] = params
    if cls is None:
        raise FormatError(f"an archive holds an unknown {plain['~']!r}.")
    return cls(**inner)
