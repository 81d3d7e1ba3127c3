"""Names of a file and the names they get here; links and joints share one set of names here."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.parts import Part
from linkwork.parts.names import plain

#: Begins the alias of a joint whose name in the file is also that of a link.
JOINT_PREFIX = "joint:"


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
    """For each name in ``part`` that an imported file spelled differently, that spelling."""
    found: dict[str, str] = {}
    for alias, here in part.aliases.items():
        bare = alias.removeprefix(JOINT_PREFIX)
        of_link = bare in part.elements or bare in part.aliases
        found[here] = bare if of_link else alias
    return found
