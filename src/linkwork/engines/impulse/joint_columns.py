"""Columns of a joint's numbers and integers.

A joint holds a frame of body ``a`` and one of body ``b`` together; its axis is their z. Rows 0 to 2
are the distance along x, y and z of the frame of ``a`` (of joints that hold a point, along those of
the world), rows 3 to 5 the turn about them. A row is hard (it must be 0), soft (a spring, a drive
or a limit acts along it) or off. Off rows have no entries and a one on the diagonal.

Columns of a joint's numbers: PA (3) and AXES_A (9) the frame in ``a``, axes by rows; PB, AXES_B in
``b``; PITCH [m/rad]; S arc length on a rail [m], place on a curve or angle of a screw [rad], as
last seen; TURNS (2) the coordinates of a coupling's follower and leader, likewise.

Columns of its integers: its bodies (A, B and for a coupling up to two more), how many SIDES it has,
KIND, where its rail or curve begins and how many pieces it has, the MODE of its six rows, how many
soft rows it has and which is the first. A coupling holds the free row of one joint to another's:
FOLLOWER and LEADER are joint and row of each, SIDE_OF the side of their four bodies; its ratio is
in PITCH, its offset in S. SIZE is the number of its rows up to the last that acts, POINT 1 where it
holds a point in all three directions.
"""

from __future__ import annotations

PA, AXES_A, PB, AXES_B, PITCH, S, TURNS = 0, 3, 12, 15, 24, 25, 26
JOINT_COLUMNS = 28
#: Columns that change with time: S and TURNS.
ARCS = slice(S, TURNS + 2)
A, B, SIDES, KIND, RAIL_FIRST, RAIL_COUNT, MODE, SOFT_COUNT, SOFT_FIRST = (
    0,
    1,
    4,
    5,
    6,
    7,
    8,
    14,
    15,
)
FOLLOWER, LEADER, SIDE_OF, SIZE, POINT = 16, 18, 20, 24, 25
JOINT_INTEGERS = 26
#: Kinds beside those of the world's joints: points that slide, a joint of joints, springs.
POINT_ON_PLANE, POINT_ON_CURVE, COUPLING, SPRING, TORSION_SPRING = 10, 11, 20, 21, 22
OFF, HARD, SOFT = 0, 1, 2

#: Columns of the frames of a joint in the world: points, axes by rows, and how a rail bends.
AT_A, ROWS_A, AT_B, ROWS_B, BEND = 0, 3, 12, 15, 24
FRAME_COLUMNS = 40
