"""The twin shows the sensor values: two tilts and six leg angles, each copied by a listener.

It also works with readings from a machine: the twin has no physics.
"""

from functools import partial

from linkwork import Control


class Twin(Control):
    def init(self):
        tilt = self.sensor("tripod/platform/tilt")
        self.copy(tilt.signal("x"), "stand/J1")
        self.copy(tilt.signal("y"), "stand/J2")
        for joint in ("leg1/hip", "leg1/knee", "leg2/hip", "leg2/knee", "leg3/hip", "leg3/knee"):
            self.copy(self.joint(f"tripod/{joint}"), f"twin/{joint}")

    def copy(self, source, follower):
        source.on_change(partial(self.show, self.joint(follower)))

    def show(self, follower, value):
        follower.value = value
