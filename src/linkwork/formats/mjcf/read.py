"""Reading MJCF: a model becomes a scene with one part, scenery and the Mujoco engine."""

from __future__ import annotations

from pathlib import Path

from linkwork.errors import LinkworkError, Origin
from linkwork.formats.mjcf.compiled import compile_model, pose_of
from linkwork.formats.mjcf.read_bodies import read_bodies
from linkwork.formats.mjcf.read_drives import read_actuators
from linkwork.formats.mjcf.read_geoms import read_scenery
from linkwork.formats.mjcf.read_options import read_options
from linkwork.formats.mjcf.read_sensors import read_sensors
from linkwork.formats.mjcf.read_ties import read_contacts, read_equalities, read_tendons
from linkwork.formats.mjcf.read_views import read_keyframes, read_views
from linkwork.formats.mjcf.reading import Reading
from linkwork.formats.mjcf.sanitise import sanitise
from linkwork.formats.mjcf.source import read_source
from linkwork.formats.notes import Notes
from linkwork.parts import Part, Spec
from linkwork.parts.names import plain
from linkwork.scene import Scene
from linkwork.spatial.pose import IDENTITY


def read_mjcf(path: Path) -> tuple[Scene, list[str]]:
    """Reads a model.

    Returns:
        The scene, and notes of what was left out or changed.

    Raises:
        LinkworkError: If the file is not a model that MuJoCo would compile; names file and line.
    """
    file = Origin(str(path))
    notes = Notes()
    source = read_source(path)
    model = compile_model(sanitise(source, notes), file)
    given = source.root.attributes.get("model", "").strip() or path.stem
    name = plain(given)[:60]
    scene, part = Scene(name, origin=file), Part(name, origin=file)
    if name != given:
        scene.title = given
    reading = Reading(model, notes, part, scene)
    try:
        reading.name_all()
        engine = read_options(reading)
        read_bodies(reading)
        read_scenery(reading)
        read_tendons(reading, engine)
        read_equalities(reading, engine)
        read_contacts(reading, engine)
        read_actuators(reading)
        read_sensors(reading, engine)
        if model.m.nbody > 1:
            at = IDENTITY
            if base := reading.base:
                at = pose_of(model.m.body_pos[base], model.m.body_quat[base])
            scene.place(part, name=name, at=at)
        read_views(reading)
        read_keyframes(reading)
    except LinkworkError as error:
        raise error.at(file) from None
    scene.engines.append(Spec("engine", "mujoco", "", engine, file))
    return scene, notes.lines()
