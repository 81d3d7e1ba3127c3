"""Motion: place and turn of an element or anchor, with speeds and accelerations."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import numpy as np

from linkwork.blocks import scoped_name
from linkwork.dynamics.recursive import Arrays
from linkwork.parts import Spec
from linkwork.sensors.motion_kernels import fill_accelerations, read_motions
from linkwork.sensors.readings import Positive, Readings, Row
from linkwork.spatial.pose import Pose
from linkwork.state import State
from linkwork.world import World

#: Columns of a state table, in 002's order, and their units.
COLUMNS = {"x": "m", "y": "m", "z": "m", "phi": "rad", "psi": "rad", "theta": "rad"}
#: Its rows: what is put behind a column's name, and behind its unit.
ROWS = {"": "", "_speed": "/s", "_acceleration": "/s²"}


class MotionParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``Motion``.

    Attributes:
        on: Element, whose own centre of mass it is, or anchor, whose origin it is.
        period: Time between readings [s], a whole multiple of the step; each step if 0.
    """

    on: str
    period: Positive = 0.0
    noise: ClassVar[float] = 0.0


class Motion(Readings):
    """A state table, 3×6: ``<name>.x``, ``y``, ``z`` [m], ``phi``, ``psi``, ``theta`` [rad].

    The angles turn about x, y, z, each in the frame that the one before has turned: Rx(φ) Ry(ψ)
    Rz(θ), as in 002. ``<name>.x_speed`` … are their rates, ``<name>.x_acceleration`` … the rates of
    those; at ψ = ±90° those of angles are given as 0.
    """

    type: ClassVar[str] = "motion"
    at_the_end: ClassVar[bool] = True
    form = MotionParams  # type: ignore[assignment]
    columns = 18

    def resolve(self, number: int, spec: Spec, params: MotionParams) -> Row:  # noqa: D102
        world = self.world
        name = scoped_name(spec, params.on)
        body, frame = world.frame(name, origin=spec.at("on"))
        point = self._point(name, body, frame)
        for r, (what, per) in enumerate(ROWS.items()):
            for c, (column, unit) in enumerate(COLUMNS.items()):
                self.offer(number, 6 * r + c, f"{column}{what}", f"{unit}{per}")
        return Row(
            (("pose", body, 0), ("twist", body, 0)),
            (*point, *(point - world.com[body]), *frame.quat),
            (body,),
        )

    def _point(self, name: str, body: int, frame: Pose) -> np.ndarray:
        """What is watched, in the body's frame: an origin, or an element's own centre of mass."""
        world = self.world
        name = world.aliases.get(name, name)
        if name in world.anchors:
            return np.array(frame.xyz)
        if name not in world.element_names:
            return np.array(world.com[body])
        own = world.element_inertia[world.element_of(name)]
        return np.array(own.moved(frame).com if own.mass > 0.0 else frame.xyz)

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        super().__init__(world, specs, name)
        arrays = Arrays(world)
        self._order, self._inert, self._work = arrays.order, arrays.inert, arrays.work
        self._rates = np.zeros((world.nb, 6))
        self._still = np.zeros(3)

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._view: Any = self._tables[:3]

    def read(self, step: int, *, now: bool = False) -> None:  # noqa: D102
        if not now and all(step % every for every in self.every):
            return
        state = self.state
        fill_accelerations(
            self.world.tree, self._order, self._inert, state.q, state.v, state.report.acceleration,
            self._work, self._still, self._rates,
        )  # fmt: skip
        data, where, form = self._view
        read_motions(step, now, data, where, form, self._rates)
