"""The start page: gallery, kits, recent files, files brought by picker and by drop, new scenes."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from linkwork.model.scene import Scene
from linkwork.studio.host.open_scene import OpenScene
from studio_fixture import Studio, studio
from studio_page import StudioPage, opened

URDF = b"""<robot name="flag"><link name="pole"/><link name="cloth"><inertial>
<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="meshes/cloth.stl"/></geometry></visual></link>
<joint name="swing" type="revolute"><parent link="pole"/><child link="cloth"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
STL = b"""solid t
facet normal 0 0 1
 outer loop
  vertex 0 0 0
  vertex 0.2 0 0
  vertex 0 0.2 0
 endloop
endfacet
endsolid t
"""
MJCF = b"""<mujoco model="flag"><compiler meshdir="meshes"/>
<asset><mesh name="cloth" file="cloth.stl"/></asset><worldbody><body name="cloth">
<joint name="swing" axis="0 0 1"/><geom type="mesh" mesh="cloth" mass="1"/></body></worldbody>
</mujoco>"""
#: A tetrahedron: MuJoCo takes no mesh without an inside.
SOLID = (
    b"solid t\n"
    + b"".join(
        b"facet normal 0 0 0\nouter loop\nvertex %s\nvertex %s\nvertex %s\nendloop\nendfacet\n"
        % face
        for o, x, y, z in [(b"0 0 0", b"0.2 0 0", b"0 0.2 0", b"0 0 0.2")]
        for face in [(o, y, x), (o, x, z), (o, z, y), (x, y, z)]
    )
    + b"endsolid t\n"
)
SCENE = b'format = "linkwork/scene 1"\nname = "dropped"\n[[element]]\nname = "box"\n' + (
    b"shape = { box = { size = [0.1, 0.1, 0.1] } }\n"
)

#: Drops files, given as [name, text], on the page as a hand would.
_DROP = """(files) => {
  const data = new DataTransfer();
  for (const [name, bytes] of files) data.items.add(new File([new Uint8Array(bytes)], name));
  for (const type of ["dragover", "drop"])
    document.body.dispatchEvent(
      new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A user's home and working folder of its own, so that imports do not go into the real one."""
    made = tmp_path_factory.mktemp("gallery")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(made))
        patch.chdir(made)
        yield made


@pytest.fixture(scope="module")
def start_studio(home: Path, chromium: Browser) -> Iterator[Studio]:
    with studio(None, home / ".linkwork") as running:
        yield running


@pytest.fixture
def start(start_studio: Studio, chromium: Browser) -> Iterator[StudioPage]:
    """The start page."""
    with opened(chromium, start_studio) as page:
        page.until("store.people.driver === store.you")
        if page.ask("store.scene !== null"):
            page.page.evaluate("linkwork.send({ type: 'close_scene' })")
        page.until("store.scene === null")
        expect(page.page.locator("[data-scene]").first).to_be_visible()
        yield page


def drop(page: StudioPage, *files: tuple[str, bytes]) -> None:
    page.page.evaluate(_DROP, [[name, list(data)] for name, data in files])


