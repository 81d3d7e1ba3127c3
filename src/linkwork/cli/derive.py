"""``linkwork derive``: a robot's kinematics and dynamics as C, as Python or as formulas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkwork.cli.output_files import Overwrite, check_outputs
from linkwork.core.atomic import whole_file

if TYPE_CHECKING:
    from linkwork.dynamics.symbolic import SymbolicModel
    from linkwork.model.world import World

_SUFFIXES = {"c": ".c", "numpy": ".py", "latex": ".tex"}


def derive(
    robot: Annotated[str, typer.Argument(help="A part or scene, or a kit's name for it.")],
    to: Annotated[str, typer.Option(metavar="c|numpy|latex", help="What to write.")] = "c",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file; ROBOT.c … if absent.")
    ] = None,
    floating: Annotated[
        bool, typer.Option("--free", help="The part floats freely instead of being fixed.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Derives the equations of motion and writes them to a file.

    C is one documented file with its header and an example main, without dependencies; if there is
    a compiler, it is compiled, loaded and checked. LaTeX for up to three joints is symbolic, with
    names for masses and lengths (it needs the extra 'symbolic').

    Examples:
      $ linkwork derive bioloid/humanoid --free
      $ linkwork derive kuka/arm --to numpy --out arm.py
      $ linkwork derive mechanisms/pendulum --to latex
    """
    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.scene_argument import load_showing_notes
    from linkwork.cli.screen import stdout
    from linkwork.core.errors import FormatError, suggestion

    if to not in _SUFFIXES:
        raise FormatError(f"--to {to}: " + suggestion(to, list(_SUFFIXES), kind="forms"))
    thing, _ = load_showing_notes(robot)
    with show_compiling():
        from linkwork.dynamics.symbolic import SymbolicModel, c_code, latex, numpy_code

        world = _world(thing, robot, floating)
        file = _file(out, to) or Path(f"{c_code.identifier(world.scene.name)}{_SUFFIXES[to]}")
        files = [file, file.with_suffix(".h")] if to == "c" else [file]
        check_outputs(files, overwrite=overwrite, sources=[robot])
        model = SymbolicModel(world)
        if to == "c":
            name = c_code.identifier(file.stem)
            texts = [c_code.source(model, name), c_code.header(model, name)]
            texts[0] = texts[0].replace(f'"{name}.h"', f'"{files[1].name}"')
        else:
            texts = [numpy_code.source(model) if to == "numpy" else latex.document(model)]
        for each, text in zip(files, texts, strict=True):
            with whole_file(each) as part:
                part.write_text(text, encoding="utf-8")
    screen = stdout()
    for each in files:
        screen.print_line(f"Wrote {each}.")
    if left := _left_out(world):
        screen.print_line(f"Not in the equations: {left}.")
    if to == "c":
        with show_compiling():
            words = _checked(model, c_code.identifier(file.stem))
        screen.print_line(words)


def _file(out: Path | None, to: str) -> Path | None:
    """The output file, with the suffix of the format."""
    from linkwork.core.errors import FormatError

    if out is None:
        return None
    ending = _SUFFIXES[to]
    if out.is_dir() or not out.name:
        raise FormatError(f"--out {out} is a folder.", hint=f"Name a file in it: robot{ending}.")
    if out.suffix not in ("", ending):
        raise FormatError(f"--out {out}: --to {to} writes files that end in {ending}.")
    return out.with_suffix(ending)


def _left_out(world: World) -> str:
    """Features of the robot that its equations omit."""
    things = {"loop": world.loop_names, "spring": world.spring_names,
              "coupling": world.coupling_dof}  # fmt: skip
    laws = {"springs": world.stiffness, "damping": world.damping, "friction": world.friction}
    found = [_several(len(those), what) for what, those in things.items() if len(those)]
    found += [
        f"{what} of {_several(int((law > 0.0).sum()), 'joint')}"
        for what, law in laws.items()
        if (law > 0.0).any()
    ]
    return ", ".join(found)


def _several(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _world(thing: object, robot: str, floating: bool) -> World:
    """The robot alone, or the whole scene."""
    from linkwork.core.errors import FormatError
    from linkwork.model.parts import Part
    from linkwork.model.scene import Scene
    from linkwork.model.world import compile_scene

    if isinstance(thing, Scene):
        if floating:
            raise FormatError(f"--free is for parts, and {robot} is a scene.")
        world = compile_scene(thing)
    else:
        assert isinstance(thing, Part)
        base = "free" if floating else "fixed"
        world = compile_scene(Scene(thing.name).place(thing, name=thing.name, base=base))
    if world.nv == 0:
        raise FormatError(f"{robot} has no joint that moves.", hint="Give --free to let it float.")
    return world


def _checked(model: SymbolicModel, name: str) -> str:
    """Compiles, loads and compares with the kernels; returns a report."""
    import numpy as np

    from linkwork.dynamics import bias
    from linkwork.dynamics.symbolic import CompiledDynamics, count_operations

    code, world = CompiledDynamics(model, name), model.world
    total = sum(count_operations(model.forward_dynamics).values())
    about = f"Forward dynamics of {world.nv} degrees of freedom: {total} operations."
    if code.how == "numba":
        return f"{about} There is no C compiler, so the file was not tested."
    v = np.linspace(-1.0, 1.0, world.nv)
    expected = bias(world, world.q0, v)
    apart = float(np.max(np.abs(code.bias(world.q0, v) - expected)))
    apart /= max(1.0, float(np.max(np.abs(expected))))
    return f"{about} Compiled, loaded and checked: it differs by {apart:.0e} from the kernels."
