"""Placed drives: what drives the joints of a part in this scene, in place of its own drives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from linkwork.errors import SceneError, not_found
from linkwork.parts import Joint, Spec
from linkwork.scene.scene import Placement


def placed_drives(placement: Placement, joints: Mapping[str, Joint]) -> dict[str, Spec]:
    """Drives that the scene gives to joints of a placed part, by their full names.

    A name is within the part, ``neck``, and wins over patterns; ``*`` and ``left_*`` stand for the
    joints that have a drive of their own, later ones win over earlier ones.

    Args:
        placement: The part, and what the scene says of its drives.
        joints: Joints of the scene by full name.

    Raises:
        NameNotFound: If there is no joint of a name.
        SceneError: If a pattern fits no joint with a drive.
    """
    scope = f"{placement.name}/"
    own = {name.removeprefix(scope): j for name, j in joints.items() if name.startswith(scope)}
    driven = [name for name, joint in own.items() if joint.drive is not None]
    found: dict[str, Spec] = {}
    for pattern, spec in sorted(placement.drives.items(), key=lambda each: not _many(each[0])):
        names: Iterable[str] = [pattern]
        if _many(pattern):
            names = [name for name in driven if fnmatchcase(name, pattern)]
            if not names:
                raise SceneError(
                    f"part {placement.name!r}: no joint with a drive fits {pattern!r}.",
                    origin=spec.origin,
                    hint=f"Joints with a drive: {', '.join(driven) or 'none'}.",
                )
        elif pattern not in own:
            raise not_found("joint", pattern, own, origin=spec.origin)
        found |= {f"{scope}{name}": spec for name in names}
    return found


def placed_by(placement: Placement, joint: str) -> str:
    """The name or pattern among the placement's drives that a joint's drive comes from, or none.

    Args:
        placement: The part, and what the scene says of its drives.
        joint: Its name within the part; one with a drive of its own.
    """
    if joint in placement.drives:
        return joint
    fitting = [word for word in placement.drives if _many(word) and fnmatchcase(joint, word)]
    return fitting[-1] if fitting else ""


def _many(pattern: str) -> bool:
    return any(mark in pattern for mark in "*?[")
