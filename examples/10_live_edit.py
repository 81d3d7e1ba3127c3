"""Edit a scene while it runs: what stays keeps moving, what is new appears, undo takes it back.

python examples/10_live_edit.py
"""

from pathlib import Path

import linkwork as lw
from linkwork.formats import save
from linkwork.model.parts import Spec

SCENE = """\
format = "linkwork/scene 1"
name = "crane"               # comments and blanks survive every edit

[[element]]
name = "ground"
shape = { plane = { size = [4, 4] } }

[[part]]
name = "crane"
part = "./crane.toml"

[[agent]]
name = "slew"
type = "wave"
joint = "crane/slew"
amplitude_deg = 60
frequency = 0.25
"""


def crane() -> lw.Part:
    """A mast with a boom, and an anchor at its tip."""
    mast = lw.Cylinder(0.03, 0.5, at=lw.Pose((0.0, 0.0, 0.25)))
    plate = lw.Box((0.24, 0.24, 0.02), at=lw.Pose((0.0, 0.0, 0.01)))
    boom = lw.Box((0.56, 0.04, 0.04), at=lw.Pose((0.20, 0.0, 0.0)))
    return lw.Part("crane").add(
        lw.Element("mast", (plate, mast), mass=10.0, color="#5b6672"),
        lw.Element("boom", (boom,), mass=1.0, color="#e0a54a"),
        lw.Joint("slew", "hinge", "mast", "boom", at=lw.Pose((0.0, 0.0, 0.52)),
                 drive=Spec("actuator", "servo", params={"kp": 60.0, "kd": 6.0})),
        lw.Anchor("hook", "boom", lw.Pose((0.46, 0.0, -0.02))),
    )  # fmt: skip


def load() -> lw.Part:
    """What will hang on the hook: a weight on a rod that swings both ways."""
    rod = lw.Capsule(0.005, 0.2, at=lw.Pose((0.0, 0.0, -0.1)))
    weight = lw.Sphere(0.05, at=lw.Pose((0.0, 0.0, -0.25)))
    return lw.Part("load").add(
        lw.Element("eyelet", (lw.Sphere(0.012),), mass=0.02, color="#5b6672"),
        lw.Element("weight", (rod, weight), mass=0.8, color="#7f8994"),
        lw.Joint("swing", "universal", "eyelet", "weight", axis=(1, 0, 0), axis2=(0, 1, 0)),
    )


def write(folder: Path) -> Path:
    """Writes both parts and the scene; returns the scene's file."""
    save(crane(), folder / "crane.toml")
    save(load(), folder / "load.toml")
    (folder / "crane_scene.toml").write_text(SCENE, encoding="utf-8")
    return folder / "crane_scene.toml"


def use(session: lw.Session, document: lw.Document) -> None:
    """Goes on with the document's scene: compiled in the background, taken over between two steps.

    The ids say which joint is which, even when the edit renamed it.
    """
    scene = document.content
    assert isinstance(scene, lw.Scene)
    session.swap(scene, ids=document.ids).result()
    session.step()


def show(session: lw.Session, what: str) -> None:
    load = "crane_load/swing.angle1"
    swings = f", load swings at {session[load]:+.3f} rad" if load in session.signals else ""
    slew = session["crane/slew.angle"]
    print(f"{session.time:.2f} s, version {session.version}: {what}: slew {slew:+.4f} rad{swings}")


def main() -> None:
    file = write(Path())
    document = lw.Document.open(file)
    with lw.Session(file) as session:
        session.run(1.5)
        show(session, "before the edit")

        document.add("part", {"name": "crane_load", "part": "./load.toml", "on": "crane/hook"})
        use(session, document)
        show(session, "a load on the hook")
        session.run(1.0)
        show(session, "it swings")

        print(f"undo: {document.undo().what}; file as it was: {document.text == SCENE}")
        use(session, document)
        show(session, "and the load is gone")


if __name__ == "__main__":
    main()
