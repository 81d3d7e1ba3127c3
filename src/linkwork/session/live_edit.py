"""LiveEdit: an edited scene that is compiled in the background while the old one runs on."""

from __future__ import annotations

import threading
from concurrent.futures import Future

from linkwork.errors import LinkworkError, SceneError
from linkwork.scene import Scene
from linkwork.scene.archive import pack
from linkwork.session.cycle import Cycle
from linkwork.session.rehearsal import rehearse
from linkwork.world import compile_scene


class LiveEdit:
    """An edited scene on its way into a session.

    Args:
        scene: The scene after the edit.
        ids: Stable ids by full name.
        packed: Whether the recording needs the scene as bytes.

    Attributes:
        compiled: Done when compiled; its exception is why the scene cannot be used.
        archive: The scene as bytes, where it was asked for.
    """

    def __init__(self, scene: Scene, ids: dict[str, str] | None, *, packed: bool) -> None:
        self.compiled: Future[Cycle] = Future()
        self.archive = b""
        self._scene, self._ids, self._packed = scene, ids, packed
        threading.Thread(target=self._work, name="linkwork-compile", daemon=True).start()

    def _work(self) -> None:
        try:
            cycle = Cycle(compile_scene(self._scene, ids=self._ids))
            rehearse(cycle)
            if self._packed:
                self.archive = pack(self._scene)
        except BaseException as error:  # handed to whoever waits
            self.compiled.set_exception(error)
        else:
            self.compiled.set_result(cycle)

    def result(self) -> Cycle:
        """The compiled scene.

        Raises:
            LinkworkError: If it cannot be used.
        """
        error = self.compiled.exception()
        if error is None:
            return self.compiled.result()
        if isinstance(error, LinkworkError):
            raise error
        raise SceneError(f"it cannot be compiled: {type(error).__name__}: {error}.") from error
