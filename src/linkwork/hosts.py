"""Hosts: which names stand for this machine only, and how others call it."""

from __future__ import annotations

import contextlib
import ipaddress
import socket

#: Addresses for documents; nothing is sent there, but the way out begins at one of ours.
_FAR = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


def is_loopback(host: str) -> bool:
    """Whether a host's name stands for this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_everywhere(host: str) -> bool:
    """Whether a host's name stands for every interface of this machine."""
    return host in ("0.0.0.0", "::", "")


def own_addresses() -> list[str]:
    """This machine's addresses in its networks, the one on the way out first."""
    found: list[str] = []
    for family, far in _FAR:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))
            found.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        known = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
        found.extend(str(address[0]) for *_, address in known)
    return [each for each in dict.fromkeys(found) if _is_reached(each)]


def _is_reached(address: str) -> bool:
    """Whether others can call an address as it is written."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return False  # with the name of an interface, which means something here only
    return not (known.is_loopback or known.is_link_local or known.is_unspecified)
