"""Parts: elements, joints and anchors, snapped together into robots."""

from linkwork.parts.anchor import Anchor
from linkwork.parts.coupling import Coupling
from linkwork.parts.element import Element
from linkwork.parts.joint import JOINT_TYPES, Joint, RailPiece
from linkwork.parts.kit import Kit, find_kits, kit_part
from linkwork.parts.loop import Loop
from linkwork.parts.part import Attachment, Part
from linkwork.parts.shape import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Mesh,
    Plane,
    Shape,
    Sphere,
)
from linkwork.parts.shapes import SHAPES
from linkwork.parts.spec import Spec
from linkwork.parts.terrain import Terrain

__all__ = [
    "JOINT_TYPES",
    "SHAPES",
    "Anchor",
    "Attachment",
    "Box",
    "Capsule",
    "Cone",
    "Coupling",
    "Cylinder",
    "Element",
    "Ellipsoid",
    "Joint",
    "Kit",
    "Loop",
    "Mesh",
    "Part",
    "Plane",
    "RailPiece",
    "Shape",
    "Spec",
    "Sphere",
    "Terrain",
    "find_kits",
    "kit_part",
]
