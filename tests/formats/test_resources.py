"""Meshes and models are found where ROS and Gazebo find them; a message says how to get others."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

import linkwork as lw
from linkwork.cli.app import app
from linkwork.core.errors import FormatError, MeshNotFound
from linkwork.formats.robots.resources import SEARCH_VARIABLES, ResourceLocator
from linkwork.formats.robots.sdf import SdfFormat
from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.model.parts import Part
from linkwork.model.scene import Scene

MODEL = "<sdf version='1.9'><model name='{}'><link name='l'/></model></sdf>"
WORLD = "<sdf version='1.9'><world name='w'>\n{}</world></sdf>"
FUEL = "https://fuel.gazebosim.org/1.0/OpenRobotics/models/Simple Arm"
URDF = '<robot name="r"><link name="l">\n{}</link></robot>'
MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without ROS and Gazebo."""
    for variable in (*SEARCH_VARIABLES, "AMENT_PREFIX_PATH", "GZ_FUEL_CACHE_PATH",
                     "IGN_FUEL_CACHE_PATH"):  # fmt: skip
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def include(*references: str) -> str:
    return "\n".join(f"<include><uri>{each}</uri></include>" for each in references)


def world(tmp_path: Path, *references: str) -> Path:
    path = tmp_path / "worlds" / "w.sdf"
    path.parent.mkdir(exist_ok=True)
    path.write_text(WORLD.format(include(*references)))
    return path


def put(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("cache", "variable", "server"),
    [
        ("home/.gz/fuel", "", "fuel.gazebosim.org"),
        ("home/.ignition/fuel", "", "fuel.gazebosim.org"),
        ("home/.ignition/fuel", "", "fuel.ignitionrobotics.org"),
        ("elsewhere", "GZ_FUEL_CACHE_PATH", "fuel.gazebosim.org"),
        ("elsewhere", "IGN_FUEL_CACHE_PATH", "fuel.ignitionrobotics.org"),
    ],
)
def test_a_fuel_model_is_found_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: str, variable: str, server: str
) -> None:
    """The newest version, or the one that is named; names are in lower case there."""
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / cache))
    home = tmp_path / cache / server / "openrobotics" / "models" / "simple arm"
    for version in (2, 10, 9):
        put(home / f"{version}" / "model.sdf", MODEL.format(f"arm{version}"))
    for reference, name in (
        (FUEL, "arm10"),
        (f"{FUEL}/tip", "arm10"),
        (f"{FUEL}/2", "arm2"),
        (FUEL.replace(" ", "%20"), "arm10"),
        (FUEL.replace("gazebosim", "ignitionrobotics").lower(), "arm10"),
    ):
        scene = SdfFormat().read(world(tmp_path, reference))
        assert isinstance(scene, Scene)
        assert list(scene.parts) == [name], reference


def test_a_fuel_mesh_and_own_references_are_found(home: Path) -> None:
    """https://…/files/… leads into the cache; a model there refers to itself by its name."""
    folder = home / ".gz/fuel/fuel.gazebosim.org/openrobotics/models/simple arm/3"
    mesh = put(folder / "meshes" / "a.stl")
    outside, inside = ResourceLocator(home), ResourceLocator(folder)
    for reference in (f"{FUEL}/3/files/meshes/a.stl", f"{FUEL}/tip/files/meshes/a.stl"):
        assert outside.find(reference)[0] == mesh
    assert inside.find("model://Simple Arm/meshes/a.stl")[0] == mesh
    assert outside.find("model://Simple Arm/meshes/a.stl")[0] is None


def test_missing_models_say_how_to_get_them(tmp_path: Path) -> None:
    """The error names file and line, the paths, the command, the option, and all the others."""
    path = world(tmp_path, FUEL, f"{FUEL}/7", "model://shelf", "table")
    with pytest.raises(FormatError) as caught:
        SdfFormat().read(path)
    text = str(caught.value)
    assert text.startswith(f"{path}:2: model '{FUEL}' not found.")
    assert f"{tmp_path}/home/.gz/fuel/fuel.gazebosim.org/openrobotics/models/simple arm/" in text
    command = f"gz fuel download -u {FUEL.replace(' ', '%20')}\n"
    assert command in text
    assert "--missing-meshes skip" in text
    assert f"Also missing: {FUEL}/7, model://shelf, table." in text


def test_the_command_is_safe_to_paste() -> None:
    """Characters of a shell in a name are escaped."""
    hint = ResourceLocator(Path()).hint("https://fuel.gazebosim.org/1.0/a/models/b;$(c)`d`'\"", [])
    (command,) = [line for line in hint.splitlines() if "gz fuel" in line]
    assert not set(command) & set(";$()`'\"")


@pytest.mark.parametrize(
    ("place", "reference", "variable"),
    [
        ("worlds/models/shelf", "model://shelf", ""),
        ("models/shelf", "model://shelf", ""),
        ("models/shelf", "shelf", ""),
        ("models/shelf", "file://shelf", ""),
        ("home/.gazebo/models/shelf", "model://shelf", ""),
        *(("far/shelf", "model://shelf", variable) for variable in SEARCH_VARIABLES),
    ],
)
def test_a_model_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, reference: str, variable: str
) -> None:
    """Beside the file, in a folder "models" around it, or where a variable says."""
    put(
        tmp_path / place / "model.config",
        "<model><!-- -- --><sdf version='1'>own.sdf</sdf></model>",
    )
    put(tmp_path / place / "own.sdf", MODEL.format("shelf"))
    if variable:
        monkeypatch.setenv(variable, f"/nowhere{os.pathsep}{tmp_path / 'far'}")
    scene = SdfFormat().read(world(tmp_path, reference))
    assert isinstance(scene, Scene)
    assert list(scene.parts) == ["shelf"]


