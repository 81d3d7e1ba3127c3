"""Walker: legs that walk straight ahead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

import msgspec
import numpy as np

from linkwork.components.agents import AgentContext
from linkwork.components.agents.lookup import find_frame, find_scope
from linkwork.components.agents.prescription import PrescribedSignal, Prescription
from linkwork.core.errors import LinkworkError, listing
from linkwork.core.value_types import NonNegative
from linkwork.engines.common import coordinate_of_dof
from linkwork.geometry.pose import Pose
from linkwork.kinematics.forward import forward
from linkwork.kinematics.kernels import FREE, SLIDER
from linkwork.model.blocks import SignalSpec, read_params
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World
from linkwork.motion.leg_set import FootTrajectory, LegSet
from linkwork.motion.walk import SIDES, Walk, WalkSample

#: Phases of a step at which a walk is tested before it begins.
TRIAL_POINTS = 24
#: Maximum inclination of torso and soles at the start [rad]; the walk itself levels soles.
_LEVEL, _FLAT = 1e-6, 1e-3


class WalkerParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``Walker``.

    Attributes:
        feet: The right and the left foot's virtual contact points, anchors or elements.
        on: Part in which the names are looked up first.
        length: Distance at which a foot is set down ahead of the other [m].
        height: Height to which a foot is lifted [m].
        period: Duration of a step [s].
        double_support: Fraction of a step with both feet on the ground, 0 to less than 1.
        steps: Number of steps, 2 to 10000.
        first: The foot of the first step.
        knee: "human" (points forward) or "bird".
        start: Start time [s].
    """

    feet: tuple[str, str]
    on: str = ""
    length: float = 0.2
    height: float = 0.05
    period: float = 0.8
    double_support: float = 0.2
    steps: int = 6
    first: Literal["right", "left"] = "right"
    knee: Literal["human", "bird"] = "human"
    start: NonNegative = 0.0


