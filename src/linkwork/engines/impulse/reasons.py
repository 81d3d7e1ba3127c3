"""Why joints cannot be closed: where it was said, by how much, and what may help."""

from __future__ import annotations

import numpy as np

from linkwork.engines.impulse.body_kernels import MASS_INV
from linkwork.engines.impulse.joint_columns import COUPLING, KIND, SIZE
from linkwork.engines.impulse.mechanism import Mechanism
from linkwork.engines.impulse.row_kernels import JOINT, KEEPS, PRESCRIBED
from linkwork.errors import Origin, listing
from linkwork.world import World

#: A pivot of K, as a part of its first value, below which joints hardly hold in some direction.
_HARDLY = 1e-4
#: Masses further apart than this are hard to hold together.
_FAR_APART = 1e5


def origin_of(world: World, made: Mechanism, names: list[str]) -> Origin | None:
    """Where the first loop of these joints was said, or else the first joint."""
    for name in names:
        if name in world.loop_names:
            return world.loop_origins[world.loop_names.index(name)]
    for name in names:
        if name in world.joint_names:
            return world.joints[world.joint_names.index(name)].origin
    return None


def size_of(made: Mechanism, joint: int, errors: np.ndarray) -> str:
    """How far a joint is open, with its unit."""
    found = np.abs(np.nan_to_num(errors[joint], nan=np.inf))
    row = int(found.argmax())
    if made.whole[joint, KIND] == COUPLING:
        return f"{found[row]:.3g} (m or rad)"
    return f"{found[row]:.3g} {'m' if row < 3 else 'rad'}"


def prescribed_in(made: Mechanism, names: list[str]) -> list[str]:
    """Which of these joints follow targets whatever it takes."""
    rows = made.soft_whole[made.soft_whole[:, KEEPS] == PRESCRIBED, JOINT]
    return [name for name in names if name in {made.names[n] for n in rows}]


def advice(made: Mechanism, names: list[str], first: np.ndarray, pivot: np.ndarray) -> str:
    """What may help where joints cannot be closed in a step."""
    if len(told := prescribed_in(made, names)) > 1:
        return f"{listing(told, most=6)} are prescribed: give them targets that go together."
    size = made.whole[:, SIZE]
    acts = (np.arange(6) < size[:, None]) & (pivot > 0.0)
    if len(names) > 1 and (1.0 / (first[acts] * pivot[acts]) < _HARDLY).any():
        return (
            "It is near a change point, where joints are in line and hardly hold it. Use a smaller "
            "step, or a drive that keeps it away from there."
        )
    mass = 1.0 / made.bodies[made.bodies[:, MASS_INV] > 0.0, MASS_INV]
    if mass.max() > _FAR_APART * mass.min():
        return (
            f"Masses from {mass.min():.2g} to {mass.max():.2g} kg are held together: give the "
            "lightest more, or use a larger gap."
        )
    if told:
        return f"{told[0]} is prescribed: give it a target that it can reach, or a smaller step."
    return "Use a smaller step, or look for joints that contradict each other."
