"""Files that a browser brings: forms, folders and ZIP files, the bad ones too."""

import io
import stat
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import cases
from linkwork.core.errors import FormatError
from linkwork.studio.web import uploads
from linkwork.studio.web.uploads import place_loose_files

SCENE = b'format = "linkwork/scene 1"\nname = "s"\n'
PART = b'format = "linkwork/part 1"\nname = "p"\n'


def zipped(files: dict[str, bytes], *, links: tuple[str, ...] = ()) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        for name in links:
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, "/etc/passwd")
    return made.getvalue()


def test_a_zip_is_a_folder(tmp_path: Path) -> None:
    """Its files are kept with their paths, and the scene among them is the one to open."""
    files = {"robot/robot.toml": PART, "robot/scene.toml": SCENE, "robot/meshes/a.stl": b"solid"}
    found = uploads.unpacked({"robot.zip": zipped(files, links=("robot/evil",))})
    assert found == files
    main = uploads.store_files(found, tmp_path)
    assert main.name == "scene.toml"
    assert (main.parent / "meshes" / "a.stl").read_bytes() == b"solid"


def test_two_zips_do_not_hide_each_other() -> None:
    """Each gets a folder of its own where several things are brought."""
    found = uploads.unpacked(
        {"a.zip": zipped({"x.toml": PART}), "b.zip": zipped({"x.toml": SCENE})}
    )
    assert found == {"a/x.toml": PART, "b/x.toml": SCENE}


@pytest.mark.parametrize("name", ["../x.toml", "/x.toml", "a/../../x.toml", "..\\x.toml", "C:/x"])
def test_no_path_leads_out(name: str) -> None:
    """Neither in a form nor in a ZIP."""
    with pytest.raises(FormatError, match="not a path inside"):
        uploads.unpacked({"z.zip": zipped({name: PART})})
    body = b'--B\r\nContent-Disposition: form-data; name="f"; filename="%s"\r\n\r\nx\r\n--B--\r\n'
    with pytest.raises(FormatError, match="not a path inside"):
        uploads.files_of("multipart/form-data; boundary=B", body % name.encode())


def test_bombs_and_broken_archives_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What unpacks to too much, is no ZIP, is empty, or has too many files says so."""
    monkeypatch.setattr(uploads, "MAX_BYTES", 1_000_000)
    with pytest.raises(FormatError, match="unpacks to more"):
        uploads.unpacked({"z.zip": zipped({"x.toml": b"0" * 2_000_000})})
    with pytest.raises(FormatError, match="not a ZIP"):
        uploads.unpacked({"z.zip": b"PK\x03\x04 and no more"})
    with pytest.raises(FormatError, match="no files"):
        uploads.unpacked({"z.zip": zipped({})})
    monkeypatch.setattr(uploads, "MAX_FILES", 3)
    with pytest.raises(FormatError, match="more than 3 files"):
        uploads.unpacked({"z.zip": zipped({f"{n}.toml": PART for n in range(4)})})


def test_the_file_to_open_is_ours_before_others(tmp_path: Path) -> None:
    """A project's own TOML files do not stand before a robot; none at all says what to bring."""
    files = {"pyproject.toml": b"[project]\n", "deep/robot.urdf": b"<robot/>"}
    assert uploads.store_files(files, tmp_path).name == "robot.urdf"
    files = {"setup.cfg": b"[x]\n", "arm.stl": b"solid", "cell.world": b"<sdf/>"}
    assert uploads.store_files(files, tmp_path).name == "cell.world"
    with pytest.raises(FormatError, match="none of the files") as refused:
        uploads.store_files({"notes.txt": b"x"}, tmp_path)
    assert ".zip" in refused.value.hint


@pytest.mark.parametrize(
    "name", ["a.stl", "a.OBJ", "a.dae", "a.glb", "a.gltf", "a.step", "a.stp", "a.robot", "a.cfg"]
)
def test_a_drawing_or_robot_text_alone_is_opened(tmp_path: Path, name: str) -> None:
    """A drawing is what there is to open where no robot names it."""
    assert uploads.store_files({name: b"x", "a.mtl": b"", "a.png": b""}, tmp_path).name == name


