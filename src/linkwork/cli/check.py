"""``linkwork check``: reads a file and says what is wrong or only approximate."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from linkwork.parts import Part


def check(
    file: Annotated[str, typer.Argument(help="A part, scene or URDF file, or a kit name.")],
) -> None:
    """Reads a file, compiles it, and lists what engines cannot do or do only softly.

    Exit code 0 if it can run (soft findings are listed), 1 if not.
    """
    from linkwork.formats import load
    from linkwork.scene import Scene
    from linkwork.session.cycle import Cycle
    from linkwork.world import compile_scene

    out = Console(highlight=False)
    thing = load(file)
    if isinstance(thing, Part):
        scene = Scene(thing.name).place(thing)
        scene.engine("kinematic")
        world = compile_scene(scene)
        findings = []
    else:
        cycle = Cycle(compile_scene(thing))
        world, findings = cycle.world, cycle.findings
    for finding in findings:
        out.print(f"{finding.level}: {finding}", markup=False, soft_wrap=True)
    moving = world.nb - 1 - sum(world.is_static(b) for b in range(1, world.nb))
    out.print(
        f"{file}: {moving} moving bodies, {len(world.joint_names)} joints, "
        f"{world.nv} degrees of freedom, {len(world.loop_names)} loops, "
        f"{world.mass.sum():.3f} kg. It can run.",
        markup=False,
    )
