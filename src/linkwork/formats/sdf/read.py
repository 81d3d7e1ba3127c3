"""Reading: an SDF file with one model becomes a part, one with a world or several a scene."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from linkwork.errors import FormatError, LinkworkError, Origin
from linkwork.formats.sdf.assemble import Assembled, assemble
from linkwork.formats.sdf.context import Reading
from linkwork.formats.sdf.include import scope_of
from linkwork.formats.sdf.lights import USUAL_LOOK, color_of, read_light
from linkwork.formats.sdf.model import flat_model
from linkwork.formats.sdf.scope import Scope, version_of
from linkwork.formats.sdf.values import number, vector
from linkwork.formats.urdf.locate import Locator
from linkwork.formats.xml_tree import Node, parse
from linkwork.parts import Part
from linkwork.parts.names import plain
from linkwork.scene import Scene
from linkwork.spatial.pose import Pose

WORLD_TAGS = {"model", "include", "frame", "light", "gravity", "physics", "scene", "name"}
ROOT_TAGS = {"world", "model", "light", "include"}


def read_sdf(path: Path, *, skip_missing: bool = False) -> tuple[Part | Scene, list[str]]:
    """Reads a model or world.

    Args:
        path: The SDF file.
        skip_missing: Leaves out meshes and included models that are missing, with a note.

    Returns:
        The part or scene, and notes of what was left out or changed.

    Raises:
        LinkworkError: If the file is not an SDF that can be read; names file and line.
    """
    root = parse(path)
    if root.tag != "sdf":
        raise FormatError(
            f"the outermost element is <{root.tag}>; that of an SDF is <sdf>.", origin=root.origin
        )
    version = version_of(root)
    reading = Reading(Locator(path.parent), skip_missing)
    file = Origin(str(path))
    try:
        thing = _thing(root, version, reading, file, path)
    except LinkworkError as error:
        raise error.at(file) from None
    return thing, reading.notes.lines()


def _thing(
    root: Node, version: tuple[int, int], reading: Reading, file: Origin, path: Path
) -> Part | Scene:
    worlds, models = root.all("world"), root.all("model")
    reading.unread_but(root, ROOT_TAGS)
    if len(models) == 1 and not worlds and not root.first("include"):
        for light in root.all("light"):
            reading.unread(light, "sdf")
        made = assemble(flat_model(scope_of(models[0], version, reading), reading), reading, file)
        if made.base == "fixed":
            reading.notes.say("the model is held by the world: so is a part, unless placed free.")
        _note_pose(models[0], reading)
        return made.part
    if not worlds and not models and not root.first("include"):
        raise FormatError("the file holds no <model> and no <world>.", origin=root.origin)
    for extra in worlds[1:]:
        reading.unread(extra, "sdf")
    # models beside a world, or without one, stand in a world all the same
    world = worlds[0] if worlds else Node("world", {"name": path.stem or "world"}, root.origin)
    if not worlds:
        world.children = [child for child in root.children if child.tag in ROOT_TAGS]
    return _scene(scope_of(world, version, reading), reading, file)


def _scene(scope: Scope, reading: Reading, file: Origin) -> Scene:
    node = scope.node
    reading.unread_but(node, WORLD_TAGS)
    scene = Scene(plain(scope.name), origin=file)
    if scene.name != scope.name:
        scene.title = scope.name
    physics = node.first("physics")
    gravity = node if node.first("gravity") is not None or physics is None else physics
    scene.gravity = vector(gravity, "gravity", (0.0, 0.0, -9.8))
    if physics is not None:
        step = number(physics, "max_step_size", scene.step)
        if 0.0 < step <= 1.0:
            scene.step = step
        else:
            reading.notes.about("time steps out of range, left out", f"{step:g}")
        reading.unread_but(physics, {"max_step_size", "gravity"})
    look = node.first("scene")
    background = look.first("background") if look is not None else None
    if look is not None:
        usual = {child.tag for child in look.children if USUAL_LOOK.get(child.tag) == child.text}
        reading.unread_but(look, {"background", *usual})
    if background is not None:
        scene.background = color_of(background)
    for light in node.all("light"):
        taken = {each.name for each in scene.lights}
        scene.lights.append(read_light(light, scope, taken, reading))
    for name, frame in scope.frames.items():
        if frame.inside is None:
            continue
        at = scope.pose(name, frame.node.origin)
        made = assemble(flat_model(frame.inside, reading), reading, file)
        _place(scene, made, at, frame.node.origin)
    return scene


def _place(scene: Scene, made: Assembled, at: Pose, origin: Origin) -> None:
    """Puts a part into the scene; one rigid thing that never moves is scenery."""
    part, pose = made.part, at @ made.at
    taken = {*scene.parts, *scene.scenery}
    name = plain(part.name, taken)
    alone = len(part.elements) == 1 and not (part.joints or part.anchors)
    if alone and made.base == "fixed":
        element = next(iter(part.elements.values()))
        scene.add(replace(element, name=name, at=pose))
        return
    scene.place(part, name=name, at=pose, base=made.base, origin=origin)


def _note_pose(model: Node, reading: Reading) -> None:
    pose = model.first("pose")
    if pose is not None and any(word.strip("0.") for word in pose.text.split()):
        reading.notes.say(f"{pose.origin}: the model's pose, which a part has where it is placed.")
