"""Parts and scenes of every kind, for hypothesis."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from linkwork.geometry import Inertia, Pose
from linkwork.model.parts import (
    JOINT_TYPES,
    Anchor,
    Box,
    Capsule,
    Cone,
    Coupling,
    Cylinder,
    Element,
    Joint,
    Part,
    Plane,
    RailPiece,
    Spec,
    Sphere,
)
from linkwork.model.scene import CollisionRules, Light, Scene, Viewpoint

NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 0.1, 0.3, 1e-9, 12.5]),
    st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False),
)
LENGTHS = st.one_of(st.sampled_from([0.1, 1.0, 0.03]), st.floats(1e-6, 1e3))
ANGLES = st.one_of(
    st.integers(-360, 360).map(lambda d: d * (math.pi / 180)), st.floats(-10, 10), st.just(0.0)
)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
DIRECTIONS = VECTORS.filter(lambda v: sum(c * c for c in v) > 1e-6)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
COLORS = st.sampled_from(["#ff0000", "#12345678", "#b9c0c9"])
LABELS = st.dictionaries(st.sampled_from(["en", "de", "日本"]), TEXTS, max_size=2)
PARAMS = st.dictionaries(
    st.sampled_from(["kp", "mode", "list", "map", "on", "odd key", "ü"]),
    st.one_of(
        NUMBERS,
        st.integers(-(2**40), 2**40),
        TEXTS,
        st.booleans(),
        st.lists(st.one_of(NUMBERS, TEXTS), max_size=3),
        st.dictionaries(st.sampled_from(["a", "b c"]), NUMBERS, max_size=2),
    ),
    max_size=4,
)


@st.composite
def poses(draw: Any) -> Pose:
    xyz = draw(VECTORS)
    turn = draw(st.integers(0, 2))
    if turn == 0:
        return Pose.of(xyz)
    if turn == 1:
        return Pose.of(xyz, rpy=draw(st.tuples(ANGLES, ANGLES, ANGLES)))
    quat = draw(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(map(abs, q)) > 1e-3))
    return Pose.of(xyz, quat=quat)


@st.composite
def shapes(draw: Any) -> Any:
    a, b, c = draw(LENGTHS), draw(LENGTHS), draw(LENGTHS)
    common = {
        "at": draw(poses()),
        "color": draw(st.one_of(st.just(""), COLORS)),
        "visible": draw(st.booleans()),
        "collide": draw(st.booleans()),
    }
    make = draw(
        st.sampled_from(
            [
                lambda: Box(size=(a, b, c), **common),
                lambda: Cylinder(radius=a, length=b, **common),
                lambda: Cone(radius=a, length=b, top_radius=c, **common),
                lambda: Sphere(radius=a, **common),
                lambda: Capsule(radius=a, length=b, **common),
                lambda: Plane(size=(a, b), **common),
            ]
        )
    )
    return make()


@st.composite
def inertias(draw: Any) -> Inertia:
    """Draws a block of random size, rotated and moved, which is always physical."""
    x, y, z = draw(LENGTHS), draw(LENGTHS), draw(LENGTHS)
    mass = draw(LENGTHS)
    block = Box(size=(x, y, z)).inertia(mass)
    moved = block.moved(draw(poses())) if draw(st.booleans()) else block
    return Inertia(moved.mass, moved.com, (moved.matrix + moved.matrix.T) / 2)


@st.composite
def elements(draw: Any, name: str, on: str = "") -> Element:
    return Element(
        name,
        tuple(draw(st.lists(shapes(), max_size=3))),
        on=on,
        at=draw(poses()),
        mass=draw(st.one_of(st.none(), LENGTHS)),
        density=draw(st.one_of(st.none(), LENGTHS)),
        inertia=draw(st.one_of(st.none(), inertias())),
        friction=draw(st.floats(0, 2)),
        restitution=draw(st.floats(0, 1)),
        color=draw(COLORS),
        group=draw(st.sampled_from(["", "g1"])),
        velocity=draw(VECTORS),
        spin=draw(st.tuples(ANGLES, ANGLES, ANGLES)),
        labels=draw(LABELS),
    )


@st.composite
def joints(draw: Any, name: str, from_: str, to: str) -> Joint:
    type = draw(st.sampled_from(sorted(JOINT_TYPES)))
    kind = JOINT_TYPES[type]
    values = [ANGLES if kind.is_angle(k) else NUMBERS for k in range(kind.nv)]
    pairs = [st.one_of(st.none(), st.tuples(v, v).map(lambda p: tuple(sorted(p)))) for v in values]
    axis = draw(DIRECTIONS)
    axis2 = (0.0, 1.0, 0.0)
    if type == "universal":
        axis, axis2 = draw(st.permutations([(1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)]))[:2]
    fragments = st.builds(RailPiece, LENGTHS, ANGLES, ANGLES)
    return Joint(
        name,
        type,
        from_,
        to,
        at=draw(poses()),
        at_to=draw(poses()),
        axis=axis,
        axis2=axis2,
        range=draw(st.one_of(st.none(), st.tuples(*pairs))),
        max_speed=draw(st.one_of(st.none(), LENGTHS)),
        max_effort=draw(st.one_of(st.none(), LENGTHS)),
        damping=draw(st.floats(0, 9)),
        friction=draw(st.floats(0, 9)),
        stiffness=draw(st.floats(0, 9)),
        rest=draw(ANGLES),
        armature=draw(st.floats(0, 9)),
        pitch=draw(LENGTHS) if type == "screw" else 0.0,
        rail=tuple(draw(st.lists(fragments, min_size=1, max_size=3))) if type == "rail" else (),
        value=draw(st.one_of(st.none(), st.tuples(*values))),
        drive=draw(st.one_of(st.none(), st.builds(Spec, st.just("actuator"), st.just("servo"),
                                                  params=PARAMS))),
        bus=draw(PARAMS),
        labels=draw(LABELS),
    )  # fmt: skip


@st.composite
def specs(draw: Any, kind: str, name: str) -> Spec:
    params = draw(PARAMS)
    if draw(st.booleans()):
        params["at"] = draw(poses())
    return Spec(kind, "sort", name, params)


@st.composite
def parts(draw: Any, name: str = "robot", depth: int = 1) -> Part:
    part = Part(name, title=draw(TEXTS), labels=draw(LABELS))
    part.add(draw(elements("base")), draw(elements("lid", "base")))
    for number in range(draw(st.integers(0, 2))):
        part.add(draw(elements(f"link{number}")))
        part.add(draw(joints(f"j{number}", "base", f"link{number}")))
    for number in range(2):
        part.add(Anchor(f"a{number}", "base", draw(poses()), draw(TEXTS), draw(st.integers(0, 1))))
    if draw(st.booleans()):
        part.close("a0", "a1", joint="hinge", axis=draw(DIRECTIONS))
    if len(part.joints) > 1:
        part.add(Coupling("j0", "j1", draw(NUMBERS), draw(ANGLES)))
    if depth and draw(st.booleans()):
        part.attach("a0", draw(parts("hand", depth - 1)), name="left", by="")
    part.sensors = [draw(specs("sensor", "eye"))]
    part.aliases = draw(LABELS)
    return part


@st.composite
def scenes(draw: Any) -> Scene:
    scene = Scene("bench", title=draw(TEXTS), gravity=draw(VECTORS), seed=draw(st.integers(0, 99)))
    scene.step = draw(st.floats(1e-4, 0.1))
    part = draw(parts())
    scene.place(part, name="one", at=draw(poses()), base=draw(st.sampled_from(["fixed", "free"])))
    scene.place(part, name="two", at=draw(poses()), on="one/a1")
    scene.add(draw(elements("floor")), draw(elements("wall", "floor")))
    names = [f"one/{name}" for name in part.joints] + ["one.x"]
    scene.postures["home"] = {name: draw(ANGLES) for name in names}
    scene.start = draw(st.sampled_from(["", "home"]))
    scene.engines = [draw(specs("engine", ""))]
    scene.sensors = [draw(specs("sensor", "s"))]
    scene.actuators = [draw(specs("actuator", "m"))]
    scene.agents = [draw(specs("agent", "c"))]
    scene.lights = [Light("sun", "lamp", draw(VECTORS), draw(VECTORS), draw(COLORS), 0.5)]
    scene.viewpoints = [Viewpoint("front", draw(VECTORS), draw(VECTORS), abs(draw(ANGLES)))]
    scene.collide = CollisionRules((("one", "floor"),), draw(st.sampled_from([(), (("a", "b"),)])))
    return scene
