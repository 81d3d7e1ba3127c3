"""Outbound: the frames that tell what the ports give out, and when each is due."""

from __future__ import annotations

import math
from collections.abc import Mapping

from linkwork.buses.can.dbc.codec import encode
from linkwork.buses.can.frame import Frame, data_frame
from linkwork.buses.can.layout import FrameForm, Key
from linkwork.buses.can.node import Node

#: Times that differ by less are the same [s].
CLOSE = 1e-9


class Outbound:
    """Sends frames on change or every so often; one that the bus refused is still owed.

    Args:
        forms: The frames.

    Attributes:
        forms: The frames, by identifier.
    """

    def __init__(self, forms: dict[Key, FrameForm]) -> None:
        self.forms = forms
        self._said: dict[Key, bytes] = {}
        self._began: dict[Key, float] = {}  # when a periodic frame was sent first [s]
        self._due: dict[Key, float] = {}  # when it is due next [s]
        self._time = -math.inf
        self._refused = 0
        self._failed = False

    def forget(self) -> None:
        """Everything is to be said anew."""
        self._said.clear()
        self._due.clear()
        self._began.clear()

    def frame(self, form: FrameForm, values: Mapping[str, float]) -> Frame | None:
        """A frame with what stands in it; None while one of its values is not known."""
        signals = form.message.signals
        if not all(signal.name in values for signal in signals):
            return None  # a command for a real plant that nobody has given yet
        data = encode(form.message, {s.name: values[s.name] for s in signals}, clip=True)
        return data_frame(form.message.id, data, extended=form.message.extended)

    def owes(self, node: Node) -> bool:
        """Whether something was refused that the bus would take by now."""
        lost = self._failed or node.count.refused != self._refused
        return lost and not node.errors.off

    def send(self, node: Node, values: Mapping[str, float], time: float) -> None:
        """Sends what has changed, and what is due.

        Args:
            node: Who sends it.
            values: By key.
            time: Simulated time [s].
        """
        if node.count.refused != self._refused:
            self._said.clear()  # frames that waited in its queue when it went off the bus
        if time < self._time:
            self._due.clear()  # the scene went back
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

    def _is_due(self, key: Key, form: FrameForm, frame: Frame, time: float) -> bool:
        if form.send == "period":
            return time > self._due.get(key, -math.inf) - CLOSE
        return form.send == "change" and frame.data != self._said.get(key)

    def _note(self, key: Key, form: FrameForm, frame: Frame, time: float) -> None:
        self._said[key] = frame.data
        if form.send == "period" and form.every:
            # Counted from the first one: a time that is no multiple of the period does not drift.
            began = self._began.setdefault(key, time)
            count = math.floor((time - began + CLOSE) / form.every) + 1
            self._due[key] = began + count * form.every
