"""Read context of one MJCF model: the compiled model, names, notes, the part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.core.mujoco_library import mujoco
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.names import NameTable
from linkwork.formats.robots.mjcf.compiled import CompiledMjcf
from linkwork.model.parts import Part
from linkwork.model.parts.spec import plain_name, scoped_name_of
from linkwork.model.scene import Scene

_OBJ = mujoco.mjtObj
#: Name of the element that represents MuJoCo's world, the parent of the part's bodies.
ROOT = "origin"


#: Objects without which a model moves differently.
_MOVING = ("actuator", "tendon", "equality", "joint", "pair", "geom")


@dataclass
class MjcfReadContext:
    """One model being read.

    Attributes:
        model: The compiled model.
        notes: Notes on omissions and changes.
        part: The part with all bodies.
        scene: The scene around it.
        elements: Name of the element of each body.
        joints: Name of each joint.
        anchors: Name of the anchor of each site.
        geoms: Name of each geom that has one in the file.
        geom_names: All of these names.
        scenery: Names of the elements of the world's own geoms, by geom.
        base: The static body that is the world's only child, if nothing else is attached to the
            world; else 0, and an element represents the world.
    """

    model: CompiledMjcf
    notes: ConversionNotes
    part: Part
    scene: Scene
    elements: list[str] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    geoms: dict[int, str] = field(default_factory=dict)
    geom_names: set[str] = field(default_factory=set)
    scenery: dict[int, str] = field(default_factory=dict)
    base: int = 0

    @property
    def m(self) -> Any:
        """The MjModel."""
        return self.model.m

    def lost(self, what: str, kind: str, number: int) -> None:
        """Notes that an object is left out."""
        name = self.model.name(kind, number) or f"{kind} {number}"
        if kind in _MOVING:
            self.notes.about(f"{what}, left out: it moves differently", name, kind="motion")
        else:
            self.notes.about(f"{what}, left out", name)

    def geoms_of(self, body: int) -> range:
        """Returns the geoms of a body."""
        first = int(self.m.body_geomadr[body])
        return range(first, first + int(self.m.body_geomnum[body]))

    def full(self, name: str) -> str:
        """Returns the full name in the scene of a name in the part."""
        return scoped_name_of(self.part.name, name)

    def geom_name(self, g: int) -> str:
        """Returns the full name of a geom that has a name."""
        return self.geoms[g] if self.m.geom_bodyid[g] == 0 else self.full(self.geoms[g])

    def keyframe_names(self) -> list[str]:
        """Returns the name of the posture of each keyframe."""
        made: list[str] = []
        for k in range(self.m.nkey):
            made.append(plain_name(self.model.name("keyframe", k) or f"key{k}", set(made)))
        return made

    def name_all(self) -> None:
        """Gives bodies, joints and sites valid names, and stores the original ones as aliases."""
        m, model = self.m, self.model
        self.base = _base(m)
        bodies = _original_names(model, "body", range(1, m.nbody))
        bodies.insert(0, bodies[self.base - 1] if self.base else plain_name(ROOT, set(bodies)))
        joints = _original_names(model, "joint", range(m.njnt))
        table = NameTable.of(bodies[1:] if self.base else bodies, joints)
        self.elements = [table.links[name] for name in bodies]
        self.joints = [table.joints[name] for name in joints]
        self.part.aliases = table.aliases()
        taken = set(self.elements)
        for number in range(m.nsite):
            name = model.name("site", number) or f"site{number}"
            here = plain_name(name)
            here = plain_name(f"{here}_site", taken) if here in taken else here
            taken.add(here)
            self.anchors.append(here)


def _base(m: Any) -> int:
    """Returns the body that can represent the world, or 0 if there is none."""
    standing = [b for b in range(1, m.nbody) if m.body_parentid[b] == 0]
    if len(standing) != 1 or m.body_jntnum[standing[0]] or m.body_mocapid[standing[0]] >= 0:
        return 0
    ends = [
        (k, n) for k, *two in zip(m.eq_objtype, m.eq_obj1id, m.eq_obj2id, strict=True) for n in two
    ]
    ends += [*zip(m.sensor_objtype, m.sensor_objid, strict=True)]
    ends += [*zip(m.sensor_reftype, m.sensor_refid, strict=True)]
    ends += [(_OBJ.mjOBJ_SITE, n) for n in range(m.nsite)]
    return 0 if any(_is_on_world(m, int(kind), int(n)) for kind, n in ends) else standing[0]


def _is_on_world(m: Any, kind: int, number: int) -> bool:
    """Whether a body, site, geom or camera is the world or attached to it."""
    if kind in (_OBJ.mjOBJ_BODY, _OBJ.mjOBJ_XBODY):
        return number == 0
    carriers = {
        int(_OBJ.mjOBJ_SITE): m.site_bodyid,
        int(_OBJ.mjOBJ_GEOM): m.geom_bodyid,
        int(_OBJ.mjOBJ_CAMERA): m.cam_bodyid,
    }
    return kind in carriers and number >= 0 and int(carriers[kind][number]) == 0


def _original_names(model: CompiledMjcf, kind: str, numbers: range) -> list[str]:
    """Returns the names in the file, generated for objects without one."""
    given = {model.name(kind, n) for n in numbers}
    made = []
    for number in numbers:
        name = model.name(kind, number)
        if not name:
            name = f"{kind}{number}"
            while name in given:
                name += "_"
        made.append(name)
    return made


#: A body with one joint and one geom, all with MuJoCo's defaults.
_PLAIN = """<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>"""


def default_model() -> Any:
    """Returns a model with MuJoCo's defaults."""
    return mujoco.MjModel.from_xml_string(_PLAIN)


def numbers(values: np.ndarray) -> tuple[float, ...]:
    """Returns an array as plain numbers."""
    return tuple(float(value) for value in values)
