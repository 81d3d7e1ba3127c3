"""Collada files (.dae): the geometries of the scene, placed by its nodes."""

from __future__ import annotations

from xml.etree.ElementTree import Element, ParseError, TreeBuilder

import numpy as np
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser
from numpy.typing import NDArray

from linkwork.core.mistakes import ascii_float
from linkwork.geometry.meshes.assembly import MeshAssembly
from linkwork.geometry.meshes.collada_geometry import (
    ColladaGeometries,
    child,
    children,
    local_name,
    node_matrix,
    numbers,
)
from linkwork.geometry.meshes.mesh import Color
from linkwork.geometry.meshes.source import MAX_DEPTH, MAX_NODES, MeshSource

_MAX_ELEMENTS = 4_000_000


def read_collada(source: MeshSource) -> tuple[MeshAssembly, float, str]:
    """Reads a Collada file.

    Skinned geometry is taken in its bind pose; lines, lights, cameras and animations are ignored.
    The geometries of a file without a scene keep their coordinates.

    Returns:
        The submeshes, the length of the file's unit [m] and its up axis ("X", "Y" or "Z").
    """
    root = _parse(source)
    library = ColladaGeometries(source, root)
    assembly = MeshAssembly(source)
    scene = _scene(library, root)
    if scene is None:
        for geometry in root.iter():
            if local_name(geometry) == "geometry":
                for surface in library.surfaces(geometry):
                    assembly.add(surface.vertices, surface.faces)
    else:
        _place(library, assembly, scene)
    unit, up_axis = _asset(source, root)
    return assembly, unit, up_axis


class _BoundedTree(TreeBuilder):
    """Builds the elements of a file, down to a maximum depth."""

    def __init__(self, source: MeshSource) -> None:
        super().__init__()
        self._source, self._depth = source, 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        """Opens an element."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._source.error(f"its XML elements are nested more than {MAX_DEPTH} deep.")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        """Closes an element."""
        self._depth -= 1
        return super().end(tag)


def _parse(source: MeshSource) -> Element:
    """Returns the root element; documents with a DTD or entities are rejected."""
    if source.data.count(b"<") > _MAX_ELEMENTS:
        raise source.error(f"it has more than {_MAX_ELEMENTS} XML tags.")
    try:
        parser = DefusedXMLParser(target=_BoundedTree(source), forbid_dtd=True)
        parser.feed(source.data)
        root = parser.close()
    except DefusedXmlException:
        raise source.error(
            "it declares a DTD or XML entities, which are refused as unsafe.",
            hint="Remove the <!DOCTYPE ...> part.",
        ) from None
    except ParseError as error:
        raise source.error(
            f"it is not well-formed XML: {error.msg}.",
            line=error.position[0],
            hint="The file is cut off or damaged.",
        ) from None
    except (LookupError, ValueError) as error:
        raise source.error(f"it is not readable XML: {error}.") from None
    if local_name(root) != "COLLADA":
        raise source.error(f"its root element is <{local_name(root)}>, not <COLLADA>.")
    return root


def _asset(source: MeshSource, root: Element) -> tuple[float, str]:
    """Returns the length of the unit [m] and the up axis; meter and Y by default."""
    asset = child(root, "asset")
    unit = child(asset, "unit") if asset is not None else None
    written = unit.get("meter", "1") if unit is not None else "1"
    try:
        length = ascii_float(written)
    except ValueError:
        length = 0.0
    if not (np.isfinite(length) and length > 0):
        raise source.error(
            f"its <unit> is {written[:40]!r} meters.", hint="It must be a positive number."
        )
    up_axis = child(asset, "up_axis") if asset is not None else None
    return length, ((up_axis.text or "") if up_axis is not None else "").strip()[:1] or "Y"


def _scene(library: ColladaGeometries, root: Element) -> Element | None:
    """Returns the visual scene that the file instantiates, else its first, else None."""
    scene = child(root, "scene")
    shown = child(scene, "instance_visual_scene") if scene is not None else None
    if shown is not None:
        return library.referred(shown, "url")
    return next((one for one in root.iter() if local_name(one) == "visual_scene"), None)


def _place(library: ColladaGeometries, assembly: MeshAssembly, scene: Element) -> None:
    """Traverses the node tree, with limits on depth and placements (instances can multiply)."""
    source = library.source
    waiting = [(node, np.eye(4), 0) for node in reversed(children(scene, "node"))]
    visited = 0
    while waiting:
        node, parent, depth = waiting.pop()
        visited += 1
        if visited > MAX_NODES or depth > MAX_DEPTH:
            raise source.error(
                f"its scene has more than {MAX_NODES} nodes or is nested more than "
                f"{MAX_DEPTH} deep.",
                hint="Check for <instance_node> that contains itself.",
            )
        matrix = parent @ node_matrix(source, node)
        for item in node:
            kind = local_name(item)
            if kind == "instance_geometry":
                _place_geometry(library, assembly, item, library.referred(item, "url"), matrix)
            elif kind == "instance_controller":
                geometry, bind = _skinned(library, library.referred(item, "url"))
                _place_geometry(library, assembly, item, geometry, matrix @ bind)
        nested = children(node, "node")
        nested += [library.referred(one, "url") for one in children(node, "instance_node")]
        waiting += [(one, matrix, depth + 1) for one in reversed(nested)]


def _place_geometry(
    library: ColladaGeometries,
    assembly: MeshAssembly,
    instance: Element,
    geometry: Element,
    matrix: NDArray[np.float64],
) -> None:
    bound: dict[str, Color | None] = {
        one.get("symbol", ""): library.material_color(one)
        for one in instance.iter()
        if local_name(one) == "instance_material"
    }
    for surface in library.surfaces(geometry):
        assembly.add(
            surface.vertices, surface.faces, matrix=matrix, color=bound.get(surface.material)
        )


def _skinned(
    library: ColladaGeometries, controller: Element
) -> tuple[Element, NDArray[np.float64]]:
    """Returns the geometry under a controller and its bind pose."""
    bind = np.eye(4)
    for _ in range(8):  # the source of a skin may be a morph, whose source is a geometry
        if local_name(controller) == "geometry":
            return controller, bind
        deformer = child(controller, "skin")
        if deformer is None:
            deformer = child(controller, "morph")
        if deformer is None:
            break
        shape = child(deformer, "bind_shape_matrix")
        if shape is not None:
            bind = numbers(library.source, shape, 16).reshape(4, 4) @ bind
        controller = library.referred(deformer, "source")
    raise library.source.error("a <controller> leads to no <geometry>.")
