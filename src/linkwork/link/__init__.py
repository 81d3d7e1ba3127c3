"""Connects a session to viewers, servers and buses, in one process or several.

Output of the simulation is a copy: a *snapshot* (latest wins) or an *event* (ordered, none lost);
input is a message. The ends carry bytes without interpreting them::

    session = serve()                                # or: session, join = local_link()
    peer = connect(session.address, session.key)     # or: peer = join()

Between processes it is one stream socket per peer, from the standard library. Measured beside the
alternatives (``benchmarks/link.py``, ours / theirs, lower is better): against pyzmq a round trip
takes 0.5-0.8, ``publish`` 1.1-1.4, an event emitted alone 1.6-2.8, one of twenty emitted together
0.9-1.1, a ``receive`` of nothing 0.02, and so the link's share of a 2 kHz session 0.11-0.18. A
seqlock in shared memory publishes in about half the time, most of which is waking the reader; at 60
snapshots a second that does not justify a second implementation. A round trip takes as long as that
of ``multiprocessing.connection`` within the scheduler's jitter (0.7-2.5).
"""

from linkwork.link.limits import LinkClosed, LinkError, LinkFull, LinkLimits
from linkwork.link.peer_end import PeerEnd
from linkwork.link.session_end import PeerJoined, PeerLeft, SessionEnd
from linkwork.link.transports import LocalConnector, connect, local_link, serve

__all__ = [
    "LinkClosed",
    "LinkError",
    "LinkFull",
    "LinkLimits",
    "LocalConnector",
    "PeerEnd",
    "PeerJoined",
    "PeerLeft",
    "SessionEnd",
    "connect",
    "local_link",
    "serve",
]