def test_a_package_is_known_by_its_package_xml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ROS names packages in package.xml, whatever their folder: below its path, and nearby."""
    for place, name in (("ros/src/repo/deep", "far"), ("ws/folder", "near")):
        put(tmp_path / place / "package.xml", f"<package><name>{name}</name></package>")
        put(tmp_path / place / "m" / "a.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    locator = ResourceLocator(tmp_path / "ws" / "robot" / "urdf")
    assert locator.find("package://far/m/a.stl")[0] == tmp_path / "ros/src/repo/deep/m/a.stl"
    assert locator.find("package://near/m/a.stl")[0] == tmp_path / "ws/folder/m/a.stl"
    assert locator.find("package://other/m/a.stl")[0] is None


def test_the_nearest_candidate_is_offered(tmp_path: Path) -> None:
    """A package whose folder was renamed is named in the error, and not used unasked."""
    for folder in ("arm_description-master", "zoo"):
        put(tmp_path / "ws" / folder / "meshes" / "a.stl")
    path = put(
        tmp_path / "ws" / "arm_description-master" / "urdf" / "r.urdf",
        URDF.format(MESH.format("package://arm_description/meshes/a.stl")),
    )
    with pytest.raises(MeshNotFound) as caught:
        UrdfFormat().read(path)
    there = tmp_path / "ws" / "arm_description-master" / "meshes" / "a.stl"
    assert f"There is {there}: if the folder of 'arm_description' was renamed" in str(caught.value)


def test_a_similar_file_is_offered(tmp_path: Path) -> None:
    """A path with other capitals leads to a question."""
    put(tmp_path / "m" / "Base.STL")
    path = put(tmp_path / "r.urdf", URDF.format(MESH.format("m/base.stl")))
    with pytest.raises(MeshNotFound, match=f"Did you mean {tmp_path / 'm' / 'Base.STL'}"):
        UrdfFormat().read(path)


def test_a_model_of_missing_models_is_left_out(tmp_path: Path) -> None:
    """A model that holds nothing but a missing include is left out with it."""
    path = put(
        tmp_path / "w.sdf", WORLD.format(f"<model name='shell'>{include('model://gone')}</model>")
    )
    scene, notes = SdfFormat(missing="skip").read_with_notes(path)
    assert isinstance(scene, Scene)
    assert not scene.parts
    assert notes == [f"models that are missing, left out: model://gone ({path}:2)."]


def test_python_leaves_out_what_is_missing(tmp_path: Path) -> None:
    """lw.load takes missing_meshes; the next file is read as before."""
    path = put(tmp_path / "r.urdf", URDF.format(MESH.format("gone.stl")))
    part = lw.load(path, missing_meshes="skip")
    assert isinstance(part, Part)
    assert part.elements["l"].shapes == ()
    with pytest.raises(MeshNotFound, match="--missing-meshes skip"):
        lw.load(path)


def test_the_command_line_leaves_out_what_is_missing(tmp_path: Path) -> None:
    """check, convert and run take --missing-meshes skip, also for parts of a scene."""
    ball = MESH.replace("visual", "collision").format("gone.stl")
    path = put(tmp_path / "r.urdf", URDF.format(MESH.format("gone.stl") + "\n" + ball))
    scene = put(
        tmp_path / "s.toml",
        'format = "linkwork/scene 1"\nname = "s"\n[[part]]\nname = "r"\npart = "./r.urdf"\n',
    )
    run = CliRunner().invoke
    for file in (path, scene):
        refused = run(app, ["check", str(file)])
        assert refused.exit_code == 1
        assert f"{path}:2: visual mesh 'gone.stl' not found" in " ".join(refused.output.split())
        done = run(app, ["check", str(file), "--missing-meshes", "skip"])
        assert done.exit_code == 0, done.output
        assert f"left out: gone.stl ({path}:3)" in " ".join(done.output.split())
    strict = run(app, ["check", str(path), "--missing-meshes", "skip", "--strict"])
    assert strict.exit_code == 1  # a collision is missing
    made = tmp_path / "made.toml"
    done = run(app, ["convert", str(path), str(made), "--missing-meshes", "skip"])
    assert done.exit_code == 0, done.output
    assert made.is_file()
    done = run(app, ["run", str(path), "--missing-meshes", "skip", "--for", "0.01"])
    assert done.exit_code == 0, done.output


def test_every_missing_file_is_named(tmp_path: Path) -> None:
    """A world without thirty models names all of them."""
    uris = [f"model://thing_{number}" for number in range(30)]
    inside = "".join(f"<include><uri>{uri}</uri></include>" for uri in uris)
    path = tmp_path / "w.sdf"
    path.write_text(f'<sdf version="1.9"><world name="w">{inside}</world></sdf>')
    with pytest.raises(FormatError) as caught:
        SdfFormat().read(path)
    assert all(uri in str(caught.value) for uri in uris)
