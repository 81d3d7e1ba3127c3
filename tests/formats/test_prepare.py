"""Import options: a part is rotated and scaled as a whole."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from linkwork.core.errors import PartError
from linkwork.formats import import_options
from linkwork.formats.drawings.mesh import UP_ROTATIONS
from linkwork.formats.extent import part_extent
from linkwork.formats.flat import flatten
from linkwork.formats.posture import Values, element_poses
from linkwork.geometry import Pose
from linkwork.geometry.inertia import Inertia
from linkwork.model.parts import Anchor, Box, Coupling, Element, Joint, Mesh, Part, RailPiece
from mesh_files import box, text_stl, written

ODD = Pose.of((0.3, -0.2, 0.5), rpy=(0.4, -0.7, 1.1))
VALUES = {"turn": (0.6,), "slide": (0.2,), "screw": (0.9,), "plane": (0.1, -0.2, 0.3)}


def assembly(folder: Path) -> Part:
    """Returns a base with a fixed element, a hinge, a slider, a screw and a plane, all skew."""
    file = str(written(folder, "box.stl", text_stl(box(0.2, 0.1, 0.4))))
    heavy = Inertia.of(2.0, (0.1, 0.2, 0.3), np.diag([0.02, 0.03, 0.04]))
    part = Part("p").add(
        Element("base", (Mesh(file, at=ODD),), density=1000.0),
        Element("fixed", (Mesh(file),), on="base", at=ODD),
    )
    carrier = "fixed"
    kinds = {"turn": "hinge", "slide": "slider", "screw": "screw", "plane": "planar"}
    for name, kind in kinds.items():
        part.add(Element(f"to_{name}", (Mesh(file, at=ODD.inverse()),), inertia=heavy))
        joint = Joint(
            name, kind, carrier, f"to_{name}", ODD @ ODD, ODD.inverse(), (1.0, 2.0, 3.0), pitch=0.1
        )
        part.add(joint)
        carrier = f"to_{name}"
    part.joints["slide"] = replace(part.joints["slide"], range=(-0.5, 0.5), rest=0.1, max_speed=2.0)
    return part.add(Anchor("tip", carrier, ODD))


def positions(part: Part, values: Values) -> dict[str, Pose]:
    """Returns positions of shapes, centers of mass and the tip, in the root's frame."""
    found = {}
    poses = element_poses(flatten(part), values)
    for name, element in part.elements.items():
        found[f"{name} shape"] = poses[name] @ element.shapes[0].at
        if element.inertia is not None:
            found[f"{name} com"] = Pose.of(poses[name].apply(element.inertia.com))
    found["tip"] = poses[part.anchors["tip"].on] @ part.anchors["tip"].at
    return found


@pytest.mark.parametrize("up", ["x", "y"])
def test_a_part_is_turned_as_a_whole(tmp_path: Path, up: str) -> None:
    """Every shape, center of mass and anchor rotates about the root, at any joint values."""
    part, turn = assembly(tmp_path), UP_ROTATIONS[up.upper()]
    made = import_options.upright(part, up)
    for values in ({name: (0.0,) * len(v) for name, v in VALUES.items()}, VALUES):
        before, after = positions(part, values), positions(made, values)
        for name, pose in before.items():
            np.testing.assert_allclose(after[name].xyz, turn.apply(pose.xyz), atol=1e-12)
            if "com" not in name:
                np.testing.assert_allclose(after[name].matrix(), (turn @ pose).matrix(), atol=1e-12)
    before, after = (each.elements["to_turn"].inertia for each in (part, made))
    assert before is not None
    assert after is not None
    rotation = turn.matrix()
    np.testing.assert_allclose(after.matrix, rotation @ before.matrix @ rotation.T, atol=1e-12)


def test_an_assembly_keeps_its_height(tmp_path: Path) -> None:
    """Two boxes stacked along the file's y are stacked along z."""
    file = str(written(tmp_path, "box.stl", text_stl(box(1.0, 1.0, 1.0))))
    part = Part("p").add(
        Element("low", (Mesh(file),)),
        Element("high", (Mesh(file),), on="low", at=Pose((0.0, 5.0, 0.0))),
    )
    low, high = part_extent(import_options.upright(part, "y"))
    np.testing.assert_allclose(high - low, (1.0, 1.0, 6.0), atol=1e-6)


def test_a_part_is_scaled_as_a_whole(tmp_path: Path) -> None:
    """All positions and joint lengths are scaled; angles and masses are not."""
    part = assembly(tmp_path)
    made = import_options.scaled(part, 0.001)
    shrunk = {**VALUES, "slide": (2e-4,), "plane": (1e-4, -2e-4, 0.3)}
    before, after = positions(part, VALUES), positions(made, shrunk)
    for name, pose in before.items():
        np.testing.assert_allclose(after[name].xyz, np.multiply(pose.xyz, 0.001), atol=1e-12)
    slide, heavy = made.joints["slide"], made.elements["to_turn"].inertia
    assert slide.ranges == ((-5e-4, 5e-4),)
    assert (slide.rest, slide.max_speed) == pytest.approx((1e-4, 2e-3))
    assert made.joints["screw"].pitch == pytest.approx(1e-4)
    assert heavy is not None
    assert heavy.mass == 2.0
    np.testing.assert_allclose(np.diag(heavy.matrix), [2e-8, 3e-8, 4e-8])


def test_rails_are_scaled(tmp_path: Path) -> None:
    """The segments of a rail are scaled, their angles are not."""
    part = Part("p").add(Element("a"), Element("b"))
    part.add(Joint("r", "rail", "a", "b", rail=(RailPiece(10.0, math.pi),)))
    made = import_options.scaled(part, 0.1).joints["r"]
    assert made.rail == (RailPiece(1.0, math.pi),)
    assert made.ranges == ((0.0, 1.0),)


def test_what_a_unit_would_leave_wrong_is_refused(tmp_path: Path) -> None:
    """Sizes in meters, forces, couplings and attached parts are named in the message."""
    part = assembly(tmp_path)
    part.joints["turn"] = replace(part.joints["turn"], damping=1.0, max_effort=2.0)
    with pytest.raises(PartError, match=r"'turn' has damping, max_effort"):
        import_options.scaled(part, 0.001)
    part = assembly(tmp_path).add(Coupling("turn", "slide"))
    with pytest.raises(PartError, match="has couplings"):
        import_options.scaled(part, 0.001)
    part = assembly(tmp_path)
    part.attach("tip", Part("q").add(Element("e")))
    with pytest.raises(PartError, match="has attachments"):
        import_options.scaled(part, 0.001)
    with pytest.raises(PartError, match="has a box, whose size is in meters"):
        import_options.scaled(Part("r").add(Element("e", (Box((1, 1, 1)),))), 0.001)
