"""Compiled model: MuJoCo's MjModel with the file and line of each object."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.core.errors import FormatError, LinkworkError, Origin
from linkwork.core.mujoco_library import (
    mujoco,
    read_mesh_file,
    reads_mesh_file,
    warning_log,
)
from linkwork.formats.robots.mjcf.sanitize import GENERATED, SanitizedModel
from linkwork.geometry.meshes import TriangleMesh, load_mesh
from linkwork.geometry.pose import Pose

_LINE = re.compile(r"line[ =](\d+)")
_NAMED = re.compile(r"name '([^']*)'")


@dataclass
class CompiledMjcf:
    """A compiled model.

    Attributes:
        m: The MjModel.
        safe: The compiled text.
        file: The model's file.
        meshes: Triangles of each mesh asset that came from a file.
        unknown: Bodies with mass from a mesh that is not read; True if all of their mass is.
        mesh_attributes: Attributes of mesh assets that are no defaults, by name.
        mesh_references: Reference poses of mesh assets, by name.
    """

    m: Any
    safe: SanitizedModel
    file: Origin
    meshes: dict[str, TriangleMesh]
    unknown: dict[int, bool] = field(default_factory=dict)
    mesh_attributes: dict[str, dict[str, Any]] = field(default_factory=dict)
    mesh_references: dict[str, Pose] = field(default_factory=dict)

    def name(self, kind: str, number: int) -> str:
        """Returns the name of an object in the file, empty if it has none."""
        name = self._raw(kind, number)
        return "" if GENERATED in name else name

    def _raw(self, kind: str, number: int) -> str:
        kinds = {"keyframe": "key"}
        return getattr(self.m, kinds.get(kind, kind))(number).name

    def origin(self, kind: str, number: int) -> Origin:
        """Returns where an object is defined."""
        name = self._raw(kind, number)
        while name:
            found = self.safe.origins.get((kind, name))
            if found is not None:
                return found
            name = name[:-1]  # a replica's name is that in the file with a suffix
        return self.file


def compile_model(safe: SanitizedModel, file: Origin) -> CompiledMjcf:
    """Compiles a sanitized model.

    Raises:
        FormatError: If MuJoCo rejects it, with MuJoCo's message and the line.
    """
    meshes: dict[str, TriangleMesh] = {}
    for name, path in safe.meshes.items():
        try:
            meshes[name] = load_mesh(path)
        except LinkworkError as error:
            raise error.at(file) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = list(warning_log.warnings)
        try:
            attached = {name: text.encode() for name, text in safe.models.items()}
            spec = mujoco.MjSpec.from_string(safe.text, include=attached)
            for name, mesh in meshes.items():
                asset = spec.mesh(name)
                if reads_mesh_file(safe.meshes[name]):
                    # our reader has checked it; masses are those of MuJoCo's reader
                    read_mesh_file(asset, safe.meshes[name])
                    continue
                asset.uservert = mesh.vertices.astype(np.float32).ravel()
                asset.userface = mesh.faces.astype(np.int32).ravel()
            for name, path in safe.fields.items():
                spec.hfield(name).file = os.path.abspath(path)
            m = spec.compile()
            made = CompiledMjcf(m, safe, file, meshes, _unknown_masses(spec, safe))
            made.mesh_references = {
                name: pose_of(spec.mesh(name).refpos, spec.mesh(name).refquat) for name in meshes
            }
            made.mesh_attributes = {name: _mesh_attributes(spec.mesh(name)) for name in meshes}
            return made
        except (ValueError, RuntimeError, TypeError, MemoryError, AttributeError) as error:
            raise _compile_error(error, safe, file) from None
        finally:
            warning_log.warnings[:] = kept  # deprecations are not warnings of a session


def _mesh_attributes(asset: Any) -> dict[str, Any]:
    """Returns the attributes that determine MuJoCo's frame and hull of a mesh, if not default."""
    made: dict[str, Any] = {}
    if (kind := int(asset.inertia)) != int(mujoco.mjtMeshInertia.mjMESH_INERTIA_LEGACY):
        made["mesh_inertia"] = next(
            name.removeprefix("mjMESH_INERTIA_").lower()
            for name, value in mujoco.mjtMeshInertia.__members__.items()
            if int(value) == kind
        )
    if int(asset.maxhullvert) >= 0:
        made["maxhullvert"] = int(asset.maxhullvert)
    return made


def _unknown_masses(spec: Any, safe: SanitizedModel) -> dict[int, bool]:
    """Returns bodies with mass from a placeholder mesh, and whether they have no other mass."""
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


def _compile_error(error: Exception, safe: SanitizedModel, file: Origin) -> FormatError:
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
    """Returns a pose from MuJoCo's arrays."""
    x, y, z = (float(c) for c in pos)
    return Pose.of((x, y, z), quat=tuple(float(c) for c in quat))
