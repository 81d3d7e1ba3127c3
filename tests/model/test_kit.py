"""Kits: parts of the package, of installed packages and of the user, found by name."""

import importlib
import os
from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork.core.errors import LinkworkError, NameNotFound, Origin
from linkwork.geometry import Pose
from linkwork.model.parts import find_kits, kit, kit_part

WHEEL = """
format = "linkwork/part 1"
name = "wheel"

[[element]]
name = "rim"
shape = { cylinder = { radius = 0.1, length = 0.03 } }
mass = 0.5

[[anchor]]
name = "mount"
on = "rim"
"""
CART = """
format = "linkwork/part 1"
name = "cart"

[[element]]
name = "bed"
shape = { box = { size = [0.5, 0.3, 0.05] } }
mass = 4

[[element]]
name = "hub"
mass = 0.1

[[joint]]
name = "axle"
type = "hinge"
from = "bed"
to = "hub"
at = { xyz = [0.2, 0.15, 0], rpy_deg = [-90, 0, 0] }

[[anchor]]
name = "hub_end"
on = "hub"
at = { xyz = [0, 0, 0.02] }

[[anchor]]
name = "deck"
on = "bed"
at = { xyz = [0, 0, 0.025] }

[[attach]]
part = "garage/wheel"
to = "hub_end"

[[attach]]
part = "gripper/arm"
to = "deck"
"""
SCENE = """
format = "linkwork/scene 1"
name = "yard"

[[part]]
name = "cart"
part = "garage/cart"
base = "free"
"""


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hides the kits of the user who runs the tests."""
    monkeypatch.delenv("LINKWORK_KITS", raising=False)
    monkeypatch.setattr(kit, "USER_KITS", tmp_path / "home" / "kits")


def write_kit(folder: Path, name: str, **files: str) -> Path:
    (folder / name).mkdir(parents=True)
    for stem, text in files.items():
        (folder / name / f"{stem}.toml").write_text(text)
    return folder


def test_the_package_brings_kits() -> None:
    """Tripod and gripper have parts and scenes by name, and all of them compile."""
    kits = find_kits()
    assert {"gripper", "tripod"} <= set(kits)
    assert kits["gripper"].source == "package"
    assert kits["gripper"].parts() == ["gripper/arm"]
    assert kits["gripper"].scenes() == ["gripper/follow"]
    legs = {f"tripod/{name}" for name in ("leg", "platform", "table", "tripod")}
    assert legs <= set(kits["tripod"].parts())
    for one in kits.values():
        for name in one.parts():
            scene = linkwork.Scene("s").place(linkwork.load_part(name))
            assert linkwork.compile_scene(scene).nb > 1
        for name in one.scenes():
            assert linkwork.compile_scene(linkwork.load_scene(name)).nb > 1


@pytest.mark.capability(41)
def test_a_kit_part_is_a_tree_of_elements_joints_anchors_and_parts() -> None:
    """In the tripod, platform and legs are parts attached at anchors, with scoped names."""
    tripod = linkwork.load_part("tripod/tripod")
    assert list(tripod.attachments) == ["platform", "leg1", "leg2", "leg3"]
    leg = tripod.attachments["leg1"].part
    assert leg == tripod.attachments["leg3"].part
    assert list(leg.elements) == ["bracket", "thigh", "shin", "foot"]
    assert list(leg.joints) == ["hip", "knee"]
    assert list(leg.anchors) == ["mount"]
    world = linkwork.compile_scene(linkwork.Scene("s").place(tripod, base="free"))
    assert world.joint_names[0] == "tripod"
    assert world.joint_names[1:] == [
        f"tripod/leg{n}/{joint}" for n in (1, 2, 3) for joint in ("hip", "knee")
    ]
    # all parts attached to the core form one rigid body; the feet form a triangle
    assert world.body("tripod/leg2/bracket") == world.body("tripod/core")
    poses = linkwork.forward(world, world.q0)
    feet = []
    for n in (1, 2, 3):
        body, local = world.frame(f"tripod/leg{n}/foot")
        feet.append((Pose.of(poses[body, :3], quat=poses[body, 3:]) @ local).xyz)
    sides = [np.linalg.norm(np.subtract(feet[k], feet[k - 1])) for k in range(3)]
    np.testing.assert_allclose(sides, sides[0], rtol=1e-9)
    np.testing.assert_allclose(np.sum(feet, axis=0)[:2], 0.0, atol=1e-9)


@pytest.mark.capability(41, 46)
def test_a_users_folder_is_a_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in a folder of LINKWORK_KITS are parts by name, beside those of the package."""
    folder = write_kit(tmp_path / "mine", "garage", wheel=WHEEL, cart=CART, yard=SCENE)
    (folder / "garage" / "notes.toml").write_text('title = "no part"\n')
    monkeypatch.setenv("LINKWORK_KITS", str(folder))
    garage = find_kits()["garage"]
    assert (garage.source, garage.folder) == ("user", folder / "garage")
    assert garage.parts() == ["garage/cart", "garage/wheel"]
    assert garage.scenes() == ["garage/yard"]
    assert kit_part("garage/wheel") == folder / "garage" / "wheel.toml"
    world = linkwork.compile_scene(linkwork.load_scene("garage/yard"))
    assert world.joint_names == ["cart", "cart/axle", "cart/arm/J1", "cart/arm/J2", "cart/arm/J3"]
    hub = world.body("cart/hub")
    assert world.body("cart/wheel/rim") == hub
    assert world.mass[hub] == pytest.approx(0.6)
    wheel = world.frame("cart/wheel/rim")[1]
    np.testing.assert_allclose(wheel.xyz, [0, 0, 0.02])


