"""Parts: elements, joints and anchors, snapped together into robots."""

from linkwork.parts.anchor import Anchor
from linkwork.parts.coupling import Coupling
from linkwork.parts.curve import Arc, Curve, Polyline, Spline
from linkwork.parts.element import Element
from linkwork.parts.joint import JOINT_TYPES, Joint, RailPiece
from linkwork.parts.kit import Kit, find_kits, kit_part
from linkwork.parts.loop import LOOP_TYPES, Loop
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
from linkwork.parts.spring import SPRING_TYPES, Spring
from linkwork.parts.terrain import Terrain

__all__ = [
    "JOINT_TYPES",
    "LOOP_TYPES",
    "SHAPES",
    "SPRING_TYPES",
    "Anchor",
    "Arc",
    "Attachment",
    "Box",
    "Capsule",
    "Cone",
    "Coupling",
    "Curve",
    "Cylinder",
    "Element",
    "Ellipsoid",
    "Joint",
    "Kit",
    "Loop",
    "Mesh",
    "Part",
    "Plane",
    "Polyline",
    "RailPiece",
    "Shape",
    "Spec",
    "Sphere",
    "Spline",
    "Spring",
    "Terrain",
    "find_kits",
    "kit_part",
]
