"""Inverse kinematics and dynamics of each kind once, so that all their kernels are compiled."""

from __future__ import annotations

import numpy as np

from linkwork.dynamics import aba, crba, drift, rnea
from linkwork.formats import load_part, load_scene
from linkwork.kinematics import (
    CentreOfMassTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Solver,
    forward,
    integrate,
    velocities,
)
from linkwork.kinematics.leg import LegGeometry
from linkwork.kinematics.srs import SrsArm
from linkwork.kinematics.workspace import workspace
from linkwork.motion import Reach
from linkwork.scene import Scene
from linkwork.spatial import Pose
from linkwork.world import World, compile_scene


def _arm() -> World:
    return compile_scene(Scene("solve_of_each").place(load_part("kuka/arm"), name="arm"))


def drag_a_tool() -> None:
    """A tick of a drag in the studio, and what is drawn at the tool."""
    world = _arm()
    reach = Reach(world, "arm/flange", q=world.q0)
    reach.step(world.q0, 0.01)
    reach.ellipsoid(world.q0, "dynamic")


def solve_of_each() -> None:
    """Searches, steps, closed forms, a workspace and the recursive algorithms, on one arm."""
    world = _arm()
    tool, q, v = "arm/flange", world.q0, np.zeros(world.nv)
    target = Pose.of((0.4, 0.1, 0.6), rpy=(3.1, 0.0, 0.0))
    along = Solver(world, [PoseTask(tool, target)])
    along.solve()
    along.solve_many([target])
    Solver(world, [PositionTask(tool, target.xyz), CentreOfMassTask(weight=(1, 1, 0))]).solve()
    levels = Solver(world, [PositionTask(tool, target.xyz), PostureTask(priority=1)])
    levels.tick(q, 0.01)
    levels.tick(q, 0.01, scheme="nested")
    arm = SrsArm(world, tool)
    arm.solve(target)
    arm.solve_many([target])
    LegGeometry(0.4, 0.4).solve(Pose((0.0, 0.0, -0.6)))
    workspace(world, tool, count=8)
    workspace(compile_scene(load_scene("mechanisms/four_bar")), "linkage/pen", count=2)
    integrate(world, q, v, 0.01)
    velocities(world, q, v, forward(world, q))
    crba(world, q)
    drift(world, q, v, tool)
    aba(world, q, v, rnea(world, q, v, v))
