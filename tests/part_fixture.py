"""A TCP part for tests: a small scene that serves one, and a controller."""

import socket
import ssl
from collections.abc import Callable
from pathlib import Path

from linkwork import Scene, Session, load

ARM = """
format = "linkwork/scene 1"
name = "cell"
step = 0.002

[[part]]
name = "arm"
part = "gripper/arm"

[[bus]]
name = "part"
type = "tcp"
port = 0
period = 0.01
{more}

[[port]]
name = "J1"
commands = [{{ signal = "arm/J1.target" }}, {{ signal = "arm/J1.target_speed" }}]
sensors = [{{ signal = "arm/J1.angle" }}]

[[port]]
name = "J2"
commands = [{{ signal = "arm/J2.target" }}]
sensors = [{{ signal = "arm/J2.angle" }}]
"""
COMMANDS = ["J1.target", "J1.target_speed", "J2.target"]
TIMEOUT = 20.0


def cell(folder: Path, more: str = "") -> Scene:
    """Returns a gripper arm with a part on a free port; ``more`` is added to its bus."""
    file = folder / "cell.toml"
    file.write_text(ARM.format(more=more))
    scene = load(file)
    assert isinstance(scene, Scene)
    return scene


def endpoint(session: Session) -> int:
    """Returns the port of a session's part."""
    assert session.bus_processes is not None
    line = session.bus_processes["part"].endpoints[0]
    return int(line.split(":")[1].split(",")[0].split(" ")[0])


class Controller:
    """A controller: connects, joins and reads the part's description."""

    def __init__(
        self, port: int, *, token: str = "", tls: ssl.SSLContext | None = None, join: bool = True
    ) -> None:
        plain = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self.socket = tls.wrap_socket(plain, server_hostname="localhost") if tls else plain
        self.file = self.socket.makefile("r", newline="\n")
        assert self.read() == "linkwork-part 1"
        self.described: list[str] = []
        if join:
            self.send_text(f"join {token}".strip())
            while (line := self.read()) != "ready":
                assert line, "turned away"
                self.described.append(line)

    def send_text(self, line: str) -> None:
        self.socket.sendall(f"{line}\n".encode())

    def read(self) -> str:
        return self.file.readline().rstrip("\n")

    def until(self, start: str) -> str:
        """Returns the next line with this beginning."""
        while not (line := self.read()).startswith(start):
            assert line, f"the part has gone before it said {start!r}"
        return line

    def angles(self) -> list[float]:
        """Returns the next values of the sensors."""
        return [float(word) for word in self.until("s ").split(" ")[3:]]

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def run_until(session: Session, reached: Callable[[], bool], most: float = 20.0) -> None:
    """Runs in real time until a condition holds [simulated s at most]."""
    end = session.time + most
    while not reached():
        assert session.time < end, "it did not happen"
        session.run(0.02, clock="real")
