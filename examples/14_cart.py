"""Drive a cart: four motors, two steering servos, and the circle that follows from them.

Each wheel rolls along its own circle about one common point (Ackermann's law), so that none has
to slip. The example sets the six drives by hand and measures the circle.

python examples/14_cart.py
"""

import math

import linkwork as lw

RADIUS = 0.05  # of a wheel [m]
#: Where the wheels stand, seen from the middle of the rear axle [m].
WHEELS = {
    "front_left": (0.22, 0.11),
    "front_right": (0.22, -0.11),
    "rear_left": (0.0, 0.11),
    "rear_right": (0.0, -0.11),
}


def scene() -> lw.Scene:
    made = lw.Scene("yard", step=0.004)
    made.add(lw.Element("ground", (lw.Plane((6.0, 6.0)),), color="#dfe3e8"))
    return made.place(lw.load_part("vehicles/cart"), base="free")


def drive(session: lw.Session, speed: float, curvature: float) -> None:
    """Sends the cart along a circle [m/s, 1/m]; positive bends to the left."""
    for name, (x, y) in WHEELS.items():
        ahead, aside = 1.0 - curvature * y, curvature * x
        session[f"cart/{name}/spin.target_speed"] = speed * math.hypot(ahead, aside) / RADIUS
        if name.startswith("front"):
            side = name.removeprefix("front_")
            session[f"cart/{side}_steer.target"] = math.atan2(aside, ahead)


def main() -> None:
    with lw.Session(scene()) as session:
        for wanted in (math.inf, 1.0, 0.5):
            drive(session, 0.4, 1.0 / wanted)
            session.run(1.0)
            left = math.degrees(session["cart/left_steer.angle"])
            right = math.degrees(session["cart/right_steer.angle"])
            way, turned = 0.0, 0.0
            for _ in range(200):
                session.run(0.01)
                way += 0.01 * math.hypot(session["cart.x_speed"], session["cart.y_speed"])
                turned += 0.01 * session["cart.rz_speed"]
            # The middle of the cart goes along a wider circle than the rear axle, 0.11 m behind.
            radius = math.sqrt(max((way / turned) ** 2 - 0.11**2, 0.0)) if turned else math.inf
            radius = math.inf if radius > 1000.0 else radius
            print(
                f"wheels at {left:4.1f}° and {right:4.1f}°: circle of {radius:.2f} m, "
                f"wanted {wanted:.2f} m"
            )


if __name__ == "__main__":
    main()
