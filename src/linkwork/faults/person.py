"""Person: somebody walks into the cell."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import msgspec
import numpy as np

from linkwork.blocks import SignalSpec
from linkwork.errors import not_found
from linkwork.faults.fault import Fault, FaultParams, Phase, Targets
from linkwork.kinematics.kernels import FREE
from linkwork.spatial.pose import Pose

Place = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]


class PersonParams(FaultParams, kw_only=True):
    """Parameters of ``Person``.

    Attributes:
        part: The part that is the person: ``base = "free"``, owned by a Kinematic engine.
        to: Where the person walks to, x and y of the world [m].
        speed: How fast [m/s].
        around: Element or anchor in the middle of the cell; the world's origin if absent.
        radius: Whoever is nearer to the middle is inside [m].
        hidden: Whether the person is seen only while in the room.
    """

    part: str
    to: tuple[Place, Place]
    speed: Annotated[float, msgspec.Meta(gt=0.0, le=1e3)] = 1.4
    around: str = ""
    radius: Annotated[float, msgspec.Meta(gt=0.0, le=1e6)] = 1.5
    hidden: bool = True


class Person(Fault):
    """Somebody who walks in, stays as long as the fault lasts, and walks back out.

    The person is a part of the scene that begins where it was placed, outside, and goes straight.
    It is a body like those that Kinematic moves: it gives way to nothing, contact and ray sensors
    find it. ``<fault>.distance`` [m] and ``<fault>.inside`` (0 or 1) tell how near it is, level.
    """

    type: ClassVar[str] = "person"
    form = PersonParams
    what: ClassVar[str] = "part"

    def join(self, targets: Targets) -> None:  # noqa: D102
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
        self._look()

    def strike(self, phase: Phase) -> None:  # noqa: D102
        if phase is not Phase.MOVE or not self.mine:
            return
        here = self.state.q[self._place : self._place + 2]
        goal = self.params.to if self.active else self._home
        way = np.array(goal) - here
        far, step = float(np.hypot(*way)), self.params.speed * self.world.scene.step
        here += way if far <= step else way * (step / far)

    def lift(self, phase: Phase) -> None:  # noqa: D102
        if phase is Phase.MOVE and self.mine:
            self._look()

    def _look(self) -> None:
        """Measures where the person is, and shows it or not."""
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