def test_of_several_drawings_none_is_taken_for_the_robot(tmp_path: Path) -> None:
    """An assembly stands before meshes; meshes side by side are refused in words."""
    assert uploads.store_files({"a.stl": b"x", "b.step": b"x"}, tmp_path).name == "b.step"
    with pytest.raises(FormatError, match=r"without a robot that names them: a\.stl, b\.stl"):
        uploads.store_files({"b.stl": b"x", "a.stl": b"x"}, tmp_path)


def test_bringing_it_again_keeps_what_was_edited(tmp_path: Path) -> None:
    """The same files are the same folder, unless someone edited them there."""
    first = uploads.store_files({"a.toml": PART}, tmp_path)
    assert uploads.store_files({"a.toml": PART}, tmp_path) == first
    first.write_bytes(PART + b"# mine\n")
    second = uploads.store_files({"a.toml": PART}, tmp_path)
    assert second != first
    assert first.read_bytes().endswith(b"# mine\n")
    assert second.read_bytes() == PART


@pytest.mark.parametrize(
    ("reference", "main", "target"),
    [
        ("meshes/a.stl", "r.urdf", "meshes/a.stl"),
        ("./meshes\\\\a.stl", "flat/r.urdf", "flat/meshes/a.stl"),
        ("package://robot/meshes/a.stl", "r.urdf", "robot/meshes/a.stl"),
        ("../../meshes/a.stl", "r.urdf", "meshes/a.stl"),
    ],
)
def test_a_mesh_beside_its_robot_is_put_where_it_is_sought(
    tmp_path: Path, reference: str, main: str, target: str
) -> None:
    """A browser gives files that are picked one by one no folders; the references do."""
    mesh = str(PurePosixPath(main).parent / "a.stl")
    files = {main: f'<mesh filename="{reference}"/>'.encode(), mesh: b"solid"}
    robot = uploads.store_files(place_loose_files(files), tmp_path)
    home = robot.parents[main.count("/") + reference.count("../")]
    assert (home / target).read_bytes() == b"solid"
    assert robot.read_bytes() == files[main]
    assert home.is_relative_to(tmp_path)


@pytest.mark.parametrize(
    ("main", "text"),
    [
        ("r.xml", '<mujoco><compiler meshdir="parts"/><mesh file="a.stl"/></mujoco>'),
        ("r.mjcf", '<mujoco><compiler assetdir="./parts/"/><mesh file="a.stl"/></mujoco>'),
        ("r.sdf", "<sdf><uri> parts/a.stl\t</uri></sdf>"),
        ("r.world", "<sdf><uri>model://parts/a.stl</uri></sdf>"),
        ("r.gltf", '{"buffers": [{"uri": "parts/a.stl"}]}'),
    ],
)
def test_each_format_seeks_its_files_in_its_own_way(main: str, text: str) -> None:
    """MuJoCo's folder for meshes, SDF's addresses and glTF's buffers are followed too."""
    found = place_loose_files({main: text.encode(), "a.stl": b"solid"})
    assert found["parts/a.stl"] == b"solid"


@pytest.mark.parametrize(
    "reference",
    ["/etc/meshes/a.stl", "file:///a/a.stl", "x/../../../a.stl", "b.stl/a.stl", "a.stl"],
)
def test_other_references_move_nothing(reference: str) -> None:
    """Absolute ones, odd ones, and those to what is there."""
    files = {
        "r.urdf": f'<mesh filename="{reference}"/> "m/b.stl"'.encode(),
        "a.stl": b"solid",
        "b.stl": b"solid b",
        "m/b.stl": b"solid c",
    }
    assert place_loose_files(files) == files


@settings(max_examples=cases(200), deadline=None)
@given(st.binary(max_size=400), st.integers(0, 400), st.binary(max_size=8))
def test_garbage_never_gets_further_than_an_error(junk: bytes, at: int, more: bytes) -> None:
    """Whatever stands in a ZIP or a form, it is taken or refused in words."""
    good = zipped({"a/b.toml": SCENE, "c.stl": b"solid"})
    for data in (junk, good[:at] + more + good[at:], good[:at] + junk):
        try:
            found = uploads.unpacked({"z.zip": data})
        except FormatError:
            continue
        assert all(not name.startswith("/") and ".." not in name.split("/") for name in found)
    try:
        found = uploads.files_of("multipart/form-data; boundary=B", b"--B\r\n" + junk)
    except FormatError:
        return
    assert found
