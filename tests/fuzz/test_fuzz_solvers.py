"""Random mechanisms in other ways: joint by joint, of order 6, by forces, with more couplings.

A tenth of the cases of ``test_fuzz_mechanisms`` runs by each. A failing case prints its
number; the same number makes the same mechanism again.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from fuzz.test_fuzz_mechanisms import CASES, STEP, STEPS, close, mechanism, positions, tree
from linkwork.core.errors import EngineError
from linkwork.engines.constraint_report import ConstraintAccuracy
from linkwork.kinematics.kernels import forward_poses
from linkwork.model.parts import Coupling, Part
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle

#: Coordinates that may be coupled.
MOTIONS = {
    "hinge": ("",), "slider": ("",), "screw": ("",), "universal": (".angle1", ".angle2"),
    "cylindrical": (".position", ".angle"), "planar": (".x", ".y", ".angle"),
}  # fmt: skip


def by(number: int, **params: Any) -> Scene:
    """Returns a random mechanism with other settings of the engine."""
    scene = mechanism(number)
    scene.engines.clear()
    return scene.engine("impulse", **params)


def bare(number: int) -> Scene:
    """Returns a random mechanism of ideal joints, for the method "forces"."""
    rng = Random(number)
    part, drawn = Part("thing"), tree(rng)
    for element in drawn.elements.values():
        part.add(element)
    for joint in drawn.joints.values():
        kind = "hinge" if joint.type == "rail" else joint.type
        rest: dict[str, Any] = {"value": None, "rail": ()} if joint.type == "rail" else {}
        free = {"damping": 0.0, "friction": 0.0, "stiffness": 0.0, "armature": 0.0}
        part.add(
            replace(
                joint, type=kind, range=None, restitution=0.0, drive=None, max_effort=None, **free,
                **rest,
            )
        )  # fmt: skip
    there = positions(part)
    for n in range(rng.choice((0, 1, 1, 2))):
        close(rng, part, there, n)
        if part.loops[f"L{n}"].joint in ("rail", "point_on_curve"):
            del part.loops[f"L{n}"]
    scene = Scene("fuzz", step=STEP).place(part, base=rng.choice(("fixed", "free")))
    return scene.engine("impulse", method="forces", order=rng.choice((4, 5, 6)))


def coupled(number: int) -> Scene:
    """Returns a random tree with up to three couplings between any of its coordinates."""
    rng = Random(number)
    part = tree(rng)
    part.couplings.clear()
    variants = [
        f"{name}{motion}"
        for name, joint in part.joints.items()
        for motion in MOTIONS.get(joint.type, ())
    ]
    rng.shuffle(variants)
    for n in range(min(3, len(variants) - 1)):
        part.add(Coupling(variants[n], variants[n + 1], ratio=rng.choice((-2.0, -0.5, 1.0, 3.0))))
    return Scene("fuzz", step=STEP).place(part).engine("impulse", order=rng.choice((2, 4)))


def run(number: int, scene: Scene) -> tuple[ConstraintAccuracy, float] | str:
    """Runs a mechanism: what it tells of itself and how far it went beyond a stop, or what it said.

    Bodies are where coordinates say, up to the gaps that are told.
    """
    past = 0.0
    try:
        cycle = Cycle(compile_scene(scene))
        world, state = cycle.world, cycle.state
        one = {d: world.qadr[world.dof_body[d]] + d - world.vadr[world.dof_body[d]]
               for d in range(world.nv)}  # fmt: skip
        ends = [d for d in one if np.isfinite(world.dof_lo[d]) and np.isfinite(world.dof_hi[d])]
        for _ in range(STEPS):
            cycle.move()
            assert np.isfinite(state.pose).all(), number
            assert np.isfinite(state.v).all(), number
            for d in ends:
                q = state.q[one[d]]
                past = max(past, world.dof_lo[d] - q, q - world.dof_hi[d])
    except EngineError as error:
        return str(error)
    account = cycle.engines[0].accuracy()
    assert account is not None
    poses = state.pose.copy()
    forward_poses(*world.tree, state.q, poses)
    far = float(np.abs(poses[:, :3] - state.pose[:, :3]).max())
    assert far <= 20.0 * account.gap + 1e-11, (number, far, account)
    return account, past


def some() -> range:
    return range(max(1, CASES // 10))


@pytest.mark.capability(12)
@pytest.mark.parametrize("most", [3, 50])
def test_joint_by_joint_they_hold_together(most: int) -> None:
    """Any number of sweeps gives a result: no limit is exceeded by more than reported."""
    for number in some():
        found = run(number, by(number, solver="anytime", max_iterations=most))
        assert not isinstance(found, str), (number, found)
        account, past = found
        assert past <= account.gap * (1 + 1e-6) + 1e-12, (number, past, account)
        assert account.gap < 0.1, (number, account)  # at 1 ms, of bodies of 0.3 m


@pytest.mark.capability(10, 15)
@pytest.mark.parametrize("make", [lambda n: by(n, order=6), bare, coupled])
def test_in_other_ways_they_hold_or_say_why(make: Any) -> None:
    """With order 6, by forces, and with couplings of any coordinates."""
    logged = {}
    for number in some():
        found = run(number, make(number))
        if isinstance(found, str):
            known = ("cannot be closed", "does not settle", "too long for method")
            assert any(text in found for text in known), (number, found)
            logged[number] = found
            continue
        account, past = found
        assert account.gap <= account.allowed[0] * (1 + 1e-9), (number, account)
        assert past <= 2.0 * account.allowed[0], (number, past)
    assert len(logged) <= 0.05 * len(some()) + 1, logged
