"""People who walk into a scene that runs in the studio: in its world, not in its file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from can_arm_fixture import write_bench
from host_fixture import Backstage, backstage
from linkwork.session.replay import replay
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.open_scene import OpenScene
from studio_state import eventually

WAY = {"enters": [3.0, 0.5], "to": [1.0, 0.5], "speed": 10.0}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Backstage]:
    with backstage(str(write_bench(tmp_path)), tmp_path) as made:
        made.until("scene")
        yield made


def session_of(here: Backstage) -> Session:
    assert isinstance(here.host.open, OpenScene)
    return here.host.open.session


def inject(here: Backstage, **args: Any) -> None:
    here.ask(m.FaultRequest(kind="person", args={**WAY, **args}))


def has(session: Session, signal: str) -> bool:
    return any(each.name == signal for each in session.signals)


@pytest.mark.capability(130)
def test_a_person_is_let_into_a_running_scene_and_the_run_repeats(
    here: Backstage, tmp_path: Path
) -> None:
    """The person walks in and, when told, out; a recording across it replays bit for bit."""
    session = session_of(here)
    here.ask(m.Record(True))
    here.ask(m.Play())
    eventually("time runs", lambda: session.state.step > 20)
    inject(here)
    scene = here.until("scene", lambda s: any(e["part"] == "visitor" for e in s["elements"]))
    assert scene["dirty"] is False  # no file knows the person
    eventually("the person is there", lambda: has(session, "visitor.x"))
    eventually("the person walked in", lambda: abs(session["visitor.x"] - 1.0) < 1e-6)
    assert session["person.active"] == 1.0
    assert session["person.inside"] == 1.0
    assert session["visitor/person.visible"] == 1.0
    assert session["visitor.y"] == pytest.approx(0.5)
    here.ask(m.FaultRequest("person", on=False))
    eventually("the person has left", lambda: session["visitor/person.visible"] == 0.0)
    assert session["visitor.x"] == pytest.approx(3.0)
    here.ask(m.Record(False))
    here.until("gallery_changed")
    (file,) = (tmp_path / "recordings").glob("*.mcap")
    result = replay(file)
    assert result.same, result.mismatch
    assert result.steps > 20


def test_a_reset_puts_the_person_outside_again(here: Backstage) -> None:
    """Nobody is seen at the start; one who comes at a time comes again at that time."""
    session = session_of(here)
    here.ask(m.Pause())
    here.ask(m.Reset())
    eventually("it stands at the start", lambda: not session.running and session.state.step == 0)
    inject(here, at=0.1)
    eventually("the person waits", lambda: has(session, "visitor.x"))
    assert session["visitor/person.visible"] == 0.0
    here.ask(m.SingleStep(100))
    eventually("the steps are done", lambda: session.state.step == 100)
    assert session["person.active"] == 1.0
    here.ask(m.Reset())
    eventually("reset", lambda: session.state.step == 0)
    assert session["visitor/person.visible"] == 0.0
    assert session["visitor.x"] == pytest.approx(3.0)
    here.ask(m.SingleStep(100))
    eventually("the time came again", lambda: session["person.active"] == 1.0)


def test_who_has_left_makes_room_and_who_is_there_stays(here: Backstage) -> None:
    """A second person joins the first; after both have left, a third is alone in the scene."""
    session = session_of(here)
    inject(here)
    eventually("one came", lambda: has(session, "visitor.x"))
    inject(here, enters=[-3.0, 0.0], to=[-1.0, 0.0])
    eventually("two are there", lambda: has(session, "visitor_2.x"))
    assert has(session, "visitor.x")
    eventually("the second begins", lambda: session["person_2.active"] == 1.0)
    assert session["person.active"] == 1.0
    here.ask(m.FaultRequest(on=False))
    here.ask(m.Play())
    eventually("both left", lambda: not any(
        session[f"{each}/person.visible"] for each in ("visitor", "visitor_2")
    ))  # fmt: skip
    inject(here)
    eventually("a third came", lambda: has(session, "visitor_3.x"))
    assert not has(session, "visitor.x")
    assert not has(session, "visitor_2.x")


def test_an_edit_keeps_the_person(here: Backstage) -> None:
    """The file's next version runs with the person in it, who stays where the way has led."""
    session = session_of(here)
    inject(here)
    eventually("the person is there", lambda: has(session, "visitor.x"))
    eventually("the person comes in", lambda: session["person.active"] == 1.0)
    here.ask(m.SingleStep(60))
    eventually("a few steps in", lambda: session["visitor.x"] < 2.5)
    version = session.version
    here.ask(m.EditAttribute("", "scene", "gravity", "[0, 0, -1]"))
    eventually("the edit is in use", lambda: session.version > version)
    assert session["person.active"] == 1.0
    assert session["visitor.x"] < 2.5


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ({"to": "there"}, "to"),
        ({"enters": [1.0]}, "enters"),
        ({"speed": -1.0}, "speed"),
        ({"hight": 2.0}, "hight"),
        ({"around": "nothing"}, "nothing"),
    ],
)
def test_a_wrong_person_is_refused(here: Backstage, args: dict[str, Any], word: str) -> None:
    """The answer names what is wrong, and the scene is as before."""
    text = here.refused(m.FaultRequest(kind="person", args={**WAY, **args}))
    assert word in text
    inject(here)
    eventually("the next is let in", lambda: has(session_of(here), "person.active"))
