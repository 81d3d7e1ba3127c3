"""The session of a studio, for tests that drive it through a browser."""

import time
from collections.abc import Callable

import numpy as np

from linkwork.studio.host.open_scene import OpenScene
from studio_fixture import TIMEOUT, Studio
from studio_page import StudioPage


def scene_of(studio: Studio) -> OpenScene:
    """Returns the running scene."""
    assert isinstance(studio.host.open, OpenScene)
    return studio.host.open


def value(studio: Studio, signal: str) -> float:
    """Returns a signal of the session, in SI units."""
    return scene_of(studio).session[signal]


def owner(studio: Studio, signal: str) -> str | None:
    """Returns the owner of an input."""
    return scene_of(studio).session.signals.owners.get(signal)


def eventually(what: str, test: Callable[[], bool]) -> None:
    """Waits until something holds in the session.

    Raises:
        AssertionError: If it does not in time; says ``what``.
    """
    end = time.monotonic() + TIMEOUT
    while not test():
        assert time.monotonic() < end, f"after {TIMEOUT:g} s still not: {what}"
        time.sleep(0.02)


def at_the_start(page: StudioPage, studio: Studio) -> None:
    """Resets the scene, paused, and releases every input."""
    if page.ask("store.status.running"):
        page.press("Space")
    page.until("!store.status.running")
    eventually("paused", lambda: not scene_of(studio).session.running)
    page.press("Backspace")
    session = scene_of(studio).session
    first = session.cycle.first

    def is_at_start() -> bool:
        # prescribed motions begin where they say, which rounding may tell from the file's posture
        return session.state.step == 0 and np.allclose(session.state.q, first.q, atol=1e-9)

    eventually("reset", is_at_start)
    page.until("store.status.time === 0 && !store.status.seeking")
    there = session.state.pose.ravel().tolist()
    page.until("store.poses && a.every((v, n) => Math.abs(v - store.poses[n]) < 1e-5)", there)
