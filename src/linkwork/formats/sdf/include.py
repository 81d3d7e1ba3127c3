"""Including: a file's models with those nested and included, as scopes of frames."""

from __future__ import annotations

from pathlib import Path

from linkwork.errors import FormatError
from linkwork.formats.sdf.context import Reading
from linkwork.formats.sdf.scope import MODEL, Frame, Scope, placement_frame, version_of
from linkwork.formats.sdf.values import flag, frame_of, name_of, needed, pose_of, text_of
from linkwork.formats.urdf.locate import Locator
from linkwork.formats.xml_tree import Node, parse

#: How deep models may be nested and included.
DEEPEST = 12


def scope_of(
    node: Node, version: tuple[int, int], reading: Reading, *, name: str = "", depth: int = 0
) -> Scope:
    """The frames of a model or world, with those of the models in it.

    Raises:
        FormatError: If names are missing or taken, or an included file is not found.
    """
    if depth > DEEPEST:
        raise FormatError(
            f"models are nested or included more than {DEEPEST} deep.", origin=node.origin
        )
    is_world = node.tag == "world"
    scope = Scope(node, version, name or (name_of(node)), is_world)
    scope.gather()
    for child in node.children:
        if child.tag == "model":
            inner = scope_of(child, version, reading, depth=depth + 1)
            _nest(scope, inner, child, pose_node=child)
        elif child.tag == "include":
            _include(scope, child, reading, depth)
    return scope


def _nest(scope: Scope, inner: Scope, node: Node, *, pose_node: Node) -> None:
    """Puts a model into the scope that holds it."""
    placed = placement_frame(node) or placement_frame(inner.node)
    pose = pose_of(pose_node)
    if placed:
        pose = pose @ inner.pose(placed, node.origin).inverse()
    base = frame_of(pose_node) or MODEL
    scope.add(inner.name, Frame("model", node, pose, base, inside=inner))


def _include(scope: Scope, node: Node, reading: Reading, depth: int) -> None:
    reference = needed(node, "uri")
    file = _model_file(reference, reading.locator)
    if file is None:
        reading.miss(node, f"model {reference!r}")
        return
    reading.enter(file, node)
    root = parse(file)
    model = root.first("model") if root.tag == "sdf" else None
    if model is None:
        raise FormatError(f"{file} holds no SDF model.", origin=node.origin)
    name = text_of(node, "name") or name_of(model)
    outer, reading.locator = reading.locator, Locator(file.parent)
    try:
        inner = scope_of(model, version_of(root), reading, name=name, depth=depth + 1)
    finally:
        reading.locator = outer
    reading.homes[id(inner.node)] = Locator(file.parent)
    if node.first("static") is not None:
        reading.static[id(inner.node)] = flag(node, "static")
    if node.attributes.get("merge", "").strip().lower() in ("true", "1"):
        reading.notes.about("merged includes, read as nested models", name)
    for child in node.children:
        if child.tag not in ("uri", "name", "pose", "static", "placement_frame"):
            reading.unread(child)
    _nest(scope, inner, node, pose_node=node if node.first("pose") else model)


def _model_file(reference: str, locator: Locator) -> Path | None:
    """The SDF file that ``model://name``, a folder or a path means."""
    found, _ = locator.find(reference)
    if found is not None and found.suffix in (".sdf", ".xml", ".world"):
        return found
    config, _ = locator.find(f"{reference}/model.config")
    if config is not None:
        try:
            names = [node.text.strip() for node in parse(config).all("sdf")]
        except FormatError:
            names = []
        for name in reversed([*names]):
            if name and (config.parent / name).is_file():
                return config.parent / name
    return locator.find(f"{reference}/model.sdf")[0]
