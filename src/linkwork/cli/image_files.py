"""Image files: writes camera images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.components.sensors.camera import numbers, png, to_millimeters
from linkwork.core.atomic import whole_file
from linkwork.core.errors import FormatError, not_found

if TYPE_CHECKING:
    import numpy as np

    from linkwork.session.session import Session

#: Kinds of camera images.
KINDS = ("color", "depth", "segmentation")


def cameras(session: Session) -> list[str]:
    """Names of the cameras of a session."""
    return [spec.name for spec in session.world.sensors if spec.type == "camera"]


def as_png(image: np.ndarray, what: str) -> bytes:
    """An image as a PNG file: colors; depth in millimeters; element indices plus 1."""
    if what == "depth":
        return png(to_millimeters(image))
    return png(numbers(image) if what == "segmentation" else image)


class ImageFiles:
    """Writes each image of each camera into a folder: ``eye_000003.png``, ``…_depth.png``.

    Args:
        folder: The folder; created if it does not exist.
        overwrite: Whether it may contain files already.

    Attributes:
        count: Number of images written.

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
            raise FormatError(f"{folder} is not empty.", hint="Give --overwrite to write into it.")

    def take(self, session: Session) -> None:
        """Calls :meth:`check` the first time, then :meth:`after_step`."""
        if not self._written:
            self.check(session)
        self.after_step(session)

    def check(self, session: Session) -> None:
        """Raises an error if the scene has no camera."""
        if not cameras(session):
            raise FormatError(
                "the scene has no camera, so there are no images.",
                hint='Give it one: [[sensor]] type = "camera", on = "…".',
            )
        self._folder.mkdir(parents=True, exist_ok=True)

    def after_step(self, session: Session) -> None:
        """Writes new images."""
        for name in cameras(session):
            frame = session[f"{name}.frame"]
            if self._written.get(name) == frame:
                continue
            self._written[name] = frame
            stem = f"{name.replace('/', '_')}_{int(frame):06d}"
            for what, ending in (("color", ".png"), ("depth", "_depth.png")):
                with whole_file(self._folder / f"{stem}{ending}") as part:
                    part.write_bytes(as_png(session.image(name, what), what))
            self.count += 1


def camera_of(session: Session, given: str) -> str:
    """The camera called ``given``, or the only one if empty.

    Raises:
        NameNotFound: If no camera has that name.
        FormatError: If there is no camera, or there are several and none is named.
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
