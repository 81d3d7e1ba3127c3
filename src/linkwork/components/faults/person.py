"""Person fault: a person walks into the work cell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec
import numpy as np

from linkwork.components.faults import Fault, FaultParams, FaultTargets, Phase
from linkwork.core.errors import not_found
from linkwork.geometry import Pose
from linkwork.kinematics.kernels import FREE
from linkwork.model.blocks import SignalSpec

if TYPE_CHECKING:
    from linkwork.model.scene import Scene


Place = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]


class PersonParams(FaultParams, kw_only=True):
    """Parameters of ``PersonFault``.

    Attributes:
        part: The part that represents the person: ``base = "free"``, owned by a Kinematic engine.
        to: Target of the walk, x and y in the world [m].
        speed: Walking speed [m/s].
        around: Element or anchor at the center of the cell; the world's origin if absent.
        radius: Distance to the center below which the person is inside [m].
        hidden: Whether the person is visible only while in the room.
    """

    part: str
    to: tuple[Place, Place]
    speed: Annotated[float, msgspec.Meta(gt=0.0, le=1e3)] = 1.4
    around: str = ""
    radius: Annotated[float, msgspec.Meta(gt=0.0, le=1e6)] = 1.5
    hidden: bool = True


class PersonFault(Fault):
    """A person who walks in, stays for the duration of the fault, and walks back out.

    The person is a part of the scene that begins at its placement, outside, and walks straight. It
    is a kinematic body: contacts do not move it, contact and ray sensors detect it.
    ``<fault>.distance`` [m] and ``<fault>.inside`` (0 or 1) refer to its horizontal distance.
    """

    type: ClassVar[str] = "person"
    form = PersonParams
    what: ClassVar[str] = "part"

    def join(self, targets: FaultTargets) -> None:  # noqa: D102
        world, part = self.world, self.params.part
        bodies = [b for b, name in enumerate(world.body_part) if name == part and b]
        if not bodies:
            raise not_found("part", part, world.scene.parts, origin=self.spec.origin)
        self._body = next((b for b in bodies if b in targets.standing), 0)
        if not self._body or world.kind[self._body] != FREE:
            raise self.wrong(
                f"part {part!r} cannot walk.",
                'Give it base = "free", and let Kinematic have it: [[engine]] type = "kinematic", '
                f'owns = ["{part}"].',
            )
        self._place = int(world.qadr[self._body])
        self._home = world.q0[self._place : self._place + 2].copy()
        self._elements = np.flatnonzero(np.isin(world.element_body, bodies))
        self._middle = (
            world.frame(self.params.around, origin=self.spec.origin) if self.params.around else None
        )

    def signals(self) -> list[SignalSpec]:  # noqa: D102
        rows, name = self.field("rows"), self.spec.name
        return [
            *super().signals(),
            SignalSpec(f"{name}.distance", rows, (0, 0), "m", lo=0.0),
            SignalSpec(f"{name}.inside", rows, (0, 1), lo=0.0, hi=1.0),
        ]

    def reset(self) -> None:  # noqa: D102
        super().reset()
        self._update_visibility()

    def apply(self, phase: Phase) -> None:  # noqa: D102
        if phase is not Phase.MOVE or not self.owns_memory:
            return
        here = self.state.q[self._place : self._place + 2]
        goal = self.params.to if self.active else self._home
        offset = np.array(goal) - here
        far, step = float(np.hypot(*offset)), self.params.speed * self.world.scene.step
        here += offset if far <= step else offset * (step / far)

    def revert(self, phase: Phase) -> None:  # noqa: D102
        if phase is Phase.MOVE and self.owns_memory:
            self._update_visibility()

    def _update_visibility(self) -> None:
        """Measures the person's distance, and shows or hides it."""
        state = self.state
        middle = np.zeros(2)
        if self._middle is not None:
            body, pose = self._middle
            x, y, _ = Pose.of(state.pose[body, :3], quat=state.pose[body, 3:]).apply(pose.xyz)
            middle[:] = x, y
        here = state.q[self._place : self._place + 2]
        far = float(np.hypot(*(here - middle)))
        self.rows[0, :2] = far, float(far < self.params.radius)
        if self.params.hidden:
            away = self.active or math.dist(here, self._home) > 1e-9
            state["param/visible"][self._elements] = float(away)


#: Initial position of the visitor, outside [m]; its size is that of a person.
WAITING_PLACE, HEIGHT, RADIUS, MASS = (4.0, 0.0), 1.75, 0.22, 75.0


def add_person(scene: Scene, name: str = "", at: tuple[float, float] = WAITING_PLACE) -> str:
    """Adds a person-sized capsule owned by Kinematic.

    Args:
        scene: The scene.
        name: Name of the part; a free one if empty.
        at: Initial position of the visitor, x and y in the world [m].

    Returns:
        The name of the part.
    """
    from linkwork.model.parts import Capsule, Element, Part
    from linkwork.model.parts.spec import plain_name

    name = name or plain_name("visitor", {*scene.parts, *scene.scenery})
    body = Capsule(RADIUS, HEIGHT - 2.0 * RADIUS)
    person = Part(name).add(Element("person", (body,), mass=MASS, color="#d98c4a"))
    scene.place(person, at=Pose((*at, 0.5 * HEIGHT + 0.01)), base="free")
    if not scene.engines:
        scene.engine("mujoco")
    scene.engine("kinematic", owns=[name])
    return name
