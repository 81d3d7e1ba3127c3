"""The studio's session side: what goes wrong is answered, and nothing unsaved is lost."""

import hashlib
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host_fixture import Backstage, backstage
from linkwork.cli import warmup_stages
from linkwork.core.errors import ErrorRecord, LinkworkError
from linkwork.formats import load
from linkwork.model.scene import Scene
from linkwork.project import Project
from linkwork.project.document import Document
from linkwork.session.messages import SessionEvent
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host import project_files
from linkwork.studio.host.mesh_store import MeshStore
from linkwork.studio.host.new_scenes import toml_copy
from linkwork.studio.host.open_recording import OpenRecording
from linkwork.studio.host.open_scene import OpenScene
from linkwork.studio.protocol.link_messages import ViewRequest

KITS = project_files._PACKAGE
ROBOT = b"""<robot name="flag"><link name="pole"/><link name="cloth"><inertial>
<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="swing" type="revolute"><parent link="pole"/><child link="cloth"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of half a second."""
    path = tmp_path_factory.mktemp("recorded") / "run.mcap"
    with Session("gripper/follow", record=path) as session:
        session.run(0.5)
    return path


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scene of the user's own, in the folder that the program works in."""
    for name in ("follow.toml", "follow.py", "arm.toml"):
        shutil.copy(KITS / "gripper" / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "follow.toml"


@pytest.fixture
def here(scene: Path, tmp_path: Path) -> Iterator[Backstage]:
    with backstage(str(scene), tmp_path) as made:
        made.until("scene")
        yield made


def kit_files() -> dict[str, str]:
    """Every file of the package's kits, and a hash of what it holds."""
    files = (each for each in KITS.rglob("*") if each.is_file() and "__pycache__" not in each.parts)
    return {str(each): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


def friction(value: float) -> m.EditAttribute:
    return m.EditAttribute("ground", "element", "friction", value)


def scene_of(here: Backstage) -> OpenScene:
    assert isinstance(here.host.open, OpenScene)
    return here.host.open


# ---- first use ---------------------------------------------------------------------------


def test_a_scene_waits_for_kernels_and_people_are_told(tmp_path: Path) -> None:
    """The studio is there before they are compiled; what was asked for last opens then."""
    ready = threading.Event()
    with backstage("gripper/follow", tmp_path, ready=lambda _: ready.is_set()) as here:
        reported = here.until("event", lambda e: e["source"] == "kernels")
        assert "once for this version and processor" in reported["text"]
        assert "no scene is open" in here.refused(m.Play())
        here.ask(m.Open("tripod/level"))
        here.until("event", lambda e: e["source"] == "kernels")
        ready.set()
        assert here.until("scene")["name"] == "level"


def test_a_scene_waits_only_for_what_it_needs(tmp_path: Path) -> None:
    """While an engine's kernels are missing, scenes of other engines open."""

    def ready(scene: Scene | None) -> bool:
        return scene is not None and all(engine.type != "impulse" for engine in scene.engines)

    with backstage("mechanisms/four_bar", tmp_path, ready=ready) as here:
        here.until("event", lambda e: e["source"] == "kernels")
        here.ask(m.Open("tripod/level"))
        assert here.until("scene")["name"] == "level"


def test_stages_are_what_engines_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scene is warm once its engines are; what is unknown, when all is."""
    monkeypatch.setattr(warmup_stages, "cache_directory", lambda: tmp_path)
    plain, exact = Scene("plain"), Scene("exact").engine("impulse")
    assert not warmup_stages.is_warm(plain)
    warmup_stages.stage_marker("scenes").touch()
    assert warmup_stages.is_warm(plain)
    assert not warmup_stages.is_warm(exact)
    warmup_stages.stage_marker("impulse").touch()
    assert warmup_stages.is_warm(exact)
    assert not warmup_stages.is_warm(None)
    for stage in warmup_stages.STAGES:
        warmup_stages.stage_marker(stage).touch()
    assert warmup_stages.is_warm(None)


def test_what_cannot_be_opened_is_said_before_kernels_are_compiled(tmp_path: Path) -> None:
    """Nobody waits a minute for a file that is not there."""
    with (
        pytest.raises(LinkworkError, match="none"),
        backstage(str(tmp_path / "none.toml"), tmp_path, ready=lambda _: False),
    ):
        pass


def test_kernels_compile_in_the_background_at_first_use_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty cache starts it, and how it ended is told once; a marked one does not."""
    monkeypatch.setattr(warmup_stages, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(warmup_stages, "kernels_kept", lambda: 0)
    monkeypatch.setattr(
        warmup_stages, "COMMAND", (sys.executable, "-c", "import time; time.sleep(60)")
    )
    beside = warmup_stages.WarmupProcess()
    assert beside.begun
    assert not beside.done
    assert not beside.pending_message()
    beside.close()
    assert beside.done
    assert beside.pending_message() == warmup_stages.FAILED
    assert not beside.pending_message()
    for stage in warmup_stages.STAGES:
        warmup_stages.stage_marker(stage).touch()
    again = warmup_stages.WarmupProcess()
    assert again.done
    assert not again.pending_message()


# ---- whose files -------------------------------------------------------------------------


def test_only_a_file_that_is_no_toml_is_converted(tmp_path: Path) -> None:
    """A kit's scene is TOML already: nothing is written, neither beside it nor elsewhere."""
    before = kit_files()
    with backstage("gripper/follow", tmp_path) as here:
        here.until("scene")
        assert "nothing to convert" in here.refused(m.ConvertToToml())
    assert kit_files() == before
    assert not list(tmp_path.glob("*.toml"))


def test_a_copy_of_a_kits_file_goes_into_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the kit's folder could be written."""
    kit, mine = tmp_path / "kits" / "flags", tmp_path / "mine"
    kit.mkdir(parents=True)
    mine.mkdir()
    (kit / "flag.urdf").write_bytes(ROBOT)
    monkeypatch.setattr(project_files, "_PACKAGE", tmp_path / "kits")
    assert toml_copy(str(kit / "flag.urdf"), mine) == str(mine / "flag.toml")
    assert [each.name for each in kit.iterdir()] == ["flag.urdf"]
    with pytest.raises(LinkworkError, match="in a kit that is not yours"):
        toml_copy(str(kit / "flag.urdf"), kit)


def test_files_of_one_name_keep_what_they_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saved elsewhere, two of a kit's programs of one name are both there, and both are meant."""
    kit, mine = tmp_path / "kits" / "pair", tmp_path / "mine"
    for side in ("left", "right"):
        (kit / side).mkdir(parents=True)
        (kit / side / "go.py").write_text(f"# {side}\ndef step(bench):\n    pass\n")
    agents = "".join(
        f'[[agent]]\nname = "{side}"\ntype = "program"\nfile = "{side}/go.py"\n'
        for side in ("left", "right")
    )
    (kit / "pair.toml").write_text(f'format = "linkwork/scene 1"\nname = "pair"\n{agents}')
    monkeypatch.setattr(project_files, "_PACKAGE", tmp_path / "kits")
    project = Project(Document.open(str(kit / "pair.toml")))
    project_files.save_as(project, str(mine / "pair.toml"), overwrite=False)
    saved = load(str(mine / "pair.toml"))
    assert isinstance(saved, Scene)
    files = [mine / str(agent.params["file"]) for agent in saved.agents]
    assert [file.parent for file in files] == [mine, mine]
    assert [file.read_text().split()[1] for file in files] == ["left", "right"]


def test_only_images_are_laid_on_shapes(tmp_path: Path) -> None:
    """A texture may name any file; who watches gets to see images alone."""
    store = MeshStore()
    (tmp_path / "real.png").write_bytes(b"\x89PNG\r\n\x1a\nand so on")
    (tmp_path / "passwords.png").write_bytes(b"root:x:0:0")
    assert store.get(store.add_image(str(tmp_path / "real.png")) or "")
    assert store.add_image(str(tmp_path / "passwords.png")) is None


# ---- messages that nobody would send -----------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        m.EditAttribute("ground", "element", "²", 1.0),
        m.EditAttribute("ground", "element", "friction", "1" * 5000),
        m.EditAttribute("ground", "element", "friction", "1979-05-27"),
        m.SaveAs("~nobody-of-this-name/x.toml"),
        m.SaveAs("x\0y.toml"),
        m.SaveAs("follow.toml/x.toml"),
        m.SaveAs("x" * 400 + ".toml"),
    ],
)
def test_a_strange_message_is_refused_in_words(here: Backstage, message: m.FromClient) -> None:
    """The reason is the user's to understand, and the scene goes on."""
    assert "bug in Linkwork" not in here.refused(message)
    here.ask(m.Inspect("ground", "element"))
    assert here.until("attributes")["name"] == "ground"


def test_what_nobody_foresaw_is_refused_and_the_studio_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An error that is none of ours is logged, told, and ends nothing."""

    def broken(name: str) -> Any:
        raise ZeroDivisionError(f"{name} by zero")

    with backstage(None, tmp_path, broken) as here:
        for _ in range(2):
            assert "ZeroDivisionError: apples by zero" in here.refused(m.Open("apples"))
    assert "apples by zero" in caplog.text


# ---- changes that are not in use ---------------------------------------------------------


def test_an_edit_that_cannot_be_used_takes_with_it_what_was_built_on_it(here: Backstage) -> None:
    """Both edits are gone when neither scene can run; the first is not forgotten."""
    here.ask(m.EditAttribute("lift", "agent", "amplitude_deg", 500.0))
    here.ask(friction(0.3))
    here.until("undo", lambda u: u["undo"].startswith("friction"))
    state = here.until("undo", lambda u: not u["dirty"])
    assert not state["can_undo"]
    assert "500" not in scene_of(here).editor.project.main.text  # type: ignore[union-attr]


def test_the_event_of_another_edit_is_shown(here: Backstage) -> None:
    """A refused edit answers its own event only, not that of another edit for the same reason."""
    here.ask(m.EditAttribute("lift", "agent", "amplitude_deg", 500.0))
    refusal = here.until("refused")
    error = ErrorRecord(**refusal["error"])
    assert error.kind == "SignalError"
    text = f"the edit is not in use: {refusal['text']}"
    other = SessionEvent(0, "error", text, "scene", error, "edit", 10**6)
    assert not scene_of(here)._answered(other)


def test_an_undo_that_cannot_be_used_is_itself_undone(here: Backstage, tmp_path: Path) -> None:
    """The edits before it stay as they were."""
    for value in (0.3, 0.4):
        here.ask(friction(value))
        here.until("scene")
    (tmp_path / "follow.py").unlink()
    here.ask(m.Undo())
    here.until("undo", lambda u: u["can_redo"])
    assert "follow.py" in here.until("refused", lambda r: r["what"] == "undo")["text"]
    here.until("undo", lambda u: not u["can_redo"])
    project = scene_of(here).editor.project
    assert project is not None
    assert len(project.history) == 2
    assert "friction = 0.4" in project.main.text


# ---- postures by hand --------------------------------------------------------------------


def placed(value: float, gesture: int = 0) -> m.DragJoint:
    return m.DragJoint("arm/J1", "angle", value, gesture)


@pytest.fixture
def paused(here: Backstage) -> Backstage:
    here.ask(m.Pause())
    here.ask(m.Reset())
    return here


def test_a_hand_that_moved_a_joint_is_undone_in_one_step(paused: Backstage) -> None:
    """Undo gives back the state before each movement, bit for bit, and redo the one after."""
    session = scene_of(paused).session
    paused.ask(friction(0.3))
    paused.until("scene", lambda s: s["dirty"])
    first = session.state.copy()
    for value, gesture in ((0.1, 1), (0.2, 1), (0.5, 2)):
        paused.ask(placed(value, gesture))
    paused.ask(m.Undo())
    state = paused.until("undo", lambda u: u["can_redo"])
    assert session["arm/J1.angle"] == pytest.approx(0.2)
    assert (state["undo"], state["redo"]) == ("place arm/J1", "place arm/J1")
    paused.ask(m.Undo())
    state = paused.until("undo", lambda u: u["undo"].startswith("friction"))
    assert session.state.same(first)
    paused.ask(m.Redo())
    paused.until("undo", lambda u: u["undo"] == "place arm/J1")
    assert session["arm/J1.angle"] == pytest.approx(0.2)
    paused.ask(m.Undo())
    paused.ask(m.Undo())  # the posture is back, now the edit
    paused.until("undo", lambda u: not u["can_undo"] and not u["dirty"])


def test_a_drag_that_was_given_up_is_no_step(paused: Backstage) -> None:
    """Back where it was, there is nothing to undo."""
    session = scene_of(paused).session
    value = session["arm/J1.angle"]
    for each in (value + 0.3, value):
        paused.ask(placed(each, 7))
    paused.until("undo", lambda u: u["can_undo"])
    paused.until("undo", lambda u: not u["can_undo"])
    assert "nothing to undo" in paused.refused(m.Undo())


@pytest.mark.parametrize("message", [m.SingleStep(1), m.Reset(), friction(0.2)], ids=m.type_of)
def test_postures_are_undone_only_while_nothing_else_happened(
    paused: Backstage, message: m.FromClient
) -> None:
    """Undo never goes back in time, nor past another change."""
    paused.ask(placed(0.3))
    paused.until("undo", lambda u: u["undo"] == "place arm/J1")
    paused.ask(message)
    paused.until("undo", lambda u: u["undo"] != "place arm/J1")


# ---- what waits behind a recording -------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [m.Open("tripod/level"), m.NewScene("fresh"), m.CloseScene(), m.ContinueRecording()],
    ids=m.type_of,
)
def test_unsaved_changes_behind_a_recording_are_not_dropped(
    here: Backstage, recorded: Path, tmp_path: Path, message: Any
) -> None:
    """They are refused to be lost, told of, still there on the way back, and dropped on demand."""
    (tmp_path / "recordings").mkdir()
    shutil.copy(recorded, tmp_path / "recordings" / "run.mcap")
    here.ask(friction(0.3))
    here.until("scene")
    here.ask(m.Open(str(tmp_path / "recordings" / "run.mcap")))
    replay = here.until("scene", lambda s: s["replay"])["replay"]
    assert [Path(file).name for file in replay["unsaved"]] == ["follow.toml"]
    assert "unsaved changes" in here.refused(message)
    here.ask(m.BackToLive())
    here.until("scene", lambda s: not s["replay"] and s["dirty"])
    here.ask(m.Open(str(tmp_path / "recordings" / "run.mcap")))
    here.until("scene", lambda s: s["replay"])
    here.ask(type(message)(**{**_fields(message), "discard": True}))
    here.until("closed" if isinstance(message, m.CloseScene) else "scene")


def test_an_unsaved_movement_behind_a_recording_is_not_dropped(
    here: Backstage, recorded: Path, tmp_path: Path
) -> None:
    """It is told of by its name, as it has no file, and is there on the way back."""
    (tmp_path / "recordings").mkdir()
    shutil.copy(recorded, tmp_path / "recordings" / "run.mcap")
    here.ask(m.AddPosture())
    here.until("movement", lambda s: s["draft"])
    here.ask(m.Open(str(tmp_path / "recordings" / "run.mcap")))
    replay = here.until("scene", lambda s: s["replay"])["replay"]
    assert replay["unsaved"] == ["arm_movement"]
    assert "unsaved changes" in here.refused(m.CloseScene())
    here.ask(m.BackToLive())
    assert here.until("movement", lambda s: s["draft"])["dirty"]


def _fields(message: Any) -> dict[str, Any]:
    return {name: getattr(message, name) for name in message.__struct_fields__}


def test_every_scene_has_versions_of_its_own(here: Backstage) -> None:
    """No picture of one scene passes for one of the next."""
    here.ask(m.Open("tripod/level"))
    first = here.until("scene", lambda s: s["name"] == "level")["version"]
    here.ask(m.Open("gripper/follow"))
    again = here.until("scene", lambda s: s["name"] == "follow")["version"]
    assert len({1, first, again}) == 3


class Silent:
    """A way out that nobody listens to."""

    def __init__(self, shown: list[OpenRecording]) -> None:
        self._shown = shown
        self.pictures = 0

    def poll(self) -> None: ...

    def wait(self, timeout: float) -> bool:
        return False

    def publish_snapshot(self, snapshot: bytes) -> None:
        self.pictures += 1
        (made,) = self._shown
        if made.step == made.recording.last_step or self.pictures > 2000:
            made.stop()


def test_fastest_plays_also_what_cannot_be_simulated_again(recorded: Path) -> None:
    """It goes from one recorded picture to the next up to the end."""
    shown: list[OpenRecording] = []
    reported: list[m.FromServer] = []
    made = OpenRecording(
        recorded,
        Silent(shown),  # type: ignore[arg-type]
        lambda to, what: reported.append(what),
        ViewRequest(0, [], []),
        base=0,
    )
    shown.append(made)
    try:
        # Recorded by another version: no state of the file fits this world.
        made.playback._restore = lambda step, state: made.playback._lose("another version")  # type: ignore[method-assign,assignment,return-value]
        made.playback._jump(made.playback._entries[0])
        made.answer("A", m.Speed(0.0))
        made.answer("A", m.Play())
        made.run(lambda: None)
        assert made.step == made.recording.last_step
    finally:
        made.close()
