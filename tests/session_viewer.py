"""A viewer for sessions in tests."""

from collections.abc import Callable

from linkwork.session.messages import Message
from linkwork.session.session import Session


class Viewer:
    """Shows a session and forwards queued requests to it."""

    def __init__(self, *, connected: bool = True) -> None:
        self.connected = connected
        self.requests: list[Message] = []
        self.steps: list[int] = []
        self.session: Session | None = None
        self.waiting: Callable[[float], bool] = lambda timeout: False

    def poll(self) -> None:
        requests, self.requests = self.requests, []
        for message in requests:
            assert self.session is not None
            self.session.send(message)

    def wait(self, timeout: float) -> bool:
        return self.waiting(timeout)

    def publish(self, session: Session, /) -> None:
        self.steps.append(session.state.step)
