"""Legs: an agent that moves feet along targets."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import msgspec
import numpy as np

from linkwork.components.agents import AgentContext
from linkwork.components.agents.lookup import find_frame, find_scope
from linkwork.components.agents.prescription import PrescribedSignal, Prescription
from linkwork.core.errors import FormatError, LinkworkError, not_found
from linkwork.engines.common import coordinate_of_dof
from linkwork.geometry.pose import Pose
from linkwork.kinematics.forward import forward
from linkwork.kinematics.leg import cardan_quat, cardan_rates
from linkwork.model.blocks import SignalSpec, read_params
from linkwork.model.parts import Spec
from linkwork.model.world import World
from linkwork.motion.formula import Formula
from linkwork.motion.leg_set import FootTrajectory, LegSet

#: Target of a foot: its position [m], and its angles [rad] as in Schwanen 2002.
COLUMNS = ("x", "y", "z", "phi", "psi", "theta")
#: Maximum distance of a foot's target from its initial position [m].
MAX_OFFSET = 2.0
#: Number of steps without a change after which a foot set by hand counts as held.
_HOLD_STEPS = 2.0


class LegsParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``Legs``.

    Attributes:
        feet: Virtual contact points: an anchor or element of each foot.
        on: Part in which names are looked up first.
        knee: "human" (points forward) or "bird".
        formulas: Formula of the time t [s] by input: ``{ right_sole_z = "0.05*sin(pi*t)^2" }``;
            inputs without one are set by sliders and other agents.
    """

    feet: list[str]
    on: str = ""
    knee: Literal["human", "bird"] = "human"
    formulas: dict[str, str] = {}


