"""Run in the peers' environment: where PyBullet sees the links of a URDF, at given joint values.

    python bullet_poses.py robot.urdf postures.json root

Prints the postures' poses by link (position, quaternion xyzw) and the links' masses, as JSON.
"""

# The imports are of the peers' environment.
# pyright: reportMissingImports=false
import json
import sys
from pathlib import Path

import pybullet

#: Freedoms of a robot of which PyBullet tells where its links are; of others it tells the masses.
MOST = 120


def main(file: str, wanted: str, root: str) -> None:
    """Loads, moves and prints."""
    pybullet.connect(pybullet.DIRECT)
    flags = pybullet.URDF_USE_INERTIA_FROM_FILE
    robot = pybullet.loadURDF(file, useFixedBase=True, flags=flags)
    joints = {}
    links = {root: -1}
    for number in range(pybullet.getNumJoints(robot)):
        info = pybullet.getJointInfo(robot, number)
        joints[info[1].decode()] = number
        links[info[12].decode()] = number
    found = []
    for values in json.loads(Path(wanted).read_text()):
        for name, numbers in values.items():
            pybullet.resetJointState(robot, joints[name], numbers[0])
        poses = {}
        for name, number in links.items():
            if number < 0 or len(values) > MOST:
                continue
            state = pybullet.getLinkState(robot, number, computeForwardKinematics=True)
            poses[name] = [*state[4], *state[5]]
        found.append(poses)
    masses = {name: pybullet.getDynamicsInfo(robot, n)[0] for name, n in links.items()}
    print(json.dumps({"poses": found, "masses": masses}))


if __name__ == "__main__":
    main(*sys.argv[1:])
