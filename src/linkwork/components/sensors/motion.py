"""Motion sensor: pose of a frame with its derivatives."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import numpy as np

from linkwork.components.sensors import ReadingRow, SampledSensor
from linkwork.components.sensors.motion_kernels import fill_accelerations, read_motions
from linkwork.core.state import State
from linkwork.core.value_types import NonNegative
from linkwork.dynamics.recursive import DynamicsArrays
from linkwork.geometry.pose import Pose
from linkwork.model.blocks import scoped_name
from linkwork.model.parts import Spec
from linkwork.model.world import World

#: Columns of a state table, in the order of Schwanen 2002, and their units.
COLUMNS = {"x": "m", "y": "m", "z": "m", "phi": "rad", "psi": "rad", "theta": "rad"}
#: Its rows: suffix of a column's name, and of its unit.
ROWS = {"": "", "_speed": "/s", "_acceleration": "/s²"}


class MotionSensorParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``MotionSensor``.

    Attributes:
        on: Element, whose center of mass is measured, or anchor, whose origin is measured.
        period: Time between readings [s], a whole multiple of the step; each step if 0.
    """

    on: str
    period: NonNegative = 0.0
    noise: ClassVar[float] = 0.0


class MotionSensor(SampledSensor):
    """A state table, 3×6: ``<name>.x``, ``y``, ``z`` [m], ``phi``, ``psi``, ``theta`` [rad].

    The angles rotate about x, y, z, each in the frame rotated by the previous one: Rx(φ) Ry(ψ)
    Rz(θ), as in Schwanen 2002. ``<name>.x_speed`` … are their rates, ``<name>.x_acceleration`` …
    the second derivatives; at ψ = ±90° the derivatives of the angles are 0.
    """

    type: ClassVar[str] = "motion"
    reads_after_step: ClassVar[bool] = True
    form = MotionSensorParams  # type: ignore[assignment]
    columns = 18

    def resolve(self, number: int, spec: Spec, params: MotionSensorParams) -> ReadingRow:  # noqa: D102
        world = self.world
        name = scoped_name(spec, params.on)
        body, frame = world.frame(name, origin=spec.at("on"))
        point = self._point(name, body, frame)
        for r, (what, per) in enumerate(ROWS.items()):
            for c, (column, unit) in enumerate(COLUMNS.items()):
                self.offer(number, 6 * r + c, f"{column}{what}", f"{unit}{per}")
        return ReadingRow(
            (("pose", body, 0), ("twist", body, 0)),
            (*point, *(point - world.com[body]), *frame.quat),
            (body,),
        )

    def _point(self, name: str, body: int, frame: Pose) -> np.ndarray:
        """Returns the measured point in the body's frame: an origin or a center of mass."""
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
        arrays = DynamicsArrays(world)
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
