"""Robots of example-robot-data here and in Pinocchio, with the mapping of indices."""

from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.geometry.kernels import normalize
from linkwork.model.parts import Part
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene

pinocchio: Any = import_module("pinocchio")  # its names are defined at run time

ROBOTS = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data"))
).joinpath("robots")
REFUSED = "ur_description/urdf/ur3.urdf"  # an empty <robot>, which Pinocchio rejects too
FILES = sorted(str(path.relative_to(ROBOTS)) for path in ROBOTS.rglob("*.urdf"))
FILES = [file for file in FILES if file != REFUSED]


FLOATING = [
    file
    for file in FILES
    if Path(file).name in ("solo12.urdf", "anymal.urdf", "talos_full_v2.urdf", "icub.urdf")
]


class Robot:
    """One robot, here and in Pinocchio, with the mapping of indices."""

    def __init__(self, file: str, *, floating: bool = False) -> None:
        self.part: Part = UrdfFormat(missing_meshes="skip").read(ROBOTS / file)
        scene = Scene("s").place(self.part, name="r", base="free" if floating else "fixed")
        self.world: World = compile_scene(scene)
        root = [pinocchio.JointModelFreeFlyer()] if floating else []
        self.model = pinocchio.buildModelFromUrdf(str(ROBOTS / file), *root)
        self.data = self.model.createData()
        self.floating = floating
        self._match_joints()
        self._match_links()

    def spelled(self, name: str) -> str:
        """Returns the name of a link or joint in its file."""
        aliases = {here: alias for alias, here in self.part.aliases.items()}
        return aliases.get(name, name).removeprefix("joint:")

    def _match_joints(self) -> None:
        world = self.world
        self.pairs: list[tuple[int, Any]] = []  # our coordinate, Pinocchio's joint
        self.columns: list[int] = []  # Pinocchio's column for each degree of freedom of ours
        for joint, body in zip(world.joints, world.joint_body, strict=True):
            if joint.type == "free":
                self.columns += range(6)
                continue
            assert joint.type in ("hinge", "slider")
            theirs = self.model.joints[self.model.getJointId(self.spelled(joint.name))]
            self.pairs.append((int(world.qadr[body]), theirs))
            self.columns.append(int(theirs.idx_v))
        assert sorted(self.columns) == list(range(self.model.nv))

    def _match_links(self) -> None:
        names = list(self.part.elements)
        self.frames = [self.model.getFrameId(self.spelled(name), pinocchio.BODY) for name in names]
        assert max(self.frames) < len(self.model.frames)
        rows = [self.world.element_names.index(f"r/{name}") for name in names]
        self.bodies = self.world.element_body[rows]
        self.local = self.world.element_pose[rows]
        carriers = {j.from_ for j in self.part.joints.values()}
        leaves = {n for n in names if n not in carriers}
        middle = set(names[:: max(1, len(names) // 4)])
        self.chosen = [n for n, name in enumerate(names) if name in leaves | middle]
        self.names = names

    def posture(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Returns random coordinates in our order and in Pinocchio's."""
        ours, theirs = self.world.q0.copy(), pinocchio.neutral(self.model)
        if self.floating:
            place, quat = rng.uniform(-1, 1, 3), rng.normal(size=4)
            normalize(quat)
            ours[:3], ours[3:7] = place, quat
            theirs[:3], theirs[3:6], theirs[6] = place, quat[1:], quat[0]
        for coordinate, joint in self.pairs:
            value = rng.uniform(-np.pi, np.pi)
            ours[coordinate] = value
            circle = [np.cos(value), np.sin(value)]  # a continuous joint
            theirs[joint.idx_q : joint.idx_q + joint.nq] = circle if joint.nq == 2 else value
        return ours, theirs

    def to_theirs(self, q: np.ndarray) -> np.ndarray:
        """Returns the matrix from our velocity to Pinocchio's, whose base has its own axes."""
        made = np.zeros((self.model.nv, self.world.nv))
        made[self.columns, np.arange(self.world.nv)] = 1.0
        if self.floating:
            made[:3, :3] = rotations(q[None, 3:7])[0].T
        return made


def rotations(quats: np.ndarray) -> np.ndarray:
    """Returns rotation matrices of quaternions wxyz, row by row."""
    w, x, y, z = quats.T
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 0, 1)
