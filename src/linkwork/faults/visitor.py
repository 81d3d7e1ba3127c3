"""A visitor: a person for scenes that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.spatial import Pose

if TYPE_CHECKING:
    from linkwork.scene import Scene

#: Where the visitor waits, outside [m]; as large as a person.
WAITS, HEIGHT, RADIUS, MASS = (4.0, 0.0), 1.75, 0.22, 75.0


def add_visitor(scene: Scene, name: str = "", at: tuple[float, float] = WAITS) -> str:
    """Adds a person-sized capsule that Kinematic has.

    Args:
        scene: The scene.
        name: Of the part; a free one if empty.
        at: Where the visitor waits, x and y of the world [m].

    Returns:
        The name of the part.
    """
    from linkwork.parts import Capsule, Element, Part
    from linkwork.parts.names import plain

    name = name or plain("visitor", {*scene.parts, *scene.scenery})
    body = Capsule(RADIUS, HEIGHT - 2.0 * RADIUS)
    person = Part(name).add(Element("person", (body,), mass=MASS, color="#d98c4a"))
    scene.place(person, at=Pose((*at, 0.5 * HEIGHT + 0.01)), base="free")
    if not scene.engines:
        scene.engine("mujoco")
    scene.engine("kinematic", owns=[name])
    return name
