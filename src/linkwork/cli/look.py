"""``linkwork look``: writes one image of a scene's camera."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.output_files import Overwrite, check_outputs
from linkwork.cli.scene_argument import MissingChoice, MissingMeshes, ServoChoice, Servos
from linkwork.core.atomic import whole_file


class ImageKind(StrEnum):
    """The kind of image."""

    color = "color"
    depth = "depth"
    segmentation = "segmentation"


def look(
    what: Annotated[
        str, typer.Argument(metavar="SCENE", help="A scene or part, or a kit's name for it.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Output file, .png or .npy.")],
    sensor: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the camera; the only one if not given.")
    ] = "",
    kind: Annotated[
        ImageKind, typer.Option("--what", help="Depth is in mm, 0 for none; in meters with .npy.")
    ] = ImageKind.color,
    after: Annotated[
        float, typer.Option(metavar="SECONDS", help="Simulated time to run before.")
    ] = 0.0,
    servos: Servos = ServoChoice.none,
    missing_meshes: MissingMeshes = MissingChoice.error,
    overwrite: Overwrite = False,
) -> None:
    """Writes the newest image of a camera, without opening the studio.

    Examples:
      $ linkwork look room.toml eye.png --sensor cart/eye
      $ linkwork look room.toml depth.npy --what depth --after 2
    """
    from linkwork.cli.run import check_number
    from linkwork.core.errors import FormatError

    check_number("--after", after, zero=True)
    if file.suffix not in (".png", ".npy"):
        raise FormatError(f"{file} is neither .png nor .npy.")
    check_outputs([file], overwrite=overwrite, sources=[what])
    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.scene_argument import load_showing_notes
    from linkwork.cli.screen import show_withheld, stdout

    thing, _ = load_showing_notes(what, missing_meshes)
    with show_compiling():
        import numpy as np

        from linkwork.cli.image_files import as_png, camera_of
        from linkwork.cli.scene_argument import scene_to_run
        from linkwork.project.trust import is_trusted
        from linkwork.session.session import Session

        scene, _ = scene_to_run(thing, what, free=False, servos=servos)
        session = Session(scene, watch=False, buses=False, programs=is_trusted)
    show_withheld(session)
    with session:
        name = camera_of(session, sensor)
        if after:
            session.run(after, clock="fast")
        image = session.image(name, kind.value)
        with whole_file(file) as part:
            if file.suffix == ".npy":
                np.save(part, image)
            else:
                part.write_bytes(as_png(image, kind.value))
        out = stdout()
        height, width = image.shape[:2]
        out.print_line(
            f"Wrote {file}: {kind.value} of {name}, {width}x{height}, at {session.time:g} s."
        )
        if kind is ImageKind.segmentation:
            seen = [int(number) for number in np.unique(image) if number >= 0]
            for number in seen:
                out.print_line(f"{number + 1:5d}  {session.world.element_names[number]}")
