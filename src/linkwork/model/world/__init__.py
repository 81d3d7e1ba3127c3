"""Compilation of a scene into a world."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwork.core.errors import SceneError
from linkwork.geometry.inertia import Inertia, combine
from linkwork.geometry.pose import IDENTITY, Pose
from linkwork.model.parts.joint import JOINT_ATTRIBUTES, Joint
from linkwork.model.scene import Scene
from linkwork.model.world.checks import check_collide, check_scene
from linkwork.model.world.flatten import FlatElement, FlatScene, flatten
from linkwork.model.world.initial_state import set_initial_state, single_coordinate
from linkwork.model.world.loop_arrays import LoopArrayBuilder, check_springs
from linkwork.model.world.world import Finding, World, WorldShape


def compile_scene(scene: Scene, *, ids: dict[str, str] | None = None) -> World:
    """Compiles a scene to a world.

    Args:
        scene: The scene.
        ids: Stable ids by full name, if a document keeps them across renames.

    Raises:
        LinkworkError: If names refer to nothing or the parts do not make trees.
    """
    check_scene(scene)
    flat = flatten(scene)
    return _Compiler(scene, flat, ids or {}).world()


class _Compiler:
    def __init__(self, scene: Scene, flat: FlatScene, ids: dict[str, str]) -> None:
        self.scene, self.flat, self.ids = scene, flat, ids
        self.heads: list[FlatElement] = []  # the first element of each body except the world
        self.body_of: dict[str, int] = {}
        self.pose_of: dict[str, Pose] = {}
        self.free_start: dict[int, Pose] = {}
        self.inertia_of: dict[str, Inertia] = {}
        self._gather()

    def _is_head(self, element: FlatElement) -> bool:
        """Whether a body starts here: at a joint, or fixed to the world."""
        if not element.carrier and not element.joint:
            return True
        return bool(element.joint) and self.flat.joints[element.joint].type != "fixed"

    def _gather(self) -> None:
        children: dict[str, list[FlatElement]] = {}
        for element in self.flat.elements.values():
            children.setdefault(element.carrier, []).append(element)
        rank = {name: number for number, name in enumerate(self.flat.elements)}

        def place(element: FlatElement) -> int:
            """Where it stands among its siblings: a chained joint's link where its element does."""
            while element.element is None and (after := children.get(element.name)):
                element = after[0]
            return rank[element.name]

        for siblings in children.values():
            siblings.sort(key=place)
        stack = [(e, 0, IDENTITY) for e in reversed(children.get("", []))]
        while stack:
            element, body, carrier_pose = stack.pop()
            if self._is_head(element):
                self.heads.append(element)
                body, pose = len(self.heads), IDENTITY
            else:
                pose = carrier_pose @ element.pose
            self.body_of[element.name] = body
            self.pose_of[element.name] = pose
            stack.extend((c, body, pose) for c in reversed(children.get(element.name, [])))

    def world(self) -> World:
        flat, heads = self.flat, self.heads
        nb = len(heads) + 1
        parent = np.zeros(nb, np.int64)
        kind = np.zeros(nb, np.int64)
        qadr = np.zeros(nb, np.int64)
        vadr = np.zeros(nb, np.int64)
        x0 = np.zeros((nb, 7))
        x0[:, 3] = 1.0
        pivot, axis, axis2 = np.zeros((nb, 3)), np.zeros((nb, 3)), np.zeros((nb, 3))
        pitch = np.zeros(nb)
        rail_first, rail_count = np.zeros(nb, np.int64), np.zeros(nb, np.int64)
        rail: list[tuple[float, float, float]] = []
        joints: list[Joint] = []
        joint_names: list[str] = []
        joint_body: list[int] = []
        nq = nv = 0
        for b, head in enumerate(heads, start=1):
            carrier = head.carrier
            parent[b] = self.body_of[carrier] if carrier else 0
            carrier_pose = self.pose_of[carrier] if carrier else IDENTITY
            x0[b] = (carrier_pose @ head.pose).array()
            qadr[b], vadr[b] = nq, nv
            if not head.joint:
                continue
            joint = flat.joints[head.joint]
            if joint.type == "free":
                self._set_free(b, head, parent, kind, x0)
            at_to = joint.at_to if joint.type != "free" else IDENTITY
            kind[b] = joint.kind.code
            pivot[b] = at_to.xyz
            axis[b], axis2[b] = (at_to.rotate(d) for d in joint.directions)
            pitch[b] = joint.pitch / (2.0 * math.pi)
            rail_first[b], rail_count[b] = len(rail), len(joint.rail)
            rail.extend((p.length, p.turn, p.climb) for p in joint.rail)
            joints.append(joint)
            joint_names.append(head.joint)
            joint_body.append(b)
            nq += joint.kind.nq
            nv += joint.kind.nv
        loop_builder = LoopArrayBuilder(flat, self.body_of, self.pose_of)
        loops = loop_builder.loops(rail)
        mass, com, inertia = self._inertias(nb)
        dofs = _dof_arrays(joints, np.array(joint_body, np.int64), vadr, nv)
        element_names = [n for n, e in flat.elements.items() if e.element is not None]
        world = World(
            scene=self.scene,
            body_names=["world", *(h.name for h in heads)],
            body_origins=[self.scene.origin, *(h.origin for h in heads)],
            body_part=["", *(h.part for h in heads)],
            parent=parent, kind=kind, qadr=qadr, vadr=vadr, x0=x0, pivot=pivot, axis=axis,
            axis2=axis2, pitch=pitch, rail_first=rail_first, rail_count=rail_count,
            rail=np.array(rail, dtype=np.float64).reshape(-1, 3),
            mass=mass, com=com, inertia=inertia,
            island=np.full(nb, -1, np.int64),
            joint_names=joint_names, joint_body=np.array(joint_body, np.int64), joints=joints,
            **dofs,
            q0=np.zeros(nq), v0=np.zeros(nv),
            **loops,
            **loop_builder.springs(),
            coupling_dof=np.zeros((0, 2), np.int64), coupling_law=np.zeros((0, 2)),
            element_names=element_names,
            element_origins=[flat.elements[n].origin for n in element_names],
            element_body=np.array([self.body_of[n] for n in element_names], np.int64),
            element_pose=np.array([self.pose_of[n].array() for n in element_names]).reshape(-1, 7),
            shapes=self._shapes(element_names),
            anchors={
                name: (self.body_of[on], self.pose_of[on] @ anchor.at)
                for name, (anchor, on) in flat.anchors.items()
            },
            anchor_element={name: on for name, (_, on) in flat.anchors.items()},
            joined=[],
            sensors=flat.sensors, actuators=list(self.scene.actuators),
            agents=list(self.scene.agents),
            buses=list(self.scene.buses), ports=flat.ports,
            faults=list(self.scene.faults),
            element_words=[_native_attributes(flat.elements[n]) for n in element_names],
            element_inertia=[self.inertia_of[n] for n in element_names],
            loop_element=loop_builder.loop_elements(element_names),
            self_collision=[flat.elements[n].self_collision for n in element_names],
            aliases=flat.aliases, ids=self.ids,
        )  # fmt: skip
        _fill_couplings(world, flat)
        _islands(world)
        self._join(world)
        check_springs(world)
        set_initial_state(world, heads, self.free_start)
        check_collide(world)
        return world

    def _set_free(
        self, b: int, head: FlatElement, parent: np.ndarray, kind: np.ndarray, x0: np.ndarray
    ) -> None:
        """Attaches a free body to the world; its pose goes into the initial coordinates."""
        walker = int(parent[b])
        pose = Pose.of(x0[b, :3], quat=x0[b, 3:])
        while walker:
            if kind[walker]:
                carrier = self.heads[walker - 1].name
                raise SceneError(
                    f"{head.name!r} is free but placed on the moving {carrier!r}.",
                    origin=head.origin,
                    hint="Place it in the world, or join it by a ball or planar joint.",
                )
            pose = Pose.of(x0[walker, :3], quat=x0[walker, 3:]) @ pose
            walker = int(parent[walker])
        parent[b] = 0
        x0[b] = IDENTITY.array()
        self.free_start[b] = pose

    def _inertias(self, nb: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        inertias: list[list[Inertia]] = [[] for _ in range(nb)]
        for name, entry in self.flat.elements.items():
            if entry.element is not None:
                own = self.inertia_of[name] = entry.element.mass_properties()
                inertias[self.body_of[name]].append(own.moved(self.pose_of[name]))
        mass, com, inertia = np.zeros(nb), np.zeros((nb, 3)), np.zeros((nb, 3, 3))
        for b, found in enumerate(inertias):
            if found and b > 0:
                total = combine(found)
                mass[b], com[b], inertia[b] = total.mass, total.com, total.matrix
        return mass, com, inertia

    def _shapes(self, element_names: list[str]) -> list[WorldShape]:
        shapes: list[WorldShape] = []
        for number, name in enumerate(element_names):
            element = self.flat.elements[name].element
            assert element is not None
            body, pose = self.body_of[name], self.pose_of[name]
            for shape in element.shapes:
                made = WorldShape(
                    shape, body, pose @ shape.at, number, shape.color or element.color,
                    element.friction, element.restitution, element.group,
                )  # fmt: skip
                shapes.append(made)
        return shapes

    def _join(self, world: World) -> None:
        """Adds the pairs of bodies that are connected and therefore do not collide."""
        pairs: set[tuple[int, int]] = set()
        for b, head in enumerate(self.heads, start=1):
            parent = int(world.parent[b])
            while parent and self.heads[parent - 1].element is None:
                parent = int(world.parent[parent])  # a chain of joints connects its two ends
            if parent and head.element is not None:
                pairs.add((parent, b))
        pairs |= {(min(a, b), max(a, b)) for a, b in world.loop_body.tolist()}
        for one, other in self.flat.snapped:
            a, b = self.body_of[one], self.body_of[other]
            if a != b:
                pairs.add((min(a, b), max(a, b)))
        world.joined.extend(sorted(pairs))


def _native_attributes(entry: FlatElement) -> dict[str, Any]:
    return entry.element.mujoco if entry.element is not None else {}


def _dof_arrays(joints: list[Joint], joint_body: np.ndarray, vadr: np.ndarray, nv: int) -> dict:
    arrays = {
        "dof_body": np.zeros(nv, np.int64),
        "dof_lo": np.full(nv, -np.inf),
        "dof_hi": np.full(nv, np.inf),
    }
    laws = {name: each for name, each in JOINT_ATTRIBUTES.items() if each.array}
    arrays |= {each.array: np.full(nv, each.in_array(each.default)) for each in laws.values()}
    for joint, b in zip(joints, joint_body, strict=True):
        for k in range(joint.kind.nv):
            i = int(vadr[b]) + k
            arrays["dof_body"][i] = b
            limits = joint.ranges[k]
            if limits is not None and joint.type not in ("ball", "free"):
                arrays["dof_lo"][i], arrays["dof_hi"][i] = limits
            for name, each in laws.items():
                arrays[each.array][i] = each.in_array(getattr(joint, name))
    return arrays


def _fill_couplings(world: World, flat: FlatScene) -> None:
    """Fills the couplings, ordered from leaders to followers."""
    leader_of: dict[int, int] = {}
    laws: dict[int, tuple[float, float]] = {}
    words: dict[int, dict[str, Any]] = {}
    for coupling in flat.couplings:
        follows = world.single_dof(coupling.joint, origin=coupling.origin)
        leads = world.single_dof(coupling.of, origin=coupling.origin)
        for dof in (follows, leads):
            single_coordinate(world, dof, "a coupling", coupling.origin)
        if follows in leader_of:
            raise SceneError(
                f"joint {coupling.joint!r} follows two joints: {coupling.of!r} and "
                f"{world.dof_name(leader_of[follows])!r}.",
                origin=coupling.origin,
            )
        leader_of[follows] = leads
        laws[follows] = (coupling.ratio, coupling.offset)
        words[follows] = coupling.mujoco
        walker = leads
        while walker in leader_of:
            walker = leader_of[walker]
            if walker == leads:
                raise SceneError(
                    f"joint {coupling.joint!r} follows itself in a cycle.", origin=coupling.origin
                )

    def depth(dof: int) -> int:
        steps = 0
        while dof in leader_of:
            dof, steps = leader_of[dof], steps + 1
        return steps

    ordered = sorted(leader_of, key=depth)
    rows = [(follows, leader_of[follows]) for follows in ordered]
    world.coupling_dof = np.array(rows, np.int64).reshape(-1, 2)
    world.coupling_law = np.array([laws[f] for f in ordered], np.float64).reshape(-1, 2)
    world.coupling_words = [words[f] for f in ordered]


def _islands(world: World) -> None:
    """Numbers the groups of moving bodies that are connected by joints or loops."""
    group = list(range(world.nb))
    moving = [False] * world.nb
    for b in range(1, world.nb):
        moving[b] = bool(world.kind[b]) or moving[int(world.parent[b])]

    def find(b: int) -> int:
        while group[b] != b:
            group[b] = group[group[b]]
            b = group[b]
        return b

    pairs = [(b, int(world.parent[b])) for b in range(1, world.nb)]
    pairs += [(a, b) for a, b in (*world.loop_body.tolist(), *world.spring_body.tolist())]
    dof_body = world.dof_body
    pairs += [(int(dof_body[a]), int(dof_body[b])) for a, b in world.coupling_dof.tolist()]
    for a, b in pairs:
        if moving[a] and moving[b]:
            group[find(a)] = find(b)
    numbers: dict[int, int] = {}
    for b in range(1, world.nb):
        if moving[b]:
            world.island[b] = numbers.setdefault(find(b), len(numbers))


__all__ = ["Finding", "World", "compile_scene"]
