"""``linkwork convert``: from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkwork.cli.output_files import Overwrite, check_outputs
from linkwork.cli.scene_argument import MissingChoice, MissingMeshes, ServoChoice, Servos

if TYPE_CHECKING:
    from linkwork.model.scene import Movement

#: Formats without scenes.
_ONE_PART = (".urdf", ".humanoid.xml")


def convert(
    source: Annotated[
        str, typer.Argument(help="A file (.toml, .urdf, .sdf, …), or a kit's name for it.")
    ],
    target: Annotated[Path, typer.Argument(help="Output file; the suffix defines the format.")],
    part: Annotated[
        str, typer.Option(metavar="NAME", help="Convert only this part of a scene.")
    ] = "",
    robot: Annotated[
        str, typer.Option(metavar="PART", help="The movement's robot; some formats hold both.")
    ] = "",
    servos: Servos = ServoChoice.none,
    missing_meshes: MissingMeshes = MissingChoice.error,
    overwrite: Overwrite = False,
) -> None:
    """Converts a model; content that a format cannot hold is listed, never dropped silently.

    Examples:
      $ linkwork convert robot.urdf robot.toml
      $ linkwork convert robot.urdf robot.toml --servos auto
      $ linkwork convert world.sdf world.toml --missing-meshes skip
      $ linkwork convert gripper/arm arm.urdf
      $ linkwork convert tripod/level tripod.urdf --part tripod
      $ linkwork convert tripod/level level.glb
      $ linkwork convert bioloid/greet greet.humanoid.xml --robot bioloid/humanoid
    """
    from linkwork.cli.scene_argument import load_showing_notes
    from linkwork.cli.screen import stdout
    from linkwork.cli.show_plan import movements_of
    from linkwork.core.errors import FormatError, listing, not_found
    from linkwork.formats import format_to_write, save
    from linkwork.formats.import_options import with_copied_meshes
    from linkwork.formats.part_of_scene import extract_part
    from linkwork.model.parts import Part
    from linkwork.model.scene import Scene
    from linkwork.model.world.undriven import with_servos

    out = stdout()
    format_to_write(target)
    check_outputs([target], overwrite=overwrite, sources=[source, robot])
    movements, alone = movements_of(source)
    if alone and not part:
        for note in _movement(movements[0], target, robot):
            out.print_line(note, lead="note:")
        out.print_line(f"Wrote {target}.")
        return
    beside = {
        movement.name: target.with_name(f"{target.stem}.{movement.name}.toml")
        for movement in movements
        if target.suffix == ".toml"
    }
    check_outputs([*beside.values()], overwrite=overwrite, sources=[source])
    if robot:
        raise FormatError(f"--robot is for movements, and {source} is none.")
    thing, notes = load_showing_notes(source, missing_meshes)
    if part:
        if not isinstance(thing, Scene):
            raise FormatError(f"--part is for scenes, and {source} is a part.")
        if part not in thing.parts:
            raise not_found("part", part, thing.parts, origin=thing.origin)
        thing, left = extract_part(thing, part)
        notes = [*notes, *left]
    if servos is ServoChoice.auto:
        thing = with_servos(thing)
    if isinstance(thing, Scene) and thing.parts and target.name.lower().endswith(_ONE_PART):
        moving = [name for name, each in thing.parts.items() if each.part.joints]
        raise FormatError(
            f"{source} is a scene, and {target} can hold one part only.",
            hint=f"Give --part {[*moving, *thing.parts][0]}; its parts: {listing(thing.parts)}.",
        )
    if isinstance(thing, Part) and Path(source).suffix.lower() in (".step", ".stp"):
        thing = with_copied_meshes(thing, target.parent, target.stem)  # from the cache
    for note in [*notes, *save(thing, target)]:
        out.print_line(note, lead="note:")
    if movements and target.name.lower().endswith(".humanoid.xml"):
        for movement in movements:
            for note in save(movement, target):
                out.print_line(note, lead="note:")
        movements = []
    if movements and target.suffix != ".toml":
        names = listing([movement.name for movement in movements])
        out.print_line(f"movements, left out: {names}. Convert to TOML writes them.", lead="note:")
        movements = []
    for movement in movements:
        save(movement, beside[movement.name])
        out.print_line(f"Wrote {beside[movement.name]}.")
    out.print_line(f"Wrote {target}.")


def _movement(movement: Movement, target: Path, robot: str) -> list[str]:
    """Writes a movement, with its robot if the format holds both; returns the losses."""
    from linkwork.core.errors import FormatError
    from linkwork.formats import load_part, save

    whole = target.name.lower().endswith(".humanoid.xml")
    if whole and not robot:
        raise FormatError(
            f"{target} holds a movement beside its robot.",
            hint="Name the robot: --robot bioloid/humanoid, or its file.",
        )
    if robot and not whole:
        raise FormatError("--robot is for formats that hold a movement beside it, .humanoid.xml.")
    return save(movement, target, robot=load_part(robot) if whole else None)
