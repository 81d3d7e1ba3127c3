"""Parts and scenes become X3D and VRML97 scenes with the same poses."""

import math
import re
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from export_fixture import kit_things, part_named, placed, stands
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Capsule, Cone, Cylinder, Element, Part, Sphere
from linkwork.model.scene import Light, Scene, Viewpoint

x3d: Any = import_module("x3d.x3d")

#: Rotation from their y up to z up.
UPRIGHT = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]], np.float64)


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' rotation matrix."""
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


def local(fields: dict[str, list[float]]) -> np.ndarray:
    found = np.eye(4)
    if "rotation" in fields:
        *axis, angle = fields["rotation"]
        found[:3, :3] = turned(np.array(axis), angle)
    found[:3, 3] = fields.get("translation", (0.0, 0.0, 0.0))
    return found


def of_xml(root: ET.Element) -> dict[str, np.ndarray]:
    """Returns the pose of each named Transform."""
    found: dict[str, np.ndarray] = {}
    waiting = [(root, np.eye(4))]
    while waiting:
        node, here = waiting.pop()
        if node.tag == "Transform":
            numbers = {k: [float(w) for w in v.split()] for k, v in node.items() if k != "DEF"}
            here = here @ local(numbers)
            if name := node.get("DEF"):
                found[name] = here
        waiting.extend((child, here) for child in node)
    return found


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^\s,\[\]{}"]+')


VrmlNode = tuple[str, str, dict[str, Any]]


def vrml_nodes(text: str) -> list[VrmlNode]:
    """Returns the nodes of VRML97 text as (type, name, fields), by its grammar alone."""
    head, _, body = text.partition("\n")
    assert head == "#VRML V2.0 utf8"
    top: list[Any] = []
    open_: list[Any] = [top]  # the lists of values, and nodes, that are not yet closed
    name = key = ""
    tokens = TOKEN.findall(body)
    place = 0
    while place < len(tokens):
        word, inside = tokens[place], open_[-1]
        place += 1
        if word in "}]":
            assert isinstance(inside, list) == (word == "]")
            open_.pop()
            key = ""
        elif isinstance(inside, tuple) and not key:
            key = word
        elif word == "DEF":
            name, place = tokens[place], place + 1
        elif word == "USE":
            inside[2][key], key, place = ("USE", tokens[place], {}), "", place + 1
        elif word == "[":
            open_.append(inside[2].setdefault(key, []))
            key = ""
        elif word[0].isupper() and word not in ("TRUE", "FALSE"):
            assert tokens[place] == "{"
            node = (word, name, {})
            if isinstance(inside, list):
                inside.append(node)
            else:
                inside[2][key] = node
            open_.append(node)
            name, key, place = "", "", place + 1
        elif isinstance(inside, list):
            inside.append(float(word) if _is_number(word) else word)
        else:
            values = [word]
            while _is_number(word) and _is_number(tokens[place]):
                values.append(tokens[place])
                place += 1
            inside[2][key] = [float(w) for w in values] if _is_number(word) else word
            key = ""
    assert open_ == [top]
    return top


