"""Archive: a scene with everything it needs as bytes, to be opened elsewhere."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from linkwork import parts
from linkwork.errors import FormatError, Origin, SceneError
from linkwork.meshes import mesh_files
from linkwork.parts import Arc, Attachment, Coupling, Loop, Polyline, Spline, Spring
from linkwork.scene.scene import Collide, Light, Placement, Scene, Viewpoint
from linkwork.spatial import Inertia, Pose

FORM = "linkwork/archive 1"

_CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in [
        *parts.SHAPES.values(),
        *(parts.Element, parts.Joint, parts.RailPiece, parts.Anchor, parts.Part, parts.Spec),
        *(Attachment, Coupling, Loop, Collide, Light, Placement, Scene, Viewpoint),
        *(Inertia, Pose, Origin, Arc, Polyline, Spline, Spring),
    ]
}
#: Parameters of specs and shapes that name files.
_FILE_KEYS = ("file", "texture")
#: Meshes that name other files: glTF its buffers, OBJ its materials.
_SPREAD = (".gltf", ".obj")
#: A place in the folder of files: names of which none leads out of it.
_PLACE = re.compile(r"(?!\.{1,2}(/|\Z))[^/\\:\0]+(/(?!\.{1,2}(/|\Z))[^/\\:\0]+)*\Z")
_INT64 = range(-(2**63), 2**63)


def pack(scene: Scene) -> bytes:
    """Writes a scene with its meshes, textures and programs as one block of bytes.

    Raises:
        SceneError: If a file that the scene names cannot be read.
    """
    files: dict[str, bytes] = {}
    plain = _to_plain(scene, files)
    return msgspec.msgpack.encode({"format": FORM, "scene": plain, "files": files})


def unpack(data: bytes, folder: Path) -> Scene:
    """Reads a scene back; its files are written into ``folder``.

    Raises:
        FormatError: If the bytes are not an archive, or its files cannot be written.
    """
    try:
        content = msgspec.msgpack.decode(data)
        if content["format"] != FORM:
            raise FormatError(f"an archive of form {content['format']!r} cannot be read.")
        files = content["files"]
        for name in files:
            if not _PLACE.match(name):
                raise FormatError(f"an archive holds a file named {name!r}.")
        scene = _from_plain(content["scene"], {name: str(folder / name) for name in files})
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
            f"an archive cannot be unpacked to {str(folder)!r}: {error.strerror}."
        ) from None
    return scene


def _stored(path: str, origin: Origin, files: dict[str, bytes]) -> str:
    """Puts a file, and those it names, among ``files``; returns its place there."""
    found = Path(path)
    if not found.is_absolute() and origin.file:
        found = Path(origin.file).parent / found
    beside = [found]
    if found.suffix.lower() in _SPREAD:
        beside = mesh_files(found)
    digest = hashlib.sha256()
    blobs: dict[str, bytes] = {}
    for file in beside:
        try:
            blob = file.read_bytes()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise SceneError(f"file {str(file)!r} cannot be read: {why}.", origin=origin) from None
        within = file.relative_to(found.parent).as_posix() if file != found else ""
        digest.update(within.encode() + b"\0" + blob + b"\0")
        blobs[within or _own_name(found)] = blob
    key = digest.hexdigest()[:16]
    files.update({f"{key}/{name}": blob for name, blob in blobs.items()})
    return f"{key}/{_own_name(found)}"


def _own_name(file: Path) -> str:
    """The file's name, without characters that mean more than themselves elsewhere."""
    return re.sub(r"[\\:]", "_", file.name)


def _to_plain(thing: Any, files: dict[str, bytes]) -> Any:
    if isinstance(thing, parts.Spec):
        params = dict(thing.params)
        for key in _FILE_KEYS:
            if isinstance(params.get(key), str) and params[key]:
                params[key] = _File(_stored(params[key], thing.origin, files))
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
                value = _File(_stored(value, Origin(), files))
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
    """A file of the archive, by its place in it."""

    place: str


def _from_plain(plain: Any, files: dict[str, str]) -> Any:
    if isinstance(plain, list):
        return [_from_plain(v, files) for v in plain]
    if not isinstance(plain, dict):
        return plain
    if "~f" in plain:
        return files[plain["~f"]]
    if "~t" in plain:
        return tuple(_from_plain(v, files) for v in plain["~t"])
    if "~d" in plain:
        return {k: _from_plain(v, files) for k, v in plain["~d"]}
    if "~i" in plain:
        return int(plain["~i"])
    if "~a" in plain:
        kind = np.dtype(plain["type"])
        if kind.hasobject:
            raise FormatError("an archive holds an array of objects.")
        return np.frombuffer(plain["~a"], kind).reshape(plain["shape"]).copy()
    inner = {k: _from_plain(v, files) for k, v in plain.items() if k != "~"}
    if "~" not in plain:
        return inner
    cls = _CLASSES.get(plain["~"])
    if cls is None:
        raise FormatError(f"an archive holds an unknown {plain['~']!r}.")
    return cls(**inner)
