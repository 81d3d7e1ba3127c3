"""A controller of its own moves the Amtec arm over TCP; it knows nothing of Linkwork.

    python examples/11_tcp_controller.py                      # starts the arm, then moves it
    python examples/11_tcp_controller.py 192.168.0.7 7420     # an arm that runs elsewhere
    python examples/11_tcp_controller.py 192.168.0.7 7420 …   # and has this token

What goes over the wire are lines of text, so any language does; 11_tcp_controller.c is the same
in C. The lines are described in docs/tcp.md.
"""

import math
import socket
import subprocess
import sys
import time


def control(host: str, port: int, *token: str) -> None:
    """Sways the first joint for 3 s, then brings it and the second one to 30°."""
    wire = socket.create_connection((host, port))
    part, out = wire.makefile("r", newline="\n"), wire.makefile("w", newline="\n")
    print("join", *token, file=out, flush=True)
    names, goal, began = [], math.radians(30), None
    while (line := part.readline()) != "ready\n":
        if not line or line.startswith("error"):
            sys.exit(line.strip() or "The part is gone.")  # the token is wrong, perhaps
        if line.startswith("command"):
            names.append(line.split()[1])
    for line in part:  # s, step, time, then what the sensors say
        if line.startswith("error"):
            sys.exit(line.strip())
        now, *angles = (float(word) for word in line.split()[2:])
        began = now if began is None else began
        sways = now < began + 3.0
        wanted = {"J1.angle_wanted": 0.8 * math.sin(now - began) if sways else goal}
        wanted |= {"J2.angle_wanted": goal}
        wanted |= {f"{side}.position_wanted": 0.02 for side in ("left", "right")}
        print("c", *(wanted.get(name, "-") for name in names), file=out, flush=True)
        if not sways and max(abs(angle - goal) for angle in angles[:2]) < 0.02:
            print(f"J1 at {math.degrees(angles[0]):.0f}°, J2 at {math.degrees(angles[1]):.0f}°.")
            return
    sys.exit("The part is gone.")


if len(sys.argv) > 2:
    control(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
else:
    run = [sys.executable, "-m", "linkwork", "run", "amtec/tcp", "--clock", "real"]
    with subprocess.Popen([*run, "--for", "60"], stdout=subprocess.PIPE, text=True) as arm:
        end = time.monotonic() + 120.0  # the first start compiles
        try:
            while True:
                try:
                    control("localhost", 7420)
                    break
                except ConnectionRefusedError:
                    if time.monotonic() > end or arm.poll() is not None:
                        raise
                    time.sleep(0.1)
        finally:
            arm.terminate()
