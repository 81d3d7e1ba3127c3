"""Compiled reading of OBJ files: the same content as the complete reader, or none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.core.errors import MeshError
from linkwork.geometry.meshes.mesh import weld
from linkwork.geometry.meshes.obj import _read_lines, _scan_lines, read_obj
from linkwork.geometry.meshes.source import MeshSource
from linkwork.geometry.meshes.weld_kernels import first_of_equal

#: Characters of lines that mean something, and some that do not.
TEXT = st.text(alphabet="vf0123456789.-+eE/ \t#\\\r\nnusemtl_é", max_size=120)
NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: 0.0 if abs(x) < 1e-4 else x)


def source(text: str, folder: Path) -> MeshSource:
    path = folder / "mesh.obj"
    path.write_bytes(text.encode() or b"#")
    return MeshSource.open(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("obj")


def agree(text: str, folder: Path) -> bool:
    """Returns whether the compiled reader took the text; compares what both read."""
    here = source(text, folder)
    mine = _scan_lines(here)
    if mine is None:
        return False
    complete = _read_lines(here)
    np.testing.assert_array_equal(mine.vertices, complete.vertices)
    assert mine.materials == complete.materials
    assert mine.colors == complete.colors
    return True


@given(st.data())
def test_written_numbers_are_read_as_by_python(folder: Path, data: st.DataObject) -> None:
    """All usual spellings of numbers, with textures, normals and negative corners, are compiled."""
    spelling = data.draw(
        st.sampled_from(["{!r}", "{:.6f}", "{:.3e}", "{:+.9f}", "{:g}", "{:.25f}", "{:.30e}"])
    )
    rows = data.draw(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=3, max_size=8))
    lines = ["# a comment", "mtllib none.mtl", "o part", ""]
    lines += ["v " + " ".join(spelling.format(each) for each in row) for row in rows]
    lines += ["vt 0 0", "vn 0 0 1", "usemtl steel # blue", "f 1/1/1 2/1/1 3/1/1", "f\t-1  -2 -3"]
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    assert agree(ending.join(lines), folder)


@given(TEXT)
def test_any_text_is_read_alike_or_not_at_all(folder: Path, text: str) -> None:
    """What the compiled reader takes, the complete one takes too, with the same result."""
    agree(f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{text}\nf 1 2 3\n", folder)


@pytest.mark.parametrize(
    "line",
    ["v 1 2", "v 1 2 x", "v 1 2 nan", "v 1_0 2 3", "f 1 2", "f 1 2 0", "f 1 2 -9", "f a b c",
     "f 1 2 3\\", "v 1 2 ３", "f 1 2 3_", "v", "f"],
)  # fmt: skip
def test_lines_for_the_complete_reader_are_left_to_it(line: str, folder: Path) -> None:
    """Lines that are wrong or unusual are not compiled, so that the error is the complete one's."""
    text = f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{line}\nf 1 2 3\n"
    assert _scan_lines(source(text, folder)) is None


def test_a_corner_beyond_the_vertices_is_an_error(folder: Path) -> None:
    """The compiled reader's faces are checked as the complete one's are."""
    with pytest.raises(MeshError, match="names the vertex 9, but there are 3"):
        read_obj(source("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", folder))


def test_vertices_made_for_one_place_of_the_table_are_joined_too() -> None:
    """The table gives up on coordinates with equal hashes, and sorting joins them."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 1 << 64)  # undoes the last factor of the hash
    bits = [((n << 46) * inverse) % (1 << 64) for n in range(1, 10_000)]
    z = np.array(bits, np.uint64).view(np.float64)
    z = z[np.isfinite(z) & (np.abs(z) < 1e300)]
    once = np.column_stack([np.zeros_like(z), np.zeros_like(z), z])
    vertices = np.concatenate([once, once])
    table = np.full(1 << 17, -1, np.int64)
    assert not first_of_equal(vertices.view(np.uint64), table, np.empty(len(vertices), np.int64))
    faces = np.arange(len(vertices) // 3 * 3).reshape(-1, 3)
    welded, _ = weld(vertices, faces)
    assert len(welded) == len(np.unique(welded, axis=0)) == len(once)
