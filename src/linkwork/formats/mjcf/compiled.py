"""Compiled: the model as MuJoCo understands it, with the line of each thing."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.errors import FormatError, LinkworkError, Origin
from linkwork.formats.mjcf.sanitise import GENERATED, Safe
from linkwork.meshes import TriangleMesh, load_mesh
from linkwork.mujoco_library import mujoco, said
from linkwork.spatial.pose import Pose

_LINE = re.compile(r"line[ =](\d+)")
_NAMED = re.compile(r"name '([^']*)'")


@dataclass
class Compiled:
    """A compiled model.

    Attributes:
        m: The MjModel.
        safe: What was compiled.
        file: The model's file.
        meshes: Triangles of each mesh asset that came from a file.
        unknown: Bodies whose mass a mesh makes that is not read, and whether all of it.
    """

    m: Any
    safe: Safe
    file: Origin
    meshes: dict[str, TriangleMesh]
    unknown: dict[int, bool] = field(default_factory=dict)

    def name(self, kind: str, number: int) -> str:
        """Name in the file of a thing, empty if it has none there."""
        name = self._raw(kind, number)
        return "" if name.startswith(GENERATED) else name

    def _raw(self, kind: str, number: int) -> str:
        kinds = {"keyframe": "key"}
        return getattr(self.m, kinds.get(kind, kind))(number).name

    def origin(self, kind: str, number: int) -> Origin:
        """Where a thing was said."""
        name = self._raw(kind, number)
        while name:
            found = self.safe.origins.get((kind, name))
            if found is not None:
                return found
            name = name[:-1]  # a replica's name is longer than that in the file
        return self.file


def compile_model(safe: Safe, file: Origin) -> Compiled:
    """Compiles the safe text.

    Raises:
        FormatError: If MuJoCo refuses it; the message says what it says, and the line.
    """
    meshes: dict[str, TriangleMesh] = {}
    for name, path in safe.meshes.items():
        try:
            meshes[name] = load_mesh(path)
        except LinkworkError as error:
            raise error.at(file) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = list(said.warnings)
        try:
            spec = mujoco.MjSpec.from_string(safe.text)
            for name, mesh in meshes.items():
                asset = spec.mesh(name)
                asset.uservert = mesh.vertices.astype(np.float32).ravel()
                asset.userface = mesh.faces.astype(np.int32).ravel()
            m = spec.compile()
            return Compiled(m, safe, file, meshes, _unknown_masses(spec, safe))
        except (ValueError, RuntimeError, TypeError, MemoryError, AttributeError) as error:
            raise _refused(error, safe, file) from None
        finally:
            said.warnings[:] = kept  # what it finds old-fashioned is no trouble of a session


def _unknown_masses(spec: Any, safe: Safe) -> dict[int, bool]:
    """Bodies that a small solid in the place of a mesh gives mass; whether nothing else does."""
    rule, kinds = int(spec.compiler.inertiafromgeom), mujoco.mjtInertiaFromGeom
    if not safe.replaced or rule == kinds.mjINERTIAFROMGEOM_FALSE:
        return {}
    lowest, highest = spec.compiler.inertiagrouprange
    found: dict[int, bool] = {}
    for body in spec.bodies[1:]:
        if body.explicitinertial and rule != kinds.mjINERTIAFROMGEOM_TRUE:
            continue
        solid = [
            geom
            for geom in body.geoms
            if lowest <= geom.group <= highest
            and (geom.mass > 0.0 or (np.isnan(geom.mass) and geom.density > 0.0))
        ]
        lost = [geom for geom in solid if geom.meshname in safe.replaced]
        if lost:
            found[body.id] = len(lost) == len(solid) and all(np.isnan(g.mass) for g in lost)
    return found


def _refused(error: Exception, safe: Safe, file: Origin) -> FormatError:
    text = " ".join(str(error).split()) or type(error).__name__
    origin = file
    if (found := _LINE.search(text)) and 0 < int(found[1]) <= len(safe.lines):
        origin = safe.lines[int(found[1]) - 1]
    elif named := _NAMED.search(text):
        origin = next((o for (_, n), o in safe.origins.items() if n == named[1]), file)
    text = re.sub(r",?\s*(line[ =]\d+|column[ =]\d+)", "", text)
    text = re.sub(r"^(XML Error|Error)?:?\s*(Error:)?\s*", "", text)
    return FormatError(f"MuJoCo refuses the model: {text.rstrip('.')}.", origin=origin)


def pose_of(pos: np.ndarray, quat: np.ndarray) -> Pose:
    """A pose of MuJoCo's arrays."""
    x, y, z = (float(c) for c in pos)
    return Pose.of((x, y, z), quat=tuple(float(c) for c in quat))
