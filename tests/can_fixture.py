"""A CAN bus in its own process, and plain sockets as clients."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

TIMEOUT = 30.0


def wait_for(condition: Callable[[], Any], what: str = "it") -> Any:
    """Polls until a value is true, and returns it."""
    end = time.monotonic() + TIMEOUT
    while not (found := condition()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.005)
    return found


class BusProcess:
    """``python -m linkwork.buses.can`` with commands on its standard input."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "linkwork.buses.can", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin
        assert self.process.stdout
        self._orders, self._answers = self.process.stdin, self.process.stdout
        endpoints = json.loads(self._answers.readline())
        self.socketcand: tuple[str, int] = tuple(endpoints["socketcand"])
        self.slcan: tuple[str, int] = tuple(endpoints["slcan"])
        self.pty: str = endpoints["pty"] or ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self._orders.write("quit\n")
            self._orders.flush()
        assert self.process.wait(TIMEOUT) == 0
        self._orders.close()
        self._answers.close()

    def ask(self, order: str) -> dict[str, Any]:
        self._orders.write(f"{order}\n")
        self._orders.flush()
        return json.loads(self._answers.readline())

    def stats(self) -> dict[str, Any]:
        return self.ask("stats")

    def has(self, part: str) -> bool:
        """Returns whether there is a node whose name contains a word."""
        return any(part in name for name in self.stats()["nodes"])

    def node(self, part: str) -> dict[str, Any]:
        """Returns the counters of the node whose name contains a word."""
        (found,) = [each for name, each in self.stats()["nodes"].items() if part in name]
        return found

    def memory(self) -> float:
        """Returns the resident memory [MB]."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found
        return int(found[1]) / 1024


class Line:
    """A plain TCP connection that reads up to an expected text."""

    def __init__(self, address: tuple[str, int], *, window: int = 0) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if window:  # what the kernel takes for a client that does not read
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.name = "{}:{}".format(*self.socket.getsockname())
        self.text = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send_text(self, text: bytes | str) -> None:
        self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def until(self, end: bytes | str) -> str:
        """Reads until a text arrives; returns all up to it, and keeps the rest."""
        end = end.encode() if isinstance(end, str) else end
        while end not in self.text:
            data = self.socket.recv(65536)
            assert data, f"closed before {end!r} came; there was {self.text[-200:]!r}"
            self.text += data
        head, _, self.text = self.text.partition(end)
        return (head + end).decode()

    def ended(self) -> bool:
        """Returns whether the other side closes, after reading its remaining output."""
        try:
            while data := self.socket.recv(65536):
                self.text += data
        except ConnectionError:
            pass
        return True


def opened(bus: BusProcess, mode: str = "rawmode", *, window: int = 0) -> Line:
    """Returns a socketcand client with the bus open, in a mode."""
    line = Line(bus.socketcand, window=window)
    line.until("< hi >")
    line.send_text(f"< open can0 >< {mode} >")
    line.until("< ok >")
    line.until("< ok >")
    return line