def test_the_home_folder_is_a_kit_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without LINKWORK_KITS the user's kits are in one folder at home."""
    write_kit(tmp_path / "home" / "kits", "own", wheel=WHEEL)
    assert find_kits()["own"].parts() == ["own/wheel"]


def test_a_users_kit_hides_others_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier folders take precedence over later ones, and all over the package."""
    one = write_kit(tmp_path / "one", "gripper", arm=WHEEL)
    two = write_kit(tmp_path / "two", "gripper", arm=CART)
    write_kit(tmp_path / "two", "other", wheel=WHEEL)
    monkeypatch.setenv("LINKWORK_KITS", os.pathsep.join([str(one), "", str(two), "/no/such"]))
    kits = find_kits()
    assert kits["gripper"].folder == one / "gripper"
    assert kits["other"].folder == two / "other"
    assert linkwork.load_part("gripper/arm").name == "wheel"


def install(folder: Path, module: str, *, code: str = "") -> None:
    """Creates a distribution as pip installs it, with an entry point for kits."""
    (folder / module).mkdir(parents=True)
    (folder / module / "__init__.py").write_text(code)
    info = folder / "linkwork_shop-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: linkwork-shop\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[linkwork.kits]\nshop = {module}\n")


def test_an_installed_package_brings_kits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its entry point names a package whose folders are kits; the source is its name on PyPI."""
    install(tmp_path, "shop_of_kits")
    write_kit(tmp_path / "shop_of_kits", "wheels", wheel=WHEEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    wheels = find_kits()["wheels"]
    assert (wheels.source, wheels.parts()) == ("linkwork-shop", ["wheels/wheel"])
    assert linkwork.load_part("wheels/wheel").name == "wheel"


def test_a_broken_package_of_kits_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exceptions in its code do not reach the user as a traceback."""
    install(tmp_path, "broken_shop", code="raise RuntimeError('out of stock')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    words = r"kits 'shop' \(broken_shop\) cannot be imported: out of stock.*Repair or remove"
    with pytest.raises(LinkworkError, match=words):
        find_kits()


def test_unknown_kits_and_parts_list_what_exists() -> None:
    """The message includes the location of the reference."""
    here = Origin("f.toml", 12)
    with pytest.raises(NameNotFound, match=r"^f\.toml:12: there is no kit named 'grip'"):
        kit_part("grip/arm", origin=here)
    with pytest.raises(NameNotFound, match=r"no kit part named 'gripper/leg'. .*gripper/arm"):
        kit_part("gripper/leg", origin=here)
    for name in ("gripper", "gripper/", "gripper/../tripod/leg", "gripper/sub/arm"):
        with pytest.raises(NameNotFound, match="no kit part named"):
            kit_part(name)


def test_files_that_cannot_be_read_are_no_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged file in a kit does not affect others."""
    folder = write_kit(tmp_path / "mine", "garage", wheel=WHEEL)
    (folder / "garage" / "damaged.toml").write_bytes(b'format = "linkwork/part 1"\xff')
    (folder / "empty").mkdir()
    monkeypatch.setenv("LINKWORK_KITS", str(folder))
    assert find_kits()["garage"].parts() == ["garage/wheel"]
    assert "empty" not in find_kits()
