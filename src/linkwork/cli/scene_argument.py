"""Makes a runnable scene from an argument of the command line."""

from __future__ import annotations

import math
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkwork.core.errors import EngineError, FormatError, LinkworkError, not_found

if TYPE_CHECKING:
    from linkwork.model.parts import Part
    from linkwork.model.scene import Scene
    from linkwork.session.cycle import Cycle


GROUND = "ground"


class ServoChoice(StrEnum):
    """Servos for joints without a drive."""

    none = "none"
    auto = "auto"


#: Servos for joints without a drive, an option of several commands.
Servos = Annotated[
    ServoChoice,
    typer.Option(
        "--servos",
        help="With auto, joints without a drive get servos with gains from inertia and weight.",
    ),
]


class MissingChoice(StrEnum):
    """What to do about missing meshes and models."""

    error = "error"
    skip = "skip"


#: What to do about missing meshes and models, an option of several commands.
MissingMeshes = Annotated[
    MissingChoice,
    typer.Option(
        "--missing-meshes",
        help="With skip, meshes and models that a file names and that are missing are left out.",
    ),
]

#: Engine to try for a scene that names none, if mujoco cannot run it.
FALLBACK_ENGINE = "impulse"


def load_showing_notes(
    name: str, missing: MissingChoice = MissingChoice.error
) -> tuple[Part | Scene, list[str]]:
    """Returns a part or scene from a file or kit, and the notes of its reader.

    Args:
        name: The file, or a kit's name of it.
        missing: What to do about missing meshes and models.

    Raises:
        LinkworkError: As :func:`linkwork.formats.load`.
    """
    from linkwork.formats import find_file, format_for

    file = find_file(name)
    form = format_for(file)
    reader = getattr(form, "read_with_notes", lambda file: (form.read(file), []))
    if missing is MissingChoice.error:
        return reader(file)
    from linkwork.formats.robots.resources import missing_files_as

    with missing_files_as(missing.value):
        return reader(file)


def scene_to_run(
    thing: Part | Scene, name: str, *, free: bool, servos: ServoChoice = ServoChoice.none
) -> tuple[Scene, list[str]]:
    """The given scene, or a scene with the given part on a ground plane.

    Args:
        thing: The loaded part or scene.
        name: Its name on the command line.
        free: Whether a part is free instead of fixed.
        servos: Servos for joints without a drive.

    Returns:
        The scene, and notes for the user.

    Raises:
        FormatError: If ``free`` is given for a scene.
    """
    from linkwork.model.parts import Part

    if servos is ServoChoice.auto:
        from linkwork.model.world.undriven import with_auto_servos

        scene, notes = scene_to_run(thing, name, free=free)
        served = with_auto_servos(scene)
        if served.parts == scene.parts:
            return scene, [*notes, "--servos auto: every joint that can have a drive has one."]
        engines = [] if isinstance(thing, Part) else scene.engines
        return replace(served, engines=engines), []
    if isinstance(thing, Part):
        notes = []
        scene = part_on_ground(thing, free=free)
        engine = "" if free else _default_engine(thing)
        if engine:
            scene.engine(engine)
            notes.append(f"the file has no masses and drives: {engine} moves the joints.")
        elif not _has_drives(thing):
            notes.append(
                "no joint has a drive, so all move freely; --servos auto gives them servos, "
                "--engine kinematic lets them follow targets."
            )
        return scene, notes
    if free:
        raise FormatError(
            f"--free is for parts, and {name} is a scene.",
            hint="Set base = 'free' in its [[part]].",
        )
    return thing, []


