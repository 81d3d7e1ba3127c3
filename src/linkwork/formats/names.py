"""Names of an imported file; links and joints share one namespace in Linkwork."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.model.parts import Part
from linkwork.model.parts.spec import plain_name

#: Prefix of the alias of a joint that has the name of a link in the file.
JOINT_PREFIX = "joint:"
#: Prefix of an alias that is a key of the file's format, for the format's writer.
KEY_PREFIX = "~"


@dataclass
class NameTable:
    """Linkwork's name of each link and joint of the file."""

    links: dict[str, str] = field(default_factory=dict)
    joints: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, links: list[str], joints: list[str]) -> NameTable:
        """Names each link and joint; valid names are kept."""
        table = cls()
        taken: set[str] = set()
        for names, given, clash in ((links, table.links, ""), (joints, table.joints, "_joint")):
            for name in sorted(names, key=lambda n: plain_name(n) != n):
                here = plain_name(name)
                if here in taken:
                    here = plain_name(here + clash, taken)
                taken.add(here)
                given[name] = here
        return table

    def aliases(self) -> dict[str, str]:
        """Returns Linkwork's name of each name in the file, if they differ."""
        found = {name: here for name, here in self.links.items() if name != here}
        for name, here in self.joints.items():
            if name != here:
                found[JOINT_PREFIX + name if name in self.links else name] = here
        return found


def original_names(part: Part) -> dict[str, str]:
    """Returns the spelling in the imported file of each name in ``part``, if it differs.

    Aliases that are keys of a format are excluded.
    """
    found: dict[str, str] = {}
    for alias, here in part.aliases.items():
        if alias.startswith(KEY_PREFIX):
            continue
        bare = alias.removeprefix(JOINT_PREFIX)
        of_link = bare in part.elements or bare in part.aliases
        found[here] = bare if of_link else alias
    return found


def original_keys(part: Part, kind: str) -> dict[str, str]:
    """Returns the key of this kind of each name in ``part`` that has one."""
    prefix = f"{KEY_PREFIX}{kind}"
    return {
        here: alias.removeprefix(prefix)
        for alias, here in part.aliases.items()
        if alias.startswith(prefix)
    }
