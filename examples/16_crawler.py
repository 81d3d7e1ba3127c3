"""A sledge pulls itself along by the friction of its arm, on rubber, wood and ice.

The kit's program moves the tip of the arm round a rectangle: reach, put down, pull, lift. Only the
friction between tip and floor carries the sledge along, and the sledge's own runners drag.

python examples/16_crawler.py
"""

import linkwork as lw

FLOORS = {"rubber": 1.0, "wood": 0.5, "ice": 0.02}
STROKE = 2.0  # how long one takes [s]


def crawl(session: lw.Session, strokes: int) -> list[float]:
    """How far each stroke leads [m]."""
    distances = []
    for _ in range(strokes):
        before = session["crawler.x"]
        session.run(STROKE)
        distances.append(session["crawler.x"] - before)
    return distances


def main() -> None:
    for name, friction in FLOORS.items():
        with lw.Session("vehicles/crawl") as session:
            session["ground.friction"] = friction
            distances = crawl(session, 4)
            each = ", ".join(f"{1000 * distance:.0f}" for distance in distances)
            print(
                f"{name:>7}: {sum(distances):+.2f} m in {session.time:.0f} s; strokes of {each} mm"
            )

    # Recorded, and simulated again from the recording.
    with lw.Session("vehicles/crawl", record="crawl.mcap", overwrite=True) as session:
        crawl(session, 2)
    result = lw.replay("crawl.mcap")
    print(f"Replayed {result.steps} steps; bit-identical: {result.same}.")


if __name__ == "__main__":
    main()
