"""What a user gave on the command line, made into a scene that can run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.errors import FormatError, not_found

if TYPE_CHECKING:
    from linkwork.parts import Part
    from linkwork.scene import Scene


def load_with_notes(name: str) -> tuple[Part | Scene, list[str]]:
    """A part or scene from a file or kit, and what its format could not say as it was.

    Raises:
        LinkworkError: As :func:`linkwork.formats.load`.
    """
    from linkwork.formats import find_file, format_for

    file = find_file(name)
    form = format_for(file)
    reader = getattr(form, "read_with_notes", None)
    return reader(file) if reader is not None else (form.read(file), [])


def scene_to_run(thing: Part | Scene, name: str, *, free: bool) -> tuple[Scene, list[str]]:
    """A scene to run: the one given, or a part given on a ground of its own.

    Args:
        thing: What was loaded.
        name: What the user called it.
        free: Whether a part stands on its own feet instead of being fixed.

    Returns:
        The scene, and remarks for the user.

    Raises:
        FormatError: If ``free`` is asked of a scene.
    """
    from linkwork.parts import Part

    if isinstance(thing, Part):
        from linkwork.cli.alone import on_ground

        notes = []
        if not _has_drives(thing):
            notes.append(
                "no joint has a drive, so all move freely; --engine kinematic lets them follow "
                "targets."
            )
        return on_ground(thing, free=free), notes
    if free:
        raise FormatError(
            f"--free is for parts, and {name} is a scene.",
            hint="Say base = 'free' with its [[part]].",
        )
    return thing, []


def _has_drives(part: Part) -> bool:
    if not part.joints and not part.attachments:
        return True  # nothing that could be driven
    return any(joint.drive is not None for joint in part.joints.values()) or any(
        each.part.joints and _has_drives(each.part) for each in part.attachments.values()
    )


def use_engine(scene: Scene, engine: str) -> None:
    """Lets one engine move everything in place of the scene's own.

    Raises:
        NameNotFound: If there is no such engine; the message lists what exists.
    """
    from linkwork.registry import ENGINES

    ENGINES.get(engine)
    scene.engines.clear()
    scene.engine(engine)


def add_program(scene: Scene, file: Path, *, on: str = "", period: float = 0.0) -> None:
    """Adds a control program to a scene.

    Args:
        scene: The scene.
        file: Its Python file.
        on: Part whose names it may shorten; the only one there is if empty.
        period: Control period [s]; 0 for every step.

    Raises:
        FormatError: If the file is not there.
        NameNotFound: If there is no such part.
    """
    from linkwork.parts.names import plain

    if not file.is_file():
        what = "is a folder" if file.is_dir() else "does not exist"
        raise FormatError(f"the program {str(file)!r} {what}.")
    if on and on.partition("/")[0] not in scene.parts:
        raise not_found("part", on, scene.parts)
    if not on and len(scene.parts) == 1:
        on = next(iter(scene.parts))
    name = plain(file.stem, {spec.name for spec in scene.agents})
    scene.agent(name, "program", file=str(file), on=on, period=period)
