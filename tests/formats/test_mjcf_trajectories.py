"""MJCF: whole trajectories of models from three packages are those of MuJoCo."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from effort import FULL
from linkwork.session.mujoco_comparison import MujocoComparison
from mjcf_reference import mujoco

MODELS = Path(sys.prefix) / "models"
SUITE = "dm_control/suite"
GYM = "gymnasium_robotics/envs"
WORLD = "metaworld/assets/sawyer_xyz"
#: Models of every run: position servos, motors, tendons, meshes, welds, equalities, contacts.
SOME = (
    f"{SUITE}/acrobot.xml", f"{SUITE}/ball_in_cup.xml", f"{SUITE}/cartpole.xml",
    f"{SUITE}/cheetah.xml", f"{SUITE}/finger.xml", f"{SUITE}/fish.xml", f"{SUITE}/hopper.xml",
    f"{SUITE}/humanoid.xml", f"{SUITE}/humanoid_CMU.xml", f"{SUITE}/manipulator.xml",
    f"{SUITE}/quadruped.xml", f"{SUITE}/stacker.xml", f"{SUITE}/swimmer.xml",
    f"{SUITE}/walker.xml", "dm_control/third_party/kinova/jaco_arm.xml",
    "dm_control/third_party/ant/ant.xml",
    f"{GYM}/assets/adroit_hand/adroit_pen.xml", f"{GYM}/assets/adroit_hand/adroit_door.xml",
    f"{GYM}/assets/hand/manipulate_block.xml", f"{GYM}/assets/hand/reach.xml",
    f"{GYM}/assets/kitchen_franka/kitchen_assets/kitchen_env_model.xml",
    f"{GYM}/assets/fetch/reach.xml", f"{GYM}/mujoco/assets/half_cheetah.xml",
    f"{GYM}/mujoco/assets/humanoid.xml", f"{GYM}/mujoco/assets/pusher.xml",
    f"{GYM}/mujoco/assets/walker2d.xml",
    f"{WORLD}/sawyer_window_horizontal.xml", f"{WORLD}/sawyer_drawer.xml",
    f"{WORLD}/sawyer_assembly_peg.xml", f"{WORLD}/sawyer_peg_insertion_side.xml",
)  # fmt: skip
#: Share of the models whose whole trajectories must agree. In the others a contact begins at one
#: of the states so that rounding decides when.
SHARE = 0.95


def agrees(path: Path, seconds: float, random: int) -> tuple[bool, str]:
    """Runs both; returns whether all runs agree, and the figures of those that do not.

    From some random starts MuJoCo itself is unstable at once: these are not compared, others are.
    """
    comparison = MujocoComparison(path)
    runs = [*comparison.run(seconds, random)]
    compared = [run for run in runs if not run.unstable or run.parted_at is not None or run.agrees]
    bad = [run for run in compared if not run.agrees] or ([] if compared else runs)
    return not bad, "; ".join(f"{r.start} {r.joint} {r.difference:.1e} {r.failed}" for r in bad)


@pytest.mark.capability(7)
@pytest.mark.parametrize("name", SOME)
def test_a_model_moves_as_in_mujoco(name: str) -> None:
    """Two seconds from the start and three random states, controls held and then stepped."""
    good, figures = agrees(MODELS / name, 2.0, 3)
    assert good, figures


def models() -> list[Path]:
    """Returns all files of the packages that MuJoCo itself compiles and that have joints."""
    found = []
    for path in sorted(MODELS.rglob("*.xml")):
        if "<mujoco" not in path.read_text(errors="replace"):
            continue
        try:
            m = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            continue
        if m.nv:
            found.append(path)
    return found


@pytest.mark.skipif(not FULL, reason="minutes; every model runs with FULL=1")
def test_all_models_move_as_in_mujoco() -> None:
    """Two seconds from the start and three random states: 95 % of the models agree."""
    results = {path: agrees(path, 2.0, 3) for path in models()}
    bad = {str(path): figures for path, (good, figures) in results.items() if not good}
    assert len(results) > 100
    assert len(bad) <= (1.0 - SHARE) * len(results), bad
