"""Warming: kernels compile in a process of their own, while the studio can be looked at."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from linkwork.cli.stages import is_warm
from linkwork.jit import kernels_kept

if TYPE_CHECKING:
    from linkwork.scene import Scene

#: What is said when it begins and when it is over.
BEGUN = (
    "Kernels compile in the background, once for this version and processor: a minute or two. "
    "The studio can be looked at meanwhile; a scene opens when those that it needs are done."
)
DONE = "Kernels are compiled: scenes open at once from now on."
FAILED = "Kernels could not be compiled in the background; scenes compile what they need."
#: What compiles them.
COMMAND = (sys.executable, "-m", "linkwork", "warmup")
#: Fewer kernels than this in the cache are as good as none.
_FEW = 40


def is_cold() -> bool:
    """Whether this version was never used here: next to nothing is compiled."""
    return not is_warm(None) and kernels_kept() < _FEW


class Warming:
    """``linkwork warmup`` beside this process, where this version was never used.

    Attributes:
        begun: Whether there is still something to say about it.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.begun = is_cold()
        if self.begun:
            self._process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    @property
    def done(self) -> bool:
        """Whether there is nothing to wait for; one that failed leaves it to whoever needs them."""
        return self._process is None or self._process.poll() is not None

    def allows(self, scene: Scene | None) -> bool:
        """Whether a scene can open at once; None is one of which nothing is known."""
        return self.done or is_warm(scene)

    def news(self) -> str:
        """What there is to say: once, when it is over."""
        if not self.begun or not self.done:
            return ""
        self.begun = False
        return FAILED if self._process is None or self._process.returncode else DONE

    def close(self) -> None:
        """Ends it."""
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)  # it has a process beside it
            self._process.wait()
