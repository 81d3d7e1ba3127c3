"""Images: the pictures of cameras as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.errors import FormatError, not_found
from linkwork.sensors.png import millimetres, numbers, png

if TYPE_CHECKING:
    import numpy as np

    from linkwork.session.session import Session

#: What a camera shows.
KINDS = ("colour", "depth", "segmentation")


def cameras(session: Session) -> list[str]:
    """Names of the cameras of a session."""
    return [spec.name for spec in session.world.sensors if spec.type == "camera"]


def as_png(image: np.ndarray, what: str) -> bytes:
    """A picture as a PNG file: colours; depth in millimetres; numbers of elements plus 1."""
    if what == "depth":
        return png(millimetres(image))
    return png(numbers(image) if what == "segmentation" else image)


class ImageFiles:
    """Writes each picture of each camera into a folder: ``eye_000003.png``, ``…_depth.png``.

    Args:
        folder: Made if it is not there.
        overwrite: Whether it may hold something already.

    Attributes:
        count: Pictures written so far.

    Raises:
        FormatError: If the folder cannot be used.
    """

    def __init__(self, folder: Path, *, overwrite: bool) -> None:
        self.count = 0
        self._folder = folder
        self._written: dict[str, float] = {}
        if folder.exists() and not folder.is_dir():
            raise FormatError(f"{folder} is a file, not a folder.")
        if folder.is_dir() and any(folder.iterdir()) and not overwrite:
            raise FormatError(
                f"{folder} is not empty.", hint="Give --overwrite to write into it all the same."
            )

    def take(self, session: Session) -> None:
        """As :meth:`after_step`, with :meth:`check` at first."""
        if not self._written:
            self.check(session)
        self.after_step(session)

    def check(self, session: Session) -> None:
        """Refuses a scene without a camera."""
        if not cameras(session):
            raise FormatError(
                "the scene has no camera, so there are no pictures.",
                hint='Give it one: [[sensor]] type = "camera", on = "…".',
            )
        self._folder.mkdir(parents=True, exist_ok=True)

    def after_step(self, session: Session) -> None:
        """Writes the pictures that are new."""
        for name in cameras(session):
            frame = session[f"{name}.frame"]
            if self._written.get(name) == frame:
                continue
            self._written[name] = frame
            stem = f"{name.replace('/', '_')}_{int(frame):06d}"
            for what, ending in (("colour", ".png"), ("depth", "_depth.png")):
                (self._folder / f"{stem}{ending}").write_bytes(
                    as_png(session.image(name, what), what)
                )
            self.count += 1


def camera_of(session: Session, given: str) -> str:
    """The camera called ``given``, or the only one where nothing is given.

    Raises:
        NameNotFound: If there is none of that name.
        FormatError: If there is none at all, or a choice of several.
    """
    known = cameras(session)
    if given:
        if given not in known:
            raise not_found("camera", given, known)
        return given
    if len(known) == 1:
        return known[0]
    if known:
        raise FormatError(f"the scene has {len(known)} cameras.", hint=f"Give --sensor {known[0]}.")
    raise FormatError(
        "the scene has no camera.", hint='Give it one: [[sensor]] type = "camera", on = "…".'
    )
