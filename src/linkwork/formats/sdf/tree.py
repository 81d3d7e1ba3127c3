"""Trees: which joints of a model carry its links, and which close loops."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.formats.sdf.model import FlatModel, ModelJoint

#: Types whose motion is the same seen from the other side, with the axis turned round.
_REVERSIBLE = ("hinge", "slider", "fixed", "screw")


@dataclass
class Tree:
    """How a model hangs together.

    Attributes:
        carried: Joint that carries each link, and whether it is taken from its other side.
        loops: Joints that close loops.
        roots: Links that nothing carries.
        grounded: Joints from the world.
    """

    carried: dict[str, tuple[ModelJoint, bool]] = field(default_factory=dict)
    loops: list[ModelJoint] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    grounded: list[ModelJoint] = field(default_factory=list)


def spanning_tree(model: FlatModel) -> Tree:
    """The first joint to a link carries it; one that would carry it twice, or itself, is a loop.

    Where the second parent of a link stands on nothing itself, the joint carries it from its
    other side instead. What is static is carried by nothing that moves.
    """
    tree = Tree()
    late: list[ModelJoint] = []
    for joint in model.joints.values():
        loose = model.links[joint.child].static and not joint.held  # it stands by itself
        if loose or joint.child in tree.carried or _stands_on(tree, joint.parent, joint.child):
            late.append(joint)
        else:
            tree.carried[joint.child] = (joint, False)
            if not joint.parent:
                tree.grounded.append(joint)
    for joint in late:
        free = joint.parent and joint.parent not in tree.carried
        free = free and (joint.held or not model.links[joint.parent].static)
        if free and joint.kind in _REVERSIBLE and not _stands_on(tree, joint.child, joint.parent):
            tree.carried[joint.parent] = (joint, True)
        else:
            tree.loops.append(joint)
    tree.roots = [link for link in model.links if link not in tree.carried]
    return tree


def _stands_on(tree: Tree, link: str, other: str) -> bool:
    """Whether ``link`` is carried by ``other``, directly or not, or is it."""
    while link:
        if link == other:
            return True
        if link not in tree.carried:
            return False
        joint, reversed_ = tree.carried[link]
        link = joint.child if reversed_ else joint.parent
    return False
