"""A first session: run a scene of a kit, look at its signals, change the world while it runs.

python examples/01_first_session.py
"""

import math

import linkwork as lw


def main() -> None:
    # A scene comes from a kit by name ("tripod/level"), from a file, or from Python.
    with lw.Session("tripod/level") as session:
        # Everything that can be seen or set is a signal with a name, a unit and a range.
        print(f"{len(session.signals)} signals, among them:")
        for name in ("table/roll.angle", "tripod/leg1/hip.target", "world.gravity_z"):
            signal = session.signals[name]
            print(f"  {name:<24} {session[name]:8.3f} {signal.unit:<5} {signal.direction}")

        # The floor tilts by 10 degrees; a control program keeps the tray level.
        session.run(5.0)
        report(session, "on Earth")

        # Parameters may be changed at any time; the change is applied before the next step.
        session["world.gravity_z"] = -3.71
        session.run(5.0)
        report(session, "on Mars")


def report(session: lw.Session, where: str) -> None:
    floor, tray = session["table/pitch.angle"], session["tripod/platform/tilt.y"]
    print(
        f"{session.time:.0f} s, {where}: the floor stands at {math.degrees(floor):+.1f}°, "
        f"the tray at {math.degrees(tray):+.2f}°"
    )


if __name__ == "__main__":
    main()