class Legs(Prescription):
    """Inverse kinematics as an agent: sets the joints of legs from the targets of their feet.

    Inputs are ``<name>.<foot>_x``, ``_y``, ``_z`` [m], the position of the contact point in the
    world, and ``_phi``, ``_psi``, ``_theta`` [rad], the rotation of the foot from flat, about its
    contact point: Rx(φ) Ry(ψ) Rz(θ). The body that carries the hips follows the targets of its
    joints. ``<name>.<foot>_reached`` is 0 while a foot cannot reach its target; its joints do not
    move.
    """

    type: ClassVar[str] = "legs"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, LegsParams)
        super().__init__(world, spec, name, find_scope(world, spec, params.on))
        feet = [find_frame(world, foot, scopes=(self._scope, spec.scope)) for foot in params.feet]
        short = [foot.rpartition("/")[2] for foot in feet]
        twice = [foot for foot in short if short.count(foot) > 1]
        if twice:
            raise FormatError(
                f"{self.what}: two feet are called {twice[0]!r}.", origin=spec.at("feet"),
                hint="Give them anchors with names of their own.",
            )  # fmt: skip
        try:
            self.legs = LegSet(world, feet, knee=params.knee, origin=spec.at("feet"))
        except LinkworkError as error:
            raise self.refused(error) from None
        self._first = self._begin()
        self._place = coordinate_of_dof(world)
        inputs = {f"{foot}_{c}": (n, k) for n, foot in enumerate(short)
                  for k, c in enumerate(COLUMNS)}  # fmt: skip
        self._formulas: dict[tuple[int, int], Formula] = {}
        for key, text in params.formulas.items():
            if key not in inputs:
                raise not_found("input", key, inputs, origin=spec.at("formulas"))
            try:
                self._formulas[inputs[key]] = Formula(text, origin=spec.at("formulas"))
                self._formulas[inputs[key]].at(0.0)
            except FormatError as error:
                raise self.refused(error) from None
        for key, (n, k) in inputs.items():
            middle, reach, unit = float(self._first[n, k]), MAX_OFFSET, "m"
            if k >= 3:
                middle, reach, unit = 0.0, 0.5 * math.pi, "rad"
            direction = "output" if (n, k) in self._formulas else "input"
            self._signals.append(
                SignalSpec(
                    f"{spec.name}.{key}", self.field("wanted"), (n, k), unit, middle - reach,
                    middle + reach, direction,
                )
            )  # fmt: skip
        for n, foot in enumerate(short):
            full = f"{spec.name}.{foot}_reached"
            self._signals.append(SignalSpec(full, self.field("reached"), (n,), "", 0.0, 1.0))
        self._short = short

    def _begin(self) -> np.ndarray:
        """The feet in the first posture, assumed to be flat there."""
        world, made = self.world, np.zeros((len(self.legs.legs), 6))
        pose = forward(world, world.q0)
        for row, leg in zip(made, self.legs.legs, strict=True):
            body, local = world.frame(leg.foot)
            at = Pose(tuple(pose[body, :3]), tuple(pose[body, 3:])) @ local
            row[:3] = at.xyz
        return made

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        feet = len(self.legs.legs)
        return {"wanted": (feet, 6), "reached": (feet,), "before": (feet, 6), "held": (feet,)}

    def reset(self) -> None:  # noqa: D102
        self.slot("wanted")[:] = self._first
        self.slot("reached")[:] = 1.0
        self.slot("before")[:] = self._first
        self.slot("held")[:] = _HOLD_STEPS

    def start(self, context: AgentContext) -> None:
        """Finds the joints' targets.

        Raises:
            NameNotFound: If a joint has none.
        """
        super().start(context)
        self._signals_set: list[list[PrescribedSignal]] = [
            [self.joint_signal(context, int(dof)) for dof in leg.dofs] for leg in self.legs.legs
        ]

    def decide(self, step: int) -> None:
        """Sets the joints for the feet's targets at the end of this step."""
        state, legs, wanted = self.context.state, self.legs, self.slot("wanted")
        courses, held = np.zeros((3, len(legs.legs), 6)), self._held()
        for (n, k), formula in self._formulas.items():
            try:
                made = formula.at(self.next_time)
            except FormatError as error:
                raise self.refused(error) from None
            wanted[n, k] = made.value
            courses[1:, n, k] = made.speed, made.change
        courses[0] = wanted
        q, v, a = state.q.copy(), np.zeros(self.world.nv), np.zeros(self.world.nv)
        exact = all(state.lead[0, d] > 0.0 or state.target[d] == q[self._place[d]]
                    for d in legs.base)  # fmt: skip
        for dof in legs.base:
            q[self._place[dof]] = state.target[dof]
            if state.lead[0, dof] > 0.0:
                v[dof], a[dof], q[self._place[dof]] = state.lead[1:, dof]
        for leg in legs.legs:
            q[leg.coordinates] = state.target[leg.dofs]
        reached, known = legs.solve(q, v, a, [self._course(n, courses[:, n]) for n in
                                              range(len(legs.legs))])  # fmt: skip
        for n, (signals_set, there) in enumerate(zip(self._signals_set, reached, strict=True)):
            if there != bool(self.slot("reached")[n]):
                self._log_reach(n, there)
            self.slot("reached")[n] = float(there)
            for prescribed in signals_set if there else ():
                dof = prescribed.dof
                course = float(q[self._place[dof]]), float(v[dof]), float(a[dof])
                self.write_course(prescribed, course, known=known[n] and exact and held[n])

    def _held(self) -> list[bool]:
        """Which feet are moved by formulas alone, so that their speeds are known.

        The speed of a slider or another agent is not known: the joints' speeds then follow from
        their displacements, also in the next step, in which they stop.
        """
        wanted, before, held = self.slot("wanted"), self.slot("before"), self.slot("held")
        moved = wanted != before
        for place in self._formulas:
            moved[place] = False
        before[:] = wanted
        held[:] = np.where(moved.any(axis=1), 0.0, np.minimum(held + 1.0, _HOLD_STEPS))
        return (held >= _HOLD_STEPS).tolist()

    def _course(self, n: int, rows: np.ndarray) -> FootTrajectory:
        """Target of a foot, from its inputs and their rates."""
        angles = rows[0, 3:]
        turn, change = cardan_rates(angles, rows[1, 3:], rows[2, 3:])
        away = Pose(tuple(rows[0, :3].tolist()), cardan_quat(*angles.tolist()))
        return FootTrajectory(
            away @ self.legs.legs[n].flat, np.concatenate([rows[1, :3], turn]),
            np.concatenate([rows[2, :3], change]),
        )  # fmt: skip

    def _log_reach(self, n: int, there: bool) -> None:
        foot = self._short[n]
        if there:
            self.context.log(f"{foot} is in reach again.", source=self.spec.name)
        else:
            text = f"{foot} is out of reach within the joints' ranges; its leg does not move."
            self.context.log(text, level="warning", source=self.spec.name)
