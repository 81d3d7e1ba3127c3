"""Joins a session to viewers, servers and buses, in one process or several.

What leaves the simulation is a copy: a *snapshot* (latest wins) or an *event* (ordered, none
lost); what enters is a message. The ends carry bytes and know nothing of their meaning::

    session = serve()                                # or: session, join = local_link()
    peer = connect(session.address, session.key)     # or: peer = join()

Between processes it is one stream socket per peer, from the standard library. Measured beside the
alternatives (``benchmarks/link.py``, ours / theirs, lower is better): against pyzmq a round trip
takes 0.5-0.8, ``publish`` 1.1-1.4, an event emitted alone 1.6-2.8, one of twenty emitted together
0.9-1.1, a ``receive`` of nothing 0.02, and so the link's share of a 2 kHz session 0.11-0.18. A
seqlock in shared memory publishes in about half the time, of which waking the reader is most; at
60 snapshots a second that does not pay for a second way of doing it. A round trip is as long as
that of ``multiprocessing.connection`` within what the scheduler does to both (0.7-2.5).
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
