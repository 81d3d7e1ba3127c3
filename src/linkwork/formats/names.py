"""Names of a file and the names they get here; links and joints share one set of names here."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.parts import Part
from linkwork.parts.names import plain

#: Begins the alias of a joint whose name in the file is also that of a link.
JOINT_PREFIX = "joint:"
#: Begins an alias that is no name but a key of the file's format, as a number; only the format's
#: own writer uses it.
KEY_PREFIX = "~"


@dataclass
class NameTable:
    """Names in the file to names here, for links and joints."""

    links: dict[str, str] = field(default_factory=dict)
    joints: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, links: list[str], joints: list[str]) -> NameTable:
        """Gives each link and joint a name; those that are allowed as they are keep theirs."""
        table = cls()
        taken: set[str] = set()
        for names, given, clash in ((links, table.links, ""), (joints, table.joints, "_joint")):
            for name in sorted(names, key=lambda n: plain(n) != n):
                here = plain(name)
                if here in taken:
                    here = plain(here + clash, taken)
                taken.add(here)
                given[name] = here
        return table

    def aliases(self) -> dict[str, str]:
        """Names in the file to names here, where they differ."""
        found = {name: here for name, here in self.links.items() if name != here}
        for name, here in self.joints.items():
            if name != here:
                found[JOINT_PREFIX + name if name in self.links else name] = here
        return found


def file_names(part: Part) -> dict[str, str]:
    """For each name in ``part`` that an imported file spelled differently, that spelling.

    Keys of a format are no spellings.
    """
    found: dict[str, str] = {}
    for alias, here in part.aliases.items():
        if alias.startswith(KEY_PREFIX):
            continue
        bare = alias.removeprefix(JOINT_PREFIX)
        of_link = bare in part.elements or bare in part.aliases
        found[here] = bare if of_link else alias
    return found


def keys_of(part: Part, kind: str) -> dict[str, str]:
    """For each name in ``part`` that has a key of this kind in its file, that key."""
    prefix = f"{KEY_PREFIX}{kind}"
    return {
        here: alias.removeprefix(prefix)
        for alias, here in part.aliases.items()
        if alias.startswith(prefix)
    }