def part_on_ground(part: Part, *, free: bool = False) -> Scene:
    """A scene with one part on a ground plane, so that it can run without a scene.

    A fixed part is lifted if it would penetrate the ground; a free one is placed on its lowest
    point.

    Args:
        part: The part.
        free: Whether it is free instead of fixed.
    """
    from linkwork.geometry import Pose
    from linkwork.model.parts import Element, Plane
    from linkwork.model.scene import Scene

    lowest = _lowest_point(part)
    height = -lowest if free else max(0.0, -lowest)
    name = part.name if part.name != GROUND else f"{GROUND}_part"
    scene = Scene(part.name, title=part.title)
    scene.add(Element(GROUND, (Plane(size=(10.0, 10.0)),), color="#dfe3e8"))
    base = "free" if free else "fixed"
    return scene.place(
        part, name=name, at=Pose.of((0.0, 0.0, height)), base=base, origin=part.origin
    )


def _lowest_point(part: Part) -> float:
    """Height of the lowest point of all colliding shapes, with the root at 0 [m]; 0 if none."""
    from linkwork.geometry import Pose
    from linkwork.kinematics import forward
    from linkwork.model.parts.shape import lowest_point
    from linkwork.model.scene import Scene
    from linkwork.model.world import compile_scene

    world = compile_scene(Scene(part.name).place(part, name="part"))
    poses = [Pose.of(row[:3], quat=row[3:]) for row in forward(world, world.q0)]
    found = [
        lowest_point(piece.shape, poses[piece.body] @ piece.pose)
        for piece in world.shapes
        if piece.shape.collide
    ]
    return min((z for z in found if math.isfinite(z)), default=0.0)


def _default_engine(part: Part) -> str:
    """The engine for a part of a format without dynamics; empty for the usual one."""
    from linkwork.formats import format_for

    if not part.origin.file or not Path(part.origin.file).suffix:
        return ""
    try:
        return getattr(format_for(Path(part.origin.file)), "default_engine", "")
    except LinkworkError:
        return ""  # made in memory, or its file is gone


def _has_drives(part: Part) -> bool:
    if not part.joints and not part.attachments:
        return True  # no joint could be driven
    return any(joint.drive is not None for joint in part.joints.values()) or any(
        each.part.joints and _has_drives(each.part) for each in part.attachments.values()
    )


def compile_with_engine(scene: Scene) -> tuple[Cycle, list[str]]:
    """Compiles a scene with its engines; one that names none, with one that can run it.

    Returns:
        The compiled scene, and a note if mujoco cannot run it.

    Raises:
        LinkworkError: If no dynamic engine can run it; the error is that of mujoco.
    """
    from linkwork.model.world import compile_scene
    from linkwork.session.cycle import Cycle

    try:
        return Cycle(compile_scene(scene)), []
    except EngineError as error:
        if scene.engines or scene.mode not in ("", "simulation"):
            raise
        try:
            other = replace(scene, engines=[]).engine(FALLBACK_ENGINE)
            cycle = Cycle(compile_scene(other))
        except EngineError:
            raise error from None
        note = f"mujoco cannot run it, --engine {FALLBACK_ENGINE} can: {error}"
        return cycle, [note]


def use_engine(scene: Scene, engine: str) -> None:
    """Replaces the scene's engines by one for all parts.

    Raises:
        NameNotFound: If there is no such engine; the message lists the existing ones.
    """
    from linkwork.core.registry import ENGINES

    ENGINES.get(engine)
    scene.engines.clear()
    scene.engine(engine)


def add_program(scene: Scene, file: Path, *, on: str = "", period: float = 0.0) -> None:
    """Adds a control program to a scene.

    Args:
        scene: The scene.
        file: Its Python file.
        on: Part whose prefix it may omit; the only one if empty.
        period: Control period [s]; 0 for every step.

    Raises:
        FormatError: If the file does not exist.
        NameNotFound: If there is no such part.
    """
    from linkwork.model.parts.spec import plain_name

    if not file.is_file():
        what = "is a folder" if file.is_dir() else "does not exist"
        raise FormatError(f"the program {str(file)!r} {what}.")
    if on and on.partition("/")[0] not in scene.parts:
        raise not_found("part", on, scene.parts)
    if not on and len(scene.parts) == 1:
        on = next(iter(scene.parts))
    name = plain_name(file.stem, {spec.name for spec in scene.agents})
    scene.agent(name, "program", file=str(file), on=on, period=period)
