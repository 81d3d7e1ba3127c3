"""``linkwork look``: writes one picture of a scene's camera."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.outputs import Overwrite, check_outputs


class Kind(StrEnum):
    """What a picture shows."""

    colour = "colour"
    depth = "depth"
    segmentation = "segmentation"


def look(
    what: Annotated[
        str, typer.Argument(metavar="SCENE", help="A scene or part, or a kit's name for it.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it, .png or .npy.")],
    sensor: Annotated[
        str, typer.Option(metavar="NAME", help="Which camera; the only one if not given.")
    ] = "",
    kind: Annotated[
        Kind, typer.Option("--what", help="Depth is in mm, 0 for none; .npy keeps metres.")
    ] = Kind.colour,
    after: Annotated[
        float, typer.Option(metavar="SECONDS", help="Run so long before, simulated.")
    ] = 0.0,
    overwrite: Overwrite = False,
) -> None:
    """Writes the newest picture of a camera, without opening the studio.

    Examples:
      $ linkwork look room.toml eye.png --sensor cart/eye
      $ linkwork look room.toml depth.npy --what depth --after 2
    """
    from linkwork.cli.run import check_number
    from linkwork.errors import FormatError

    check_number("--after", after, zero=True)
    if file.suffix not in (".png", ".npy"):
        raise FormatError(f"{file} is neither .png nor .npy.")
    check_outputs([file], overwrite=overwrite, sources=[what])
    from linkwork.cli.given import load_with_notes
    from linkwork.cli.ready import getting_ready
    from linkwork.cli.screen import stdout

    thing, _ = load_with_notes(what)
    with getting_ready():
        import numpy as np

        from linkwork.cli.given import scene_to_run
        from linkwork.cli.images import as_png, camera_of
        from linkwork.session.session import Session

        scene, _ = scene_to_run(thing, what, free=False)
        session = Session(scene, watch=False, buses=False)
    with session:
        name = camera_of(session, sensor)
        if after:
            session.run(after, clock="fast")
        image = session.image(name, kind.value)
        if file.suffix == ".npy":
            np.save(file, image)
        else:
            file.write_bytes(as_png(image, kind.value))
        out = stdout()
        height, width = image.shape[:2]
        out.say(f"Wrote {file}: {kind.value} of {name}, {width}x{height}, at {session.time:g} s.")
        if kind is Kind.segmentation:
            seen = [int(number) for number in np.unique(image) if number >= 0]
            for number in seen:
                out.say(f"{number + 1:5d}  {session.world.element_names[number]}")
