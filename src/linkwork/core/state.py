"""State: all memory of a run, as named fields of one flat array.

One float64 array holds coordinates, poses, targets, readings, parameters, the engines' memory
and the last Report. A copy of the array is a copy of the state, its bytes are the state's hash,
and a signal is an address in it. Integers are stored in the same words, viewed as int64.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import SessionError

#: Rows of the contact table and columns: bodies a and b, elements a and b, point (3), normal (3,
#: from a to b), depth [m], normal force [N], friction force (2 tangential components) [N].
CONTACT_CAPACITY = 64
CONTACT_COLUMNS = 14

#: Slots for pulling bodies by hand, and their columns: active, body, point in the body (3),
#: target position in the world (3), stiffness [N/m], damping [N s/m].
GRAB_SLOTS = 4
GRAB_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class Field:
    """A named block of the flat array."""

    name: str
    shape: tuple[int, ...]
    offset: int
    integer: bool = False

    @property
    def size(self) -> int:
        """Number of values in the block."""
        return math.prod(self.shape)


class Layout:
    """The named blocks of the flat array, in order."""

    def __init__(self) -> None:
        self.fields: dict[str, Field] = {}
        self.size = 0

    def add(self, name: str, *shape: int, integer: bool = False) -> Field:
        """Adds a block; integers are int64 in the same words."""
        if name in self.fields:
            raise SessionError(f"two blocks of the state are named {name!r}.")
        field = Field(name, shape, self.size, integer)
        self.fields[name] = field
        self.size += field.size
        return field

    def add_world(
        self,
        nq: int,
        nv: int,
        nb: int,
        loops: int,
        elements: int,
        *,
        springs: int = 0,
        contacts: int = CONTACT_CAPACITY,
    ) -> None:
        """Adds the blocks that every world has."""
        # The large table comes first: a step does not copy it unless a sensor reads it.
        self.add("report/contacts", contacts, CONTACT_COLUMNS)
        self.add("clock", 1, integer=True)
        self.add("q", nq)
        self.add("v", nv)
        self.add("pose", nb, 7)
        self.add("twist", nb, 6)
        self.add("loop_q", loops)
        self.add("loop_turns", loops, integer=True)
        self.add("target", nv)
        self.add("target_speed", nv)
        self.add("target_effort", nv)
        self.add("lead", 4, nv)
        self.add("stance", nb, 5)
        self.add("drive", 5, nv)
        self.add("param/gravity", 3)
        self.add("param/mass", nb)
        self.add("param/friction", elements)
        self.add("param/visible", elements)
        self.add("param/damping", nv)
        self.add("param/joint_friction", nv)
        self.add("param/grab", GRAB_SLOTS, GRAB_COLUMNS)
        self.add("param/spring", springs, 3)
        self.add("report/acceleration", nv)
        self.add("report/effort", nv)
        self.add("report/contact_count", 1, integer=True)
        self.add("report/gap", 2)
        self.add("report/run", 8)
        self.add("report/spring", springs, 2)
        self.add("report/energy", 2)


class State:
    """The flat array with its named views.

    Attributes:
        data: The flat float64 array.
        q, v: Coordinates and velocities of the spanning tree.
        pose: Poses of the bodies (nb×7), world axes, quaternion wxyz.
        twist: Velocities of the bodies' centers of mass and angular velocities (nb×6).
        loop_q: Coordinate of each loop's closing joint [rad or m]; 0 for balls.
        target, target_speed, target_effort: Targets of each degree of freedom.
        lead: Motion prescribed by agents for the end of this step, by row: whether it is given (1
            or 0), velocity, acceleration and position of the joint; the position may be out of
            range, unlike the target.
        stance: Ground reaction as planned by agents for this step (nb×5): whether a body is a foot
            (1 or 0), its share of the reaction, and the contact point in its own frame [m].
        drive: Affine efforts by row: bias, kp, kd, lowest, highest.
            effort = clip(bias − kp·q − kd·v, lowest, highest).
    """

    def __init__(self, layout: Layout, data: np.ndarray | None = None) -> None:
        self.layout = layout
        self.data = np.zeros(layout.size) if data is None else data
        if self.data.shape != (layout.size,):
            raise SessionError(
                f"a state of this world has {layout.size} numbers, not {self.data.size}."
            )
        self._views = {name: self._view(field) for name, field in layout.fields.items()}
        self.q = self["q"]
        self.v = self["v"]
        self.pose = self["pose"]
        self.twist = self["twist"]
        self.loop_q = self["loop_q"]
        self.target = self["target"]
        self.target_speed = self["target_speed"]
        self.target_effort = self["target_effort"]
        self.lead = self["lead"]
        self.stance = self["stance"]
        self.drive = self["drive"]
        self.report = Report(self)
        self._clock = self["clock"]

    def _view(self, field: Field) -> np.ndarray:
        block = self.data[field.offset : field.offset + field.size]
        return (block.view(np.int64) if field.integer else block).reshape(field.shape)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._views[name]

    def __contains__(self, name: str) -> bool:
        return name in self._views

    @property
    def step(self) -> int:
        """Steps since the start."""
        return int(self._clock[0])

    @step.setter
    def step(self, value: int) -> None:
        self._clock[0] = value

    def address(self, name: str, *index: int) -> int:
        """Returns the index of one number of a block in the flat array."""
        field = self.layout.fields[name]
        return field.offset + int(np.ravel_multi_index(index, field.shape))

    def copy(self) -> State:
        """Returns an independent copy."""
        return State(self.layout, self.data.copy())

    def restore(self, other: State | bytes) -> None:
        """Copies all numbers of another state, in place."""
        size = len(other) / 8 if isinstance(other, bytes) else other.data.size
        if size != self.data.size:
            raise SessionError(f"a state of this world has {self.data.size} numbers, not {size:g}.")
        self.data[:] = np.frombuffer(other, np.float64) if isinstance(other, bytes) else other.data

    def save(self) -> bytes:
        """Returns all numbers as bytes (little endian)."""
        return self.data.tobytes()

    def same(self, other: State) -> bool:
        """Returns whether both are equal bit for bit (NaN equals the same NaN)."""
        return self.data.tobytes() == other.data.tobytes()

    def hash(self) -> str:
        """Returns a hash of all bits."""
        return hashlib.blake2b(self.data.data, digest_size=16).hexdigest()

    def difference(self, other: State) -> str:
        """Describes the first block that differs; empty if none does."""
        for name, view in self._views.items():
            if name not in other or other[name].shape != view.shape:
                return f"{name} is not the same block in both"
            mine, theirs = view.ravel(), other[name].ravel()
            differs = mine.view(np.int64) != theirs.view(np.int64)
            if differs.any():
                with np.errstate(invalid="ignore"):
                    gap = float(np.abs(mine[differs] - theirs[differs]).max())
                return f"{name} differs by up to {gap:.3g}"
        return ""


class Report:
    """Results of the engines in the last step, for sensors.

    Attributes:
        acceleration: Acceleration of each degree of freedom.
        effort: Effort of drives, springs and friction on each degree of freedom [N m or N].
        contacts: Table of contacts, filled if a sensor of the scene reads it; the first
            ``contact_count`` rows are valid.
        gap: Largest distance by which a loop is open [m], and the number of that loop.
        spring: Length [m] or angle [rad] of each spring, and its force [N] or torque [N m].
        energy: Kinetic and potential energy [J].
    """

    def __init__(self, state: State) -> None:
        self.acceleration = state["report/acceleration"]
        self.effort = state["report/effort"]
        self.contacts = state["report/contacts"]
        self.gap = state["report/gap"]
        self.energy = state["report/energy"]
        self.spring = state["report/spring"]
        self._count = state["report/contact_count"]

    @property
    def contact_count(self) -> int:
        """Number of valid rows of the contact table."""
        return int(self._count[0])

    @contact_count.setter
    def contact_count(self, value: int) -> None:
        self._count[0] = value

    def clear_contacts(self) -> None:
        """Clears the contact table, before engines add theirs."""
        self.contacts[: self.contact_count] = 0.0
        self.contact_count = 0
