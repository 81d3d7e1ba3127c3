"""A bus for tests: JSON lines over TCP, with commands that make its process misbehave."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from typing import Any

import msgspec

from linkwork.buses import Adapter
from linkwork.core.errors import LinkworkError, SignalError


class LineParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters: ``port`` to listen on, ``fails`` to fail in ``start()``."""

    port: int = 0
    fails: str = ""


class LineBus(Adapter):
    """Each received line is a table of values by key, or ``{"turn": n, …}``."""

    Params = LineParams
    counters = {"lines": ""}  # noqa: RUF012

    async def start(self) -> list[str]:
        if self.params.fails == "error":
            raise LinkworkError("the rig was told to fail.")
        if self.params.fails == "crash":
            os._exit(3)
        self.writers: set[asyncio.StreamWriter] = set()
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.params.port)
        return [f"lines on {self.server.sockets[0].getsockname()[1]}"]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.add(writer)
        self.joined()
        self.send_values(writer)
        try:
            while line := await reader.readline():
                self.count("lines")
                self.log("in", data=line.strip())
                try:
                    given = json.loads(line)
                    turn = given.pop("turn", 0)
                except (ValueError, AttributeError, TypeError):
                    self.count("invalid")
                    continue
                self.feed(given, turn=turn)
        except (OSError, ValueError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()
            self.left()

    def send_values(self, writer: asyncio.StreamWriter) -> None:
        if writer.transport.get_write_buffer_size() < 65536:  # one that never reads is not fed
            head = {"step": self.step, "turn": self.turn, **self.values}
            writer.write(json.dumps(head).encode() + b"\n")

    def outgoing(self, values: dict[str, float]) -> None:
        for writer in self.writers:
            self.send_values(writer)

    def order(self, name: str, args: dict[str, Any]) -> None:
        match name:
            case "raise":
                raise ValueError("the rig was told to raise")
            case "exit":
                os._exit(4)
            case "flood":
                key = next(iter(self.plan.inputs))
                for n in range(int(args["count"])):
                    self.feed({key: 1e-6 * n})
                    self.log("in", text="flood")
                self.note(f"flooded {self.memory()}")
            case "memory":
                self.note(f"memory {self.memory()}")
            case "modules":
                heavy = {"numba", "llvmlite", "mujoco", "numpy"} & set(sys.modules)
                self.note(f"heavy {sorted(heavy)}")
            case _:
                raise SignalError(f"the rig knows no order {name!r}.")

    @staticmethod
    def memory() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
