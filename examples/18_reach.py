"""An arm finds the joint values for a pose, keeps what is left of its freedom, and holds itself.

The tool's pose comes first; the posture takes what freedom is left.

python examples/18_reach.py
"""

import numpy as np

import linkwork as lw
from linkwork.dynamics import holding_efforts
from linkwork.kinematics import PoseTask, PostureTask, Solver
from linkwork.kinematics.measures import manipulability


def main() -> None:
    world = lw.compile_scene(lw.Scene("cell").place(lw.load_part("kuka/arm"), name="arm"))
    tool = PoseTask("arm/flange", lw.Pose.of((0.4, 0.1, 0.6), rpy=(np.pi, 0.0, 0.0)))
    solver = Solver(world, [tool, PostureTask(priority=1)])
    answer = solver.solve()
    print(answer)
    print("joints [°]:", np.degrees(answer.q).round(2))
    print("manipulability:", round(manipulability(world, answer.q, "arm/flange").figure, 4))
    print("to hold it [N m]:", holding_efforts(world, answer.q).round(2))

    solver.set_target(lw.Pose((3.0, 0.0, 0.0)))  # out of reach
    print(solver.solve())


if __name__ == "__main__":
    main()
