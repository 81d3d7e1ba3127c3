"""Compiled contact points after a step: where they grip, and what the report says of them."""

from __future__ import annotations

from linkwork.dynamics.kernels import move_bodies
from linkwork.engines.lagrange.force_kernels import contact_force, touch
from linkwork.jit import kernel


@kernel
def settle_grips(ground, work, desk):
    """After a step: points that left let go, those that slide take their grip along."""
    points, planes, rub, grip, firm = ground
    pose, _, twist, _, _, _ = work
    at, made = desk[4], desk[5]
    for n in range(points.shape[0]):
        number = touch(points[n], planes, pose, twist, at)
        if number < 0:
            grip[n, 0] = 0.0
            continue
        contact_force(
            points[n], planes, number, grip[n], firm[0], firm[1], rub[n, number], at, made
        )
        if grip[n, 0] == 0.0 or int(grip[n, 4]) != number:
            grip[n, 0], grip[n, 4] = 1.0, number
            for m in range(3):
                grip[n, 1 + m] = at[m]
        elif made[4] > 0.0:  # it slides: the spring keeps the length that friction can hold
            normal, d = made[3], firm[1]
            plane = planes[number]
            sink = -(at[3] * plane[0] + at[4] * plane[1] + at[5] * plane[2])
            for m in range(3):
                held = made[m] - normal * plane[m] + d * (at[3 + m] + sink * plane[m])
                grip[n, 1 + m] = at[m] + held / firm[0]


@kernel
def settle_here(robot, ground, q, v, work, desk):
    """Places the bodies as they are now, and settles the grips."""
    tree, order, gravity = robot[0], robot[1], robot[4]
    pose, motion, twist, rate, _, scratch = work
    desk[2][:] = 0.0
    move_bodies(tree, order, gravity, q, v, desk[2], pose, motion, twist, rate, scratch)
    settle_grips(ground, work, desk)


@kernel
def list_contacts(robot, ground, q, v, work, desk, points_element, planes_body, rows, table):
    """Adds a row for each point that touches to the table of contacts; returns how many wanted."""
    tree, order, gravity = robot[0], robot[1], robot[4]
    points, planes, rub, grip, firm = ground
    pose, motion, twist, rate, _, scratch = work
    at, made = desk[4], desk[5]
    desk[2][:] = 0.0
    move_bodies(tree, order, gravity, q, v, desk[2], pose, motion, twist, rate, scratch)
    for n in range(points.shape[0]):
        number = touch(points[n], planes, pose, twist, at)
        if number < 0:
            continue
        rows += 1
        if rows > table.shape[0]:
            continue
        contact_force(
            points[n], planes, number, grip[n], firm[0], firm[1], rub[n, number], at, made
        )
        row, plane = table[rows - 1], planes[number]
        row[0], row[1] = planes_body[number, 0], points[n, 0]
        row[2], row[3] = planes_body[number, 1], points_element[n]
        fx = made[0] - made[3] * plane[0]
        fy = made[1] - made[3] * plane[1]
        fz = made[2] - made[3] * plane[2]
        for m in range(3):
            row[4 + m], row[7 + m] = at[m], plane[m]
        row[10], row[11] = at[6], made[3]
        row[12] = fx * plane[6] + fy * plane[7] + fz * plane[8]
        row[13] = fx * plane[9] + fy * plane[10] + fz * plane[11]
    return rows
