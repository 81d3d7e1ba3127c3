"""A sledge pulls itself along by the friction of its arm, on rubber, wood and ice.

The kit's program moves the tip of the arm round a rectangle: reach, put down, pull, lift. Only the
friction between tip and floor carries the sledge along, and the sledge's own runners drag.

python examples/16_crawler.py
"""

import linkwork as lw

FLOORS = {"rubber": 1.0, "wood": 0.5, "ice": 0.02}


def main() -> None:
    for name, friction in FLOORS.items():
        with lw.Session("vehicles/crawl") as session:
            session["ground.friction"] = friction
            session.run(8.0)
            print(f"{name:>7}: {session['crawler.x']:+.2f} m in {session.time:.0f} s")

    # Recorded, and simulated again from the recording.
    with lw.Session("vehicles/crawl", record="crawl.mcap", overwrite=True) as session:
        session.run(4.0)
    result = lw.replay("crawl.mcap")
    print(f"Replayed {result.steps} steps; bit-identical: {result.same}.")


if __name__ == "__main__":
    main()
