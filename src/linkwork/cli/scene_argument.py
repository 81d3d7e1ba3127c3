"""Makes a runnable scene from an argument of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.core.errors import EngineError, FormatError, LinkworkError, not_found

if TYPE_CHECKING:
    from linkwork.model.parts import Part
    from linkwork.model.scene import Scene
    from linkwork.session.cycle import Cycle

#: Engine to try for a scene that names none, if mujoco cannot run it.
FALLBACK_ENGINE = "impulse"


def load_showing_notes(name: str) -> tuple[Part | Scene, list[str]]:
    """Returns a part or scene from a file or kit, and the notes of its reader.

    Raises:
        LinkworkError: As :func:`linkwork.formats.load`.
    """
    from linkwork.formats import find_file, format_for

    file = find_file(name)
    form = format_for(file)
    reader = getattr(form, "read_with_notes", None)
    return reader(file) if reader is not None else (form.read(file), [])


def scene_to_run(thing: Part | Scene, name: str, *, free: bool) -> tuple[Scene, list[str]]:
    """The given scene, or a scene with the given part on a ground plane.

    Args:
        thing: The loaded part or scene.
        name: Its name on the command line.
        free: Whether a part is free instead of fixed.

    Returns:
        The scene, and notes for the user.

    Raises:
        FormatError: If ``free`` is given for a scene.
    """
    from linkwork.model.parts import Part

    if isinstance(thing, Part):
        from linkwork.cli.part_scene import part_on_ground

        notes = []
        scene = part_on_ground(thing, free=free)
        engine = "" if free else _default_engine(thing)
        if engine:
            scene.engine(engine)
            notes.append(f"the file has no masses and drives: {engine} moves the joints.")
        elif not _has_drives(thing):
            notes.append(
                "no joint has a drive, so all move freely; --engine kinematic lets them follow "
                "targets."
            )
        return scene, notes
    if free:
        raise FormatError(
            f"--free is for parts, and {name} is a scene.",
            hint="Set base = 'free' in its [[part]].",
        )
    return thing, []


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
    from dataclasses import replace

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