class Walker(Prescription):
    """Sets the joints of two legs, and those that carry the torso, along a planned walk.

    It begins at the torso's position in the scene's first posture, with both soles flat below it.
    Sliders that carry the torso move with it; if there are none, the feet move backward, as on a
    treadmill. ``<name>.right_share`` and ``<name>.left_share`` are the feet's fractions of the
    ground reaction; ``<name>.step`` counts steps.
    """

    type: ClassVar[str] = "walk"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, WalkerParams)
        super().__init__(world, spec, name, find_scope(world, spec, params.on), params.start)
        feet = [find_frame(world, foot, scopes=(self._scope, spec.scope)) for foot in params.feet]
        try:
            self.plan = Walk(
                params.length, params.height, params.period, params.double_support, params.steps,
                params.first,
            )  # fmt: skip
            self.legs = LegSet(world, feet, knee=params.knee, origin=spec.at("feet"))
            self._settle()
            self._try()
        except LinkworkError as error:
            raise self.refused(error) from None
        self._signals = [
            SignalSpec(f"{spec.name}.{side}_share", self.field("share"), (k,), "", 0.0, 1.0)
            for k, side in enumerate(SIDES)
        ]
        self._signals.append(SignalSpec(f"{spec.name}.step", self.field("step"), (0,), "", 0.0))

    @property
    def end(self) -> float:
        """End time of the walk [s]."""
        return self._start + self.plan.duration

    def check(self) -> list[Finding]:
        """Notes a robot that nothing holds: a walk plans no balance."""
        world, scene = self.world, self.world.scene
        engines = {spec.type for spec in scene.engines} or {"mujoco"}
        dynamic = scene.mode in ("", "simulation") and engines - {"kinematic", "emulation"}
        body = self.legs.legs[0].body
        roots = [b for b in (*world.ancestors(body), body) if world.kind[b] == FREE]
        if not roots or not dynamic:
            return []
        text = (
            "nothing holds the robot, and the walk has no balance: it will fall. Fix its torso, or "
            'let a carriage move it as in bart_uh/walk; mode = "kinematic" shows the walk.'
        )
        return [Finding("approximated", self.what, text, self.spec.origin)]

    def _settle(self) -> None:
        """Returns the start of the walk: below the hips, on the ground."""
        world, legs = self.world, self.legs
        q = world.q0.copy()
        self._torso = legs.carrier_pose(q)
        poses = forward(world, q)
        soles = [Pose(tuple(poses[leg.body, :3]), tuple(poses[leg.body, 3:])) @
                 world.frame(leg.foot)[1] for leg in legs.legs]  # fmt: skip
        up = (0.0, 0.0, 1.0)
        self._level("torso", self._torso.rotate(up), _LEVEL)
        for side, sole, leg in zip(SIDES, soles, legs.legs, strict=True):
            turned = (
                Pose((0.0, 0.0, 0.0), sole.quat) @ Pose((0.0, 0.0, 0.0), leg.flat.quat).inverse()
            )
            self._level(f"{side} sole", turned.rotate(up), _FLAT)
        if max(s.xyz[2] for s in soles) - min(s.xyz[2] for s in soles) > 1e-3:
            raise LinkworkError("the feet are not at the same height at the start.")
        self._soles = [Pose(sole.xyz, leg.flat.quat) for sole, leg in
                       zip(soles, legs.legs, strict=True)]  # fmt: skip
        ahead = np.array(self._torso.rotate((0.0, 1.0, 0.0)))
        side = np.cross(ahead, up)
        self._axes = np.array([side / np.linalg.norm(side), ahead, up])
        self._carry = {}
        for dof in legs.base:
            body = int(world.dof_body[dof])
            if world.kind[body] == SLIDER:
                parent = poses[int(world.parent[body])]
                axis = Pose(tuple(parent[:3]), tuple(parent[3:])).rotate(world.axis[body])
                self._carry[dof] = np.array(axis)
        along = sum(np.outer(axis, axis) for axis in self._carry.values())
        self._ridden = bool(self._carry) and np.allclose(along @ ahead, ahead, atol=1e-9)
        if not self._ridden:
            self._carry = {}

    @staticmethod
    def _level(what: str, normal: Sequence[float], most: float) -> None:
        """Refuses a start that is not level."""
        off = math.atan2(math.hypot(normal[0], normal[1]), normal[2])
        if off > most:
            raise LinkworkError(
                f"the {what} is {math.degrees(off):.3g}° out of level at the start.",
                hint="Give the scene a posture to start in, with torso and soles level.",
            )

    def _stride(
        self, time: float
    ) -> tuple[WalkSample, np.ndarray, np.ndarray, np.ndarray, list[bool], list[bool]]:
        """Coordinates, speeds and accelerations of the world at a time of the walk."""
        world, legs = self.world, self.legs
        stride = self.plan.at(time)
        q, v, a = world.q0.copy(), np.zeros(world.nv), np.zeros(world.nv)
        torso = stride.torso @ self._axes
        for dof, axis in self._carry.items():
            body = int(world.dof_body[dof])
            q[world.qadr[body]] = world.q0[world.qadr[body]] + torso[0] @ axis
            v[dof], a[dof] = torso[1] @ axis, torso[2] @ axis
        feet = []
        for sole, course in zip(self._soles, stride.feet, strict=True):
            offset = course @ self._axes - (0.0 if self._ridden else 1.0) * torso
            place = tuple((np.array(sole.xyz) + offset[0]).tolist())
            still = np.zeros(3)
            feet.append(
                FootTrajectory(
                    Pose(place, sole.quat), np.concatenate([offset[1], still]),
                    np.concatenate([offset[2], still]),
                )
            )  # fmt: skip
        reached, known = legs.solve(q, v, a, feet)
        return stride, q, v, a, reached, known

    def _try(self) -> None:
        """Refuses a walk that the legs cannot perform.

        Raises:
            LinkworkError: Naming the foot and the time.
        """
        plan, world = self.plan, self.world
        fast = world.dof_speed
        # between the third step and the last but one, all equal the second and third
        steps = {*range(min(3, plan.steps)), plan.steps - 2, plan.steps - 1}
        for n in sorted({k * TRIAL_POINTS + i for k in steps for i in range(TRIAL_POINTS + 1)}):
            time = n * plan.period / TRIAL_POINTS
            _, q, v, _, reached, known = self._stride(time)
            for side, there, sure in zip(SIDES, reached, known, strict=True):
                if not there or not sure:
                    how = "is out of reach within the joints' ranges" if not there else (
                        "needs a straight leg, which cannot follow"
                    )  # fmt: skip
                    raise LinkworkError(
                        f"the {side} foot {how} {time:.3g} s after the start.",
                        hint="Take shorter or lower steps, or begin with the knees more bent.",
                    )
            quick = np.flatnonzero(np.abs(v) > fast * (1.0 + 1e-9))
            low = [
                d
                for d in self._carry
                if not world.dof_lo[d] <= q[world.qadr[world.dof_body[d]]] <= world.dof_hi[d]
            ]
            if len(quick) or low:
                names = listing([world.dof_name(int(d)) for d in [*quick, *low]], most=3)
                what = "turns faster than its max_speed" if len(quick) else "leaves its range"
                raise LinkworkError(
                    f"{names} {what} {time:.3g} s after the start.",
                    hint="Take fewer, shorter or slower steps.",
                )

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        return {"share": (2,), "step": (1,)}

    def reset(self) -> None:  # noqa: D102
        self.slot("share")[:] = 0.5
        self.slot("step")[0] = 0.0

    def start(self, context: AgentContext) -> None:
        """Finds the joints' targets.

        Raises:
            NameNotFound: If a joint has none.
        """
        super().start(context)
        self._legs: list[list[PrescribedSignal]] = [
            [self.joint_signal(context, int(dof)) for dof in leg.dofs] for leg in self.legs.legs
        ]
        self._base = [self.joint_signal(context, dof) for dof in self._carry]
        self._place = coordinate_of_dof(self.world).tolist()

    def decide(self, step: int) -> None:
        """Sets the posture at the end of this step, and the feet on the ground."""
        time = self.elapsed
        stride, q, v, a, _, known = self._stride(time)
        world = self.world
        for signals_set, sure in [*zip(self._legs, known, strict=True), (self._base, True)]:
            for prescribed in signals_set:
                dof = prescribed.dof
                course = float(q[self._place[dof]]), float(v[dof]), float(a[dof])
                self.write_course(prescribed, course, known=sure)
        self.slot("share")[:] = stride.shares
        walked = min(max(time, 0.0) / self.plan.period, self.plan.steps)
        self.slot("step")[0] = math.floor(walked + 1e-9)
        for leg, share in zip(self.legs.legs, stride.shares, strict=True):
            local = world.frame(leg.foot)[1]
            self.context.state.stance[leg.body] = 1.0, share, *local.xyz
