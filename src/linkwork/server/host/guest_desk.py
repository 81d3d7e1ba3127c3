"""GuestDesk: lets people into a running scene: first a world with them, then their walk."""

from __future__ import annotations

from linkwork.errors import LinkworkError
from linkwork.server import messages as m
from linkwork.server.host.door import Door, Tell
from linkwork.server.host.guests import Guests
from linkwork.server.host.swaps import Swaps
from linkwork.session import messages as inbox
from linkwork.session.session import Session


class GuestDesk:
    """Invites people, and begins their walk when they are there.

    Args:
        session: The session.
        guests: Everyone who was let in.
        swaps: Lets the session go over to a world with them.
        door: The way into the session.
        tell: Tells clients something.
    """

    def __init__(
        self, session: Session, guests: Guests, swaps: Swaps, door: Door, tell: Tell
    ) -> None:
        self._session, self._guests, self._swaps = session, guests, swaps
        self._door, self._tell = door, tell
        self._awaited: list[tuple[str, str]] = []  # faults that begin in the next world, and asker

    def invite(self, client: str, asked: inbox.Fault) -> None:
        """Lets somebody into the cell: a body more is another world, as after an edit."""
        guest, take_back = self._guests.invite(
            self._session, asked.name, dict(asked.args), [name for name, _ in self._awaited]
        )
        waits = (guest.fault.name, client)
        if guest.fault.params.keys().isdisjoint(("at", "chance")):
            self._awaited.append(waits)

        def uninvite() -> None:
            take_back()
            self._awaited = [each for each in self._awaited if each != waits]

        self._swaps.begin(client, "fault", uninvite, guest.fault.name)

    def let_in(self) -> None:
        """Begins what waited for a world in which it can."""
        trouble = self._session.cycle.trouble
        here = [each for each in self._awaited if trouble.find(each[0]) is not None]
        self._awaited = [each for each in self._awaited if each not in here]
        for name, client in here:
            try:
                self._door.apply(inbox.Fault(name))
            except LinkworkError as error:
                self._tell(client, m.Refused("fault", str(error), name))
