"""An arm with real servos: how it follows a step, what tuning does, and what it costs.

python examples/21_servos.py
"""

import math

import linkwork as lw
from linkwork.model.parts import Spec
from linkwork.studies import step_response


def arm() -> lw.Part:
    """An upper arm and a forearm that bend up and down, with Dynamixel servos."""
    part = lw.Part("arm").add(
        lw.Element("base", (lw.Cylinder(0.05, 0.06),), mass=1.0, color="#3a424c"),
    )
    before, at = "base", lw.Pose.of((0.0, 0.0, 0.06))
    for name, length, mass in (("shoulder", 0.18, 0.25), ("elbow", 0.16, 0.15)):
        link = f"{name}_link"
        tube = lw.Capsule(0.018, length, at=lw.Pose.of((0.0, 0.0, length / 2.0)))
        drive = Spec(
            "actuator", "smart_servo", params={"model": "XM430-W350", "supply_resistance": 0.2}
        )
        part.add(
            lw.Element(link, (tube,), mass=mass, color="#d8dde6"),
            lw.Joint(name, "hinge", before, link, at=at, axis=(0.0, 1.0, 0.0), drive=drive),
        )
        before, at = link, lw.Pose.of((0.0, 0.0, length))
    return part


def scene() -> lw.Scene:
    """The arm upright on a table."""
    made = lw.Scene("servos", step=0.002)
    made.place(arm(), at=lw.Pose.of((0.0, 0.0, 0.03)))
    return made.engine("mujoco")


def main() -> None:
    """Steps the shoulder with two gains, then lists where the energy went."""
    for kp in (4.6, 12.0):
        with lw.Session(scene()) as session:
            session["arm/shoulder.kp"] = kp
            found = step_response(session, "arm/shoulder", math.radians(60.0), 1.5)
            print(
                f"kp {kp:4.1f}: rises in {found.rise or math.nan:.3f} s, "
                f"{math.degrees(found.error):.2f}° are missing, {found.energy:.2f} J"
            )
            for joint in ("arm/shoulder", "arm/elbow", "arm"):
                meters = ("energy_gross", "heat", "work_gross")
                energies = ", ".join(
                    f"{meter} {session[f'{joint}.{meter}']:.2f} J" for meter in meters
                )
                print(f"  {joint:12} {energies}")


if __name__ == "__main__":
    main()
