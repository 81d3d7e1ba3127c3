"""Runs archived scenes in another process and prints the hash of each last state.

``python other_process.py STEPS FOLDER``: every ``*.archive`` in the folder.
"""

import sys
import tempfile
from pathlib import Path

from linkwork.model.scene.archive import unpack
from linkwork.session.session import Session


def main() -> None:
    steps, folder = int(sys.argv[1]), Path(sys.argv[2])
    for archive in sorted(folder.glob("*.archive")):
        with tempfile.TemporaryDirectory() as place:
            scene = unpack(archive.read_bytes(), Path(place))
            served = any(spec.params.get("lockstep") for spec in scene.buses)
            with Session(scene, watch=False, buses=served) as session:
                session.step(steps)
                print(archive.stem, session.state.hash())


if __name__ == "__main__":
    main()
