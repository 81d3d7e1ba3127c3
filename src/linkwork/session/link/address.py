"""Where a session listens: ``unix:/path`` or ``tcp:host:port``, on this machine unless asked."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import shutil
import socket
import stat
import tempfile
import time
import weakref
from collections.abc import Callable
from pathlib import Path

from linkwork.session.link.limits import LinkError

_HAS_UNIX = hasattr(socket, "AF_UNIX")
_FORMS = "Addresses are unix:/path/to/socket and tcp:host:port, as in tcp:127.0.0.1:5577."


def listen(address: str | None, *, beyond_loopback: bool) -> tuple[socket.socket, str, Callable]:
    """Opens a socket for others to connect to.

    Args:
        address: Where; nothing for a fresh unix socket in a folder of its own that only this user
            can enter, or a free loopback port where there are no unix sockets.
        beyond_loopback: Whether other machines may reach it.

    Returns:
        The socket, its address, and what removes its traces (also done at exit).

    Raises:
        LinkError: The address is wrong, taken or not allowed.
    """
    folder = ""
    if address is None and _HAS_UNIX:
        folder = tempfile.mkdtemp(prefix="linkwork-")
        address = f"unix:{folder}/link"
    elif address is None:
        address = "tcp:127.0.0.1:0"
    kind, where = _parse(address)
    sock = socket.socket(kind, socket.SOCK_STREAM)
    try:
        if isinstance(where, str):
            _bind_path(sock, where, address)
        else:
            if not beyond_loopback and not _is_loopback(where[0]):
                raise LinkError(
                    f"{address} can be reached from other machines.",
                    hint="Use tcp:127.0.0.1:port, or allow it with beyond_loopback=True.",
                )
            if os.name == "posix":  # there it means: not held up by connections just closed
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(where)
            host, port = sock.getsockname()[:2]
            address = f"tcp:[{host}]:{port}" if ":" in host else f"tcp:{host}:{port}"
        sock.listen(128)
    except OSError as error:
        sock.close()
        raise LinkError(f"cannot listen at {address}: {error.strerror or error}.") from error
    except LinkError:
        sock.close()
        raise
    return sock, address, weakref.finalize(sock, _remove, where, folder)


def dial(address: str, timeout: float) -> socket.socket:
    """Connects to a session.

    Raises:
        LinkError: The address is wrong, or nobody listens there.
    """
    kind, where = _parse(address)
    end = time.monotonic() + timeout
    sock = socket.socket(kind, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout)
        while True:
            try:
                sock.connect(where)
                break
            except BlockingIOError:  # a unix socket with many callers does not let one wait
                if time.monotonic() > end:
                    raise
                time.sleep(0.005)
        undelayed(sock)
    except OSError as error:
        sock.close()
        raise LinkError(
            f"no session answers at {address}: {error.strerror or error}.",
            hint="Is it running, and is this the address it printed?",
        ) from error
    return sock


def undelayed(sock: socket.socket) -> None:
    """Has small messages leave at once."""
    if not _HAS_UNIX or sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _parse(address: str) -> tuple[int, str | tuple[str, int]]:
    scheme, _, rest = address.partition(":")
    if scheme == "unix" and rest:
        if not _HAS_UNIX:
            raise LinkError(f"{address}: this system has no unix sockets.", hint=_FORMS)
        return socket.AF_UNIX, rest
    host, _, port = rest.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if scheme == "tcp" and host and port.isdecimal() and int(port) < 2**16:
        return (socket.AF_INET6 if ":" in host else socket.AF_INET), (host, int(port))
    raise LinkError(f"{address!r} is not an address of a link.", hint=_FORMS)


def _bind_path(sock: socket.socket, path: str, address: str) -> None:
    """Binds a path that only this user may connect to, over one that a dead session left."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            raise LinkError(f"cannot listen at {address}: the file exists and is no socket.")
        with socket.socket(sock.family, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)
            else:
                raise LinkError(
                    f"cannot listen at {address}: a running session does.",
                    hint="Close it or choose another path.",
                )
    sock.bind(path)
    os.chmod(path, 0o600)  # nobody can connect before listen()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _remove(where: str | tuple[str, int], folder: str) -> None:
    if isinstance(where, str):
        Path(where).unlink(missing_ok=True)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
