"""Another process balances a pole: the two exchange messages over a link, in lock-step.

The simulation sends its readings and waits; the controller, which could be the software of the
real machine, answers with a force, and the simulation advances by five steps. The controller never
imports the simulator's compiled kernels, and the outcome does not depend on the speed of either
process.

python examples/08_two_processes.py
"""

import json
import subprocess
import sys

PERIOD, SECONDS = 5, 4.0  # of control [steps], of the run [s]
WATCHED = ["cart/rail.position", "cart/rail.speed", "cart/pole.angle", "cart/pole.speed"]
GAINS = [2.0, 4.0, 40.0, 8.0]  # [N/m, N s/m, N/rad, N s/rad]


def scene():
    import linkwork as lw
    from linkwork.model.parts import Spec

    beam = lw.Box((1.6, 0.03, 0.02), at=lw.Pose((0.0, 0.0, 0.20)))
    feet = [lw.Box((0.02, 0.12, 0.20), at=lw.Pose((x, 0.0, 0.10))) for x in (-0.78, 0.78)]
    rail = lw.Joint(
        "rail", "slider", "track", "sled", at=lw.Pose((0.0, 0.0, 0.24)), axis=(1, 0, 0),
        range=(-0.7, 0.7), max_effort=30.0, drive=Spec("actuator", "effort"),
    )  # fmt: skip
    pole = lw.Joint(
        "pole", "hinge", "sled", "stick", at=lw.Pose((0.0, -0.05, 0.0)), axis=(0, 1, 0), value=0.15
    )
    stick = lw.Capsule(0.008, 0.55, at=lw.Pose((0.0, 0.0, 0.275)))
    bob = lw.Sphere(0.03, at=lw.Pose((0.0, 0.0, 0.56)), color="#e0a54a")
    cart = lw.Part("cart").add(
        lw.Element("track", (beam, *feet), mass=5.0, color="#7f8994"),
        lw.Element("sled", (lw.Box((0.14, 0.08, 0.05)),), mass=1.0, color="#5b6672"),
        lw.Element("stick", (stick, bob), mass=0.2, color="#d8dde6"),
        rail,
        pole,
    )
    made = lw.Scene("balance").place(cart)
    return made.add(lw.Element("ground", (lw.Plane((4.0, 4.0)),)))


def simulate() -> None:
    """Runs the session: sends readings, waits for a force, advances by one control period."""
    import linkwork as lw
    from linkwork.link import serve

    # A socket that only this user can reach, and a random key.
    with serve() as link, lw.Session(scene()) as session:
        other = subprocess.Popen([sys.executable, __file__, "control"], stdin=subprocess.PIPE)
        assert other.stdin is not None
        other.stdin.write(json.dumps({"address": link.address, "key": link.key}).encode())
        other.stdin.close()
        while session.time < SECONDS and link.wait(30.0):
            for _, item in link.receive():
                if isinstance(item, bytes):
                    session["cart/rail.target_effort"] = json.loads(item)
                    session.step(PERIOD)
                link.emit(json.dumps([session[name] for name in WATCHED]).encode())
        angle, place = session["cart/pole.angle"], session["cart/rail.position"]
        print(f"{session.time:.1f} s: pole at {angle:+.4f} rad, sled at {place:+.3f} m", flush=True)
    other.wait(timeout=30)


def control() -> None:
    """The other process: readings in, a force out."""
    from linkwork.link import LinkClosed, connect

    count = 0
    with connect(**json.load(sys.stdin)) as peer:
        try:
            while True:
                peer.wait(1.0)
                for data in peer.events():
                    pairs = zip(GAINS, json.loads(data), strict=True)
                    force = sum(gain * reading for gain, reading in pairs)
                    peer.send(json.dumps(force).encode())
                    count += 1
        except LinkClosed:
            pass
    print(f"The controller decided {count} times; numba loaded: {'numba' in sys.modules}.")


if __name__ == "__main__":
    control() if sys.argv[1:] == ["control"] else simulate()
