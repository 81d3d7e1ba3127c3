"""A program on another machine drives the studio: the same signals and commands, over the network.

    python examples/20_network.py                                    # starts a studio of its own
    python examples/20_network.py "http://bench:8350/?token=…"       # one that runs elsewhere

It opens a scene, takes a joint over and moves it, in steps and in real time. Whoever has the studio
open in a browser sees it. docs/network.md tells more, also of plain lines of JSON over TCP.
"""

import contextlib
import math
import re
import subprocess
import sys
from collections.abc import Iterator

import linkwork as lw


@contextlib.contextmanager
def studio() -> Iterator[str]:
    """A studio without a browser; its address."""
    command = [sys.executable, "-m", "linkwork", "studio", "--no-open", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stdout or ():
                if found := re.search(r"The studio is at (\S+)", line):
                    yield found[1]
                    break
        finally:
            process.terminate()


def drive(address: str) -> None:
    with lw.connect(address) as remote:
        remote.open("gripper/follow")
        remote.pause()
        remote.take("arm/J1.target")  # from the scene's own program
        for wanted in (10.0, 25.0):
            remote["arm/J1.target"] = math.radians(wanted)
            remote.run(1.0)  # exactly so many steps, as fast as they can be done
            angle = math.degrees(remote["arm/J1.angle"])
            print(f"{remote.time:.3f} s: J1 at {angle:.1f}° of {wanted:.0f}°")

        remote["arm/J1.target"] = 0.0
        remote.play()  # in real time, until it is there
        remote.wait(lambda: remote["arm/J1.angle"] < math.radians(5.0))
        remote.pause()
        print("J1 came back below 5°.")
        try:
            remote["arm/J1.target"] = 99.0
        except lw.LinkworkError as error:
            print(f"Refused: {error}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        drive(sys.argv[1])
    else:
        with studio() as where:
            drive(where)
