"""Finding joints by the names that couplings and postures use."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.parts import Joint, Part
from linkwork.parts.names import scoped
from linkwork.scene import Scene


def find_joint(part: Part, name: str) -> Joint | None:
    """The joint ``name`` of a part or of parts attached to it; None if there is none."""
    name = part.aliases.get(name, name)
    scope, _, rest = name.partition("/")
    if rest and scope in part.attachments:
        return find_joint(part.attachments[scope].part, rest)
    return part.joints.get(name)


def joint_names(part: Part) -> Iterator[str]:
    """Names of a part's joints, with those of attached parts."""
    yield from part.joints
    for scope, attachment in part.attachments.items():
        yield from (scoped(scope, name) for name in joint_names(attachment.part))


def is_angle(scene: Scene, name: str) -> bool | None:
    """Whether a posture's ``arm/elbow`` or ``cart.x`` is an angle; None if that is unknown."""
    joint_name, _, freedom = name.partition(".")
    scope, _, rest = joint_name.partition("/")
    if scope not in scene.parts or not rest:
        return None
    joint = find_joint(scene.parts[scope].part, rest)
    if joint is None:
        return None
    if freedom in joint.kind.dofs:
        return joint.kind.is_angle(joint.kind.dofs.index(freedom))
    if joint.kind.nv == 1 and not freedom:
        return joint.kind.is_angle(0)
    return None
