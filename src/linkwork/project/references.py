"""References: where a file names an object, for renames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from linkwork.formats.toml.index import KeyPath

#: The sections that each key refers to, by section.
REFERENCES: dict[tuple[str, str], tuple[str, ...]] = {
    ("element", "on"): ("element",),
    ("joint", "from"): ("element", "joint"),
    ("joint", "to"): ("element", "joint"),
    ("anchor", "on"): ("element",),
    ("attach", "to"): ("anchor",),
    ("loop", "a"): ("anchor",),
    ("loop", "b"): ("anchor",),
    ("spring", "a"): ("anchor",),
    ("spring", "b"): ("anchor",),
    ("coupling", "joint"): ("joint", "part"),
    ("coupling", "of"): ("joint", "part"),
    ("part", "on"): (),
    ("posture", "joints"): ("joint", "part"),
    ("posture", "joints_deg"): ("joint", "part"),
    ("posture", "joints_mm"): ("joint", "part"),
    ("posture", "joints_cm"): ("joint", "part"),
    ("collide", "never"): ("element", "part"),
    ("collide", "always"): ("element", "part"),
    ("aliases", ""): ("element", "joint"),
    ("start", ""): ("posture",),
}

#: Sections with parameters of plug-ins: any text in them may be a name.
PLUG_INS = ("engine", "sensor", "actuator", "agent", "bus", "port", "fault")

#: Their keys that are never names of objects in the scene.
_NOT_NAMES = ("name", "type", "file", "texture", "title", "color", "labels")

#: Sections whose names are scopes, ``arm/elbow``.
SCOPES = ("attach", "part")

#: A change of a rename: a path, whether it is a key (else a value), and the new text.
Change = tuple[KeyPath, bool, str]


def renamed(text: str, section: str, old: str, new: str, *, exact: bool = True) -> str:
    """Returns a name after a rename; a part's new name is also the prefix of names inside it."""
    named = exact and (text == old or text.startswith(f"{old}."))
    inside = section in SCOPES and text.startswith(f"{old}/")
    return new + text[len(old) :] if named or inside else text


def reference_changes(data: dict[str, Any], section: str, old: str, new: str) -> Iterator[Change]:
    """Yields every reference in a file to the object ``old`` of a section."""
    twins = {
        item.get("name")
        for other in ("element", "joint", "part")
        if other != section and isinstance(data.get(other), list)
        for item in data[other]
        if isinstance(item, dict)
    }
    # "flange" in a plug-in is the element, even if an anchor has the same name.
    plug_ins = section not in ("anchor", "loop") or old not in twins
    for word, content in data.items():
        for path, table in _tables(word, content):
            for key, value in table.items():
                if word in PLUG_INS:
                    if key not in _NOT_NAMES and plug_ins:
                        yield from _texts((*path, key), value, section, old, new, exact=True)
                    continue
                names = REFERENCES.get((word, key), REFERENCES.get((word, "")))
                if names is not None:
                    exact = section in names
                    yield from _texts((*path, key), value, section, old, new, exact=exact)


def _tables(word: str, content: Any) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
    if isinstance(content, list):
        for number, item in enumerate(content):
            if isinstance(item, dict):
                yield (word, number), item
    elif isinstance(content, dict):
        yield (word,), content
    elif (word, "") in REFERENCES:
        yield (), {word: content}


def _texts(
    path: KeyPath, value: Any, section: str, old: str, new: str, *, exact: bool
) -> Iterator[Change]:
    if isinstance(value, str):
        made = renamed(value, section, old, new, exact=exact)
        if made != value:
            yield path, False, made
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts((*path, number), item, section, old, new, exact=exact)
    elif isinstance(value, dict):
        for key, item in value.items():
            made = renamed(key, section, old, new, exact=exact)
            if made != key:
                yield (*path, key), True, made
            yield from _texts((*path, key), item, section, old, new, exact=exact)
