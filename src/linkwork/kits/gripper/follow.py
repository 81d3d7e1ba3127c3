"""J3 follows J2: the listing of Rocon, section 3, in Python."""

from linkwork import Control


class Follow(Control):
    def init(self):
        self.joint("J2").on_change(self.follow)

    def follow(self, angle):
        self.joint("J3").value = angle
