"""Springs between anchors as tendons of a MuJoCo model, which its integrator takes implicitly."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.engines.mujoco.bodies import Build
from linkwork.engines.spring_kernels import LINEAR
from linkwork.world import World


def own_springs(world: World, owned: np.ndarray) -> np.ndarray:
    """Numbers of the springs that pull at an owned body."""
    return np.flatnonzero(owned[world.spring_body].any(axis=1))


def add_springs(build: Build) -> None:
    """Adds a tendon for each spring; what it pulls with is written by :func:`set_springs`."""
    world = build.world
    for n in own_springs(world, build.owned).tolist():
        if world.spring_kind[n] != LINEAR:
            continue
        made = build.spec.add_tendon(name=_name(world, n))
        for end, body in enumerate(world.spring_body[n].tolist()):
            at = world.spring_pose[n, end]
            site = f"{_name(world, n)}{'ab'[end]}"
            build.bodies[body].add_site(name=site, pos=at[:3].tolist(), quat=at[3:].tolist())
            made.wrap_site(site)
        made.stiffness, made.damping = [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]
        made.springlength = [0.0, 0.0]


def set_springs(world: World, mj: Any, which: np.ndarray, law: np.ndarray) -> None:
    """Writes stiffness, rest and damping (n×3) into the compiled model."""
    for n in which.tolist():
        number = mj.tendon(_name(world, n)).id
        mj.tendon_stiffness[number] = law[n, 0]
        mj.tendon_lengthspring[number] = law[n, 1]
        mj.tendon_damping[number] = law[n, 2]


def _name(world: World, n: int) -> str:
    return f"{world.spring_names[n]}#spring"
