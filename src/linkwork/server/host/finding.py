"""Finding: in which file a thing of the running scene stands, and where in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from linkwork.errors import not_found
from linkwork.parts import Part
from linkwork.scene import Scene
from linkwork.scene.ids import names_of

#: Kinds of things of which a file has many, besides parts.
_SECTIONS = (
    "element", "joint", "anchor", "sensor", "actuator", "agent", "engine", "loop", "posture",
    "light", "viewpoint", "bus", "port", "fault",
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """Where a thing stands.

    Attributes:
        section: Section of the file; empty for the file itself.
        name: What the thing is called there.
        holder: The part or scene that the file makes.
        chain: Files from the one that is open to the one the thing stands in.
    """

    section: str
    name: str
    holder: Part | Scene
    chain: tuple[str, ...]

    @property
    def file(self) -> str:
        """The file in which it stands."""
        return self.chain[-1]


def find(content: Part | Scene, main: str, scope: str, kind: str, name: str) -> Found:
    """Finds a thing by its full name.

    Args:
        content: What the file that is open makes.
        main: That file.
        scope: Where that is a part, the scope under which it runs.
        kind: Scene, part, element, joint and so on.
        name: The full name in the scene that runs.

    Raises:
        NameNotFound: If no file holds such a thing.
    """
    if kind == "scene" or (isinstance(content, Part) and kind == "part" and name == scope):
        return Found("", "", content, (main,))
    if kind not in ("part", *_SECTIONS):
        raise not_found("kind of thing", kind, ["scene", "part", *_SECTIONS])
    rest = name
    if isinstance(content, Part):
        rest = name.removeprefix(f"{scope}/")
    holder, chain = content, (main,)
    while True:
        section = "attach" if kind == "part" and isinstance(holder, Part) else kind
        names = names_of(holder).get(section, [])
        if rest in names:
            return Found(section, rest, holder, chain)
        head, _, tail = rest.partition("/")
        held = holder.attachments if isinstance(holder, Part) else holder.parts
        if not tail or head not in held:
            raise not_found(kind, name, [*names, *held])
        holder, rest = held[head].part, tail
        chain = (*chain, holder.origin.file)


def scopes_of(content: Part | Scene, file: str) -> Iterator[str]:
    """The scopes under which the parts of a file are known in ``content``."""
    held = content.attachments if isinstance(content, Part) else content.parts
    for scope, holder in held.items():
        if holder.part.origin.file and os.path.realpath(holder.part.origin.file) == file:
            yield scope
        yield from (f"{scope}/{inner}" for inner in scopes_of(holder.part, file))
