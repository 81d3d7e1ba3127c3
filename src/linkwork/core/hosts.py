"""Host names: tests for loopback and wildcard hosts, addresses of this machine."""

from __future__ import annotations

import contextlib
import ipaddress
import socket

#: Documentation addresses; nothing is sent, but the system selects the outgoing interface.
_DOCUMENTATION_ADDRESSES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


def is_loopback(host: str) -> bool:
    """Returns whether a host name is a loopback address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_ip_address(host: str) -> bool:
    """Returns whether a host is an IP address rather than a name."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def is_any_address(host: str) -> bool:
    """Returns whether a host name means every interface of this machine."""
    return host in ("0.0.0.0", "::", "")


def own_addresses() -> list[str]:
    """Returns this machine's network addresses, that of the default route first."""
    found: list[str] = []
    for family, far in _DOCUMENTATION_ADDRESSES:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))
            found.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        known = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
        found.extend(str(address[0]) for *_, address in known)
    return [each for each in dict.fromkeys(found) if _is_routable(each)]


def _is_routable(address: str) -> bool:
    """Returns whether other machines can reach an address."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return False  # with the name of an interface, which is only valid on this machine
    return not (known.is_loopback or known.is_link_local or known.is_unspecified)
