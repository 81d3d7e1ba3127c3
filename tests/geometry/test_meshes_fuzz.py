"""Damaged mesh files: any bytes load or give a MeshError."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from effort import cases
from linkwork.core.errors import MeshError
from linkwork.geometry.meshes import TriangleMesh, clear_mesh_cache, load_mesh, mass_properties
from mesh_files import bent, box, glb, gltf_document, samples, written

FILES = samples(bent())
CASES = settings(
    max_examples=cases(250),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def check(folder: Path, name: str, data: bytes) -> None:
    """Loads the bytes; hull and mass of a loaded mesh can be computed."""
    clear_mesh_cache()
    with contextlib.suppress(MeshError):
        mesh = load_mesh(written(folder, name, data))
        assert isinstance(mesh, TriangleMesh)
        assert mass_properties(mesh, density=1.0).mass > 0


@pytest.mark.parametrize("name", FILES)
@CASES
@given(cut=st.floats(0, 1))
@example(cut=0.0)
def test_truncated_file(tmp_path: Path, name: str, cut: float):
    """A file cut off anywhere loads or gives a MeshError."""
    data = FILES[name]
    check(tmp_path, name, data[: int(cut * len(data))])


@pytest.mark.parametrize("name", FILES)
@CASES
@given(
    changes=st.lists(st.tuples(st.floats(0, 0.9999), st.binary(min_size=0, max_size=6)), max_size=8)
)
def test_mutated_file(tmp_path: Path, name: str, changes: list[tuple[float, bytes]]):
    """A file with bytes overwritten or inserted anywhere loads or gives a MeshError."""
    data = FILES[name]
    for number, (place, new) in enumerate(changes):
        start = int(place * len(data))
        data = data[:start] + new + data[start + (len(new) if number % 2 else 1) :]
    check(tmp_path, name, data)


WORDS = ["nan", "1e309", "-1", "99999999999999999999", "0", "", "x", "</p>", "1 2", "-0.0", "#g"]


@pytest.mark.parametrize("name", ["text.STL", "thing.obj", "thing.dae", "thing.gltf"])
@CASES
@given(changes=st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(WORDS)), max_size=5))
def test_text_with_foreign_words(tmp_path: Path, name: str, changes: list[tuple[int, str]]):
    """A text file with exchanged words and numbers loads or gives a MeshError."""
    fragments = FILES[name].decode().replace(">", "> ").replace("<", " <").split(" ")
    for place, word in changes:
        fragments[place % len(fragments)] = word
    check(tmp_path, name, " ".join(fragments).encode())


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 12),
    st.sampled_from([2**31, 2**63, -(2**70), 1e300]),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(["SCALAR", "VEC3", "MAT4", "data:,abc", "data:;base64,AA==", "thing.glb"]),
    st.lists(st.integers(0, 3), max_size=4),
    st.just({}),
)


def leaves(value: object, path: tuple = ()) -> list[tuple]:
    """Returns the paths of all values within a JSON document."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key in value:
            found += leaves(value[key], (*path, key))
    if isinstance(value, list):
        for key, entry in enumerate(value):
            found += leaves(entry, (*path, key))
    return found


@settings(CASES, max_examples=cases(600))
@given(changes=st.lists(st.tuples(st.integers(0, 10**6), VALUES), min_size=1, max_size=4))
def test_gltf_with_foreign_values(tmp_path: Path, changes: list[tuple[int, object]]):
    """A glTF file whose JSON holds other values loads or gives a MeshError."""
    document, body = gltf_document(box())
    document = json.loads(json.dumps(document))
    for place, value in changes:
        paths = leaves(document)
        *above, last = paths[place % len(paths)]
        holder = document
        for key in above:
            holder = holder[key]
        holder[last] = value
    check(tmp_path, "values.glb", glb(document, body))


@settings(CASES, max_examples=cases(300))
@given(name=st.sampled_from(sorted(FILES)), data=st.binary(max_size=300))
def test_random_bytes(tmp_path: Path, name: str, data: bytes):
    """Random bytes under any known suffix load or give a MeshError."""
    check(tmp_path, name, data)
