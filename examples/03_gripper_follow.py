"""One finger follows the other: a control program with a listener, written, run and replaced.

python examples/03_gripper_follow.py
"""

import math

import linkwork as lw
from linkwork.session.messages import ReloadProgram

MIRROR = '''
from linkwork import Control

class Mirror(Control):
    """The second finger closes as the first one opens."""

    def init(self):
        self.joint("J2").on_change(self.follow)

    def follow(self, angle):
        self.joint("J3").value = 0.9 - angle
'''


def main() -> None:
    # The scene's program is kits/gripper/follow.py: J2 moves, a listener sets J3.
    with lw.Session("gripper/follow") as session:
        print("     time    J2    J3")
        for _ in range(4):
            session.run(0.5)
            show(session)

        # A new text for the program, while time runs; an editor that saves the file does the same.
        session.send(ReloadProgram("follow", MIRROR))
        for _ in range(4):
            session.run(0.5)
            show(session)


def show(session: lw.Session) -> None:
    fingers = [math.degrees(session[f"arm/{joint}.angle"]) for joint in ("J2", "J3")]
    print(f"{session.time:7.1f} s {fingers[0]:5.1f}° {fingers[1]:5.1f}°")


if __name__ == "__main__":
    main()
