"""A controller of its own moves the Amtec arm over TCP; it knows nothing of Linkwork.

Start the arm in another terminal, then this one:

    linkwork run amtec/tcp --real
    python examples/11_tcp_controller.py
"""

import math
import socket
import sys

HOST, PORT = (sys.argv[1:] + ["localhost", "7420"][len(sys.argv) - 1 :])[:2]

part = socket.create_connection((HOST, int(PORT))).makefile("rw", newline="\n")
print("join", file=part, flush=True)
names = []
while (words := part.readline().split())[0] != "ready":
    if words[0] == "command":
        names.append(words[1])
for line in part:  # s, step, time, then what the sensors say
    time, angles = float(line.split()[2]), [float(word) for word in line.split()[3:]]
    wanted = {"J2.angle_wanted": 0.4 + 0.3 * math.sin(time), "J1.angle_wanted": math.sin(time / 2)}
    wanted |= {f"{side}.position_wanted": 0.015 * (1 + math.sin(time)) for side in ("left", "right")}
    print("c", *(wanted.get(name, "-") for name in names), file=part, flush=True)
    if time > 8.0:
        print(f"J1 is at {math.degrees(angles[0]):.1f}°, J2 at {math.degrees(angles[1]):.1f}°.")
        break
