"""Schedule of the frames that publish the outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping

from linkwork.buses.can.frame import CanFrame, data_frame
from linkwork.buses.can.frame_codec import encode
from linkwork.buses.can.layout import FrameLayout, Key
from linkwork.buses.can.node import CanNode

#: Tolerance in comparing times [s].
TIME_TOLERANCE = 1e-9


class TransmitSchedule:
    """Sends frames on change or periodically; one that the bus refused is sent later.

    Args:
        forms: The frames.

    Attributes:
        forms: The frames, by identifier.
    """

    def __init__(self, forms: dict[Key, FrameLayout]) -> None:
        self.forms = forms
        self._sent: dict[Key, bytes] = {}
        self._began: dict[Key, float] = {}  # time of the first transmission of a periodic frame [s]
        self._due: dict[Key, float] = {}  # time of the next one [s]
        self._time = -math.inf
        self._refused = 0
        self._failed = False

    def forget(self) -> None:
        """Marks all frames to be sent again."""
        self._sent.clear()
        self._due.clear()
        self._began.clear()

    def frame(self, form: FrameLayout, values: Mapping[str, float]) -> CanFrame | None:
        """Returns a frame with its values; None while one of them is missing."""
        signals = form.message.signals
        if not all(signal.name in values for signal in signals):
            return None  # a command for a real plant without a value yet
        data = encode(form.message, {s.name: values[s.name] for s in signals}, clip=True)
        return data_frame(form.message.id, data, extended=form.message.extended)

    def has_unsent(self, node: CanNode) -> bool:
        """Returns whether a refused frame can be sent now."""
        lost = self._failed or node.count.refused != self._refused
        return lost and not node.errors.off

    def send(self, node: CanNode, values: Mapping[str, float], time: float) -> None:
        """Sends the frames that changed or are due.

        Args:
            node: The sending node.
            values: Values by key.
            time: Simulated time [s].
        """
        if node.count.refused != self._refused:
            self._sent.clear()  # frames in its queue when it went off the bus
        if time < self._time:
            self._due.clear()  # the session restored an earlier state
            self._began.clear()
        self._time = time
        self._failed = False
        for key, form in self.forms.items():
            frame = self.frame(form, values)
            if frame is None or not self._is_due(key, form, frame, time):
                continue
            if node.send(frame):
                self._note(key, form, frame, time)
            else:
                self._failed = True
        self._refused = node.count.refused

    def _is_due(self, key: Key, form: FrameLayout, frame: CanFrame, time: float) -> bool:
        if form.send == "period":
            return time > self._due.get(key, -math.inf) - TIME_TOLERANCE
        return form.send == "change" and frame.data != self._sent.get(key)

    def _note(self, key: Key, form: FrameLayout, frame: CanFrame, time: float) -> None:
        self._sent[key] = frame.data
        if form.send == "period" and form.every:
            # Counted from the first one, so that the period does not drift.
            began = self._began.setdefault(key, time)
            count = math.floor((time - began + TIME_TOLERANCE) / form.every) + 1
            self._due[key] = began + count * form.every
