"""Springs between anchors as joints that hold nothing and only have what acts along their rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from linkwork.engines.impulse.joint_columns import MODE, SOFT, SPRING, TORSION_SPRING
from linkwork.engines.impulse.row_kernels import DAMP, HI, LO, REST, ROW_COLUMNS, STIFF
from linkwork.engines.spring_kernels import TORSION
from linkwork.errors import EngineError
from linkwork.kinematics.kernels import CYLINDRICAL
from linkwork.world import World

#: Length below which a spring has no direction [m].
SHORTEST = 1e-9


def check_lengths(world: World, poses: np.ndarray, which: Iterable[int]) -> None:
    """Refuses springs without a rest of their own whose ends begin at one place.

    Raises:
        EngineError: If there is one: it has no direction in which to act.
    """
    for n in which:
        if world.spring_kind[n] == TORSION or not np.isnan(world.spring_law[n, 1]):
            continue
        ends = []
        for end in range(2):
            w, *xyz = poses[world.spring_body[n, end], 3:]
            point = world.spring_pose[n, end, :3]
            turn = 2.0 * np.cross(xyz, point)
            place = poses[world.spring_body[n, end], :3]
            ends.append(place + point + w * turn + np.cross(xyz, turn))
        if np.linalg.norm(ends[1] - ends[0]) < SHORTEST:
            raise EngineError(
                f"spring {world.spring_names[n]!r} has no rest, and its ends are at one place.",
                origin=world.spring_origins[n],
                hint="Give it a rest [m]; rest = 0 pulls its ends together.",
            )


def spring_kind(world: World, n: int) -> tuple[int, tuple[int, ...]]:
    """Kind of joint that a spring is, and the rows along which it acts.

    One about an axis acts along the gradient of the angle about it; one without a rest length along
    all three directions, so that its length may pass through 0; any other along the line between
    its ends.
    """
    if world.spring_kind[n] == TORSION:
        return TORSION_SPRING, (5,)
    return (CYLINDRICAL, (0, 1, 2)) if world.spring_law[n, 1] == 0.0 else (SPRING, (2,))


def free_all(whole: np.ndarray, rows: tuple[int, ...]) -> None:
    """Leaves a joint no row but those along which a spring acts."""
    whole[MODE : MODE + 6] = 0
    whole[[MODE + row for row in rows]] = SOFT


def spring_law(law: np.ndarray) -> np.ndarray:
    """A spring's soft row."""
    row = np.zeros(ROW_COLUMNS)
    row[LO], row[HI] = -np.inf, np.inf
    row[[STIFF, REST, DAMP]] = law
    return row
