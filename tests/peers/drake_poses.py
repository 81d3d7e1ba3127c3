"""Run in the peers' environment: where Drake sees the links of a file, at given joint values.

    python drake_poses.py robot.sdf postures.json root

Prints the postures' poses by link, and mass, centre and inertia of each link, as JSON.
"""

# The imports are of the peers' environment.
# pyright: reportMissingImports=false
import json
import sys
from pathlib import Path

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant


def main(file: str, wanted: str, root: str) -> None:
    """Loads, moves and prints."""
    plant = MultibodyPlant(0.0)
    (model,) = Parser(plant).AddModels(file)
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root, model), RigidTransform())
    plant.Finalize()
    context = plant.CreateDefaultContext()
    bodies = [plant.get_body(index) for index in plant.GetBodyIndices(model)]
    found = []
    for values in json.loads(Path(wanted).read_text()):
        for name, numbers in values.items():
            joint = plant.GetJointByName(name, model)
            q = plant.GetPositions(context)
            first, count = joint.position_start(), joint.num_positions()
            # a ball's quaternion is three angles in Drake
            q[first : first + count] = numbers if len(numbers) == count else _angles(numbers)
            plant.SetPositions(context, q)
        found.append(
            {
                body.name(): plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4().tolist()
                for body in bodies
            }
        )
    masses = {}
    for body in bodies:
        own = body.default_spatial_inertia()
        about = own.Shift(own.get_com()).CalcRotationalInertia() if own.get_mass() else None
        matrix = about.CopyToFullMatrix3() if about is not None else np.zeros((3, 3))
        masses[body.name()] = [own.get_mass(), own.get_com().tolist(), matrix.tolist()]
    print(json.dumps({"poses": found, "masses": masses}))


def _angles(quat: list[float]) -> np.ndarray:
    """Roll, pitch and yaw of a quaternion wxyz, as Drake's ball joint wants them."""
    from pydrake.common.eigen_geometry import Quaternion
    from pydrake.math import RollPitchYaw

    return RollPitchYaw(Quaternion(wxyz=quat)).vector()


if __name__ == "__main__":
    main(*sys.argv[1:])
