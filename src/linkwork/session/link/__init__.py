"""Joins a session to viewers, servers and buses, in one process or several.

What leaves the simulation is a copy: a *snapshot* (latest wins) or an *event* (ordered, none
lost); what enters is a message. The ends carry bytes and know nothing of their meaning.
"""

from linkwork.session.link.limits import Limits, LinkClosed, LinkError, LinkFull
from linkwork.session.link.local import Join, local_link
from linkwork.session.link.peer_end import PeerEnd
from linkwork.session.link.remote import connect, serve
from linkwork.session.link.session_end import Joined, Left, SessionEnd

__all__ = [
    "Join",
    "Joined",
    "Left",
    "Limits",
    "LinkClosed",
    "LinkError",
    "LinkFull",
    "PeerEnd",
    "SessionEnd",
    "connect",
    "local_link",
    "serve",
]
