"""World: flat arrays for kernels and engines, constant while running."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.core.errors import NameNotFound, Origin, not_found
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.pose import Pose
from linkwork.model.parts import Shape, Spec
from linkwork.model.parts.constraints import LOOP_TYPES, CouplingLaw, coupling_law
from linkwork.model.parts.joint import JOINT_TYPES, Joint
from linkwork.model.scene import Scene

_A = np.ndarray

#: Name of each code of joints and loops.
TYPE_NAMES = {kind.code: name for name, kind in JOINT_TYPES.items()} | {
    code: name for name, code in LOOP_TYPES.items()
}


@dataclass(frozen=True)
class Finding:
    """Something an engine cannot do, or only approximates, in this world.

    Attributes:
        level: "error" (the run is refused), "approximated" or "note".
        about: Name of the joint, loop, body or signal.
        text: What is wrong and what to do.
        origin: Where it is defined.
    """

    level: str
    about: str
    text: str
    origin: Origin = Origin()

    def __str__(self) -> str:
        where = f"{self.origin}: " if self.origin.file else ""
        return f"{where}{self.about}: {self.text}"


@dataclass(frozen=True)
class WorldShape:
    """A shape of a body: geometry, surface, origin."""

    shape: Shape
    body: int
    pose: Pose
    element: int
    color: str
    friction: float
    restitution: float
    group: str


@dataclass
class World:
    """A compiled scene. Body 0 is the world; parents come before children.

    Arrays by body (``nb`` rows): ``parent``; ``kind`` (code of the joint to the parent, 0 fixed);
    ``qadr``/``vadr`` (first coordinate and degree of freedom); ``x0`` (pose in the parent at
    joint value 0, 7 numbers); ``pivot``, ``axis``, ``axis2`` (joint in the body's own frame,
    see :attr:`~linkwork.model.parts.joint.Joint.directions`);
    ``pitch`` [m/rad]; ``rail_first``/``rail_count`` into ``rail`` rows (length, turn, climb);
    ``mass`` [kg], ``com`` [m], ``inertia`` (3x3 about the center of mass, body axes) [kg m²];
    ``island`` (number of the joint-connected group, −1 for static bodies).

    Arrays by degree of freedom (``nv`` rows): ``dof_body``, ``dof_lo``/``dof_hi`` [rad or m],
    ``dof_speed``, ``dof_effort`` (limits, inf for none), ``damping``, ``friction``,
    ``stiffness``, ``rest``, ``armature``, ``restitution`` (at the ends of its range).

    Arrays by loop: ``loop_kind``, ``loop_body`` (n×2), ``loop_pose`` (n×2×7), ``loop_axis``,
    ``loop_axis2``, ``loop_pitch`` [m/rad], ``loop_rail`` (n×2: first row of ``rail``, rows),
    ``loop_track`` (n×2: first row of ``track``, segments), ``track`` (see ``parts.curve``).
    By spring: ``spring_kind`` (0 linear, 1 torsion), ``spring_body`` (n×2), ``spring_pose``
    (n×2×7), ``spring_axis``, ``spring_law`` (n×3: stiffness, rest, damping).
    By coupling: ``coupling_dof`` (n×2: follower, leader), ``coupling_law`` (n×2: ratio, offset).
    By element: ``element_body``, ``element_pose`` (n×7, in the body's frame), ``element_inertia``
    (in its own frame). ``loop_element`` (n×2): elements of a loop's anchors.
    ``element_words``, ``loop_words``, ``coupling_words``: native attributes.
    ``self_collision``: rule of the part of each element; ``apart``: pairs of bodies of a robot that
    do not collide by that rule, which the Mujoco engine finds.
    ``authored_q``: coordinates with the joints' own values, ``q0`` those at the start.
    """

    scene: Scene
    body_names: list[str]
    body_origins: list[Origin]
    body_part: list[str]
    parent: np.ndarray
    kind: np.ndarray
    qadr: np.ndarray
    vadr: np.ndarray
    x0: np.ndarray
    pivot: np.ndarray
    axis: np.ndarray
    axis2: np.ndarray
    pitch: np.ndarray
    rail_first: np.ndarray
    rail_count: np.ndarray
    rail: np.ndarray
    mass: np.ndarray
    com: np.ndarray
    inertia: np.ndarray
    island: np.ndarray
    joint_names: list[str]
    joint_body: np.ndarray
    joints: list[Joint]
    dof_body: np.ndarray
    dof_lo: np.ndarray
    dof_hi: np.ndarray
    dof_speed: np.ndarray
    dof_effort: np.ndarray
    damping: np.ndarray
    friction: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray
    armature: np.ndarray
    restitution: np.ndarray
    q0: np.ndarray
    v0: np.ndarray
    loop_names: list[str]
    loop_origins: list[Origin]
    loop_kind: np.ndarray
    loop_body: np.ndarray
    loop_pose: np.ndarray
    loop_axis: np.ndarray
    loop_axis2: np.ndarray
    loop_pitch: np.ndarray
    loop_rail: np.ndarray
    loop_track: np.ndarray
    track: np.ndarray
    spring_names: list[str]
    spring_origins: list[Origin]
    spring_kind: np.ndarray
    spring_body: np.ndarray
    spring_pose: np.ndarray
    spring_axis: np.ndarray
    spring_law: np.ndarray
    coupling_dof: np.ndarray
    coupling_law: np.ndarray
    element_names: list[str]
    element_origins: list[Origin]
    element_body: np.ndarray
    element_pose: np.ndarray
    shapes: list[WorldShape]
    anchors: dict[str, tuple[int, Pose]]
    joined: list[tuple[int, int]]
    sensors: list[Spec]
    actuators: list[Spec]
    agents: list[Spec]
    buses: list[Spec] = field(default_factory=list)
    ports: list[Spec] = field(default_factory=list)
    faults: list[Spec] = field(default_factory=list)
    postures: dict[str, np.ndarray] = field(default_factory=dict)
    element_words: list[dict[str, Any]] = field(default_factory=list)
    element_inertia: list[Inertia] = field(default_factory=list)
    loop_element: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    loop_words: list[dict[str, Any]] = field(default_factory=list)
    coupling_words: list[dict[str, Any]] = field(default_factory=list)
    anchor_element: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    self_collision: list[str] = field(default_factory=list)
    apart: set[tuple[int, int]] = field(default_factory=set)
    authored_q: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def nb(self) -> int:
        """Bodies, the world included."""
        return len(self.parent)

    @property
    def nq(self) -> int:
        """Coordinates."""
        return len(self.q0)

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return len(self.v0)

    @cached_property
    def tree(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The tree as the kernels take it: few arrays, one row per body.

        ``index`` (nb×6): parent, kind, first coordinate, first degree of freedom, first rail row,
        rail rows. ``frame`` (nb×17): x0 (7), pivot (3), axis (3), axis2 (3), pitch. ``rail``.
        """
        index = np.column_stack(
            [self.parent, self.kind, self.qadr, self.vadr, self.rail_first, self.rail_count]
        )
        frame = np.column_stack([self.x0, self.pivot, self.axis, self.axis2, self.pitch])
        return np.ascontiguousarray(index), np.ascontiguousarray(frame), self.rail

    @property
    def loop_arrays(self) -> tuple[_A, _A, _A, _A, _A, _A]:
        """Arguments of the kernel of loops, in its order."""
        return (
            self.loop_kind, self.loop_body, self.loop_pose, self.loop_axis, self.loop_track,
            self.track,
        )  # fmt: skip

    @property
    def spring_arrays(self) -> tuple[_A, _A, _A, _A]:
        """Arguments of the kernel of springs, in its order."""
        return self.spring_kind, self.spring_body, self.spring_pose, self.spring_axis

    def laws(self) -> list[CouplingLaw]:
        """Returns the law of each coupling, with the native coefficients of the Mujoco engine."""
        rows = zip(self.coupling_law.tolist(), self.coupling_words, strict=True)
        return [coupling_law(ratio, offset, words) for (ratio, offset), words in rows]

    @cached_property
    def _body_index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.body_names)}

    @cached_property
    def _joint_index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.joint_names)}

    @cached_property
    def _element_index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.element_names)}

    def joint(self, name: str, *, origin: Origin | None = None) -> int:
        """Returns the number of the joint ``name``."""
        found = self._joint_index.get(self.aliases.get(name, name))
        if found is None:
            raise not_found("joint", name, self.joint_names, origin=origin)
        return found

    def body(self, name: str, *, origin: Origin | None = None) -> int:
        """Returns the number of the body that contains element (or anchor) ``name``."""
        return self.frame(name, origin=origin)[0]

    def frame(self, name: str, *, origin: Origin | None = None) -> tuple[int, Pose]:
        """Returns the body of an element or anchor, and its pose in that body's frame."""
        name = self.aliases.get(name, name)
        if name in self._body_index and name not in self._element_index:
            return self._body_index[name], Pose()
        index = self._element_index.get(name)
        if index is not None:
            row = self.element_pose[index]
            pose = Pose(tuple(map(float, row[:3])), tuple(map(float, row[3:])))  # type: ignore[arg-type]
            return int(self.element_body[index]), pose
        if name in self.anchors:
            return self.anchors[name]
        raise not_found("element", name, [*self.element_names, *self.anchors], origin=origin)

    def element_of(self, name: str) -> int:
        """Returns the number of the element ``name``, or of an anchor's; −1 for none."""
        name = self.aliases.get(name, name)
        if name in self._element_index:
            return self._element_index[name]
        return self._element_index.get(self.anchor_element.get(name, ""), -1)

    def dofs(self, name: str, *, origin: Origin | None = None) -> range:
        """Returns the degrees of freedom of the joint ``name``, or the one of ``joint.dof``."""
        name = self.aliases.get(name, name)
        joint_name, _, dof = name.partition(".")
        whole, _, last = name.rpartition(".")
        if whole in self.aliases:  # an imported name may hold a dot
            joint_name, dof = self.aliases[whole], last
        index = self.joint(joint_name, origin=origin)
        body = self.joint_body[index]
        kind = self.joints[index].kind
        first = int(self.vadr[body])
        if not dof:
            return range(first, first + kind.nv)
        if dof not in kind.dofs:
            raise not_found("degree of freedom", dof, kind.dofs, origin=origin)
        first += kind.dofs.index(dof)
        return range(first, first + 1)

    def single_dof(self, name: str, *, origin: Origin | None = None) -> int:
        """Returns the degree of freedom of a joint that has one, or of ``joint.dof``."""
        dofs = self.dofs(name, origin=origin)
        if len(dofs) != 1:
            kind = self.joints[self.joint(name.partition(".")[0])].kind
            raise NameNotFound(
                f"joint {name!r} has {len(dofs)} degrees of freedom.",
                origin=origin,
                hint=f"Name one: {', '.join(f'{name}.{d}' for d in kind.dofs)}.",
            )
        return dofs[0]

    def dof_name(self, dof: int) -> str:
        """Returns the name of ``dof``: the joint's, or ``joint.x`` if it has several."""
        body = int(self.dof_body[dof])
        index = int(np.flatnonzero(self.joint_body == body)[0])
        kind = self.joints[index].kind
        name = self.joint_names[index]
        return name if kind.nv == 1 else f"{name}.{kind.dofs[dof - int(self.vadr[body])]}"

    def dof_is_angle(self, dof: int) -> bool:
        """Whether the degree of freedom is a rotation [rad]."""
        body = int(self.dof_body[dof])
        index = int(np.flatnonzero(self.joint_body == body)[0])
        return self.joints[index].kind.is_angle(dof - int(self.vadr[body]))

    def id_of(self, name: str) -> str:
        """Returns the stable id of a name (its first name)."""
        return self.ids.get(name, name)

    def ancestors(self, body: int) -> list[int]:
        """Returns a body and the bodies that carry it, without the world."""
        found = []
        while body > 0:
            found.append(body)
            body = int(self.parent[body])
        return found

    def is_static(self, body: int) -> bool:
        """Whether a body never moves."""
        return int(self.island[body]) < 0
