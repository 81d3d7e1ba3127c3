"""Files of every format that the studio promises, dropped on it one after the other, and drawn."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import linkwork as lw
from contract.examples import FORMAT_EXAMPLES
from linkwork.model.parts import Part
from studio_fixture import Studio, studio
from studio_page import StudioPage, opened

#: Formats by the name of a file that is dropped; other tests drop TOML, URDF, MJCF, SDF and STL.
FILES = {
    "one.glb": "gltf",
    "two.step": "step",
    "three.cfg": "robotix",
    "four.humanoid.xml": "humanoid_xml",
}
_DROP = """([name, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name));
  for (const type of ["dragover", "drop"])
    document.body.dispatchEvent(
      new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Studio]:
    """A studio on its start page, with a home of its own for what is dropped."""
    home = tmp_path_factory.mktemp("formats")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.chdir(home)
        with studio(None, home / ".linkwork") as running:
            yield running


@pytest.fixture(scope="module")
def page(empty: Studio, chromium: Browser) -> Iterator[StudioPage]:
    with opened(chromium, empty) as page:
        page.until("store.people.driver === store.you")
        yield page


@pytest.mark.parametrize("file", FILES)
def test_a_dropped_file_is_opened_and_drawn(page: StudioPage, file: str, tmp_path: Path) -> None:
    """Its elements are in the tree and in the views, its joints are those of the file."""
    sample = FORMAT_EXAMPLES[FILES[file]].sample
    data = sample if isinstance(sample, bytes) else sample.encode()
    page.page.evaluate(_DROP, [file, list(data)])
    page.until("store.scene?.name === a", file.partition(".")[0])
    page.ready()
    meant = read_here(data, tmp_path / file)
    names = page.ask("store.scene.elements.map((e) => e.name.split('/').pop())")
    assert {name.rpartition("/")[2] for name in meant.elements} <= {*names}
    joints = page.ask("store.scene.joints.map((j) => j.name.split('/').pop())")
    assert {*meant.joints} == {*joints}
    seen = page.ask("stage.bodies.shapeMeshes.filter((p) => p.mesh.visible).length")
    assert seen >= sum(bool(element.shapes) for element in meant.elements.values())


def read_here(data: bytes, path: Path) -> Part:
    """The part in a file, or the first of several."""
    path.write_bytes(data)
    thing = lw.load(path)
    return thing if isinstance(thing, Part) else next(iter(thing.parts.values())).part
