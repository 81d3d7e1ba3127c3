"""A neck follows references with the least acceleration; what limits do not allow is told.

The humanoid of Lima et al. looks to 0, 45, 90, −45 and −90 degrees. The references stand in the
kit's file neck.toml, with the planner and the limits of its servo.

python examples/19_planners.py
"""

import math

import linkwork as lw
from linkwork.motion.profiles import (
    MotionLimits,
    UnreachableWaypoint,
    Waypoint,
    plan_together,
    segment,
)
from linkwork.motion.profiles.movement_profiles import plan_movement


def main() -> None:
    movement = lw.load_movement("bioloid/neck")
    neck = plan_movement(movement)["neck"]
    speed, acceleration = map(math.degrees, (neck.peak_speed, neck.peak_acceleration))
    print(f"planned: at most {speed:.1f}°/s and {acceleration:.1f}°/s²")

    with lw.Session("bioloid/look") as session:
        for posture in movement.postures[1:]:
            session.run(posture.time - session.time)
            wanted, angle = map(math.degrees, (posture.joints["neck"], session["robot/neck.angle"]))
            print(f"{session.time:.1f} s: {angle:+6.1f}° of {wanted:+.0f}°")

    # One step by itself: half a turn in a quarter of a second is too much for this servo.
    servo = MotionLimits(speed=math.radians(281), acceleration=math.radians(1400))
    try:
        segment(Waypoint(0.0, 0.0), Waypoint(0.25, math.pi), limits=servo, name="neck")
    except UnreachableWaypoint as refusal:
        print(refusal)

    # Three joints that arrive together, as soon as the slowest can, without a jerk above its limit.
    smooth = MotionLimits(servo.speed, servo.acceleration, jerk=math.radians(40_000))
    starts = {"neck": 0.0, "left_elbow": 0.0, "right_elbow": 0.5}
    ends = {"neck": 1.2, "left_elbow": -0.4, "right_elbow": 0.0}
    planned = plan_together(starts, ends, dict.fromkeys(starts, smooth), planner="jerk")
    for joint, profile in planned.items():
        print(
            f"{joint}: {profile.duration:.3f} s, at most {math.degrees(profile.peak_speed):.0f}°/s"
        )


if __name__ == "__main__":
    main()