def payload(name: str, data: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def test_the_gallery_shows_scenes_and_kits_with_pictures(start: StudioPage) -> None:
    """Every card has its picture; the search keeps what fits and says when nothing does."""
    main = start.page.get_by_role("main", name="Gallery")
    assert main.locator("[data-scene]").count() >= 3
    start.until("[...document.querySelectorAll('.start-main img')].every((i) => i.naturalWidth)")
    assert (
        main.locator(".scene-card img, .kit-tile img").count()
        == main.get_by_role("listitem").count()
    )
    search = start.page.get_by_label("Search scenes and kits")
    search.fill("gripper")
    expect(main.locator("[data-scene]")).to_have_count(1)
    search.fill("nothing like it")
    expect(main).to_contain_text("No scene has this name.")
    expect(main).to_contain_text("No kit has this name.")


def test_the_card_being_opened_shows_that_work_is_done(start: StudioPage) -> None:
    """It is busy, in words too, until the scene is there."""
    start.page.evaluate("""() => {
      window.busy = [];
      new MutationObserver((changes) => {
        for (const { target } of changes)
          if (target.getAttribute("aria-busy") === "true")
            window.busy.push([target.dataset.scene, target.querySelector(".opening").textContent]);
      }).observe(document.body, { subtree: true, attributeFilter: ["aria-busy"] });
    }""")
    start.page.locator("[data-scene='gripper/follow']").click()
    start.until("store.scene && store.opening === ''")
    seen = start.page.evaluate("window.busy")
    assert seen
    assert all(each == ["gripper/follow", "Opening…"] for each in seen)


def test_a_part_of_a_kit_opens(start: StudioPage) -> None:
    """A kit shows its parts, and a part opens by itself."""
    start.page.locator("[data-kit=tripod]").click()
    start.page.get_by_role("dialog", name="Kit tripod").locator("[data-part='tripod/leg']").click()
    start.page.get_by_role("menuitem", name="Open part").click()
    start.until("store.scene?.name === 'leg'")


def test_a_new_scene_is_begun_and_saved(start: StudioPage, home: Path) -> None:
    """Nothing is written before it is saved; then it is a recent file."""
    start.page.get_by_role("button", name="New scene").click()
    dialog = start.page.get_by_role("dialog", name="New scene")
    dialog.get_by_label("Name").fill("two words")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text("letters, digits")
    dialog.get_by_label("Name").fill("mine")
    dialog.get_by_role("button", name="Create").click()
    start.until("store.scene?.name === 'mine' && store.undo.dirty")
    start.ready()
    assert not (home / "mine.toml").exists()
    start.press("Control+S")
    start.until("!store.undo.dirty")
    assert "linkwork/scene 1" in (home / "mine.toml").read_text()


def test_the_kit_panel_begins_a_scene_with_a_part(start: StudioPage) -> None:
    """While a scene is open, the kit's parts are searched and put into a new scene."""
    start.page.locator("[data-scene='gripper/follow']").click()
    start.ready()
    start.page.get_by_role("tab", name="Kit").click()
    panel = start.page.get_by_role("tabpanel", name="Kit")
    panel.get_by_label("Search parts").fill("leg")
    panel.locator("[data-part='tripod/leg']").click()
    start.page.get_by_role("menuitem", name="New scene with this part").click()
    start.page.get_by_role("dialog", name="New scene").get_by_role("button", name="Create").click()
    start.until("store.scene?.name === 'leg_scene'")
    assert start.ask("store.scene.joints.some((j) => j.name === 'leg/hip')")
    start.page.get_by_role("tab", name="Scene").click()


def test_a_recent_file_opens_and_a_missing_one_says_so(
    start_studio: Studio, home: Path, start: StudioPage
) -> None:
    """A file that is gone is marked, cannot be opened, and is taken off the list."""
    file = home / "there.toml"
    file.write_bytes(SCENE)
    start.page.evaluate(f"linkwork.send({{ type: 'open', scene: '{file}' }})")
    start.until("store.scene?.name === 'dropped'")
    start.page.get_by_role("button", name="Linkwork, back to the gallery").click()
    start.until("store.scene === null")
    row = start.page.locator(f"[data-file='{file}']")
    row.locator(".recent-row").click()
    start.until("store.scene?.name === 'dropped'")
    file.unlink()
    start.page.get_by_role("button", name="Linkwork, back to the gallery").click()
    start.until("store.scene === null")
    start.page.reload()
    expect(row).to_contain_text("missing")
    expect(row.locator(".recent-row")).to_be_disabled()
    start.until("store.people.driver === store.you")
    row.get_by_role("button", name="Remove dropped from the list").click()
    expect(row).to_have_count(0)


@pytest.mark.parametrize("brought", ["folder", "zip", "picked", "dropped"])
def test_a_robot_with_its_meshes_is_opened(start: StudioPage, brought: str, tmp_path: Path) -> None:
    """URDF and meshes as a folder, in a ZIP or one by one without their folders: one robot."""
    files = {"flag/flag.urdf": URDF, "flag/meshes/cloth.stl": STL}
    picker = start.page.get_by_label("Files to open")
    if brought == "folder":
        for name, data in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(data)
        start.page.get_by_label("Folder to open").set_input_files(tmp_path / "flag")
    elif brought == "zip":
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        picker.set_input_files(payload("flag.zip", made.getvalue()))
    elif brought == "picked":
        picker.set_input_files([payload("flag.urdf", URDF), payload("cloth.stl", STL)])
    else:
        drop(start, ("flag.urdf", URDF), ("cloth.stl", STL))
    start.until("store.scene?.name === 'flag'")
    start.until("store.scene.elements.some((e) => e.shapes.some((s) => s.mesh))")
    assert not start.ask("store.scene.editable")


@pytest.mark.parametrize("brought", ["picked", "dropped"])
def test_a_mujoco_model_with_its_mesh_is_opened(start: StudioPage, brought: str) -> None:
    """The mesh is found where the model's compiler seeks it, and the joint moves."""
    if brought == "picked":
        files = [payload("flag.xml", MJCF), payload("cloth.stl", SOLID)]
        start.page.get_by_label("Files to open").set_input_files(files)
    else:
        drop(start, ("flag.xml", MJCF), ("cloth.stl", SOLID))
    start.until("store.scene?.file.endsWith('flag.xml')")
    start.until("store.scene.elements.some((e) => e.shapes.some((s) => s.mesh))")
    start.ready()
    start.until("stage.bodies.shapeMeshes.length > 0")
    assert start.ask("store.scene.joints.map((joint) => joint.name.split('/').pop())") == ["swing"]


@pytest.mark.parametrize(("name", "element"), [("tetra.stl", "tetra"), ("tetra.sdf", "l")])
def test_the_drop_zone_names_what_may_be_dropped(
    start: StudioPage, name: str, element: str
) -> None:
    """A drawing alone is a part, and an SDF model finds its mesh, as the page promises."""
    zone = start.page.get_by_role("region", name="Drop files to import")
    for word in ("TOML", "URDF", "MJCF", "SDF", "glTF", "STL", "OBJ", "STEP", "robot texts", "ZIP"):
        expect(zone).to_contain_text(word)
    model = b"""<sdf version="1.9"><model name="tetra"><link name="l"><visual name="v"><geometry>
    <mesh><uri>meshes/tetra.stl</uri></mesh></geometry></visual></link></model></sdf>"""
    drop(start, *{name: model, "tetra.stl": SOLID}.items())
    start.until("store.scene?.name === 'tetra'")
    assert f"tetra/{element}" in start.ask("store.scene.elements.map((e) => e.name)")
    start.until("store.scene.elements.some((e) => e.shapes.some((s) => s.mesh))")


def test_a_robot_without_its_meshes_says_what_to_bring(start: StudioPage) -> None:
    """One sentence of what is missing and one of what helps; no list of folders."""
    drop(start, ("flag.urdf", URDF))
    line = URDF[: URDF.index(b"cloth.stl")].count(b"\n") + 1
    expect(start.page.locator(".toast.error .toast-text")).to_have_text(
        f"flag.urdf:{line}: visual mesh 'meshes/cloth.stl' not found. "
        "Open the folder that holds both, or a ZIP of it."
    )


def test_a_urdf_is_edited_as_a_copy_in_toml(start: StudioPage) -> None:
    """The panel says why it cannot be edited; one button makes a copy that can."""
    plain = URDF.replace(b'<mesh filename="meshes/cloth.stl"/>', b'<box size="0.1 0.1 0.1"/>')
    drop(start, ("flag.urdf", plain))
    start.until("store.scene?.name === 'flag'")
    start.ready()
    start.row("flag/swing").click()
    expect(start.page.locator(".attribute-note")).to_contain_text("flag.urdf is shown, not edited")
    expect(start.page.locator("[data-key=type]")).to_be_disabled()
    start.page.get_by_role("button", name="Edit as TOML").click()
    start.until("store.scene?.editable")
    start.ready()
    start.row("flag/swing").click()
    expect(start.page.locator("[data-key=type]")).to_be_enabled()


def test_another_scene_of_the_same_name_is_another(start: StudioPage) -> None:
    """It is fitted into the views; what was selected, hidden and told stays behind."""
    drop(start, ("one.toml", SCENE))
    start.until("store.scene?.file.endsWith('one.toml')")
    start.ready()
    start.row("box").click()
    start.page.evaluate("linkwork.store.notes.push({ level: 'info', text: 'old', step: 0 })")
    start.page.mouse.click(*start.find("front", "box"), button="right")
    start.page.get_by_role("menuitem", name="Hide box").click()
    start.until("!stage.bodies.shapeMeshes.some((piece) => piece.mesh.visible)")
    drop(start, ("two.toml", SCENE + b"at = { xyz = [30, 0, 0] }\n"))
    start.until("store.scene?.file.endsWith('two.toml')")
    start.ready()
    assert start.ask("store.selection.length") == 0
    assert not start.ask("store.notes.some((note) => note.text === 'old')")
    assert start.ask("stage.bodies.shapeMeshes.every((piece) => piece.mesh.visible)")
    assert start.ask(
        "(stage.draw(), stage.views.every((view) =>"
        " stage.bodies.corners().every((corner) => view.shows(corner))))"
    )


def test_files_are_dropped_also_while_a_scene_is_open(start: StudioPage) -> None:
    """A drop in the studio opens the scene; a broken one says what, where and what is allowed."""
    start.page.locator("[data-scene='gripper/follow']").click()
    start.ready()
    drop(start, ("dropped.toml", SCENE))
    start.until("store.scene?.name === 'dropped'")
    assert start.studio is not None
    assert isinstance(start.studio.host.open, OpenScene)
    scene = start.studio.host.open.editor.scene
    assert isinstance(scene, Scene)
    assert list(scene.scenery) == ["box"]
    drop(start, ("bad.toml", SCENE.replace(b"size", b"sise")))
    alert = start.page.get_by_role("alert")
    expect(alert).to_contain_text("bad.toml:5")
    expect(alert).to_contain_text("Did you mean 'size'?")
    drop(start, ("notes.txt", b"hello"))
    expect(start.page.get_by_role("alert").last).to_contain_text("none of the files")
    assert start.ask("store.scene.name") == "dropped"
