"""Archive: a scene with everything it needs as bytes, to be opened elsewhere."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from linkwork import parts
from linkwork.errors import FormatError, Origin, SceneError
from linkwork.parts.part import Attachment, Coupling, Loop
from linkwork.scene.scene import Collide, Light, Placement, Scene, Viewpoint
from linkwork.spatial import Inertia, Pose

_CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        *parts.SHAPES.values(), parts.Element, parts.Joint, parts.RailPiece, parts.Anchor,
        parts.Part, parts.Spec, Attachment, Coupling, Loop, Collide, Light, Placement, Scene,
        Viewpoint, Inertia, Pose, Origin,
    )  # fmt: skip
}
#: Parameters of specs and shapes that name files.
_FILE_KEYS = ("file", "texture")


def pack(scene: Scene) -> bytes:
    """Writes a scene with its meshes, textures and programs as one block of bytes."""
    files: dict[str, bytes] = {}
    plain = _to_plain(scene, files)
    return msgspec.msgpack.encode({"format": "linkwork/archive 1", "scene": plain, "files": files})


def unpack(data: bytes, folder: Path) -> Scene:
    """Reads a scene back; its files are written into ``folder``.

    Raises:
        FormatError: If the bytes are not an archive.
    """
    try:
        content = msgspec.msgpack.decode(data)
        if content["format"] != "linkwork/archive 1":
            raise FormatError(f"an archive of form {content['format']!r} cannot be read.")
        for name, blob in content["files"].items():
            if "/" in name or "\\" in name or name.startswith("."):
                raise FormatError(f"an archive holds a file named {name!r}.")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(blob)
        scene = _from_plain(content["scene"], folder)
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"this is not a scene archive: {error}.") from None
    if not isinstance(scene, Scene):
        raise FormatError("this archive holds no scene.")
    return scene


def _stored(path: str, origin: Origin, files: dict[str, bytes]) -> str:
    found = Path(path)
    if not found.is_absolute() and origin.file:
        found = Path(origin.file).parent / found
    try:
        blob = found.read_bytes()
    except OSError as error:
        raise SceneError(
            f"file {path!r} cannot be read: {error.strerror}.", origin=origin
        ) from None
    name = f"{hashlib.sha256(blob).hexdigest()[:12]}-{found.name}"
    files[name] = blob
    return name


def _to_plain(thing: Any, files: dict[str, bytes]) -> Any:  # noqa: ANN401
    if isinstance(thing, parts.Spec):
        params = dict(thing.params)
        for key in _FILE_KEYS:
            if isinstance(params.get(key), str) and params[key]:
                params[key] = {"~f": _stored(params[key], thing.origin, files)}
        plain = {f.name: getattr(thing, f.name) for f in dataclasses.fields(thing)}
        plain["params"] = {k: _to_plain(v, files) for k, v in params.items()}
        return {"~": "Spec", **{k: _to_plain(v, files) for k, v in plain.items()}}
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        plain = {}
        for field in dataclasses.fields(thing):
            value = getattr(thing, field.name)
            if field.name in _FILE_KEYS and isinstance(thing, parts.Shape) and value:
                plain[field.name] = {"~f": _stored(value, Origin(), files)}
            else:
                plain[field.name] = _to_plain(value, files)
        return {"~": type(thing).__name__, **plain}
    if isinstance(thing, np.ndarray):
        return {"~a": np.ascontiguousarray(thing).tobytes(), "shape": list(thing.shape)}
    if isinstance(thing, tuple):
        return {"~t": [_to_plain(v, files) for v in thing]}
    if isinstance(thing, list):
        return [_to_plain(v, files) for v in thing]
    if isinstance(thing, dict):
        return {k: _to_plain(v, files) for k, v in thing.items()}
    if isinstance(thing, np.generic):
        return thing.item()
    return thing


def _from_plain(plain: Any, folder: Path) -> Any:  # noqa: ANN401
    if isinstance(plain, list):
        return [_from_plain(v, folder) for v in plain]
    if not isinstance(plain, dict):
        return plain
    if "~f" in plain:
        return str(folder / plain["~f"])
    if "~t" in plain:
        return tuple(_from_plain(v, folder) for v in plain["~t"])
    if "~a" in plain:
        return np.frombuffer(plain["~a"]).reshape(plain["shape"]).copy()
    inner = {k: _from_plain(v, folder) for k, v in plain.items() if k != "~"}
    if "~" not in plain:
        return inner
    cls = _CLASSES.get(plain["~"])
    if cls is None:
        raise FormatError(f"an archive holds an unknown {plain['~']!r}.")
    return cls(**inner)