def _is_number(word: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", word) is not None


def of_vrml(nodes: list[VrmlNode]) -> dict[str, np.ndarray]:
    """Returns the pose of each named Transform."""
    found: dict[str, np.ndarray] = {}
    waiting = [(node, np.eye(4)) for node in nodes]
    while waiting:
        (kind, name, fields), here = waiting.pop()
        if kind == "Transform":
            placed_at = {k: v for k, v in fields.items() if k in ("rotation", "translation")}
            here = here @ local(placed_at)
            if name:
                found[name] = here
        waiting.extend((child, here) for child in fields.get("children", []))
    return found


def seen(path: Path) -> dict[str, np.ndarray]:
    if path.suffix == ".x3d":
        return of_xml(ET.parse(path).getroot())
    return of_vrml(vrml_nodes(path.read_text()))


@pytest.mark.parametrize("suffix", [".x3d", ".wrl"])
@pytest.mark.parametrize("name", kit_things(Part))
def test_every_kit_part_stands_where_it_should(name: str, suffix: str, tmp_path: Path) -> None:
    """Each element has a Transform of its name with its initial pose."""
    part, path = part_named(name), tmp_path / f"out{suffix}"
    lw.save(part, path)
    world, found = placed(part), seen(path)
    for element, matrix in stands(world, world.q0).items():
        joint = next((j for j in part.joints.values() if j.to == element), None)
        at_to = (joint.at_to if joint else Pose()).inverse()
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = at_to.matrix(), at_to.xyz
        there = found[element.replace("/", "_")] @ frame
        np.testing.assert_allclose(there, UPRIGHT @ matrix, atol=1e-9, err_msg=element)


def checked(node: ET.Element) -> Any:
    """Builds the node with the X3D consortium's own classes, which reject invalid nodes."""
    build = getattr(x3d, node.tag)
    fields: dict[str, Any] = {}
    for key, text in node.items():
        kind = next(f[2] for f in build.FIELD_DECLARATIONS() if f[0].rstrip("_") == key)
        fields["global_" if key == "global" else key] = parsed(text, str(kind))
    inside: dict[str, Any] = {}
    for child in node:
        if child.tag == "head":
            continue
        made = checked(child)
        slot = {
            "Appearance": "appearance", "Material": "material", "Coordinate": "coord",
            "IndexedFaceSet": "geometry", "Box": "geometry", "Sphere": "geometry",
            "Cylinder": "geometry", "Cone": "geometry", "Scene": "Scene",
        }.get(child.tag, "children")  # fmt: skip
        if slot == "children":
            inside.setdefault(slot, []).append(made)
        else:
            inside[slot] = made
    return build(**fields, **inside)


def parsed(text: str, kind: str) -> Any:
    if "String" in kind or "xs:" in kind:
        return re.findall(r'"((?:[^"\\]|\\.)*)"', text) if "MFString" in kind else text
    if "Bool" in kind:
        return text == "true"
    numbers = [float(w) for w in text.split()]
    if "Int32" in kind:
        return [int(n) for n in numbers]
    if "MFVec3" in kind:
        return [tuple(numbers[i : i + 3]) for i in range(0, len(numbers), 3)]
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def everything() -> Scene:
    shapes = (
        Box((0.1, 0.2, 0.3)), Sphere(0.1), Cylinder(0.1, 0.4, at=Pose.of((1, 0, 0))),
        Cone(0.1, 0.2), Cone(0.1, 0.2, top_radius=0.05), Capsule(0.1, 0.3),
    )  # fmt: skip
    scene = Scene("stage").place(part_named("tripod/table"), name="table")
    scene.add(Element("all-shapes", shapes, color="#ff000080"))
    scene.lights += [Light("sun", strength=2.0, shadows=False), Light("lamp", "lamp")]
    scene.background = "#336699"
    scene.viewpoints.append(Viewpoint("front", (2.0, 0.0, 1.0), (0.0, 0.0, 0.3)))
    return scene


def test_x3d_is_what_the_standard_allows(tmp_path: Path) -> None:
    """Every node and field exists in X3D, with values of its type and range."""
    notes = lw.save(everything(), tmp_path / "s.x3d")
    root = ET.parse(tmp_path / "s.x3d").getroot()
    built = checked(root)
    assert built.version == "3.3"
    tags = {node.tag for node in root.iter()}
    assert {"Box", "Sphere", "Cylinder", "Cone", "IndexedFaceSet", "PointLight", "Viewpoint"} < tags
    material = next(node for node in root.iter("Material"))
    assert float(material.get("transparency", "0")) == pytest.approx(1.0 - 128 / 255)
    sky = next(node for node in root.iter("Background"))
    assert [float(word) for word in sky.get("skyColor", "").split()] == pytest.approx(
        (0.2, 0.4, 0.6)
    )
    assert notes == [
        "lights without shadows, left out: sun.",
        "masses of elements, left out: table/plate, table/stand.",
        "friction of elements, left out: table/plate.",
        "lights stronger than 1, written as 1: sun.",
    ]


def test_vrml_says_the_same(tmp_path: Path) -> None:
    """Joints are in the world's info, lights and viewpoints are written, strings are quoted."""
    scene = everything()
    scene.title = 'a "stage"'
    lw.save(scene, tmp_path / "s.wrl")
    world, root = vrml_nodes((tmp_path / "s.wrl").read_text())
    assert world[2]["title"] == '"a \\"stage\\""'
    assert any(line.startswith('"joint table/roll: hinge, moves') for line in world[2]["info"])
    kinds = [child[0] for child in root[2]["children"]]
    assert kinds[:4] == ["Background", "Viewpoint", "DirectionalLight", "PointLight"]
    assert root[2]["children"][0][2]["skyColor"] == [0.2, 0.4, 0.6]
    assert "global" not in root[2]["children"][2][2]


def test_cylinders_lie_along_z(tmp_path: Path) -> None:
    """X3D's cylinders are along y, so that each is rotated by 90°."""
    part = Part("p").add(Element("e", (Cylinder(0.1, 0.4),), mass=1.0))
    lw.save(part, tmp_path / "p.x3d")
    holder = ET.parse(tmp_path / "p.x3d").getroot().find(".//Transform[@DEF='e']/Transform")
    assert holder is not None
    numbers = [float(w) for w in holder.get("rotation", "").split()]
    np.testing.assert_allclose(
        turned(np.array(numbers[:3]), numbers[3])[:, 1], (0, 0, 1), atol=1e-9
    )


@pytest.mark.parametrize("suffix", [".x3d", ".wrl"])
def test_equal_shapes_share_their_faces(suffix: str, tmp_path: Path) -> None:
    """The second capsule of a size reuses the first one's faces, at any pose."""
    part = Part("p").add(Element("capsule_faces", (Capsule(0.1, 0.3),), color="#ff0000"))
    for n, size in enumerate((0.3, 0.4)):
        shape = Capsule(0.1, size, at=Pose.of((1.0, 0.0, 0.0)))
        part.add(Element(f"e{n}", (shape,), on="capsule_faces"))
    lw.save(part, tmp_path / f"p{suffix}")
    text = (tmp_path / f"p{suffix}").read_text()
    assert text.count("coordIndex") == 2
    assert len(re.findall(r'USE[ =]"?capsule_faces_2\b', text)) == 1
    assert len(re.findall(r'DEF[ =]"?capsule_faces_2\b', text)) == 1
    if suffix == ".x3d":
        checked(ET.parse(tmp_path / "p.x3d").getroot())
