"""Parts: elements, joints and anchors, attached to each other to make robots."""

from linkwork.model.parts.anchor import Anchor
from linkwork.model.parts.constraints import LOOP_TYPES, SPRING_TYPES, Coupling, Loop, Spring
from linkwork.model.parts.curve import Arc, Curve, Polyline, Spline
from linkwork.model.parts.element import Element
from linkwork.model.parts.joint import JOINT_TYPES, Joint, RailPiece
from linkwork.model.parts.kit import Kit, find_kits, kit_part
from linkwork.model.parts.part import Attachment, Part
from linkwork.model.parts.shape import (
    SHAPES,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Mesh,
    Plane,
    Shape,
    Sphere,
    Terrain,
)
from linkwork.model.parts.spec import Spec

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
