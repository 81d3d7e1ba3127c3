"""Mesh files that change while the program runs, though MuJoCo keeps hulls of files it has read."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from linkwork.core.mujoco_library import mujoco, read_mesh_file
from linkwork.engines.mujoco import Mujoco
from linkwork.formats import load_scene
from linkwork.geometry.meshes import clear_mesh_cache
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle
from mesh_files import binary_stl, box, written

MODEL = """
<mujoco><asset><mesh name="thing" file="thing.stl"/></asset>
<worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 3"><freejoint/><geom type="mesh" mesh="thing" mass="1"/></body></worldbody></mujoco>
"""


def compiled_size(folder: Path) -> float:
    """Returns the height of the mesh in the engine's own model [m]."""
    with_meshes = Cycle(compile_scene(load_scene(folder / "model.xml")))
    engine = with_meshes.engines[0]
    assert isinstance(engine, Mujoco)
    mj = engine.model.mj
    with_meshes.close()
    return float(np.ptp(mj.mesh_vert[:, 2]))


def test_a_mesh_rewritten_within_a_second_is_read_again(tmp_path: Path) -> None:
    """Size and hull are those of the new file, though its time differs by nanoseconds only."""
    (tmp_path / "model.xml").write_text(MODEL)
    sizes = []
    for n, height in enumerate((1.0, 2.0, 3.0)):
        path = written(tmp_path, "thing.stl", binary_stl(box(1.0, 1.0, height)))
        os.utime(path, ns=(10**18 + n, 10**18 + n))
        clear_mesh_cache()
        sizes.append(round(compiled_size(tmp_path), 6))
    assert sizes == [1.0, 2.0, 3.0]


def test_a_changed_file_is_compiled_anew(tmp_path: Path) -> None:
    """So it is with a model that is compiled without a scene."""
    heights = []
    for n, height in enumerate((1.0, 2.0)):
        path = written(tmp_path, "thing.stl", binary_stl(box(1.0, 1.0, height)))
        os.utime(path, ns=(10**18 + n, 10**18 + n))
        spec = mujoco.MjSpec.from_string(MODEL)
        read_mesh_file(spec.mesh("thing"), path)
        heights.append(round(float(np.ptp(spec.compile().mesh_vert[:, 2])), 6))
    assert heights == [1.0, 2.0]
