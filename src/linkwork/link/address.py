"""Address of a link: ``unix:/path`` or ``tcp:host:port``."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import stat
import tempfile
import time
import weakref
from collections.abc import Callable
from pathlib import Path

from linkwork.core.errors import os_error_text
from linkwork.core.hosts import is_loopback
from linkwork.link.limits import LinkError

_HAS_UNIX = hasattr(socket, "AF_UNIX")
_FORMS = "Addresses are unix:/path/to/socket and tcp:host:port, as in tcp:127.0.0.1:5577."


def listen(address: str | None, *, beyond_loopback: bool) -> tuple[socket.socket, str, Callable]:
    """Opens a socket for others to connect to.

    Args:
        address: The address; empty for a new unix socket in its own folder, accessible to this user
            only, or a free loopback port if there are no unix sockets.
        beyond_loopback: Whether other machines may reach it.

    Returns:
        The socket, its address, and a function that removes its files (also called at exit).

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
            if not beyond_loopback and not is_loopback(where[0]):
                raise LinkError(
                    f"{address} can be reached from other machines.",
                    hint="Use tcp:127.0.0.1:port, or allow it with beyond_loopback=True.",
                )
            if os.name == "posix":  # there it means: connections just closed do not block the port
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(where)
            host, port = sock.getsockname()[:2]
            address = f"tcp:[{host}]:{port}" if ":" in host else f"tcp:{host}:{port}"
        sock.listen(128)
    except OSError as error:
        sock.close()
        raise LinkError(f"cannot listen at {address}: {os_error_text(error)}.") from error
    except LinkError:
        sock.close()
        raise
    return sock, address, weakref.finalize(sock, _remove, where, folder)


def dial(address: str, timeout: float) -> socket.socket:
    """Connects to a session.

    Raises:
        LinkError: If the address is invalid, or nothing listens there.
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
            except BlockingIOError:  # a unix socket with a full backlog refuses instead of waiting
                if time.monotonic() > end:
                    raise
                time.sleep(0.005)
        undelayed(sock)
    except OSError as error:
        sock.close()
        raise LinkError(
            f"no session answers at {address}: {os_error_text(error)}.",
            hint="Check that it runs and that this is the address it printed.",
        ) from error
    return sock


def undelayed(sock: socket.socket) -> None:
    """Disables Nagle's algorithm, so that small messages are sent at once."""
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
    if scheme == "tcp" and host and port.isascii() and port.isdecimal() and int(port) < 2**16:
        return (socket.AF_INET6 if ":" in host else socket.AF_INET), (host, int(port))
    raise LinkError(f"{address!r} is not an address of a link.", hint=_FORMS)


def _bind_path(sock: socket.socket, path: str, address: str) -> None:
    """Binds a path accessible to this user only, replacing one that a dead session left."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            raise LinkError(f"cannot listen at {address}: the file exists and is not a socket.")
        with socket.socket(sock.family, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)
            else:
                raise LinkError(
                    f"cannot listen at {address}: a running session uses it.",
                    hint="Close it or choose another path.",
                )
    sock.bind(path)
    os.chmod(path, 0o600)  # nobody can connect before listen()


def _remove(where: str | tuple[str, int], folder: str) -> None:
    if isinstance(where, str):
        Path(where).unlink(missing_ok=True)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
