"""How the views look: light and dark, shadows, and a picture for two eyes in each stereo mode."""

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

from studio_fixture import Studio
from studio_page import SHARP, StudioPage, opened

#: What the canvas shows now, as a list of rows of red, green and blue.
_PIXELS = """() => {
  const { stage } = linkwork;
  stage.draw();
  const from = stage.renderer.domElement;
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [from.width, from.height];
  const paper = copy.getContext("2d");
  paper.drawImage(from, 0, 0);
  const { data } = paper.getImageData(0, 0, copy.width, copy.height);
  let text = "";
  for (let i = 0; i < data.length; i += 4)
    text += String.fromCharCode(data[i], data[i + 1], data[i + 2]);
  return [copy.width, copy.height, btoa(text)];
}"""


def pixels(page: StudioPage) -> np.ndarray:
    """What is drawn (height×width×3)."""
    width, height, text = page.page.evaluate(_PIXELS)
    data = np.frombuffer(base64.b64decode(text), np.uint8)
    return data.reshape(height, width, 3).astype(float)


def choose_stereo(page: StudioPage, name: str) -> np.ndarray:
    page.page.get_by_role("button", name="Stereo").click()
    page.page.get_by_role("menuitemradio", name=name).click()
    page.rest()
    return pixels(page)


@pytest.fixture(scope="module")
def view(gripper: Studio, chromium: Browser) -> Iterator[StudioPage]:
    """The perspective view in a small window of its own, at rest."""
    with opened(chromium, gripper, size=(480, 384), scale=SHARP, alone="perspective") as page:
        page.ready()
        page.until("store.people.driver === store.you")
        if page.ask("store.status.running"):
            page.press("Space")
        page.press("Backspace")
        page.until("!store.status.running && store.status.time === 0")
        yield page


@pytest.fixture
def one_eye(view: StudioPage) -> np.ndarray:
    """The picture for one eye, before anything is chosen."""
    return choose_stereo(view, "Mono")


def unlike(a: np.ndarray, b: np.ndarray) -> float:
    """The part of the pixels that are clearly different."""
    return float((np.abs(a - b).max(axis=2) > 24).mean())


@pytest.mark.capability(103)
def test_anaglyph_gives_red_to_one_eye_and_cyan_to_the_other(
    view: StudioPage, one_eye: np.ndarray
) -> None:
    """Red is of the left eye's picture, green and blue of the right's: edges have fringes."""
    seen = choose_stereo(view, "Anaglyph")

    def fringes(image: np.ndarray) -> float:
        return float((np.abs(image[:, :, 0] - image[:, :, 1]) > 40).mean())

    assert 0.002 < unlike(seen, one_eye) < 0.2
    # The grey base has fringes where the eyes see it at different places.
    assert np.abs(seen[:, :, 0] - one_eye[:, :, 0]).max() > 40
    assert np.abs(seen.mean(axis=(0, 1)) - one_eye.mean(axis=(0, 1))).max() < 8
    assert fringes(seen) != fringes(one_eye)
    shifts = [shift(seen[:, :, channel], one_eye.mean(axis=2)) for channel in (0, 1)]
    assert shifts[0] != shifts[1]


def shift(image: np.ndarray, like: np.ndarray) -> int:
    """By how many columns an image is moved against another."""
    inner = slice(40, -40)
    scores = {
        by: float(np.abs(np.roll(image, by, axis=1)[:, inner] - like[:, inner]).mean())
        for by in range(-12, 13)
    }
    return min(scores, key=lambda by: scores[by])


@pytest.mark.capability(103)
def test_side_by_side_has_a_whole_picture_for_each_eye(
    view: StudioPage, one_eye: np.ndarray
) -> None:
    """Both halves show all of the robot, from two places."""
    seen = choose_stereo(view, "Side by side")
    half = seen.shape[1] // 2
    left, right = seen[:, :half], seen[:, half : 2 * half]
    assert 0.001 < unlike(left, right) < 0.25
    assert np.abs(left.mean(axis=(0, 1)) - right.mean(axis=(0, 1))).max() < 4
    for eye in (left, right):  # the amber fingers are in both
        amber = (eye[:, :, 0] - eye[:, :, 2] > 40).mean()
        assert amber > 0.0005
    assert view.ask("stage.bodies.corners().every((c) => stage.views[1].shows(c))")
    x, y = view.find("perspective", "arm/E2")
    view.page.mouse.click(x, y)
    view.until("store.selection[0]?.name === 'arm/E2'")


@pytest.mark.capability(103)
def test_interlaced_rows_belong_to_the_eyes_in_turn(view: StudioPage, one_eye: np.ndarray) -> None:
    """Rows of one eye agree with each other; neighbours of the other eye do not."""
    seen = choose_stereo(view, "Interlaced")

    def rough(image: np.ndarray, by: int) -> float:
        return float(np.abs(image[by:] - image[:-by]).mean())

    assert rough(seen, 1) > 1.5 * rough(one_eye, 1)
    assert np.abs(seen.mean(axis=(0, 1)) - one_eye.mean(axis=(0, 1))).max() < 4
    rows = len(seen) // 2
    left, right = seen[0::2][:rows].mean(axis=2), seen[1::2][:rows].mean(axis=2)
    assert shift(left, right) != 0
    assert unlike(choose_stereo(view, "Mono"), one_eye) < 0.001


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_page_begins_in_the_colors_of_the_system(
    chromium: Browser, gripper: Studio, theme: str
) -> None:
    """Panels and views are dark or light; the button changes both and the page remembers."""
    with opened(chromium, gripper, theme=theme) as page:
        page.ready()
        dark = theme == "dark"
        assert (pixels(page).mean() < 100) == dark
        assert (background(page) < 100) == dark
        page.page.get_by_role("button", name="Light or dark").click()
        page.until("document.documentElement.dataset.theme !== a", theme)
        assert (pixels(page).mean() < 100) != dark
        assert (background(page) < 100) != dark
        page.page.reload()
        page.ready()
        assert (pixels(page).mean() < 100) != dark


def background(page: StudioPage) -> float:
    """How bright the panels are, 0 to 255."""
    words: Any = page.page.evaluate(
        "getComputedStyle(document.querySelector('.left')).backgroundColor"
    )
    return float(np.mean([float(n) for n in words.strip("rgb()").split(",")[:3]]))


@pytest.mark.capability(173)
def test_shadows_can_be_switched_off(view: StudioPage, one_eye: np.ndarray) -> None:
    """The floor is darker where the robot keeps the light away."""
    view.page.get_by_role("button", name="Show in views").click()
    view.page.get_by_role("menuitemcheckbox", name="Shadows").click()
    without = pixels(view)
    darker = (without.mean(axis=2) - one_eye.mean(axis=2)) > 4
    assert 0.002 < darker.mean() < 0.5
