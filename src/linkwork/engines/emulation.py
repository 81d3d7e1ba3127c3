"""Emulation: joints follow their targets, and the required efforts are computed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linkwork.core.state import Report
from linkwork.dynamics import kernels
from linkwork.dynamics.recursive import DynamicsArrays
from linkwork.engines.common.kernels import note_efforts
from linkwork.engines.kinematic import Kinematic
from linkwork.model.parts import Plane, Spec
from linkwork.model.world import Finding, World

#: Ground reaction of a foot: body, point [m], wrench about the world's origin.
Reaction = tuple[int, np.ndarray, np.ndarray]
#: Load below which a foot has no center of pressure [N].
_LEAST = 1e-9


class Emulation(Kinematic):
    """The motion of ``Kinematic`` with its efforts (dynamic emulation, Schwanen 2002).

    After each step the report's efforts are those of inverse dynamics, M(q) v̇ + c(q, v), with the
    rotors, at the coordinates, velocities and accelerations of that instant, without damping,
    friction and springs. The effort of a leader includes those of its followers, times the ratio; a
    follower has none.

    If an agent reports standing feet (``walk`` does), the ground carries the robot: the wrench that
    would hold its topmost body, the sum of m (a + g) over its bodies with its moments. Each foot
    takes its share of the force at its contact point, and the same share of the remaining moment.
    Contact and foot sensors measure it at the center of pressure.
    """

    type: ClassVar[str] = "emulation"

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, spec, name, owned)
        static = np.array([world.is_static(b) for b in range(world.nb)])
        order = np.flatnonzero(owned | static)
        self._arrays = DynamicsArrays(world)
        self._arrays.order = order[order > 0]
        self._effort = np.zeros(world.nv)
        self._gravity = np.zeros(3)
        self._elements: list[list[str]] = [[] for _ in range(world.nb)]
        for element, body in zip(world.element_names, world.element_body, strict=True):
            self._elements[int(body)].append(element)
        self._tops = {b: self._top(b) for b in range(1, world.nb)}
        self._count = [int(np.count_nonzero(world.dof_body == b)) for b in range(world.nb)]
        self._sole = {b: n for n, b in reversed(list(enumerate(world.element_body.tolist())))}
        self._sole |= {s.body: s.element for s in reversed(world.shapes) if s.shape.collide}
        self._ground = next(
            (s.element for s in world.shapes if isinstance(s.shape, Plane) and static[s.body]), -1
        )

    def check(self) -> list[Finding]:
        """Returns the findings of ``Kinematic``, and loops whose forces are not computed."""
        world, found = self.world, super().check()
        for n in self._loops:
            text = "Emulation computes efforts as if this loop were open."
            found.append(Finding("approximated", world.loop_names[n], text, world.loop_origins[n]))
        return found

    def params_changed(self) -> None:
        """Applies masses and gravity."""
        state, world = self.state, self.world
        mass = state["param/mass"]
        inert = self._arrays.inert
        inert[:, 0] = mass
        share = np.divide(mass, world.mass, out=np.ones_like(mass), where=world.mass > 0.0)
        inert[:, 4:] = world.inertia.reshape(world.nb, 9) * share[:, None]
        self._gravity[:] = state["param/gravity"]

    def place_start(self) -> bool:
        """Moves joints to their prescribed motions at t = 0, and computes the efforts there."""
        super().place_start()
        self._compute_efforts(0)
        return True

    def advance(self, h: float) -> None:  # noqa: D102
        super().advance(h)
        self._compute_efforts(self.state.step + 1)

    def _compute_efforts(self, step: int) -> None:
        """Fills the efforts of the present motion, and the contacts of feet."""
        state = self.state
        felt, effort = self._reactions(), self._effort
        world, motion = self.world, self._arrays.work[1]
        for body, _, wrench in felt:
            for b in world.ancestors(body):
                first, count = int(world.vadr[b]), self._count[b]
                effort[first : first + count] -= motion[first : first + count] @ wrench
        self._add_mimic_efforts(effort)
        state.report.effort[self._mine] = effort[self._mine]
        # Accelerations of joints that move to goals are difference quotients, not prescribed ones.
        led = state.lead[0, self._position_driven] > 0.0
        if led.any() and not state.report.acceleration[self._position_driven[~led]].any():
            new = note_efforts(self._measured, effort, self.max_effort, step, self.slot("limits"))
            self.note(new, step, effort=True)
        if self.reports_contacts:
            self._list(felt, state.report)

    def _add_mimic_efforts(self, effort: np.ndarray) -> None:
        """Adds the efforts of followers to their leaders, the last of a chain first."""
        pairs, laws = self._coupling
        for (follows, leads), (ratio, _) in zip(pairs[::-1], laws[::-1], strict=True):
            if self.owned[self.world.dof_body[leads]]:
                effort[leads] += ratio * effort[follows]
                effort[follows] = 0.0

    def _reactions(self) -> list[Reaction]:
        """Computes the efforts without the ground; returns the ground reaction of each foot.

        A row each: its body, the contact point, the wrench about the world's origin.
        """
        state = self.state
        kernels.rnea(
            *self._arrays.robot, self._gravity, state.q, state.v, state.report.acceleration,
            self._arrays.work, self._effort,
        )  # fmt: skip
        stance = state.stance
        feet = [int(b) for b in np.flatnonzero((stance[:, 0] > 0.0) & self.owned)]
        robots: dict[int, list[int]] = {}
        for foot in feet:
            robots.setdefault(self._tops[foot], []).append(foot)
        pose, _, _, _, force, _ = self._arrays.work
        made = []
        for top, standing in robots.items():
            shares = stance[standing, 1]
            if not shares.sum() > 0.0:
                continue
            shares = shares / shares.sum()
            whole = force[top]
            points = [self._point(pose[f], stance[f, 2:]) for f in standing]
            arms = [np.cross(p, s * whole[:3]) for p, s in zip(points, shares, strict=True)]
            left = whole[3:] - np.sum(arms, axis=0)
            for foot, point, share, arm in zip(standing, points, shares, arms, strict=True):
                if share > 0.0:
                    wrench = np.concatenate([share * whole[:3], arm + share * left])
                    made.append((foot, point, wrench))
        return made

    def _top(self, foot: int) -> int:
        """Returns the topmost body of the placed part that a foot belongs to."""
        top, mine = foot, {e.partition("/")[0] for e in self._elements[foot]}
        for body in self.world.ancestors(foot):
            if mine & {e.partition("/")[0] for e in self._elements[body]}:
                top = body
        return top

    @staticmethod
    def _point(pose: np.ndarray, local: np.ndarray) -> np.ndarray:
        w, turn = pose[3], pose[4:]
        across = 2.0 * np.cross(turn, local)
        return pose[:3] + local + w * across + np.cross(turn, across)

    def add_contacts(self, report: Report) -> None:
        """Adds the load of each foot at its center of pressure."""
        self._list(self._reactions(), report)

    def _list(self, felt: list[Reaction], report: Report) -> None:
        world = self.world
        if self._ground < 0:
            return
        for foot, point, wrench in felt:
            force, moment = wrench[:3], wrench[3:] - np.cross(point, wrench[:3])
            if report.contact_count == len(report.contacts) or force[2] < _LEAST:
                continue
            x = point[0] - moment[1] / force[2]
            y = point[1] + moment[0] / force[2]
            element = self._sole[foot]
            report.contacts[report.contact_count] = (
                world.element_body[self._ground], foot, self._ground, element, x, y, point[2],
                0.0, 0.0, 1.0, 0.0, force[2], force[0], force[1],
            )  # fmt: skip
            report.contact_count += 1
