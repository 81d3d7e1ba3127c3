"""SDF reader: a model becomes a part, a world becomes a scene."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from linkwork.core.errors import FormatError, LinkworkError, Origin
from linkwork.formats.appearance import hex_color
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.resources import MissingResources, ResourceLocator
from linkwork.formats.robots.sdf.assemble import AssembledModel, assemble
from linkwork.formats.robots.sdf.context import SdfReadContext
from linkwork.formats.robots.sdf.model import flat_model
from linkwork.formats.robots.sdf.scope import MODEL, FrameScope, scope_of, version_of
from linkwork.formats.robots.sdf.values import flag, name_of, number, numbers, vector
from linkwork.formats.robots.xml import XmlNode, parse_xml
from linkwork.geometry.pose import Pose
from linkwork.model.parts import Part
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import Light, Scene

LIGHT_TAGS = {"pose", "diffuse", "direction", "intensity", "cast_shadows"}
#: Default appearance of a world; written with a background, read without a note.
DEFAULT_WORLD_APPEARANCE = {"ambient": "0.4 0.4 0.4 1", "shadows": "true"}


def color_of(node: XmlNode) -> str:
    """Returns the color of ``node``, without its opacity."""
    count = 3 if len(node.text.split()) == 3 else 4
    return hex_color(numbers(node, count)[:3])


def read_light(node: XmlNode, scope: FrameScope, taken: set[str], reading: SdfReadContext) -> Light:
    """Returns the light that ``node`` describes, in the frame of the world ``scope``.

    Raises:
        FormatError: If its frame does not exist, or a value is not a number.
    """
    reading.unread_but(node, LIGHT_TAGS)
    pose = scope.inside(MODEL, node)
    direction = pose.rotate(vector(node, "direction", (0.0, 0.0, -1.0)))
    diffuse = node.first("diffuse")
    color = color_of(diffuse) if diffuse is not None else "#ffffff"
    x, y, z = (a + b for a, b in zip(pose.xyz, direction, strict=True))
    return Light(
        plain_name(name_of(node), taken),
        "sun" if node.attributes.get("type", "") == "directional" else "lamp",
        pose.xyz,
        (x, y, z),
        color,
        max(number(node, "intensity", 1.0), 0.0),
        shadows=flag(node, "cast_shadows"),
        origin=node.origin,
    )


WORLD_TAGS = {"model", "include", "frame", "light", "gravity", "physics", "scene", "name"}
ROOT_TAGS = {"world", "model", "light", "include"}


def read_sdf(path: Path, *, skip_missing: bool = False) -> tuple[Part | Scene, list[str]]:
    """Reads a model or world.

    Args:
        path: The SDF file.
        skip_missing: Leaves out meshes and included models that are missing, with a note.

    Returns:
        The part or scene, and notes on omissions and changes.

    Raises:
        LinkworkError: If the file is not an SDF that can be read; names file and line.
    """
    notes = ConversionNotes()
    missing = MissingResources(skip_missing, notes)
    reading = SdfReadContext(ResourceLocator(path.parent), notes, missing, str(path))
    root = parse_xml(path, on_fault=reading.note_fault)
    if root.tag != "sdf":
        raise FormatError(
            f"the outermost element is <{root.tag}>; that of an SDF is <sdf>.", origin=root.origin
        )
    version = version_of(root)
    file = Origin(str(path))
    try:
        thing = _thing(root, version, reading, file, path)
    except LinkworkError as error:
        missing.check()  # a model that is missing explains names that are not found
        raise error.at(file) from None
    missing.check()
    return thing, notes.lines()


def _thing(
    root: XmlNode, version: tuple[int, int], reading: SdfReadContext, file: Origin, path: Path
) -> Part | Scene:
    worlds, models = root.all("world"), root.all("model")
    reading.unread_but(root, ROOT_TAGS)
    if len(models) == 1 and not worlds and not root.first("include"):
        for light in root.all("light"):
            reading.unread(light, "sdf")
        made = assemble(flat_model(scope_of(models[0], version, reading), reading), reading, file)
        if made.base == "fixed":
            reading.notes.add("the model is fixed to the world, as a part is unless placed free.")
        _note_pose(models[0], reading)
        return made.part
    if not worlds and not models and not root.first("include"):
        raise FormatError("the file holds no <model> and no <world>.", origin=root.origin)
    for extra in worlds[1:]:
        reading.unread(extra, "sdf")
    # models without a world are placed in a new one
    world = worlds[0] if worlds else XmlNode("world", {"name": path.stem or "world"}, root.origin)
    if not worlds:
        world.children = [child for child in root.children if child.tag in ROOT_TAGS]
    return _scene(scope_of(world, version, reading), reading, file)


def _scene(scope: FrameScope, reading: SdfReadContext, file: Origin) -> Scene:
    node = scope.node
    reading.unread_but(node, WORLD_TAGS)
    scene = Scene(plain_name(scope.name), origin=file)
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
            reading.notes.about("time steps out of range, left out", f"{step:g}", kind="motion")
        reading.unread_but(physics, {"max_step_size", "gravity"})
    look = node.first("scene")
    background = look.first("background") if look is not None else None
    if look is not None:
        usual = {c.tag for c in look.children if DEFAULT_WORLD_APPEARANCE.get(c.tag) == c.text}
        reading.unread_but(look, {"background", *usual})
    if background is not None:
        scene.background = color_of(background)
    for light in node.all("light"):
        taken = {each.name for each in scene.lights}
        scene.lights.append(read_light(light, scope, taken, reading))
    for name, frame in scope.frames.items():
        if frame.inside is None or (reading.missing.skip and not frame.inside.has_links()):
            continue  # a model whose only includes are missing
        at = scope.pose(name, frame.node.origin)
        made = assemble(flat_model(frame.inside, reading), reading, file)
        _place(scene, made, at, frame.node.origin)
    return scene


def _place(scene: Scene, made: AssembledModel, at: Pose, origin: Origin) -> None:
    """Adds a part to the scene; a single static element becomes scenery."""
    part, pose = made.part, at @ made.at
    taken = {*scene.parts, *scene.scenery}
    name = plain_name(part.name, taken)
    alone = len(part.elements) == 1 and not (part.joints or part.anchors)
    if alone and made.base == "fixed":
        element = next(iter(part.elements.values()))
        scene.add(replace(element, name=name, at=pose))
        return
    scene.place(part, name=name, at=pose, base=made.base, origin=origin)


def _note_pose(model: XmlNode, reading: SdfReadContext) -> None:
    pose = model.first("pose")
    if pose is not None and any(word.strip("0.") for word in pose.text.split()):
        reading.notes.add(f"{pose.origin}: the model's pose, which a part has where it is placed.")
